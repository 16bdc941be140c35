// SPDX-License-Identifier: Apache-2.0
// What ethtool(8) and dcb(8) set, of a netdev whose driver answers as the kernel does.
#include "setup/link_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <cerrno>

#include "host/host_error.h"

#include "unit/config_space.h"
#include "unit/host/empty_host.h"
#include "unit/link_builder.h"
#include "unit/setup/node_tree.h"

namespace railhead::setup::test {
namespace {

using host::LinkPart;
using railhead::test::app_object;
using railhead::test::attribute;
using railhead::test::dcb_answer;
using railhead::test::ets_object;
using railhead::test::pfc_object;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// A driver's settings, and who uses the RDMA device.
struct Driver {
  unsigned rx = 1024;
  bool adaptive = true;
  bool autoneg = true;
  unsigned pfc = 0;
  bool has_dcb = true;
  std::map<unsigned, unsigned> dscp;  ///< and the priority of each
  host::Ets ets{};
  bool is_used = false;
  bool is_silent = false;   ///< RDMA netlink fails
  bool gives_up = false;    ///< … in the middle of its lists
  std::uint32_t trust = 0;  ///< of the first virtual function

  [[nodiscard]] std::optional<std::string> answer(LinkPart part) const {
    using namespace railhead::test;
    switch (part) {
      case LinkPart::rings: return rings_answer(rx, 1024);
      case LinkPart::coalesce: return coalesce_answer(adaptive, 8);
      case LinkPart::pause: return pause_answer(autoneg, true, true);
      case LinkPart::vfs: return vf_answer({.number = 0, .trust = trust});
      case LinkPart::dcb: break;
    }
    if (!has_dcb) return std::nullopt;
    std::string table;
    for (const auto& [number, priority] : dscp) table += app_object(5, priority, number);
    const auto eight_of = [](const std::array<std::uint8_t, 8>& numbers) {
      EightBytes wide{};
      std::ranges::copy(numbers, wide.begin());
      return wide;
    };
    return dcb_answer(
        ets_object(eight_of(ets.priority_to_class), eight_of(ets.tsa), eight_of(ets.bandwidth)) +
        pfc_object(pfc, 3) + attribute(3, table));
  }

  void set(const std::string& subject, const std::string& value) {
    if (subject == "ens8f0/rings.rx") rx = static_cast<unsigned>(std::stoul(value));
    if (subject == "ens8f0/coalesce.adaptive-rx") adaptive = value == "on";
    if (subject == "ens8f0/pause.autoneg") autoneg = value == "on";
    if (subject == "ens8f0/vf.0.trust") trust = value == "on" ? 1 : 0;
    if (subject == "ens8f0/pfc") pfc = parse_priorities(value).value();
    if (subject == "ens8f0/ets") ets = parse_ets(value).value();
    if (subject == "ens8f0/dscp.26") dscp.erase(26);
    if (subject == "ens8f0/dscp.26" && value != "none")
      dscp[26] = static_cast<unsigned>(std::stoul(value));
  }
};

/// The tree, with this driver beneath it.
class DrivenHost : public railhead::test::EmptyHost {
 public:
  DrivenHost(std::unique_ptr<host::Host> tree, const Driver& driver)
      : tree_(std::move(tree)),
        driver_(driver) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return tree_->read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return tree_->readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return tree_->list(path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return tree_->device(path);
  }

  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   LinkPart part) override {
    if (netdev != "ens8f0") return host::host_error(netdev, ENODEV);
    return driver_.answer(part);
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    using namespace railhead::test;
    const std::string device =
        u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0) + text_attribute(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
    if (dump.command == RDMA_NLDEV_CMD_GET) return std::optional(rdma_message(1, device));
    if (driver_.is_silent) return host::host_error("rdma", ETIMEDOUT);
    if (driver_.gives_up) return std::optional(message(NLMSG_DONE, netlink_status(EIO)));
    if (dump.command != RDMA_NLDEV_CMD_RES_CTX_GET || !driver_.is_used)
      return std::optional<std::string>("");
    const auto entry =
        attribute(RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
                  u32(RDMA_NLDEV_ATTR_RES_CTXN, 1) + u32(RDMA_NLDEV_ATTR_RES_PID, 4711));
    return std::optional(
        rdma_message(dump.command, device + attribute(RDMA_NLDEV_ATTR_RES_CTX, entry)));
  }

 private:
  std::unique_ptr<host::Host> tree_;
  const Driver& driver_;
};

constexpr const char* kTuned = R"(link:
  ens8f0:
    rings: {rx: 8192}
    coalesce: {adaptive-rx: false}
    pause: {autoneg: false}
    ets: {prio-tc: [0, 0, 0, 1, 0, 0, 0, 0], tc-tsa: [ets, ets, ets, ets, ets, ets, ets, ets],
          tc-bw: [40, 60, 0, 0, 0, 0, 0, 0]}
    pfc: [3]
    dscp: {26: 3}
)";

class LinkTest : public testing::Test {
 protected:
  LinkTest() {
    tree_.physical_function();
    std::filesystem::create_directory_symlink(
        "../..", tree_.at(NodeTree::path_of("0000:3b:00.0") + "net/ens8f0/device"));
    kernel_.on_link = [this](const std::string& subject, const std::string& value) {
      driver_.set(subject, value);
    };
  }

  Machine machine() {
    auto machine = tree_.machine();
    machine.host = std::make_unique<DrivenHost>(std::move(machine.host), driver_);
    return machine;
  }

  void give_rdma_device() const {
    const std::string sysfs = "sys/class/infiniband/mlx5_0";
    tree_.write(sysfs + "/node_guid", "0c42:a103:0012:3456\n");
    std::filesystem::create_directory_symlink("../../../bus/pci/devices/0000:3b:00.0",
                                              tree_.at(sysfs + "/device"));
  }

  Plan plan(const std::string& text, Risk allowed = Risk::restart) {
    return make_plan(machine(), wanted(text), allowed).value();
  }

  NodeTree tree_;
  Driver driver_;
  TreeKernel kernel_{tree_};
};

TEST_F(LinkTest, each_setting_is_measured_set_and_taken_back) {
  const auto before = tree_.everything();
  const auto first = plan(kTuned);
  EXPECT_THAT(states(first),
              ElementsAre("link.rings.rx/ens8f0 todo", "link.coalesce.adaptive-rx/ens8f0 todo",
                          "link.pause.autoneg/ens8f0 todo", "link.ets/ens8f0 todo",
                          "link.pfc/ens8f0 todo", "link.dscp.26/ens8f0 todo"));
  EXPECT_EQ(step_of(first, "link.rings.rx/ens8f0").before, "1024");
  EXPECT_EQ(step_of(first, "link.rings.rx/ens8f0").title, "ens8f0: rings.rx is 8192");
  EXPECT_EQ(step_of(first, "link.pause.autoneg/ens8f0").before, "on");
  EXPECT_EQ(step_of(first, "link.pfc/ens8f0").before, "none");
  EXPECT_EQ(step_of(first, "link.dscp.26/ens8f0").before, "none");
  EXPECT_EQ(step_of(first, "link.ets/ens8f0").after,
            "prio-tc 0,0,0,1,0,0,0,0 tc-tsa ets,ets,ets,ets,ets,ets,ets,ets "
            "tc-bw 40,60,0,0,0,0,0,0");
  const auto outcome = apply(machine(), kernel_, wanted(kTuned), Risk::restart, kSilent).value();
  EXPECT_FALSE(outcome.has_failed);
  EXPECT_EQ(driver_.rx, 8192U);
  EXPECT_EQ(driver_.pfc, 8U);
  EXPECT_THAT(driver_.dscp, ElementsAre(Pair(26, 3)));
  for (const auto& step : plan(kTuned, Risk::live)) EXPECT_EQ(step.state, StepState::done);
  EXPECT_FALSE(revert(machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(driver_.rx, 1024U);
  EXPECT_TRUE(driver_.adaptive && driver_.autoneg);
  EXPECT_EQ(driver_.pfc, 0U);
  EXPECT_EQ(driver_.ets, host::Ets());
  EXPECT_TRUE(driver_.dscp.empty());
  EXPECT_EQ(tree_.everything(), before);
}

TEST_F(LinkTest, only_coalescing_is_done_without_consent) {
  EXPECT_THAT(states(plan(kTuned, Risk::live)),
              ElementsAre("link.rings.rx/ens8f0 refused", "link.coalesce.adaptive-rx/ens8f0 todo",
                          "link.pause.autoneg/ens8f0 refused", "link.ets/ens8f0 refused",
                          "link.pfc/ens8f0 refused", "link.dscp.26/ens8f0 refused"));
  EXPECT_EQ(step_of(plan(kTuned, Risk::live), "link.pfc/ens8f0").reason,
            "needs --allow R2: the driver sets its buffers anew; switches have to have it, too");
}

TEST_F(LinkTest, what_the_driver_does_not_have_is_refused) {
  driver_.has_dcb = false;
  const auto step = step_of(plan("link: {ens8f0: {pfc: [3]}}"), "link.pfc/ens8f0");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "mlx5_core does not have it (EOPNOTSUPP)");
  EXPECT_EQ(
      step_of(plan("link: {ens8f0: {coalesce: {tx-frames: 3}}}"), "link.coalesce.tx-frames/ens8f0")
          .state,
      StepState::refused);
}

TEST_F(LinkTest, more_than_the_driver_takes_is_refused) {
  EXPECT_EQ(step_of(plan("link: {ens8f0: {rings: {rx: 16384}}}"), "link.rings.rx/ens8f0").reason,
            "mlx5_core takes 8192 at most");
  EXPECT_EQ(step_of(plan("link: {ens8f0: {pfc: [1, 2, 3, 4]}}"), "link.pfc/ens8f0").reason,
            "mlx5_core takes 3 priorities at most");
}

TEST_F(LinkTest, a_link_that_a_program_uses_is_left_alone) {
  driver_.is_used = true;
  tree_.write("proc/4711/comm", "python3\n");
  give_rdma_device();
  const auto used = plan(
      "mtu: {ens8f0: 9000}\nlink: {ens8f0: {rings: {rx: 8192}, coalesce: "
      "{adaptive-rx: false}}}");
  EXPECT_THAT(states(used), ElementsAre("link.mtu/ens8f0 refused", "link.rings.rx/ens8f0 refused",
                                        "link.coalesce.adaptive-rx/ens8f0 todo"));
  EXPECT_EQ(step_of(used, "link.mtu/ens8f0").reason, "mlx5_0 is used by process 4711 (python3)");
}

TEST_F(LinkTest, who_cannot_be_seen_may_use_it) {
  give_rdma_device();
  driver_.is_silent = true;
  const auto step = step_of(plan("link: {ens8f0: {rings: {rx: 8192}}}"), "link.rings.rx/ens8f0");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "who uses mlx5_0 cannot be seen: rdma: timed out");
}

TEST_F(LinkTest, from_another_pid_namespace_users_cannot_be_seen) {
  give_rdma_device();
  std::filesystem::create_directories(tree_.at("proc/self/ns"));
  const auto link = tree_.at("proc/self/ns/pid");
  std::filesystem::create_symlink("pid:[4026531836]", link);
  EXPECT_EQ(step_of(plan(kTuned), "link.rings.rx/ens8f0").state, StepState::todo);
  std::filesystem::remove(link);
  std::filesystem::create_symlink("pid:[4026532801]", link);
  EXPECT_EQ(step_of(plan(kTuned), "link.rings.rx/ens8f0").state, StepState::refused);
  EXPECT_EQ(step_of(plan(kTuned), "link.rings.rx/ens8f0").reason,
            "who uses mlx5_0 cannot be seen from a PID namespace of its own: hostPID: true");
}

TEST_F(LinkTest, pcie_fields_of_a_device_that_a_program_uses_stay) {
  give_rdma_device();
  tree_.write(NodeTree::path_of("0000:3b:00.0") + "config", railhead::test::config_space(0x290f));
  const std::string id = "gpudirect.relaxed-ordering/0000:3b:00.0";
  EXPECT_EQ(step_of(plan("gpudirect: {pcie: true}"), id).state, StepState::todo);
  driver_.is_used = true;
  EXPECT_EQ(step_of(plan("gpudirect: {pcie: true}"), id).state, StepState::refused);
  EXPECT_THAT(step_of(plan("gpudirect: {pcie: true}"), id).reason,
              HasSubstr("mlx5_0 is used by process 4711"));
}

TEST_F(LinkTest, a_list_that_was_cut_does_not_say_that_nobody_uses_it) {
  give_rdma_device();
  driver_.gives_up = true;
  const auto step = step_of(plan("link: {ens8f0: {rings: {rx: 8192}}}"), "link.rings.rx/ens8f0");
  EXPECT_EQ(step.state, StepState::refused);
  EXPECT_EQ(step.reason, "who uses mlx5_0 cannot be seen: /.netlink/rdma/22.0: input/output error");
}

TEST_F(LinkTest, a_link_that_a_program_uses_by_now_is_not_taken_back) {
  give_rdma_device();
  const std::string text = "link: {ens8f0: {rings: {rx: 8192}, coalesce: {adaptive-rx: false}}}";
  ASSERT_FALSE(apply(machine(), kernel_, wanted(text), Risk::restart, kSilent).value().has_failed);
  driver_.is_used = true;
  EXPECT_THAT(states(plan_revert(machine()).value()),
              ElementsAre("revert.link/ens8f0/coalesce.adaptive-rx todo",
                          "revert.link/ens8f0/rings.rx refused"));
}

TEST_F(LinkTest, what_somebody_set_since_stays) {
  const std::string text = "link: {ens8f0: {rings: {rx: 8192}}}";
  ASSERT_FALSE(apply(machine(), kernel_, wanted(text), Risk::restart, kSilent).value().has_failed);
  driver_.rx = 2048;
  const auto outcome = revert(machine(), kernel_, kSilent).value();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_EQ(outcome.steps.front().id, "revert.link/ens8f0/rings.rx");
  EXPECT_EQ(outcome.steps.front().state, StepState::refused);
  EXPECT_EQ(driver_.rx, 2048U);
}

TEST_F(LinkTest, a_driver_that_does_not_keep_it_has_failed) {
  kernel_.on_link = nullptr;
  const auto outcome =
      apply(machine(), kernel_, wanted("link: {ens8f0: {pfc: [3]}}"), Risk::restart, kSilent)
          .value();
  EXPECT_TRUE(outcome.has_failed);
  EXPECT_THAT(outcome.steps.front().reason, HasSubstr("it was done, and is still none"));
}

TEST_F(LinkTest, a_virtual_function_is_trusted_and_no_longer) {
  ASSERT_TRUE(kernel_.set_functions("0000:3b:00.0", 1));
  const std::string text =
      "sriov: [{resourceName: vf, nicSelector: {vendor: 15b3}, numVfs: 1, trust: on}]";
  EXPECT_EQ(step_of(plan(text), "sriov.trust/0000:3b:01.0").before, "off");
  ASSERT_FALSE(apply(machine(), kernel_, wanted(text), Risk::live, kSilent).value().has_failed);
  EXPECT_EQ(driver_.trust, 1U);
  ASSERT_FALSE(revert(machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(driver_.trust, 0U);
  driver_.trust = 0xffffffff;
  EXPECT_EQ(step_of(plan(text), "sriov.trust/0000:3b:01.0").reason, "mlx5_core does not have it");
  EXPECT_FALSE(parse_wanted("test", "sriov: [{nicSelector: {vendor: 15b3}, trust: maybe}]"));
}

TEST_F(LinkTest, a_netdev_that_is_not_there_waits) {
  EXPECT_EQ(step_of(plan("link: {ens9: {pfc: [3]}}"), "link.pfc/ens9").reason,
            "there is no netdev ens9 here");
}

TEST_F(LinkTest, in_another_network_namespace_nothing_is_known_of_the_driver) {
  tree_.write("sys/class/net/ens9/mtu", "1500\n");
  const auto step = step_of(plan("link: {ens9: {pfc: [3]}}"), "link.pfc/ens9");
  EXPECT_EQ(step.state, StepState::parked);
  EXPECT_THAT(step.reason, HasSubstr("another network namespace than ens9"));
}

TEST_F(LinkTest, congestion_control_is_of_both_points) {
  const std::string text = "link: {ens8f0: {ecn: [3]}}";
  const auto without = step_of(plan(text), "link.ecn/ens8f0");
  EXPECT_EQ(without.state, StepState::refused);
  EXPECT_THAT(without.reason, HasSubstr("mlx5 of MLNX_OFED and DOCA has it"));
  for (const std::string point : {"roce_np", "roce_rp"}) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      tree_.write("sys/class/net/ens8f0/ecn/" + point + "/enable/" + std::to_string(priority),
                  priority == 5 ? "1\n" : "0\n");
    }
  }
  const auto before = tree_.everything();
  const auto step = step_of(plan(text, Risk::live), "link.ecn/ens8f0");
  EXPECT_EQ(step.before, "5");
  EXPECT_EQ(step.changes.size(), 4U);
  EXPECT_FALSE(apply(machine(), kernel_, wanted(text), Risk::live, kSilent).value().has_failed);
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0/ecn/roce_rp/enable/3"), "1\n");
  EXPECT_EQ(tree_.read("sys/class/net/ens8f0/ecn/roce_np/enable/5"), "0\n");
  EXPECT_FALSE(revert(machine(), kernel_, kSilent).value().has_failed);
  EXPECT_EQ(tree_.everything(), before);
}

TEST(LinkWish, has_the_words_of_ethtool_and_dcb) {
  const auto error_of = [](const std::string& text) {
    const auto wanted = parse_wanted("setup.yaml", "link: {ens8f0: {" + text + "}}");
    return wanted ? "" : wanted.error().message;
  };
  EXPECT_EQ(error_of("rings: {rx: 1, tx: 2}, pause: {rx: true}, ecn: [0, 7], tos: 106"), "");
  EXPECT_THAT(error_of("ring: {}"), HasSubstr("there is no key \"ring\""));
  EXPECT_THAT(error_of("rings: {rz: 1}"), HasSubstr("rings has no key \"rz\""));
  EXPECT_THAT(error_of("rings: {rx: -1}"), HasSubstr("rings: line 1"));
  EXPECT_THAT(error_of("pause: {rx: 1}"), HasSubstr("pause: line 1"));
  EXPECT_THAT(error_of("pfc: [8]"), HasSubstr("is not 0 to 7"));
  EXPECT_THAT(error_of("pfc: 3"), HasSubstr("no list of priorities"));
  EXPECT_THAT(error_of("dscp: {64: 3}"), HasSubstr("is no DSCP"));
  EXPECT_THAT(error_of("tos: 256"), HasSubstr("is not 0 to 255"));
  EXPECT_THAT(error_of("ets: {prio-tc: [0]}"), HasSubstr("ets has no tc-tsa"));
  const std::string lists =
      "prio-tc: [0, 0, 0, 0, 0, 0, 0, 0], tc-tsa: [ets, strict, strict, "
      "strict, strict, strict, strict, strict], tc-bw: ";
  EXPECT_EQ(error_of("ets: {" + lists + "[100, 0, 0, 0, 0, 0, 0, 0]}"), "");
  EXPECT_THAT(error_of("ets: {" + lists + "[90, 0, 0, 0, 0, 0, 0, 0]}"),
              HasSubstr("add up to 90, not 100"));
  EXPECT_THAT(error_of("ets: {" + lists + "[90, 10, 0, 0, 0, 0, 0, 0]}"),
              HasSubstr("a strict class has no bandwidth"));
  EXPECT_FALSE(parse_wanted("setup.yaml", "link: {../x: {pfc: [3]}}"));
}

TEST(LinkControl, texts_are_what_they_were_made_of) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto text = host::priorities_text(static_cast<std::uint8_t>(bits));
    EXPECT_EQ(parse_priorities(text).value(), bits) << text;
  }
  EXPECT_FALSE(parse_priorities("8"));
  EXPECT_FALSE(parse_priorities(""));
  const auto* text =
      "prio-tc 0,1,2,3,4,5,6,7 tc-tsa strict,ets,1,255,0,2,0,0 tc-bw 0,9,0,0,0,0,0,0";
  EXPECT_EQ(ets_text(parse_ets(text).value()),
            "prio-tc 0,1,2,3,4,5,6,7 tc-tsa strict,ets,1,255,strict,ets,strict,strict "
            "tc-bw 0,9,0,0,0,0,0,0");
  EXPECT_FALSE(parse_ets("prio-tc 0,1 tc-tsa strict tc-bw 0"));
}

}  // namespace
}  // namespace railhead::setup::test
