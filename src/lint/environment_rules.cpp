// SPDX-License-Identifier: Apache-2.0
//
// Variables of containers. What they mean to NCCL, UCX and NVSHMEM is known to transports/.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "inject/pod_networks.h"
#include "lint/networks.h"
#include "lint/rule.h"
#include "transports/nic_list.h"
#include "transports/transports.h"

namespace railhead::lint {
namespace {

/// Calls `use(pod, container)` with every container that could use RDMA.
template <typename Use>
void for_each_user(const Given& given, Use use) {
  for (const auto& pod : given.pods) {
    for (const auto& container : pod.containers) {
      if (container.environment.empty()) continue;
      if (gpus_of(given, container) > 0 || nics_of(given, container) > 0) use(pod, container);
    }
  }
}

const data::Value* place_of_variable(const Container& container, std::string_view name) {
  for (std::size_t i = 0; i < container.environment.size(); ++i) {
    const std::string_view entry = container.environment[i];
    if (entry.substr(0, entry.find('=')) == name) return container.environment_places[i];
  }
  return nullptr;
}

/// The last value of it; "" where it is not set.
std::string_view variable(const Container& container, std::string_view name) {
  std::string_view value;
  for (const std::string_view entry : container.environment) {
    const auto equals = entry.find('=');
    if (entry.substr(0, equals) == name) value = entry.substr(equals + 1);
  }
  return value;
}

transports::Reading reading_of(const Container& container) {
  const std::vector<std::string_view> views(container.environment.begin(),
                                            container.environment.end());
  return transports::read_environment(views, nullptr);
}

void contradiction(const Given& given, Found& found) {
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    for (const auto& one : reading_of(container).contradictions) {
      found.add(*pod.object, place_of_variable(container, one.variable), one.text);
    }
  });
}

void legacy_level(const Given& given, Found& found) {
  constexpr std::string_view kLevel = "NCCL_NET_GDR_LEVEL";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto level = parse_unsigned(variable(container, kLevel));
    if (!level || *level == 0) return;
    found.add(*pod.object, place_of_variable(container, kLevel),
              std::string(kLevel) + "=" + std::to_string(*level) + " is a number");
  });
}

/// The kernel counts without leading zeros: behind the 0 of mlx5_0 no digit follows. A family alone
/// is meant to be a beginning.
bool has_longer_names(std::string_view name) {
  if (name == "mlx5" || name == "mlx4") return false;
  const auto before = name.find_last_not_of(kDecimalDigits);
  const auto number = name.substr(before == std::string_view::npos ? 0 : before + 1);
  return !number.empty() && number != "0";
}

constexpr std::string_view kNoName = " \t\"'*?[]";  ///< no device has one of these in its name

/// Source: NCCL src/misc/utils.cc, parseStringList(): all between two commas is the name.
void no_name(const Given& given, Found& found) {
  constexpr std::string_view kList = "NCCL_IB_HCA";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto list = transports::nccl_list(variable(container, kList));
    for (const auto& entry : list.entries) {
      if (entry.name.find_first_of(kNoName) == std::string_view::npos) continue;
      found.add(*pod.object, place_of_variable(container, kList),
                std::string(kList) + " has " + in_quotes(entry.name));
      return;
    }
  });
}

void beginning(const Given& given, Found& found) {
  constexpr std::string_view kList = "NCCL_IB_HCA";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto list = transports::nccl_list(variable(container, kList));
    for (const auto& entry : list.entries) {
      if (entry.means != transports::NicListEntry::Means::beginning) continue;
      if (!has_longer_names(entry.name)) continue;
      if (entry.name.find_first_of(kNoName) != std::string_view::npos) continue;
      found.add(*pod.object, place_of_variable(container, kList),
                std::string(kList) + " has " + in_quotes(entry.name) + ", which also means " +
                    in_quotes(std::string(entry.name) + "0"));
      return;
    }
  });
}

/// How drivers of RDMA name their devices, and no driver a netdev.
/// Source: Linux 6.12 drivers/infiniband (ib_register_device), rdma-core kernel-boot/rdma_rename.c.
bool is_rdma_name(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {
      "mlx5_", "mlx4_",  "bnxt_re", "irdma", "hns_",  "efa_",  "erdma_", "mana_",
      "qedr",  "ionic_", "hfi1_",   "rxe",   "rdmap", "rocep", "roceo",  "usnic_"};
  return std::ranges::any_of(kBeginnings, [&](auto text) { return name.starts_with(text); });
}

void ucx_release(const Given& given, Found& found) {
  constexpr std::string_view kList = "UCX_NET_DEVICES";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto value = variable(container, kList);
    const auto syntax = transports::ucx_new_syntax(value, is_rdma_name);
    if (!syntax) return;
    auto& finding =
        found.add(*pod.object, place_of_variable(container, kList),
                  std::string(kList) + " has " + in_quotes(syntax->entry, 64) +
                      ", which matches no device before UCX " + std::string(syntax->since));
    if (!syntax->for_all.empty()) {
      finding.remedy = "Write the ports, which all releases read: " + std::string(kList) + "=" +
                       syntax->for_all + ".";
    }
  });
}

void visible_devices(const Given& given, Found& found) {
  constexpr std::string_view kVisible = "NVIDIA_VISIBLE_DEVICES";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto value = variable(container, kVisible);
    const bool names = !value.empty() && value != "none" && value != "void";
    if (!names || gpus_of(given, container) == 0) return;
    found.add(*pod.object, place_of_variable(container, kVisible),
              std::string(kVisible) + "=" + std::string(value.substr(0, 64)) + " beside " +
                  counted(gpus_of(given, container), "GPU") + " of the kubelet");
  });
}

void socket_interface(const Given& given, Found& found) {
  constexpr std::string_view kInterface = "NCCL_SOCKET_IFNAME";
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    const auto value = variable(container, kInterface);
    const bool is_secondary = value.size() > 3 && value.starts_with("net") && is_digit(value[3]);
    if (!is_secondary || pod.is_part || is_true(*pod.root, {"spec", "hostNetwork"})) return;
    if (pod.annotation(inject::kNetworksAnnotation) != nullptr) return;
    found.add(*pod.object, place_of_variable(container, kInterface),
              std::string(kInterface) + "=" + std::string(value.substr(0, 64)) +
                  " names an interface of Multus, and the pod names no network");
  });
}

/// Names and numbers of one node in a manifest for many.
void fixed_choice(const Given& given, Found& found) {
  constexpr std::string_view kChoices[] = {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "UCX_NET_DEVICES"};
  for_each_user(given, [&](const Pod& pod, const Container& container) {
    for (const auto name : kChoices) {
      const auto value = variable(container, name);
      // These leave the choice to the library.
      if (value.empty() || value == "all" || value.starts_with("-")) continue;
      found.add(*pod.object, place_of_variable(container, name),
                std::string(name) + "=" + std::string(value.substr(0, 64)) +
                    " is the same on every node and for all GPUs");
    }
  });
}

constexpr Rule kEnvironmentRules[] = {
    {"env.contradiction", "A variable leaves a library no NIC, or says what it ignores.",
     Severity::warn, "NCCL falls back to TCP without an error; UCX and NVSHMEM end.",
     "Take the variable away: the container sees the NICs that it was given.", "N05 F28",
     contradiction},
    {"env.gdr-level", "NCCL_NET_GDR_LEVEL is a number of old releases.", Severity::warn,
     "5 means SYS: GPUDirect also across sockets, where it may be slower than host memory. Unset, "
     "NCCL decides by the path.",
     "Take it away, or write a word (PIX, PXB, PHB) that was measured.", "F27", legacy_level},
    {"env.nic-name", "An entry of NCCL_IB_HCA is no name of a device.", Severity::warn,
     "NCCL takes all between two commas for the name, blanks and quotes, too, and knows no "
     "patterns "
     "but a beginning: the entry matches no device, and without another NCCL takes TCP.",
     "Separate names by commas alone: mlx5_0,mlx5_1. A beginning (mlx5) means all.", "", no_name},
    {"env.nic-beginning", "An entry of NCCL_IB_HCA means more NICs than it names.", Severity::note,
     "Without \"=\" an entry is the beginning of names: mlx5_1 is also mlx5_10 and mlx5_17.",
     "Begin the list with \"=\", or take it away: the container sees the NICs that it was given.",
     "N05", beginning},
    {"env.ucx-release", "A value of UCX_NET_DEVICES is one of new releases.", Severity::note,
     "UCX reads names without a port, and ^ before names to leave out, since 1.21, ranges as "
     "mlx5_[0-3] since 1.22. Older releases find no such device and go without RDMA.",
     "Name the devices with their ports, as mlx5_0:1, or run UCX 1.22.", "N05", ucx_release},
    {"env.fixed-choice", "A variable chooses NICs or a GID index in the manifest.", Severity::note,
     "It is right on one kind of node and for one set of GPUs; all ports of a NIC's pods share one "
     "table of GIDs, so that their indices differ. Elsewhere NCCL takes a NIC that is further "
     "away, "
     "or none.",
     "Take it away: Railhead sets NCCL_IB_HCA for the GPUs of each container, and with "
     "injection.ucxEnvironment UCX_NET_DEVICES; NCCL finds the GID by itself.",
     "", fixed_choice},
    {"env.visible-devices", "NVIDIA_VISIBLE_DEVICES is written beside a request for GPUs.",
     Severity::warn,
     "A variable of the pod overrides what the device plugin says: the container sees the GPUs of "
     "these indices, whichever the kubelet allocated, also those of other pods.",
     "Take the variable away; the GPU plugin sets it.", "N09 E08", visible_devices},
    {"env.socket-interface", "NCCL_SOCKET_IFNAME names an interface that is not there.",
     Severity::warn, "NCCL ends: no socket interface found.",
     "Name the network in k8s.v1.cni.cncf.io/networks, or take the variable away.", "F29 C12",
     socket_interface},
};

}  // namespace

std::span<const Rule> environment_rules() {
  return kEnvironmentRules;
}

}  // namespace railhead::lint
