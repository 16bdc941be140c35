// SPDX-License-Identifier: Apache-2.0
//
// The nodes in /dev that a process opens, and in which network namespace RDMA devices are.
#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/shell_word.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

std::string numbers(const node::CharDevice& device) {
  return std::to_string(device.major) + ":" + std::to_string(device.minor);
}

std::string mode_text(std::uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + (mode >> static_cast<unsigned>(shift) & 7U));
  }
  return digits;
}

/// The kernel alone makes nodes in /dev: udev sets mode and owner of those that are there. Source:
/// systemd src/udev/udev-node.c (a node that is missing is passed over).
std::string made_anew(const node::CharDevice& device) {
  return "mkdir -p /dev/infiniband && mknod -m 0666 " + shell_word(device.path) + " c " +
         std::to_string(device.major) + " " + std::to_string(device.minor);
}

/// Whether this is the machine's /dev. The kernel makes a node for every device there; a container
/// has a /dev of its own, with a few of them or none.
bool sees_dev(const Machine& machine) {
  std::size_t there = 0;
  std::size_t all = 0;
  for (const auto& nic : machine.node.nics) {
    for (const auto& device : nic.uverbs) {
      ++all;
      if (device.on_host) ++there;
    }
  }
  return 2 * there > all;
}

void judge_node(const Machine& machine, const std::string& subject, const node::CharDevice& device,
                Findings& found) {
  if (!device.on_host) {
    const Evidence evidence{device.path, ""};
    if (!sees_dev(machine)) {
      found.unknown(subject,
                    "half or more of RDMA's nodes are not in /dev: this may be a container's",
                    {evidence});
      return;
    }
    auto& finding =
        found.fail(subject, "no node " + device.path, "character device " + numbers(device),
                   {evidence, {"sysfs: dev", numbers(device)}});
    finding.remedy = made_anew(device) + ", the numbers that sysfs has now.";
    finding.remedy_class = RemedyClass::live;
    return;
  }
  const Evidence evidence{device.path, numbers(device) + " " + mode_text(device.mode)};
  if ((device.mode & 0666U) != 0666U) {
    auto& finding = found.warn(subject, "mode " + mode_text(device.mode), "0666", {evidence});
    finding.effect = "processes that are not root cannot open it";
    finding.remedy_class = RemedyClass::live;
    finding.remedy =
        "chmod 0666 " + shell_word(device.path) + ", and have udev do so (rdma-core's rules).";
  } else {
    found.pass(subject, numbers(device) + " mode " + mode_text(device.mode), {evidence});
  }
}

/// A node of another number than sysfs has is a problem of the node already.
const node::Problem* stale(const Machine& machine, const std::string& path) {
  const auto& problems = machine.node.problems;
  return find_where(problems, [&](const node::Problem& one) {
    return one.kind == node::Problem::Kind::malformed && one.path == path;
  });
}

void judge_nodes(const Machine& machine, const std::string& subject,
                 const std::vector<node::CharDevice>& nodes, Findings& found) {
  for (const auto& device : nodes) {
    if (const auto* problem = stale(machine, device.path)) {
      auto& finding = found.fail(subject, device.path + " " + problem->what, numbers(device),
                                 {{device.path, problem->what}});
      finding.remedy = "rm " + shell_word(device.path) + " && " + made_anew(device) +
                       ", the numbers that sysfs has now.";
      finding.remedy_class = RemedyClass::live;
    } else {
      judge_node(machine, subject, device, found);
    }
  }
}

void uverbs(const Machine& machine, Findings& found) {
  if (!machine.node.devices_known) return;
  for (const auto& nic : machine.node.nics) {
    if (!nic.registered) continue;
    constexpr const char* kClass = "/sys/class/infiniband_verbs";
    const auto* problem = machine.unreadable(kClass);
    // What does not tell whose it is may be its.
    if (problem == nullptr) problem = machine.problem_with("/ibdev");
    if (nic.uverbs.empty() && problem != nullptr) {
      found.unknown(nic.name, *problem);
    } else if (nic.uverbs.empty()) {
      found.fail(nic.name, "no uverbs device", "one", {{kClass, "no ibdev " + nic.name}});
    }
    judge_nodes(machine, nic.name, nic.uverbs, found);
  }
}

void rdma_cm(const Machine& machine, Findings& found) {
  if (machine.node.nics.empty() || !machine.node.rdma_cm) return;
  judge_nodes(machine, "rdma_cm", {*machine.node.rdma_cm}, found);
}

void umad(const Machine& machine, Findings& found) {
  for (const auto& nic : machine.node.nics) {
    for (const auto& device : nic.umads) {
      // 0600 is right: who opens it can send packets of subnet management.
      if ((device.mode & 0006U) != 0) {
        found.warn(nic.name, device.path + " has mode " + mode_text(device.mode), "0600",
                   {{device.path, numbers(device) + " " + mode_text(device.mode)}});
      } else {
        found.pass(nic.name, device.path + " has mode " + mode_text(device.mode),
                   {{device.path, numbers(device) + " " + mode_text(device.mode)}});
      }
    }
  }
}

void netns_mode(const Machine& machine, Findings& found) {
  constexpr const char* kPath = "/sys/module/ib_core/parameters/netns_mode";
  if (machine.node.nics.empty()) return;
  switch (machine.node.rdma_netns) {
    case node::RdmaNetns::shared: found.pass(kNode, "shared", {{kPath, "Y"}}); return;
    case node::RdmaNetns::exclusive: break;
    case node::RdmaNetns::unknown:
      found.unknown(kNode, std::string(kPath) + " does not say", {{kPath, ""}});
      return;
  }
  const auto& nics = machine.node.nics;
  const bool can_move = std::ranges::any_of(nics, [&](const node::Nic& nic) {
    const auto* function = nic.pci ? machine.node.find_pci(*nic.pci) : nullptr;
    return nic.elsewhere || nic.sub_function || (function != nullptr && function->is_vf());
  });
  if (can_move) {
    found.pass(kNode, "exclusive, with functions to move", {{kPath, "N"}});
  } else {
    found.warn(kNode, "exclusive, and no VF or SF to move into a pod", "shared", {{kPath, "N"}});
  }
}

constexpr std::array kDeviceChecks = {
    Check{.id = "dev.uverbs",
          .what = "Each RDMA device has its uverbs node in /dev, with the right numbers and mode.",
          .source = "/sys/class/infiniband_verbs/*/{ibdev,dev}, /dev/infiniband/uverbs*",
          .rule = "PASS: a node with the numbers of sysfs, mode 0666; WARN: another mode; FAIL: no "
                  "node, or stale numbers; UNKNOWN: /dev is not the machine's",
          .effect = "libibverbs leaves the device out without a word: ibstat works, ibv_devices "
                    "lists nothing -> NCCL and UCX use TCP",
          .remedy =
              "Load the driver anew (modprobe -r mlx5_ib, modprobe mlx5_ib), with no job on the "
              "NIC: the kernel makes the nodes, udev only sets their mode. Numbers are those "
              "of sysfs: 231:0 is umad0, uverbs0 is 231:192.",
          .remedy_class = RemedyClass::restart,
          .about = "RDMA device",
          .covers = "dev.chardev N07 N08 E06",
          .after = "drv.modules:ib_uverbs",
          .look = uverbs},
    Check{.id = "dev.rdma-cm",
          .what = "/dev/infiniband/rdma_cm is there, with the right numbers and mode.",
          .source = "/sys/class/misc/rdma_cm/dev, /dev/infiniband/rdma_cm",
          .rule = "as dev.uverbs",
          .effect = "rdma_create_event_channel fails; the shared device plugin reports 0",
          .remedy = "modprobe -r rdma_ucm, modprobe rdma_ucm: the kernel makes the node, udev only "
                    "sets its mode.",
          .remedy_class = RemedyClass::restart,
          .about = "connection manager (rdma_ucm)",
          .covers = "dev.chardev D16",
          .after = "drv.modules:rdma_ucm",
          .look = rdma_cm},
    Check{.id = "dev.umad",
          .what = "Nobody but root may send management packets.",
          .source = "/dev/infiniband/umad*",
          .rule = "PASS: no permission for others; WARN: others may open it",
          .effect = "a tenant that gets this node can send subnet management packets",
          .remedy =
              "chmod 0600, and do not hand umad and issm to pods: NCCL, UCX and perftest need "
              "uverbs and rdma_cm only.",
          .remedy_class = RemedyClass::live,
          .about = "umad node",
          .covers = "N07 E11",
          .look = umad},
    Check{.id = "dev.netns-mode",
          .what = "RDMA devices can be seen by the pods that get them.",
          .source = "/sys/module/ib_core/parameters/netns_mode",
          .rule = "PASS: shared, or exclusive with VFs or SFs that rdma-cni can move; WARN: "
                  "exclusive without any; UNKNOWN: not known",
          .effect = "a pod with a network of its own sees no RDMA device",
          .remedy =
              "options ib_core netns_mode=1 in /etc/modprobe.d, then restart the machine: the "
              "kernel refuses the change once there are network namespaces.",
          .remedy_class = RemedyClass::reboot,
          .about = "RDMA NIC",
          .covers = "dev.netns_mode N17",
          .look = netns_mode},
};

}  // namespace

std::span<const Check> device_checks() {
  return kDeviceChecks;
}

}  // namespace railhead::checks
