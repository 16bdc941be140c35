// SPDX-License-Identifier: Apache-2.0
#include "node/device_numbers.h"

#include <algorithm>

#include "base/text.h"
#include "host/keep.h"

namespace railhead::node {
namespace {

/// What cannot be read now is as good as not there.
std::optional<std::string> text_of(host::Host& host, const std::string& path) {
  const auto text = host.read_keeping(path, host::keep_line);
  if (!text || !*text) return std::nullopt;
  return std::string(trim(**text));
}

std::string numbers_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + ":" + std::to_string(minor);
}

/// As sysfs says, else as the node itself does.
std::optional<std::string> numbers_now(host::Host& host, const std::string& sysfs,
                                       const CharDevice& device) {
  if (auto numbers = text_of(host, sysfs + "/dev")) return numbers;
  const auto node = host.device(device.path);
  if (!node || !*node || (*node)->type != 'c') return std::nullopt;
  return numbers_text((*node)->major, (*node)->minor);
}

bool differs(host::Host& host, const std::string& sysfs, const CharDevice& device) {
  return numbers_now(host, sysfs, device) != numbers_text(device.major, device.minor);
}

bool any_differs(host::Host& host, const std::string& folder, const std::string& name,
                 const std::vector<CharDevice>& devices) {
  return std::ranges::any_of(devices, [&](const CharDevice& device) {
    const auto sysfs = folder + "/" + host::base_name(device.path);
    return text_of(host, sysfs + "/ibdev") != name || differs(host, sysfs, device);
  });
}

/// Whether the node in /dev differs from what was read. One that cannot be looked at may differ.
bool is_another(host::Host& host, const CharDevice& device) {
  const auto node = host.device(device.path);
  if (!node) return true;
  const bool is_it = *node && (*node)->type == 'c' && (*node)->major == device.major &&
                     (*node)->minor == device.minor;
  if (is_it != device.on_host) return true;
  return is_it &&
         ((*node)->mode != device.mode || (*node)->uid != device.uid || (*node)->gid != device.gid);
}

}  // namespace

bool device_numbers_differ(host::Host& host, const Node& node) {
  const std::string verbs = "/sys/class/infiniband_verbs";
  const std::string mads = "/sys/class/infiniband_mad";
  if (node.rdma_cm && differs(host, "/sys/class/misc/rdma_cm", *node.rdma_cm)) return true;
  for (const auto& [device, sysfs] : node.function_devices) {
    if (differs(host, sysfs, device)) return true;
  }
  return std::ranges::any_of(node.nics, [&](const Nic& nic) {
    return any_differs(host, verbs, nic.name, nic.uverbs) ||
           any_differs(host, mads, nic.name, nic.umads) ||
           any_differs(host, mads, nic.name, nic.issms);
  });
}

host::MachineChanges changed_nodes(host::Host& host, const Node& node,
                                   const host::MachineChanges& touched) {
  host::MachineChanges changes;
  const auto look = [&](const CharDevice& device) {
    const auto name = host::base_name(device.path);
    const bool is_named = touched.everything || touched.nodes.contains(name);
    if (is_named && is_another(host, device)) changes.add_node(name);
  };
  for (const auto& nic : node.nics) {
    for (const auto* devices : {&nic.uverbs, &nic.umads, &nic.issms}) {
      std::for_each(devices->begin(), devices->end(), look);
    }
  }
  if (node.rdma_cm) look(*node.rdma_cm);
  return changes;
}

}  // namespace railhead::node
