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
  explicit Features(node::Node node, const system::System& system = {})
      : arrangement_(topology::arrange(std::move(node))),
        topology_(topology::make_topology(arrangement_)) {
    const auto deal = affinity::deal(arrangement_.node, topology_, {});
    for (auto& one : features::features_of(arrangement_.node, topology_, deal, system)) {
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

 private:
  topology::Arrangement arrangement_;
  topology::Topology topology_;
  std::vector<features::Feature> all_;
};

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
  EXPECT_EQ(found.value("rails"), "8");
  EXPECT_EQ(found.value("rail-0.nic"), "mlx5_0");
  EXPECT_EQ(found.value("rail-8.nic"), "absent");
  EXPECT_EQ(found.value("gpudirect.route"), "unknown") << "nothing was read of the driver";
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

TEST(Features, of_every_machine_are_labels_of_kubernetes) {
  for (const auto& name : machine_names()) {
    SCOPED_TRACE(name);
    const Features found(machine(name));
    EXPECT_LE(found.all().size(), 7U + 2 * features::kMostRails);
    std::set<std::string> keys;
    for (const auto& [key, value] : found.all()) {
      EXPECT_TRUE(keys.insert(key).second) << key;
      EXPECT_THAT(key, MatchesRegex("railhead\\.io/[a-z][-a-z0-9.]*[a-z0-9]"));
      EXPECT_THAT(value, MatchesRegex("[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?"));
      EXPECT_LE(value.size(), 63U);
    }
    EXPECT_LT(features::to_feature_file(found.all(), "w").size(), 65536U);
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

TEST(FeatureFileText, names_its_writer_and_its_end) {
  const auto text = features::to_feature_file(
      {{"a/b", "c"}}, "7", std::chrono::system_clock::time_point(std::chrono::seconds(1700000000)));
  EXPECT_EQ(text,
            "# RDMA features of this node, by railhead, for node-feature-discovery.\n"
            "# writer: 7\n"
            "# +expiry-time=2023-11-14T22:13:20Z\n"
            "a/b=c\n");
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
