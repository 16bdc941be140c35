// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <set>

#include "base/text.h"
#include "host/devlink.h"
#include "host/host_error.h"
#include "system/gather.h"
#include "system/lldp.h"

namespace railhead::system {
namespace {

/// What the kernel answers about a netdev, as `parse` understands it. Absent where another network
/// namespace has it.
template <typename T>
Fact<T> answer_about(const Gather& gather, const std::string& netdev, host::LinkPart part,
                     Result<T> (*parse)(std::string_view)) {
  const auto answer = gather.host.link_settings(netdev, part);
  const auto path = host::link_settings_path(netdev, part);
  if (!answer && host::errno_of(answer.error()) == ENODEV) return {path, {}, {}};
  const auto bytes = fact_of(path, answer);
  Fact<T> fact{bytes.path, {}, bytes.error};
  if (!bytes.value) return fact;
  auto parsed = parse(*bytes.value);
  if (parsed) {
    fact.value = *std::move(parsed);
  } else {
    fact.error = "malformed: " + parsed.error().message;
  }
  return fact;
}

/// A function that is not in our network namespace, or whose driver says nothing, has no entry.
void read_firmware(const Gather& gather) {
  for (const auto& nic : gather.node.nics) {
    const auto* function = nic.pci ? gather.node.find_pci(*nic.pci) : nullptr;
    if (function == nullptr || function->is_vf() || nic.elsewhere) continue;
    if (gather.into.firmware.contains(function->address)) continue;
    const auto path = host::devlink_path(function->address.str());
    const auto bytes = fact_of(path, gather.host.devlink_info(function->address.str()));
    if (bytes.absent()) continue;
    Fact<std::vector<host::DevlinkParameter>> fact{path, {}, bytes.error};
    if (bytes.value) {
      auto parsed = host::devlink_parameters(*bytes.value);
      if (parsed) {
        fact.value = *std::move(parsed);
      } else {
        fact.error = "malformed: " + parsed.error().message;
      }
    }
    gather.into.firmware.emplace(function->address, std::move(fact));
  }
}

void read_functions(const Gather& gather) {
  for (const auto& netdev : gather.node.netdevs) {
    const auto* function = netdev.pci ? gather.node.find_pci(*netdev.pci) : nullptr;
    if (function == nullptr || function->sriov_numvfs.value_or(0) == 0 || netdev.elsewhere)
      continue;
    gather.into.vfs[netdev.name] =
        answer_about(gather, netdev.name, host::LinkPart::vfs, host::parse_vf_settings);
  }
}

/// "106", or the line "Global tclass=106".
std::string kept_traffic_class(std::string_view content) {
  return host::keep_lines(content, [](std::string_view line) -> std::string {
    constexpr std::string_view kGlobal = "Global tclass=";
    const auto number = trim(line.starts_with(kGlobal) ? line.substr(kGlobal.size()) : line);
    return parse_unsigned(number) ? std::string(trim(line)) : "";
  });
}

void read_traffic_classes(const Gather& gather) {
  for (const auto& nic : gather.node.nics) {
    for (const auto& port : nic.ports) {
      for (const auto& path : traffic_class_paths(nic.name, port.number)) {
        gather.text(path, kept_traffic_class);
      }
    }
  }
}

}  // namespace

/// OFED's driver shows congestion control of RoCE as ecn/roce_np and roce_rp below a netdev, a file
/// for each of the eight priorities; the kernel's own driver does not.
void read_netdevs(const Gather& gather) {
  read_functions(gather);
  read_firmware(gather);
  for (const auto& netdev : gather.node.netdevs) {
    if (netdev.pci) gather.text("/sys/class/net/" + netdev.name + "/name_assign_type");
  }
  read_traffic_classes(gather);
  std::set<std::string> names;
  for (const auto& nic : gather.node.nics) {
    names.insert(nic.netdevs.begin(), nic.netdevs.end());
    for (const auto& port : nic.ports) {
      for (const auto& gid : port.gids) {
        if (gid.netdev) names.insert(*gid.netdev);
      }
    }
  }
  for (const auto& name : names) {
    const auto folder = "/sys/class/net/" + name;
    gather.text(folder + "/mtu");
    const auto index = gather.text(folder + "/ifindex");
    if (index.known() && parse_unsigned(*index.value)) {
      gather.text("/run/systemd/netif/lldp/" + *index.value, kept_lldp);
    }
    gather.into.dcb[name] = answer_about(gather, name, host::LinkPart::dcb, host::parse_dcb);
    for (const auto* setting : {"arp_ignore", "arp_announce"}) {
      gather.text("/proc/sys/net/ipv4/conf/" + name + "/" + setting);
    }
    if (!gather.folder(folder + "/ecn", [](std::string_view) { return false; }).value) continue;
    for (const auto* side : {"roce_np", "roce_rp"}) {
      for (int priority = 0; priority < 8; ++priority) {
        gather.text(folder + "/ecn/" + side + "/enable/" + std::to_string(priority));
      }
    }
  }
}

}  // namespace railhead::system
