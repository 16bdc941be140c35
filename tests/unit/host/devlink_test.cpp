// SPDX-License-Identifier: Apache-2.0
#include "host/devlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "host/generic_netlink.h"
#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot_host.h"
#include "unit/devlink_builder.h"

namespace railhead::host {
namespace {

using test::attribute;
using test::device_info;
using test::devlink_message;
using test::generic_header;
using test::kNetlinkError;
using test::message;
using test::netlink_status;
using test::raw;
using test::running;
using test::text_attribute;
using test::version;

constexpr unsigned kControl = 0x10;  // GENL_ID_CTRL
constexpr unsigned kFamily = 0x1a;   // whatever this kernel gave
constexpr unsigned kRequest = 1;

struct TakenDevlink {
  GenericDatagram says;
  std::string answer;
  int error_number = 0;
};

TakenDevlink take_devlink(const std::string& datagram) {
  TakenDevlink taken{GenericDatagram::none, "", 0};
  taken.says = take_generic_datagram(datagram, 2, taken.answer, taken.error_number);
  return taken;
}

std::string package_of(const std::string& messages) {
  const auto package = running_package(messages);
  if (!package) return package.error().message;
  return package->value_or("none");
}

TEST(Devlink, the_family_is_asked_for_by_name) {
  EXPECT_EQ(family_request("devlink", 7),
            message(kControl, generic_header(3, 1) + text_attribute(2, "devlink"), kRequest, 7));
}

TEST(Devlink, a_device_is_asked_for_by_bus_and_address) {
  EXPECT_EQ(
      devlink_info_request(kFamily, "0000:3b:00.1", 2),
      message(kFamily,
              generic_header(51, 1) + text_attribute(1, "pci") + text_attribute(2, "0000:3b:00.1"),
              kRequest, 2));
}

TEST(Devlink, the_number_of_the_family_is_in_the_answer) {
  const auto number = attribute(1, raw(static_cast<std::uint16_t>(kFamily)));
  const auto name = text_attribute(2, "devlink");
  EXPECT_EQ(family_number(message(kControl, generic_header(1, 2) + name + number)), kFamily);
  EXPECT_EQ(family_number(message(kControl, generic_header(1, 2) + name)), std::nullopt);
  EXPECT_EQ(family_number(message(kControl, generic_header(1, 2) + attribute(1, "x"))),
            std::nullopt);
  EXPECT_EQ(family_number(message(kControl, "ab")), std::nullopt);
  EXPECT_EQ(family_number("no message"), std::nullopt);
}

TEST(Devlink, the_answer_is_the_message_with_the_number_of_the_question) {
  const auto answer = devlink_message(running("fw.app.name", "ICE COMMS Package"), 2);
  const auto taken = take_devlink(devlink_message("", 1) + answer);
  EXPECT_EQ(taken.says, GenericDatagram::answer);
  EXPECT_EQ(taken.answer, answer);
  EXPECT_EQ(take_devlink(devlink_message("", 1)).says, GenericDatagram::none);
  EXPECT_EQ(take_devlink(message(kNetlinkError, netlink_status(0), 0, 2) + answer).answer, answer);
}

TEST(Devlink, what_is_not_there_is_absent) {
  for (const int number : {ENOENT, ENODEV, EOPNOTSUPP}) {
    EXPECT_EQ(take_devlink(message(kNetlinkError, netlink_status(number), 0, 2)).says,
              GenericDatagram::absent)
        << number;
  }
}

TEST(Devlink, a_refusal_keeps_its_errno) {
  for (const int number : {EPERM, EINVAL, EBUSY}) {
    const auto taken =
        take_devlink(message(kNetlinkError, netlink_status(number) + std::string(16, 'x'), 0, 2));
    EXPECT_EQ(taken.says, GenericDatagram::failed);
    EXPECT_EQ(taken.error_number, number);
  }
}

TEST(Devlink, a_datagram_that_is_cut_off_is_a_protocol_error) {
  const auto whole = devlink_message(running("fw.app.name", "x"), 2);
  for (std::size_t size = 1; size + 4 < whole.size(); ++size) {
    EXPECT_EQ(take_devlink(whole.substr(0, size)).error_number, EPROTO) << size;
  }
  EXPECT_EQ(take_devlink(message(kNetlinkError, "ab", 0, 2)).error_number, EPROTO);
}

TEST(Devlink, the_package_is_one_of_the_running_versions) {
  EXPECT_EQ(package_of(device_info("ICE OS Default Package")), "ICE OS Default Package");
}

TEST(Devlink, a_driver_that_names_no_package_or_an_empty_one_runs_none) {
  EXPECT_EQ(package_of(devlink_message(running("fw.mgmt", "9.120") + running("fw.app", "1.3"))),
            "none");
  EXPECT_EQ(package_of(devlink_message(running("fw.app.name", ""))), "none");
  EXPECT_EQ(package_of(devlink_message("")), "none");
}

TEST(Devlink, a_package_that_is_stored_or_fixed_is_not_the_one_that_runs) {
  EXPECT_EQ(package_of(devlink_message(version(102, "fw.app.name", "new") +
                                       version(100, "fw.app.name", "old"))),
            "none");
}

/// A parameter as the kernel sends it: the type of a number of 32 bits is 3, of a switch 6.
std::string parameter(const std::string& name, unsigned type, const std::string& values) {
  return attribute(80, text_attribute(81, name) + attribute(82, "") + test::u8(83, type) +
                           attribute(84, values));
}

/// A value in a mode: 0 runtime, 1 at the driver's start, 2 permanent.
std::string in_mode(unsigned mode, const std::string& data) {
  return attribute(85, data + test::u8(87, mode));
}

std::string number(std::uint32_t value) {
  return test::u32(86, value);
}

TEST(Devlink, a_parameter_is_asked_for_by_name) {
  EXPECT_EQ(devlink_parameter_request(kFamily, "0000:3b:00.1", "total_vfs", 2),
            message(kFamily,
                    generic_header(38, 1) + text_attribute(1, "pci") +
                        text_attribute(2, "0000:3b:00.1") + text_attribute(81, "total_vfs"),
                    kRequest, 2));
}

TEST(Devlink, parameters_have_a_value_for_now_and_one_for_the_next_start) {
  const auto is_on = attribute(86, "");
  const auto said = devlink_parameters(
      device_info("x") + devlink_message(parameter("total_vfs", 3, in_mode(2, number(16)))) +
      devlink_message(parameter("enable_sriov", 6, in_mode(2, ""))) +
      devlink_message(parameter("enable_roce", 6, in_mode(1, "") + in_mode(0, is_on))));
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_THAT(*said, testing::ElementsAre(DevlinkParameter{"total_vfs", std::nullopt, 16},
                                          DevlinkParameter{"enable_sriov", std::nullopt, 0},
                                          DevlinkParameter{"enable_roce", 1, std::nullopt}));
}

TEST(Devlink, parameters_that_are_malformed_or_not_asked_for_say_nothing) {
  const auto said = devlink_parameters(
      devlink_message(parameter("flow_steering_mode", 5, in_mode(0, text_attribute(86, "smfs")))) +
      devlink_message(parameter(
          "total_vfs", 3,
          in_mode(2, attribute(86, "abc")) + in_mode(7, number(4)) + attribute(85, number(5)))));
  EXPECT_THAT(said.value(),
              testing::ElementsAre(DevlinkParameter{"total_vfs", std::nullopt, std::nullopt}));
  EXPECT_FALSE(devlink_parameters("garbage"));
  EXPECT_THAT(devlink_parameters("").value(), testing::IsEmpty());
}

TEST(Devlink, only_parameters_that_are_read_pass_the_door) {
  auto bytes = devlink_message(parameter("total_vfs", 3, in_mode(2, number(16)))) +
               devlink_message(parameter("secret_key", 3, in_mode(2, number(7))));
  blank_unread_info(bytes);
  EXPECT_EQ(bytes.find("secret_key"), std::string::npos);
  EXPECT_EQ(devlink_parameters(bytes).value().size(), 1U);
}

TEST(Devlink, bytes_that_are_no_messages_are_malformed) {
  EXPECT_EQ(package_of("garbage"), "not a message of devlink");
  EXPECT_EQ(package_of(message(kFamily, "ab")), "not a message of devlink");
}

TEST(Devlink, serial_numbers_and_other_versions_do_not_pass_the_door) {
  auto bytes = devlink_message(
      text_attribute(99, "00-11-22-ff-ff-33-44-55") + version(100, "board.id", "K65390-000") +
      running("fw.bundle_id", "0x80002ec0") + running("fw.app.name", "ICE COMMS Package"));
  blank_unread_info(bytes);
  EXPECT_EQ(
      bytes,
      devlink_message(
          attribute(99, std::string(24, '\0')) +
          attribute(100, std::string(version(100, "board.id", "K65390-000").size() - 4, '\0')) +
          running("fw.bundle_id", std::string(10, '\0')) +
          running("fw.app.name", "ICE COMMS Package")));
}

TEST(Devlink, a_machine_without_a_living_sysfs_has_no_kernel_to_ask) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\nt /a 1\n").value();
  EXPECT_EQ(host->devlink_info("0000:3b:00.0").value(), std::nullopt);
}

/// What a snapshot of this answer says, after it was text and was redacted.
Result<std::optional<std::string>> replayed_devlink(Result<std::optional<std::string>> answer) {
  test::DevlinkHost kernel({{"0000:3b:00.0", std::move(answer)}});
  snapshot::RecordingHost recorder(kernel);
  (void)recorder.devlink_info("0000:3b:00.0");
  const auto text = snapshot::format_snapshot(snapshot::redact(recorder.recorded()).snapshot);
  return snapshot::SnapshotHost::parse(text).value()->devlink_info("0000:3b:00.0");
}

TEST(Devlink, a_snapshot_gives_the_recorded_answer) {
  const auto bytes = device_info("ICE OS Default Package");
  EXPECT_EQ(replayed_devlink(std::optional(bytes)).value(), bytes);
  EXPECT_EQ(replayed_devlink(std::optional<std::string>()).value(), std::nullopt);
}

TEST(Devlink, a_snapshot_gives_the_recorded_failure) {
  const auto failure = replayed_devlink(Error{ErrorCode::denied, "/x: operation not permitted"});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().message, "/.netlink/devlink/pci.0000:3b:00.0: operation not permitted");
}

}  // namespace
}  // namespace railhead::host
