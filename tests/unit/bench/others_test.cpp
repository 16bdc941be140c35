// SPDX-License-Identifier: Apache-2.0
#include "bench/others.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/netlink_builder.h"

namespace railhead::bench {
namespace {

using test::attribute;
using test::u32;
using test::u8;

/// A kernel with one device and these queue pairs.
class FakeKernel : public Host {
 public:
  Result<std::optional<std::string>> read(const std::string&) override { return absent(); }

  Result<std::optional<std::string>> readlink(const std::string&) override { return absent(); }

  Result<std::optional<std::vector<std::string>>> list(const std::string&) override {
    return std::optional(std::vector<std::string>{std::to_string(::getpid()), "99"});
  }

  Result<std::optional<DeviceNode>> device(const std::string&) override {
    return std::optional<DeviceNode>();
  }

  Result<std::optional<std::string>> rdma(const RdmaDump& dump) override {
    if (fails) return *fails;
    if (!answers) return absent();
    const auto name = u32(1, 3) + test::text_attribute(2, "mlx5_0");
    if (dump.command == 1) return std::optional(test::rdma_message(1, name));
    EXPECT_EQ(dump.device, 3U);
    return std::optional(test::rdma_message(10, name + attribute(19, pairs)));
  }

  /// Type 2 is RC, 1 GSI (enum ib_qp_type).
  void add(std::uint32_t number, unsigned type, std::optional<std::uint32_t> thread) {
    pairs += attribute(
        20, u32(21, number) + u8(26, type) + u8(27, 3) + (thread ? u32(28, *thread) : ""));
  }

  bool answers = true;
  std::optional<Error> fails;
  std::string pairs;

 private:
  static std::optional<std::string> absent() { return std::nullopt; }
};

TEST(Others, the_kernels_management_pairs_and_those_of_our_threads_do_not_count) {
  FakeKernel kernel;
  kernel.add(1, 1, std::nullopt);
  kernel.add(17, 2, static_cast<std::uint32_t>(::getpid()));
  kernel.add(18, 2, 99);  // another thread of ours
  EXPECT_EQ(queue_pairs_of_others(kernel, "mlx5_0").value(), 0U);
  kernel.add(19, 2, 4711);
  kernel.add(20, 2, std::nullopt);  // its thread ended, or cannot be seen
  EXPECT_EQ(queue_pairs_of_others(kernel, "mlx5_0").value(), 2U);
}

TEST(Others, where_the_kernel_does_not_say_nobody_knows) {
  FakeKernel kernel;
  EXPECT_FALSE(queue_pairs_of_others(kernel, "rxe0").value());
  kernel.answers = false;
  EXPECT_FALSE(queue_pairs_of_others(kernel, "mlx5_0").value());
  kernel.fails = Error{ErrorCode::timeout, "no answer"};
  EXPECT_FALSE(queue_pairs_of_others(kernel, "mlx5_0"));
}

}  // namespace
}  // namespace railhead::bench
