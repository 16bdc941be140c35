// SPDX-License-Identifier: Apache-2.0
#include "bench/others.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "unit/host/empty_host.h"
#include "unit/netlink_builder.h"

namespace railhead::bench {
namespace {

using test::attribute;
using test::u32;
using test::u8;

/// A kernel with one device and these queue pairs.
class FakeKernel : public test::EmptyHost {
 public:
  Result<std::optional<std::string>> read(const std::string& path) override {
    if (path == "/proc/sys/kernel/osrelease" && !release.empty()) return std::optional(release);
    return absent();
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string&) override {
    return std::optional(std::vector<std::string>{std::to_string(::getpid()), "99"});
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    if (fails) return *fails;
    if (!answers) return absent();
    const auto name = u32(1, 3) + test::text_attribute(2, "mlx5_0");
    if (dump.command == 1) return std::optional(test::rdma_message(1, name));
    EXPECT_EQ(dump.device, 3U);
    if (dump.command == 13) {
      return std::optional(test::rdma_message(13, name + attribute(40, regions)));
    }
    return std::optional(test::rdma_message(10, name + attribute(19, pairs)) + end);
  }

  /// Type 2 is RC, 1 GSI, 4 UD, 8 raw, 255 a driver's (enum ib_qp_type).
  void add(std::uint32_t number, unsigned type, std::optional<std::uint32_t> thread) {
    pairs += attribute(
        20, u32(21, number) + u8(26, type) + u8(27, 3) + (thread ? u32(28, *thread) : ""));
  }

  /// Of the kernel's own: it names the module.
  void add_kernels(std::uint32_t number, unsigned type, const std::string& module) {
    pairs += attribute(
        20, u32(21, number) + u8(26, type) + u8(27, 3) + test::text_attribute(29, module));
  }

  [[nodiscard]] OtherPairs others() {
    auto counted = queue_pairs_of_others(*this, "mlx5_0");
    return counted && *counted ? **counted : OtherPairs{4711, {}};
  }

  bool answers = true;
  std::optional<Error> fails;
  std::string pairs;
  std::string regions;
  std::string end;  ///< behind the queue pairs: why the kernel gave up
  std::string release;

 private:
  static std::optional<std::string> absent() { return std::nullopt; }
};

TEST(Others, memory_of_another_process_is_use_without_a_queue_pair) {
  FakeKernel kernel;
  kernel.regions = attribute(41, test::u64(45, 4096) + u32(28, 4711)) +
                   attribute(41, test::u64(45, 4096) + u32(28, 99)) +
                   attribute(41, test::u64(45, 4096) + test::text_attribute(29, "mlx5_ib"));
  EXPECT_EQ(kernel.others().regions, 1U);
  EXPECT_EQ(to_string(kernel.others()), "other processes have 1 memory region on it");
}

TEST(Others, a_list_that_was_cut_does_not_say_that_nobody_uses_it) {
  FakeKernel kernel;
  kernel.add(17, 2, static_cast<std::uint32_t>(::getpid()));
  EXPECT_TRUE(queue_pairs_of_others(kernel, "mlx5_0").value()->none());
  kernel.end = test::message(3, test::netlink_status(EINVAL));
  EXPECT_EQ(queue_pairs_of_others(kernel, "mlx5_0").error().message,
            "the kernel's list: invalid argument");
  kernel.add(18, 2, 4711);
  EXPECT_EQ(queue_pairs_of_others(kernel, "mlx5_0").value()->processes, 1U);
}

TEST(Others, no_list_is_asked_of_a_kernel_that_reads_freed_memory) {
  FakeKernel kernel;
  kernel.add(17, 2, 4711);
  EXPECT_EQ(kernel.others().processes, 1U);
  kernel.release = "6.8.0-45-generic";
  EXPECT_EQ(kernel.others().processes, 0U);
}

TEST(Others, the_kernels_management_pairs_and_our_own_do_not_count) {
  FakeKernel kernel;
  kernel.add(1, 1, std::nullopt);
  kernel.add(17, 2, static_cast<std::uint32_t>(::getpid()));
  kernel.add(18, 2, 99);  // another thread of ours
  EXPECT_TRUE(kernel.others().none());
  kernel.add(19, 2, 4711);
  kernel.add(20, 2, std::nullopt);  // its thread ended, or cannot be seen
  EXPECT_EQ(kernel.others().processes, 2U);
  EXPECT_EQ(to_string(kernel.others()), "other processes have 2 queue pairs on it");
}

TEST(Others, what_the_kernel_keeps_on_every_idle_nic_is_nobodys_use) {
  FakeKernel kernel;
  kernel.add_kernels(1, 1, "ib_core");
  kernel.add_kernels(360, 4, "mlx5_ib");  // for link aggregation, and on each InfiniBand port
  kernel.add_kernels(361, 4, "ib_ipoib");
  kernel.add_kernels(465, 255, "mlx5_ib");  // its own registrations
  kernel.add_kernels(466, 8, "mlx5_ib");
  EXPECT_TRUE(kernel.others().none());
}

TEST(Others, datagrams_of_a_process_are_its_use) {
  FakeKernel kernel;
  kernel.add(20, 4, 4711);
  kernel.add(21, 255, 4711);
  kernel.add(22, 8, 4711);
  EXPECT_EQ(kernel.others().processes, 3U);
}

TEST(Others, what_the_kernel_has_connected_counts_by_its_name) {
  FakeKernel kernel;
  kernel.add_kernels(17, 2, "nvme_rdma");
  kernel.add_kernels(18, 2, "nvme_rdma");
  kernel.add_kernels(19, 9, "rpcrdma");
  EXPECT_EQ(to_string(kernel.others()),
            "the kernel's nvme_rdma has 2 queue pairs on it, the kernel's rpcrdma has 1");
  kernel.add(20, 2, 4711);
  EXPECT_EQ(to_string(kernel.others()),
            "other processes have 1 queue pair on it, the kernel's nvme_rdma has 2, the kernel's "
            "rpcrdma has 1");
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
