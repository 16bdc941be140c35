// SPDX-License-Identifier: Apache-2.0
#include "pools/differences.h"

#include <array>
#include <cstdint>
#include <optional>

#include "base/contains.h"

namespace railhead::pools {
namespace {

constexpr unsigned bit(PoolFlavour plugin) {
  return 1U << static_cast<unsigned>(plugin);
}

constexpr unsigned kShared = bit(PoolFlavour::shared_plugin);
constexpr unsigned kSriov = bit(PoolFlavour::sriov_plugin);
constexpr unsigned kFlat = bit(PoolFlavour::k8s_rdma_device_plugin);
constexpr unsigned kEach = kShared | kSriov | kFlat;

enum class Gpus : std::uint8_t { any, dealt, off };  ///< which --gpus it takes

struct Row {
  unsigned plugins;
  Gpus gpus;
  Difference difference;
};

/// In the order in which they are shown.
constexpr std::array kRows{
    Row{kShared | kSriov,
        Gpus::dealt,
        {"nics-without-a-slot",
         "A container with GPUs gets the NICs of its GPUs without a slot, so a ResourceQuota on "
         "slots does not count it. There it got none.",
         "injection.gpus: none", true}},
    Row{kFlat,
        Gpus::off,
        {"gpu-pods-need-a-slot",
         "A container with GPUs and without a slot gets nothing. There every container of the node "
         "got every NIC.",
         "injection.gpus: closest", true}},
    Row{kFlat,
        Gpus::any,
        {"other-pods-need-a-slot",
         "A container without GPUs gets NICs only if it holds a slot. There every container of the "
         "node got every NIC.",
         "", true}},
    Row{kShared | kFlat,
        Gpus::any,
        {"slot-narrowed",
         "A slot of a shared pool gives a container with GPUs only those NICs of the pool that "
         "belong to its GPUs. There it gave every NIC of the pool, and here with `narrow: false` "
         "in "
         "the pool.",
         "devicePlugin.handout: device-specs", false}},
    Row{kShared | kSriov,
        Gpus::any,
        {"nodes-by-nri",
         "The kubelet is given an annotation, and the nodes come by NRI when a container is "
         "created. The kubelet keeps that answer, so a pod that was admitted here has no nodes "
         "when "
         "its container restarts under the old plugin.",
         "devicePlugin.handout: device-specs", false}},
    Row{kEach,
        Gpus::any,
        {"start-waits",
         "A container with a slot waits while the agent is not connected to the runtime, and its "
         "pod's events say so. There it started.",
         "devicePlugin.handout: device-specs", false}},
    Row{kShared | kFlat,
        Gpus::any,
        {"pool-unhealthy",
         "A shared pool all of whose ports are down is unhealthy, and pods that ask for it wait. "
         "There it was healthy, and here with `health: device` in the pool.",
         "", false}},
    Row{kSriov,
        Gpus::any,
        {"function-unhealthy",
         "A function that no pod could use (no RDMA driver, no cable) is unhealthy, and pods that "
         "ask for it wait. There it was healthy.",
         "", false}},
    Row{kEach,
        Gpus::any,
        {"no-umad",
         "umad and issm, by which a container writes raw management datagrams, are not handed out. "
         "There they were.",
         "injection.devices: [uverbs, rdma_cm, umad, issm]", false}},
};

std::optional<PoolFlavour> plugin_of(config::PoolSource::Shape shape) {
  switch (shape) {
    case config::PoolSource::Shape::ours: return std::nullopt;
    case config::PoolSource::Shape::shared_plugin: return PoolFlavour::shared_plugin;
    case config::PoolSource::Shape::sriov_plugin: return PoolFlavour::sriov_plugin;
    case config::PoolSource::Shape::flat_file:
    case config::PoolSource::Shape::rdma_environment: return PoolFlavour::k8s_rdma_device_plugin;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PoolFlavour> plugins_of(const std::vector<config::PoolSource>& sources) {
  std::vector<PoolFlavour> plugins;
  for (const auto& source : sources) {
    const auto plugin = plugin_of(source.shape);
    if (plugin && !contains(plugins, *plugin)) {
      plugins.push_back(*plugin);
    }
  }
  return plugins;
}

std::vector<Difference> differences(const std::vector<config::PoolSource>& sources,
                                    config::GpuPolicy gpus) {
  unsigned plugins = 0;
  for (const auto plugin : plugins_of(sources)) plugins |= bit(plugin);
  const auto gpus_are = gpus == config::GpuPolicy::none ? Gpus::off : Gpus::dealt;
  std::vector<Difference> holding;
  for (const auto& row : kRows) {
    if ((row.plugins & plugins) == 0) continue;
    if (row.gpus == Gpus::any || row.gpus == gpus_are) holding.push_back(row.difference);
  }
  return holding;
}

}  // namespace railhead::pools
