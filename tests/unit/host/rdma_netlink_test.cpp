// SPDX-License-Identifier: Apache-2.0
#include "host/rdma_netlink.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "host/netlink.h"
#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"
#include "unit/netlink_builder.h"

namespace railhead::host {
namespace {

using test::attribute;
using test::kNetlinkError;
using test::message;
using test::netlink_status;
using test::raw;
using test::rdma_message;
using test::text_attribute;
using test::u32;
using test::u64;

constexpr unsigned kDone = 3;
constexpr unsigned kDumpInterrupted = 0x10;

struct TakenRdma {
  RdmaDatagram says;
  std::string answer;
  int error_number = 0;
};

TakenRdma take_rdma(const std::string& datagram) {
  TakenRdma taken{RdmaDatagram::more, "", 0};
  taken.says = take_rdma_datagram(datagram, 1, taken.answer, taken.error_number);
  return taken;
}

TEST(RdmaNetlink, a_dump_goes_on_until_the_kernel_says_done) {
  const auto device = rdma_message(1, u32(1, 0));
  EXPECT_EQ(take_rdma(device).says, RdmaDatagram::more);
  const auto last = take_rdma(device + device + message(kDone, netlink_status(0)));
  EXPECT_EQ(last.says, RdmaDatagram::done);
  EXPECT_EQ(last.answer, device + device);
}

TEST(RdmaNetlink, a_command_that_the_kernel_does_not_know_is_unsupported) {
  const auto taken =
      take_rdma(message(kNetlinkError, netlink_status(EINVAL) + std::string(16, 'x')));
  EXPECT_EQ(taken.says, RdmaDatagram::failed);
  EXPECT_EQ(taken.error_number, EOPNOTSUPP);
}

TEST(RdmaNetlink, a_dump_that_ends_in_einval_is_of_a_device_that_is_gone) {
  EXPECT_EQ(take_rdma(message(kDone, netlink_status(EINVAL))).says, RdmaDatagram::gone);
  EXPECT_EQ(take_rdma(message(kDone, netlink_status(ENODEV))).says, RdmaDatagram::gone);
}

TEST(RdmaNetlink, a_dump_that_fails_in_the_middle_keeps_what_it_had) {
  const auto device = rdma_message(10, u32(1, 0));
  const auto last = message(kDone, netlink_status(EINVAL));
  const auto taken = take_rdma(device + last);
  EXPECT_EQ(taken.says, RdmaDatagram::cut);
  EXPECT_EQ(taken.error_number, EINVAL);
  EXPECT_EQ(taken.answer, device + last);
  EXPECT_EQ(cut_short(taken.answer), EINVAL);
  EXPECT_EQ(cut_short(device), std::nullopt);
  EXPECT_EQ(cut_short(device + message(kDone, "")), EPROTO);
}

TEST(RdmaNetlink, of_an_answer_that_exceeds_a_limit_of_ours_what_came_is_kept) {
  const auto device = rdma_message(10, u32(1, 0));
  auto answer = device;
  EXPECT_EQ(leave_rdma_answer(answer, 1, EFBIG), RdmaDatagram::cut);
  EXPECT_EQ(cut_short(answer), EFBIG);
  EXPECT_EQ(answer.substr(0, device.size()), device);
  std::string nothing;
  EXPECT_EQ(leave_rdma_answer(nothing, 1, ETIMEDOUT), RdmaDatagram::failed);
  EXPECT_EQ(nothing, "");
}

TEST(RdmaNetlink, of_a_closing_message_only_the_errno_is_kept) {
  auto bytes = message(kDone, netlink_status(EINVAL) + text_attribute(1, "secret"));
  blank_unread_attributes(bytes);
  EXPECT_EQ(bytes.find("secret"), std::string::npos);
  EXPECT_EQ(cut_short(bytes), EINVAL);
}

TEST(RdmaNetlink, a_refusal_keeps_its_errno) {
  const auto taken = take_rdma(message(kNetlinkError, netlink_status(EPERM)));
  EXPECT_EQ(taken.says, RdmaDatagram::failed);
  EXPECT_EQ(taken.error_number, EPERM);
  EXPECT_EQ(take_rdma(message(kDone, netlink_status(EMSGSIZE))).error_number, EMSGSIZE);
}

TEST(RdmaNetlink, a_dump_during_which_something_changed_is_interrupted) {
  const auto changed = message((5U << 10U) + 10, u32(1, 0), kDumpInterrupted | 2U);
  EXPECT_EQ(take_rdma(changed).says, RdmaDatagram::interrupted);
  EXPECT_EQ(take_rdma(message(kDone, netlink_status(0), kDumpInterrupted)).says,
            RdmaDatagram::interrupted);
}

TEST(RdmaNetlink, answers_to_another_question_are_passed_over) {
  const auto taken = take_rdma(message(kDone, netlink_status(0), 2, 7));
  EXPECT_EQ(taken.says, RdmaDatagram::more);
  EXPECT_EQ(taken.answer, "");
}

TEST(RdmaNetlink, a_datagram_that_is_cut_off_is_a_protocol_error) {
  const auto whole = rdma_message(1, u32(1, 0));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto taken = take_rdma(whole.substr(0, size));
    EXPECT_EQ(taken.says, RdmaDatagram::failed) << size;
    EXPECT_EQ(taken.error_number, EPROTO) << size;
  }
}

TEST(RdmaNetlink, memory_keys_and_addresses_do_not_pass_the_door) {
  const auto entry = [](std::uint32_t key, std::uint64_t address) {
    return attribute(41, u32(42, key) + u32(43, key) + u64(44, address) + u64(45, 4096));
  };
  auto bytes = rdma_message(13, u32(1, 3) + attribute(40, entry(0xdeadbeef, 0x7f0012345678)));
  blank_unread_attributes(bytes);
  EXPECT_EQ(bytes, rdma_message(13, u32(1, 3) + attribute(40, entry(0, 0))));
}

TEST(RdmaNetlink, a_machine_without_a_living_sysfs_has_no_kernel_to_ask) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\nt /a 1\n").value();
  EXPECT_EQ(host->rdma({10, 0}).value(), std::nullopt);
}

/// A kernel that always gives the same answer.
class Kernel : public test::EmptyHost {
 public:
  explicit Kernel(Result<std::optional<std::string>> answer)
      : answer_(std::move(answer)) {}

  Result<std::optional<std::string>> rdma(const RdmaDump&) override { return answer_; }

 private:
  Result<std::optional<std::string>> answer_;
};

/// What a snapshot of this kernel's answer says, after it was text and was redacted.
Result<std::optional<std::string>> replayed_rdma(Result<std::optional<std::string>> answer) {
  Kernel kernel(std::move(answer));
  snapshot::RecordingHost recorder(kernel);
  (void)recorder.rdma({10, 2});
  const auto text = snapshot::format_snapshot(snapshot::redact(recorder.recorded()).snapshot);
  return snapshot::SnapshotHost::parse(text).value()->rdma({10, 2});
}

TEST(RdmaNetlink, a_snapshot_gives_the_recorded_answer) {
  std::string bytes;
  while (bytes.size() < 100'000) {
    bytes += rdma_message(10, u32(1, static_cast<std::uint32_t>(bytes.size())));
  }
  EXPECT_EQ(replayed_rdma(std::optional(bytes)).value(), bytes);
  EXPECT_EQ(replayed_rdma(std::optional(std::string())).value(), "");
  EXPECT_EQ(replayed_rdma(std::optional<std::string>()).value(), std::nullopt);
}

TEST(RdmaNetlink, a_snapshot_gives_the_recorded_failure) {
  const auto failure = replayed_rdma(Error{ErrorCode::denied, "/x: operation not permitted"});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().message, "/.netlink/rdma/10.2: operation not permitted");
}

TEST(RdmaNetlink, device_names_made_of_addresses_are_replaced_in_snapshots) {
  const auto bytes = rdma_message(1, u32(1, 0) + text_attribute(2, "rocexb8cef60300112233"));
  const auto shown = replayed_rdma(std::optional(bytes)).value().value();
  EXPECT_EQ(shown.size(), bytes.size());
  EXPECT_NE(shown.find("rocexb8cef6"), std::string::npos);
  EXPECT_EQ(shown.find("00112233"), std::string::npos);
}

TEST(RdmaNetlink, a_piece_of_a_snapshot_that_is_not_hexadecimal_is_named) {
  const auto host =
      snapshot::SnapshotHost::parse("railhead-snapshot 1\nt /.netlink/rdma/10.2/0000 abc\n")
          .value();
  EXPECT_EQ(host->rdma({10, 2}).error().message, "/.netlink/rdma/10.2/0000: protocol error");
}

}  // namespace
}  // namespace railhead::host
