// SPDX-License-Identifier: Apache-2.0
#include "features/features.h"

#include <gmock/gmock.h>

#include <set>

#include "features/gpu_direct.h"
#include "topology/arrange.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using features::GpuDirectRoute;
using testing::MatchesRegex;

class Features {
 public:
  explicit Features(node::Node node, const features::Rails& before = {})
      : arrangement_(topology::arrange(std::move(node))),
        topology_(topology::make_topology(arrangement_)) {
    const auto deal = affinity::deal(arrangement_.node, topology_, {});
    rails_ = features::rails_since(before, arrangement_.node, deal);
    for (auto& one : features::features_of(arrangement_.node, topology_, deal, {}, rails_)) {
      all_.push_back(std::move(one));
    }
  }

  [[nodiscard]] std::string value(const std::string& key) const {
    for (const auto& one : all_) {
      if (one.key == "railhead.io/" + key) return one.value;
    }
    return "absent";
  }

  [[nodiscard]] const std::vector<features::Feature>& all() const { return all_; }

  [[nodiscard]] const features::Rails& rails() const { return rails_; }

 private:
  topology::Arrangement arrangement_;
  topology::Topology topology_;
  std::vector<features::Feature> all_;
  features::Rails rails_;
};

/// As after it fell off the bus.
void lose(node::Node& node, const std::string& nic) {
  std::erase_if(node.nics, [&](const node::Nic& one) { return one.name == nic; });
}

void set_prefix(node::Node& node, std::size_t nic, const std::string& prefix) {
  auto& port = node.nics[nic].ports.at(0);
  port.state = node::PortState::active;
  port.gids = {{0, prefix + ":506b:4b03:0029:d7a4", {}, {}}};
}

TEST(Features, of_a_dgx_h100) {
  const Features found(machine("dgx-h100"));
  EXPECT_EQ(found.value("rdma.capable"), "true");
  EXPECT_EQ(found.value("rdma.rate-gbps"), "400");
  EXPECT_EQ(found.value("rdma.link-layer"), "InfiniBand");
  EXPECT_EQ(found.value("rdma.total-vfs"), "16");
  EXPECT_EQ(found.value("rails"), "8");
  EXPECT_EQ(found.value("rail-0.nic"), "mlx5_0");
  EXPECT_EQ(found.value("rail-8.nic"), "absent");
  EXPECT_EQ(found.value("gpudirect.route"), "unknown") << "nothing was read of the driver";
}

TEST(Features, say_how_many_virtual_functions_the_firmware_allows) {
  auto node = machine("dgx-h100");
  const auto allow = [&](const std::string& nic, unsigned functions) {
    const auto pci = *node.find_nic(nic)->pci;
    for (auto& device : node.pci) {
      if (device.address == pci) device.sriov_totalvfs = functions;
    }
  };
  for (const auto& nic : node.nics) allow(nic.name, 16);
  EXPECT_EQ(Features(node).value("rdma.total-vfs"), "16");
  allow("mlx5_3", 8);
  EXPECT_EQ(Features(node).value("rdma.total-vfs"), "mixed");
}

TEST(Features, of_a_machine_without_rdma_are_few) {
  const Features found{node::Node()};
  EXPECT_EQ(found.value("rdma.capable"), "false");
  EXPECT_EQ(found.value("gpudirect.route"), "none");
  EXPECT_EQ(found.value("machine"), "unknown");
  EXPECT_EQ(found.all().size(), 3U);
}

TEST(Features, a_machine_that_cannot_be_read_is_not_called_incapable) {
  node::Node node;
  node.problems = {{node::Problem::Kind::unreadable, "/sys/class/infiniband", "EACCES"}};
  EXPECT_EQ(Features(node).value("rdma.capable"), "unknown");
}

TEST(Features, name_a_known_machine) {
  EXPECT_EQ(Features(machine("azure-nd-a100-v4")).value("machine"), "Azure-ND-A100-v4");
}

TEST(Features, a_fabric_is_a_subnet_prefix_but_that_of_the_factory) {
  auto node = machine("dgx-h100");
  const auto rails = Features(node).value("rails");
  for (std::size_t n = 0; n < node.nics.size(); ++n) set_prefix(node, n, "fe80:0000:0000:0000");
  EXPECT_EQ(Features(node).value("fabric"), "unknown");
  for (std::size_t n = 0; n < node.nics.size(); ++n) set_prefix(node, n, "FEC0:0000:0000:0007");
  EXPECT_EQ(Features(node).value("fabric"), "ib-fec0000000000007");
  EXPECT_EQ(Features(node).value("rail-1.fabric"), "ib-fec0000000000007");
  node.nics[0].ports[0].state = node::PortState::down;
  EXPECT_EQ(Features(node).value("fabric"), "ib-fec0000000000007") << "the others say it";
  EXPECT_EQ(Features(node).value("rail-0.fabric"), "unknown");
  EXPECT_EQ(Features(node).value("rails"), rails);
  set_prefix(node, 0, "fec0:0000:0000:0008");
  EXPECT_EQ(Features(node).value("fabric"), "mixed");
}

TEST(Rails, keep_their_numbers_when_one_is_lost_and_when_it_is_back) {
  const auto whole = machine("dgx-h100");
  const Features before(whole);
  auto node = whole;
  lose(node, "mlx5_4");  // rail 2
  const Features after(node, before.rails());
  EXPECT_EQ(after.value("rails"), "7");
  EXPECT_EQ(after.value("rail-2.nic"), "absent");
  for (const char* rail : {"0", "1", "3", "4", "5", "6", "7"}) {
    const auto key = "rail-" + std::string(rail) + ".nic";
    EXPECT_EQ(after.value(key), before.value(key));
  }
  EXPECT_EQ(Features(whole, after.rails()).all(), before.all());
  EXPECT_EQ(Features(node).value("rail-2.nic"), before.value("rail-3.nic")) << "nothing was seen";
}

TEST(Rails, forget_what_is_there_and_no_compute_card_any_more) {
  const auto whole = machine("dgx-h100");
  auto before = Features(whole).rails();
  const auto* storage = whole.find_nic("mlx5_1");  // in no deal
  ASSERT_NE(storage, nullptr);
  auto slot = *storage->pci;
  slot.function = 0;
  before.push_back({slot, ""});
  EXPECT_EQ(Features(whole, before).rails(), Features(whole).rails());
}

TEST(Rails, of_another_machine_make_no_number_above_the_most) {
  features::Rails many;
  for (std::uint8_t bus = 0; bus < features::kMostRails; ++bus)
    many.push_back({{7, bus, 0, 0}, ""});
  EXPECT_EQ(Features(machine("dgx-h100"), many).value("rail-7.nic"),
            Features(machine("dgx-h100")).value("rail-7.nic"));
}

TEST(Rails, are_a_text_and_back) {
  const features::Rails rails = {{{0, 0x18, 0, 0}, ""}, {{0x10000, 0x2a, 1, 0}, "mlx5_core.sf.2"}};
  EXPECT_EQ(to_text(rails), "0000:18:00.0 10000:2a:01.0/mlx5_core.sf.2");
  EXPECT_EQ(features::parse_rails(to_text(rails)), rails);
  EXPECT_TRUE(features::parse_rails("0000:18:00.0 rails").empty());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "0000:18:00.0 ";
  EXPECT_TRUE(features::parse_rails(many).empty());
}

TEST(Features, a_nic_without_a_driver_has_no_name) {
  auto node = machine("dgx-h100");
  for (auto& nic : node.nics) {
    if (nic.name != "mlx5_4") continue;
    nic.registered = false;
    nic.name = nic.pci->str();
  }
  EXPECT_EQ(Features(node).value("rail-2.nic"), "none");
  EXPECT_EQ(Features(node).value("rail-3.nic"), "mlx5_5");
}

TEST(Features, of_every_machine_are_labels_of_kubernetes) {
  for (const auto& name : machine_names()) {
    SCOPED_TRACE(name);
    const Features found(machine(name));
    EXPECT_LE(found.all().size(), 8U + 2 * features::kMostRails);
    std::set<std::string> keys;
    for (const auto& [key, value] : found.all()) {
      EXPECT_TRUE(keys.insert(key).second) << key;
      EXPECT_THAT(key, MatchesRegex("railhead\\.io/[a-z][-a-z0-9.]*[a-z0-9]"));
      EXPECT_THAT(value, MatchesRegex("[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?"));
      EXPECT_LE(value.size(), 63U);
    }
    const auto file = features::to_feature_file(found.all(), {"w", "b0", found.rails()});
    EXPECT_LT(file.size(), 65536U);
    EXPECT_EQ(features::rails_in(file, "b0"), found.rails());
  }
}

TEST(LabelValue, is_what_is_left_of_any_text) {
  EXPECT_EQ(features::label_value("Azure ND A100 v4"), "Azure-ND-A100-v4");
  EXPECT_EQ(features::label_value("mlx5_0"), "mlx5_0");
  EXPECT_EQ(features::label_value("  (é)x=1\n"), "x-1");
  EXPECT_EQ(features::label_value(""), "unknown");
  EXPECT_EQ(features::label_value("-_."), "unknown");
  EXPECT_EQ(features::label_value(std::string(62, 'a') + " b"), std::string(62, 'a'));
  EXPECT_EQ(features::label_value(std::string(200, 'a')).size(), 63U);
}

TEST(FeatureFileText, names_its_writer_its_rails_and_its_end) {
  const features::Rails rails = {{{0, 0x18, 0, 0}, ""}};
  const auto text = features::to_feature_file(
      {{"a/b", "c"}},
      {"7", "b0", rails, std::chrono::system_clock::time_point(std::chrono::seconds(1700000000))});
  EXPECT_EQ(text,
            "# RDMA features of this node, by railhead, for node-feature-discovery.\n"
            "# writer: 7\n"
            "# rails: b0 0000:18:00.0\n"
            "# +expiry-time=2023-11-14T22:13:20Z\n"
            "a/b=c\n");
  EXPECT_EQ(features::rails_in(text, "b0"), rails);
  EXPECT_TRUE(features::rails_in(text, "b1").empty());
  EXPECT_TRUE(features::rails_in("a/b=c\n", "").empty());
  EXPECT_TRUE(features::is_written_by(text, "7"));
  EXPECT_FALSE(features::is_written_by(text, ""));
  EXPECT_FALSE(features::is_written_by("a/b=c\n", "7"));
}

/// What the doctor's parts would have read.
system::System driver(const std::string& version, const std::string& release,
                      const std::string& modules) {
  system::System system;
  const auto text = [&](std::string_view path, const std::string& value) {
    system.texts[std::string(path)] = {std::string(path), value, ""};
  };
  if (!version.empty()) text(features::kNvidiaDriverVersion, version);
  if (!release.empty()) text(features::kKernelRelease, release);
  text("/proc/modules", modules);
  system.folders["/sys/module"] = {"/sys/module", std::vector<std::string>{}, ""};
  return system;
}

constexpr const char* kOpen = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15";
constexpr const char* kClosed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15";
constexpr const char* kPeermem = "nvidia_peermem 16384 0 - Live 0x0\n";

TEST(GpuDirect, is_dma_buf_before_peermem_and_unknown_before_none) {
  const auto route = [](const system::System& system) {
    return features::gpu_direct_of(system).route();
  };
  EXPECT_EQ(route(driver(kOpen, "6.1.0-18", "")), GpuDirectRoute::dma_buf);
  EXPECT_EQ(route(driver(kOpen, "5.12.0", kPeermem)), GpuDirectRoute::dma_buf);
  EXPECT_EQ(route(driver(kOpen, "5.11.9", kPeermem)), GpuDirectRoute::peermem);
  EXPECT_EQ(route(driver(kClosed, "6.1.0", kPeermem)), GpuDirectRoute::peermem);
  EXPECT_EQ(route(driver(kClosed, "6.1.0", "")), GpuDirectRoute::none);
  EXPECT_EQ(route(driver(kOpen, "5.4.0", "")), GpuDirectRoute::none);
  EXPECT_EQ(route(driver(kClosed, "", "")), GpuDirectRoute::none) << "it exports nothing";
  EXPECT_EQ(route(driver("", "6.1.0", "")), GpuDirectRoute::unknown);
  EXPECT_EQ(route(driver(kOpen, "", "")), GpuDirectRoute::unknown);
  EXPECT_EQ(route(driver("", "", kPeermem)), GpuDirectRoute::peermem);
  EXPECT_EQ(route({}), GpuDirectRoute::unknown);
}

TEST(GpuDirect, of_an_older_kernel_with_a_later_rdma_stack_is_not_known) {
  const auto route = [](const system::System& system) {
    return features::gpu_direct_of(system).route();
  };
  constexpr const char* kRedHat = "4.18.0-553.el8_10.x86_64";
  constexpr const char* kOfed = "mlx_compat 69632 9 - Live 0x0\n";
  EXPECT_EQ(route(driver(kOpen, kRedHat, "")), GpuDirectRoute::unknown);
  EXPECT_EQ(route(driver(kOpen, kRedHat, kPeermem)), GpuDirectRoute::peermem);
  EXPECT_EQ(route(driver(kClosed, kRedHat, "")), GpuDirectRoute::none);
  EXPECT_EQ(route(driver(kOpen, "5.10.0", kOfed)), GpuDirectRoute::unknown);
}

TEST(GpuDirect, of_other_vendors_is_not_known) {
  auto node = machine("dgx-h100");
  EXPECT_EQ(features::gpu_direct_route(node, driver(kOpen, "6.1.0", "")), GpuDirectRoute::dma_buf);
  for (auto& gpu : node.gpus) gpu.vendor = gpu::GpuVendor::amd;
  EXPECT_EQ(features::gpu_direct_route(node, driver(kOpen, "6.1.0", "")), GpuDirectRoute::unknown);
  node.gpus.clear();
  EXPECT_EQ(features::gpu_direct_route(node, {}), GpuDirectRoute::none);
}

}  // namespace
}  // namespace railhead::test
