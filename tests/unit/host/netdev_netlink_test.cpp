// SPDX-License-Identifier: Apache-2.0
#include "host/netdev_netlink.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot_host.h"
#include "unit/devlink_builder.h"
#include "unit/netdev_answers.h"

namespace railhead::host {
namespace {

using test::attribute;
using test::dcb_answer;
using test::message;
using test::netlink_status;
using test::raw;
using test::text_attribute;
using test::vf_answer;

constexpr auto kVfs = NetdevQuestion::vfs;
constexpr auto kDcb = NetdevQuestion::dcb;

TEST(NetdevNetlink, asks_for_one_netdev_by_its_name) {
  EXPECT_EQ(netdev_request(kDcb, "eth0", 7),
            message(78, std::string({0, 21, 0, 0}) + text_attribute(1, "eth0"), 1, 7));
  EXPECT_EQ(netdev_request(kVfs, "ib0", 7),
            message(18,
                    std::string(16, '\0') + text_attribute(3, "ib0") +
                        attribute(29, raw(std::uint32_t{9})),
                    1, 7));
}

TEST(NetdevNetlink, reads_flow_control_and_priorities) {
  const auto settings = parse_dcb_settings(dcb_answer(0x08, {{26, 3}, {48, 6}})).value();
  EXPECT_EQ(settings.pfc, 0x08);
  EXPECT_THAT(settings.dscp, testing::ElementsAre(testing::Pair(26, 3), testing::Pair(48, 6)));
  EXPECT_EQ(settings.traffic_class->at(5), 5);
}

TEST(NetdevNetlink, an_answer_without_ieee_says_nothing) {
  const auto settings = parse_dcb_settings(message(78, std::string(4, '\0'))).value();
  EXPECT_EQ(settings, DcbSettings());
}

TEST(NetdevNetlink, reads_what_is_said_of_virtual_functions) {
  const auto functions = parse_vf_settings(vf_answer({3, 2, 1, 0x1234})).value();
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0], (VfSettings{3, VfLink::always_down, true, std::nullopt, true, true}));
}

TEST(NetdevNetlink, what_a_driver_does_not_know_is_not_known) {
  const auto functions = parse_vf_settings(vf_answer({0, 9, 0xffffffff, 0})).value();
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0], (VfSettings{0, std::nullopt, std::nullopt, std::nullopt, false, false}));
}

TEST(NetdevNetlink, bytes_that_are_no_answer_are_malformed) {
  for (const auto& bytes : {std::string("x"), message(77, "abcd"), message(78, "ab")}) {
    EXPECT_FALSE(parse_dcb_settings(bytes)) << bytes;
    EXPECT_FALSE(parse_vf_settings(bytes)) << bytes;
    EXPECT_EQ(kept_of_netdev(kDcb, bytes), "");
  }
}

TEST(NetdevNetlink, neither_addresses_nor_guids_pass_the_door) {
  const auto kept = kept_of_netdev(kVfs, vf_answer({3, 0, 1, 0x0c42a10300aabbccULL}));
  EXPECT_EQ(kept.find("\x02\x42\x0a"), std::string::npos);
  EXPECT_EQ(kept.find("ib0"), std::string::npos);
  EXPECT_EQ(kept.find(raw(std::uint64_t{0x0c42a10300aabbccULL})), std::string::npos);
  EXPECT_EQ(parse_vf_settings(kept).value(), parse_vf_settings(vf_answer({3, 0, 1, 5})).value());
  EXPECT_EQ(kept_of_netdev(kVfs, kept), kept);
  const auto dcb = kept_of_netdev(kDcb, dcb_answer(0x08, {{26, 3}}));
  EXPECT_EQ(dcb.find("eth0"), std::string::npos);
  EXPECT_EQ(parse_dcb_settings(dcb).value(), parse_dcb_settings(dcb_answer(8, {{26, 3}})).value());
  EXPECT_EQ(kept_of_netdev(kDcb, dcb), dcb);
}

TEST(NetdevNetlink, the_answer_is_the_message_with_the_number_of_the_question) {
  const auto whole = vf_answer({}, 2);
  const auto reply = take_netdev_reply(kVfs, vf_answer({}, 1) + whole, 2);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->message, whole);
  EXPECT_FALSE(take_netdev_reply(kVfs, vf_answer({}, 1), 2));
  EXPECT_EQ(take_netdev_reply(kVfs, whole.substr(0, 20), 2)->error_number, EPROTO);
}

TEST(NetdevNetlink, a_refusal_keeps_its_errno) {
  for (const int number : {ENODEV, EOPNOTSUPP, EPERM}) {
    const auto reply = take_netdev_reply(kDcb, message(2, netlink_status(number), 0, 2), 2);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->error_number, number);
  }
  EXPECT_EQ(take_netdev_reply(kDcb, message(2, "ab", 0, 2), 2)->error_number, EPROTO);
}

/// Of this very machine's kernel: loopback has neither, and nobody has the other name.
TEST(NetdevNetlink, a_netdev_without_an_answer_is_absent) {
  for (const auto question : {kVfs, kDcb}) {
    const auto nobody = ask_netdev(question, "nobody0");
    ASSERT_TRUE(nobody) << nobody.error().message;
    EXPECT_FALSE(*nobody);
    EXPECT_FALSE(ask_netdev(question, "a-name-that-is-too-long").value());
  }
  EXPECT_FALSE(ask_netdev(kDcb, "lo").value());
  const auto loopback = ask_netdev(kVfs, "lo").value();
  ASSERT_TRUE(loopback);
  EXPECT_TRUE(parse_vf_settings(*loopback)->empty());
}

/// A host whose kernel gives this answer to every question.
class OneAnswer final : public test::DevlinkHost {
 public:
  explicit OneAnswer(Result<std::optional<std::string>> answer)
      : DevlinkHost({}),
        answer_(std::move(answer)) {}

  Result<std::optional<std::string>> netdev(NetdevQuestion, const std::string&) override {
    return answer_;
  }

 private:
  Result<std::optional<std::string>> answer_;
};

Result<std::optional<std::string>> replayed(Result<std::optional<std::string>> answer) {
  OneAnswer kernel(std::move(answer));
  snapshot::RecordingHost recorder(kernel);
  (void)recorder.netdev(kDcb, "eth0");
  const auto text = snapshot::format_snapshot(snapshot::redact(recorder.recorded()).snapshot);
  return snapshot::SnapshotHost::parse(text).value()->netdev(kDcb, "eth0");
}

TEST(NetdevNetlink, a_snapshot_gives_the_recorded_answer) {
  const auto kept = kept_of_netdev(kDcb, dcb_answer(0x08, {{26, 3}}));
  EXPECT_EQ(replayed(std::optional(kept)).value(), kept);
  EXPECT_EQ(replayed(std::optional<std::string>()).value(), std::nullopt);
  const auto failure = replayed(Error{ErrorCode::denied, "/x: operation not permitted"});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().message, "/.netlink/dcb/eth0: operation not permitted");
}

}  // namespace
}  // namespace railhead::host
