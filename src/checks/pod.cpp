// SPDX-License-Identifier: Apache-2.0
//
// Containers of a pod: their nodes, rights and limits. What they do with them is pod_use.cpp.
#include "checks/pod.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "checks/groups.h"
#include "gpu/vendors.h"

namespace railhead::checks {
namespace {

using system::Container;
using system::ContainerNode;

constexpr std::uint64_t kIpcLock = 1ULL << 14U;  ///< CAP_IPC_LOCK, include/uapi/linux/capability.h
constexpr std::uint64_t kMebibyte = 1ULL << 20U;

std::string numbers(const host::DeviceNode& node) {
  return std::to_string(node.major) + ":" + std::to_string(node.minor);
}

Evidence node_evidence(const Container& container, const ContainerNode& node) {
  return {container.root + node.path, numbers(node.node)};
}

bool is_uverbs(const ContainerNode& node) {
  return host::base_name(node.path).starts_with("uverbs");
}

bool is_management(const ContainerNode& node) {
  const auto name = host::base_name(node.path);
  return name.starts_with("umad") || name.starts_with("issm");
}

bool has_uverbs(const Container& container) {
  const auto& nodes = container.rdma_nodes.value;
  return nodes && std::ranges::any_of(*nodes, is_uverbs);
}

/// What the machine has at these numbers: "umad0 of mlx5_0"; "" for nothing.
std::string owner_of(const Machine& machine, const host::DeviceNode& node) {
  for (const auto& nic : machine.node.nics) {
    for (const auto* list : {&nic.uverbs, &nic.umads, &nic.issms}) {
      for (const auto& device : *list) {
        if (device.major != node.major || device.minor != node.minor) continue;
        return host::base_name(device.path) + " of " + nic.name;
      }
    }
  }
  return "";
}

void judge_uverbs(const Machine& machine, const Container& container, const ContainerNode& node,
                  Findings& found) {
  const auto subject = container.name + "/" + host::base_name(node.path);
  const auto nic = nic_of_node(machine, node);
  if (nic) {
    found.pass(subject, machine.node.nics[*nic].name, {node_evidence(container, node)});
    return;
  }
  const auto owner = owner_of(machine, node.node);
  auto& finding = found.fail(subject, owner.empty() ? "no device has " + numbers(node.node) : owner,
                             "the numbers of a uverbs device", {node_evidence(container, node)});
  finding.effect = owner.empty() ? "opening it fails (ENXIO) -> ibv_devices lists nothing"
                                 : "it is another device -> verbs do not work by it";
  finding.remedy =
      owner.empty()
          ? "The device got new numbers after the container started: start the container anew."
          : "Numbers that are written by hand are wrong (231:0 is umad0, 231:192 is uverbs0): give "
            "paths, and let the agent or a device plugin know the numbers.";
  finding.remedy_class = RemedyClass::restart;
}

/// A container without RDMA nodes: nothing to say, unless it has GPUs on a machine with NICs.
void judge_none(const Machine& machine, const Container& container, Findings& found) {
  const auto& gpus = container.gpu_nodes;
  const Evidence none{container.root + "/dev/infiniband", ""};
  if (!gpus.value) {
    found.unknown(container.name, gpus);
  } else if (gpus.value->empty()) {
    found.skip(container.name, "it has neither RDMA devices nor GPUs", {none});
  } else if (machine.traffic_nics().empty()) {
    found.skip(container.name, "the machine has no compute NIC", {none});
  } else {
    found.warn(
        container.name, "no RDMA device, and " + counted(gpus.value->size(), "GPU"),
        "the uverbs nodes of the NICs near its GPUs",
        {none, {container.root + gpus.value->front().path, numbers(gpus.value->front().node)}});
  }
}

void devices(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto& nodes = container.rdma_nodes;
    if (!nodes.value) {
      found.unknown(container.name, nodes);
    } else if (!has_uverbs(container)) {
      judge_none(machine, container, found);
    } else {
      for (const auto& node : *nodes.value) {
        if (is_uverbs(node)) judge_uverbs(machine, container, node, found);
      }
      const bool has_cm = std::ranges::any_of(
          *nodes.value, [](const auto& one) { return one.path == "/dev/infiniband/rdma_cm"; });
      if (has_cm) continue;
      auto& finding =
          found.warn(container.name + "/rdma_cm", "no rdma_cm", "/dev/infiniband/rdma_cm",
                     {{container.root + "/dev/infiniband/rdma_cm", ""}});
      finding.effect =
          "programs that connect by rdma_cm fail (NVSHMEM's IBGDA, NFS tools, ucmatose)";
    }
  }
}

void management_nodes(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    if (!has_uverbs(container)) continue;
    std::vector<Evidence> evidence;
    for (const auto& node : *container.rdma_nodes.value) {
      if (is_management(node)) evidence.push_back(node_evidence(container, node));
    }
    if (evidence.empty()) {
      found.pass(container.name, "no umad or issm",
                 {{container.root + "/dev/infiniband", "uverbs, rdma_cm"}});
    } else {
      auto observed = counted(evidence.size(), "node") + " of umad or issm";
      found.warn(container.name, std::move(observed), "none", std::move(evidence));
    }
  }
}

/// Whether the device cgroup lets a container open its nodes. What it has open it may open.
void judge_access(const Container& container, const ContainerNode& node, Findings& found) {
  const auto subject = container.name + "/" + host::base_name(node.path);
  if (container.held.value && contains(*container.held.value, node.path)) {
    found.pass(subject, "a process has it open", {{container.held.path, node.path}});
  } else if (!container.device_rules.value) {
    found.unknown(subject, container.device_rules);
  } else if (may_open(*container.device_rules.value, node.node)) {
    found.pass(subject, "allowed", {{container.device_rules.path, numbers(node.node) + " rw"}});
  } else {
    found.fail(
        subject, "no rule of the device cgroup allows " + numbers(node.node),
        "c " + numbers(node.node) + " rw",
        {{container.device_rules.path, counted(container.device_rules.value->size(), "rule")},
         node_evidence(container, node)});
  }
}

void access(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    if (!has_uverbs(container)) continue;
    for (const auto& node : *container.rdma_nodes.value) {
      if (is_uverbs(node)) judge_access(container, node, found);
    }
  }
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return "";
  return *bytes == host::ProcessFacts::kUnlimited ? "unlimited" : std::to_string(*bytes);
}

/// Whether the process is in the first user namespace: another one's capabilities do not count for
/// pinned memory. Source: Linux drivers/infiniband/core/umem.c, capable(); user_namespaces(7).
std::optional<bool> is_in_first_user_namespace(const Container& container) {
  if (!container.uid_map.value) return std::nullopt;
  const auto words = split_words(*container.uid_map.value);
  return words.size() == 3 && words[0] == "0" && words[1] == "0" && words[2] == "4294967295";
}

/// Why IPC_LOCK helps this container or not.
std::string lock_text(const Container& container, bool has, const std::optional<bool>& first) {
  const auto& who = *container.process.value;
  if (has) return first == false ? "IPC_LOCK, in a user namespace of its own" : "IPC_LOCK";
  const bool could = (who.cap_bounding.value_or(0) & kIpcLock) != 0;
  const auto uid = who.uid ? "uid " + std::to_string(*who.uid) : std::string("uid not known");
  return could ? "IPC_LOCK is granted and not effective (" + uid + ")" : "no IPC_LOCK";
}

void judge_memlock(const Container& container, Findings& found) {
  if (!found.knows(container.name, container.process)) return;
  const auto& limit = container.process.value->memlock_soft_bytes;
  const auto capabilities = container.process.value->cap_effective.value_or(0);
  const bool has = (capabilities & kIpcLock) != 0;
  const auto first = is_in_first_user_namespace(container);
  const auto observed = bytes_text(limit) + ", " + lock_text(container, has, first);
  const std::vector<Evidence> evidence = {
      {container.process.path + "/limits", "Max locked memory " + bytes_text(limit)},
      {container.process.path + "/status", "CapEff " + to_hex(capabilities, 16)},
      checks::evidence_of(container.uid_map)};
  if (!limit) {
    found.unknown(container.name, container.process.path + "/limits has no line Max locked memory",
                  evidence);
  } else if (*limit == host::ProcessFacts::kUnlimited || (has && first == true)) {
    found.pass(container.name, observed, evidence);
  } else if (has && !first) {
    found.unknown(container.name,
                  "IPC_LOCK counts in the first user namespace alone, and " +
                      container.uid_map.path + " could not be read",
                  evidence);
  } else if (*limit <= 64 * kMebibyte) {
    found.fail(container.name, observed, "unlimited", evidence);
  } else {
    auto& finding = found.warn(container.name, observed, "unlimited", evidence);
    finding.effect = "memory beyond the limit cannot be registered (ENOMEM)";
  }
}

void pod_memlock(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    if (has_uverbs(container)) judge_memlock(container, found);
  }
}

void privileged(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto& rules = container.device_rules;
    if (container.id.empty()) continue;  // of the host itself
    if (!found.knows(container.name, rules)) continue;
    // A device that no container is given by itself: /dev/mem.
    const bool all = may_open(*rules.value, {'c', 1, 1, 0, 0, 0});
    const Evidence evidence{rules.path, counted(rules.value->size(), "device rule")};
    if (all) {
      found.warn(container.name, "it may open every device", "the devices that it was given",
                 {evidence});
    } else {
      found.pass(container.name, "it may open the devices that it was given", {evidence});
    }
  }
}

/// "tmpfs rw,size=65536k": the size in bytes; absent where none is stated.
std::optional<std::uint64_t> size_option(std::string_view options) {
  for (const auto option : split(options.substr(options.find(' ') + 1), ',')) {
    if (!option.starts_with("size=") || option.size() < 7) continue;
    const auto number = parse_unsigned(option.substr(5, option.size() - 6));
    if (number && option.back() == 'k' && *number < (1ULL << 50U)) return *number * 1024;
  }
  return std::nullopt;
}

void shared_memory(const Machine& machine, Findings& found) {
  for (const auto& container : machine.containers) {
    const auto& gpus = container.gpu_nodes.value;
    if (!gpus || gpus->empty()) continue;
    if (!container.shm.error.empty()) {
      found.unknown(container.name, container.shm);
      continue;
    }
    const auto size = size_option(container.shm.value.value_or(""));
    const auto evidence = checks::evidence_of(container.shm);
    if (!container.shm.value) {
      found.warn(container.name, "no /dev/shm", "a mount of memory", {evidence});
    } else if (size && *size <= 64 * kMebibyte) {
      found.warn(container.name, std::to_string(*size / kMebibyte) + " MiB", "above 64 MiB",
                 {evidence});
    } else {
      found.pass(container.name,
                 size ? std::to_string(*size / kMebibyte) + " MiB" : "half of the memory",
                 {evidence});
    }
  }
}

constexpr std::array kPodChecks = {
    Check{.id = "pod.devices",
          .what = "A container with GPUs has uverbs nodes, and they are those of NICs.",
          .source = "/proc/PID/root/dev",
          .rule =
              "PASS: a uverbs node has the numbers of a NIC; FAIL: those of another device or of "
              "none; WARN: GPUs and no RDMA device where the machine has compute NICs, or no "
              "rdma_cm; SKIP: neither GPUs nor RDMA devices",
          .effect = "no uverbs node in the container -> ibstat works and ibv_devices is empty -> "
                    "NCCL takes TCP",
          .remedy = "Have the pod ask for an RDMA resource, or let the agent inject by its GPUs "
                    "(--gpus=closest), which knows them by UUID, index or address. A hostPath of "
                    "/dev/infiniband is not enough.",
          .remedy_class = RemedyClass::restart,
          .about = "container",
          .covers = "pod.devices N01 N08 C16 D33 E06 E08 E18",
          .look = devices,
          .scope = Scope::pod},
    Check{.id = "pod.device-access",
          .what = "The device cgroup lets a container open the uverbs nodes that it sees.",
          .source = "config.json of its bundle (linux.resources.devices), /proc/PID/fd",
          .rule =
              "PASS: a process has the node open, or a rule allows reading and writing; FAIL: no "
              "rule does; UNKNOWN: the bundle was not found",
          .effect = "open() fails (EPERM) -> the library shows no device -> NCCL takes TCP",
          .remedy = "A hostPath shows nodes and allows nothing: take it out, and ask for an RDMA "
                    "resource (or privileged, which allows everything).",
          .remedy_class = RemedyClass::cluster,
          .about = "uverbs node in a container",
          .covers = "pod.devices N03",
          .after = "pod.devices",
          .look = access,
          .scope = Scope::pod},
    Check{.id = "pod.management-nodes",
          .what = "A container has no nodes for subnet management.",
          .source = "/proc/PID/root/dev/infiniband",
          .rule = "PASS: no umad and no issm; WARN: one of them",
          .effect = "a tenant can send subnet management packets",
          .remedy =
              "Give uverbs and rdma_cm alone: NCCL, UCX and perftest need no more. (ibstat and "
              "perfquery do: run them on the node.)",
          .remedy_class = RemedyClass::cluster,
          .about = "container with uverbs nodes",
          .covers = "pod.devices N07 E07 E11",
          .look = management_nodes,
          .scope = Scope::pod},
    Check{.id = "pod.privileged",
          .what = "A container may open the devices that it was given, and no others.",
          .source = "config.json of its bundle (linux.resources.devices)",
          .rule = "WARN: it may open every device",
          .effect = "it sees every GPU and NIC of the node, and other tenants' data",
          .remedy = "Leave privileged out: an RDMA resource, or injection by the agent, is enough.",
          .remedy_class = RemedyClass::cluster,
          .about = "container",
          .covers = "N02",
          .look = privileged,
          .scope = Scope::pod},
    Check{
        .id = "pod.memlock",
        .what = "A container may pin the memory that it registers.",
        .source = "/proc/PID/{limits,status,uid_map}",
        .rule = "PASS: unlimited, or IPC_LOCK is effective in the first user namespace; FAIL: 64 "
                "MiB or less; WARN: another limit",
        .effect = "the kernel counts pinned memory against the limit -> ibv_reg_mr fails (ENOMEM)",
        .remedy =
            "Let the agent raise it (memlock.railhead.io/pod: unlimited), or set "
            "LimitMEMLOCK=infinity for the runtime (not the kubelet), and start the pod anew. "
            "The capability IPC_LOCK helps root alone. For a running process: prlimit "
            "--memlock=unlimited --pid PID.",
        .remedy_class = RemedyClass::restart,
        .about = "container with uverbs nodes",
        .covers = "rt.memlock D22 D23 L06 L13 C17 C25 F26 E09 E10",
        .look = pod_memlock,
        .scope = Scope::pod},
    Check{.id = "pod.gid",
          .what = "Each RoCE port of a container has the GID of an address of its own namespace.",
          .source = "/proc/PID/root/sys/class/infiniband/*/ports/*/gids, /proc/PID/net/fib_trie, "
                    "/proc/PID/net/if_inet6, /proc/PID/ns/net",
          .rule = "PASS: a GID is an address of the container's network namespace; WARN: a "
                  "link-local one alone; FAIL: none; SKIP: the node's network, or InfiniBand",
          .effect = "queue pairs cannot be connected (ENODEV, or a time-out) although the port is "
                    "ACTIVE -> TCP, or the job aborts",
          .remedy = "Use the host network, or give the pod an interface on that NIC (macvlan, or a "
                    "VF with its netdev, by Multus): docs/roce.md.",
          .remedy_class = RemedyClass::cluster,
          .about = "RoCE port of a container",
          .covers = "pod.gid F21 C12",
          .after = "pod.devices",
          .look = pod_gids,
          .scope = Scope::pod},
    Check{.id = "pod.environment",
          .what = "The container's variables name NICs and interfaces that it has.",
          .source = "/proc/PID/environ, /proc/PID/net/dev; RTM_GETDCB of its RoCE NICs",
          .rule = "FAIL: a variable leaves a library no NIC, or NCCL no interface; WARN: one that "
                  "names what is not there, means more than it says, is a legacy number, or is a "
                  "traffic class that does not pause where others do",
          .effect = "the library falls back to TCP, or the job aborts",
          .remedy = "Leave the variable out: the agent sets NCCL_IB_HCA to what the container has.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with uverbs nodes",
          .covers = "pod.env N05 F27 F28 F29",
          .after = "pod.devices",
          .parts = system::Part::netdevs,
          .look = pod_environment,
          .scope = Scope::pod},
    Check{.id = "pod.front-end-nic",
          .what = "NCCL and UCX in a container leave the NIC of the machine's own network alone.",
          .source = "/proc/PID/root/dev/infiniband, /proc/PID/environ; roles of NICs (`railhead "
                    "affinity`)",
          .rule = "PASS: they use none of role front-end or management; WARN: one beside NICs of "
                  "another role; SKIP: no GPU. UCX is judged where its library is in the container",
          .effect = "a library takes the NIC that is nearest to its GPU, and in a virtual machine "
                    "that may be the front-end's -> ibv_query_gid: Invalid argument, and workers "
                    "of some GPUs die",
          .remedy = "Name the NICs of its GPUs in NCCL_IB_HCA and UCX_NET_DEVICES.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with GPUs and uverbs nodes",
          .covers = "pod.env C03",
          .after = "pod.devices",
          .look = pod_front_end,
          .scope = Scope::pod},
    Check{.id = "pod.shm",
          .what = "A container with GPUs has shared memory for its processes.",
          .source = "/proc/PID/mountinfo",
          .rule = "WARN: /dev/shm has 64 MiB or less, the runtime's default",
          .effect = "NCCL and vLLM fail between processes (no space left on device)",
          .remedy = "Mount an emptyDir of medium Memory at /dev/shm.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with GPUs",
          .covers = "pod.shm C24 F26",
          .look = shared_memory,
          .scope = Scope::pod},
    Check{.id = "pod.affinity",
          .what = "Each GPU of a container has a NIC that is as near as any.",
          .source = "/proc/PID/root/dev, the machine's topology",
          .rule =
              "PASS: the nearest NIC that it has is as near as the nearest of the machine; WARN: "
              "a nearer one works and is not given; UNKNOWN: addresses alone say what is near",
          .effect = "traffic of the GPU crosses a host bridge or sockets -> half the bandwidth",
          .remedy =
              "Let the agent choose (railhead affinity says which). Of a resource whose slot is "
              "one NIC or VF ask for one for each GPU; of a shared pool one slot is enough.",
          .remedy_class = RemedyClass::cluster,
          .about = "container with GPUs and uverbs nodes",
          .covers = "pod.affinity N04 F37",
          .after = "pod.devices",
          .look = pod_affinity,
          .scope = Scope::pod},
    Check{.id = "pod.transport",
          .what = "What a container sends goes over RDMA.",
          .source = "the kernel's RDMA netlink (queue pairs, memory regions) and TCP sockets; one "
                    "look, as `railhead pods --interval 0`",
          .rule =
              "PASS: connected queue pairs; FAIL: it is due to use RDMA and only has TCP; WARN: "
              "TCP alone; SKIP: it has no connection; UNKNOWN: not all could be seen",
          .effect = "the silent fallback: 98 s to the first token in place of 0.5 s",
          .remedy = "See the failures above; the NCCL log (railhead nccl-log) says what it chose.",
          .remedy_class = RemedyClass::cluster,
          .about = "container",
          .covers = "pod.transport D35 C22 C23 F30 E18",
          .look = pod_transport,
          .scope = Scope::pod},
};

}  // namespace

std::optional<std::size_t> nic_of_node(const Machine& machine, const ContainerNode& node) {
  const auto& nics = machine.node.nics;
  for (std::size_t n = 0; n < nics.size(); ++n) {
    for (const auto& device : nics[n].uverbs) {
      if (device.major == node.node.major && device.minor == node.node.minor) return n;
    }
  }
  return std::nullopt;
}

std::vector<std::size_t> given_nics(const Machine& machine, const Container& container) {
  std::vector<std::size_t> nics;
  if (!container.rdma_nodes.value) return nics;
  for (const auto& node : *container.rdma_nodes.value) {
    const auto nic = is_uverbs(node) ? nic_of_node(machine, node) : std::nullopt;
    if (nic && !contains(nics, *nic)) nics.push_back(*nic);
  }
  std::ranges::sort(nics);
  return nics;
}

std::vector<std::size_t> given_gpus(const Machine& machine, const Container& container) {
  std::vector<std::size_t> gpus;
  if (!container.gpu_nodes.value) return gpus;
  for (std::size_t g = 0; g < machine.node.gpus.size(); ++g) {
    const auto& gpu = machine.node.gpus[g];
    const bool has = std::ranges::any_of(*container.gpu_nodes.value, [&](const auto& one) {
      return (gpu.minor && one.path == "/dev/nvidia" + std::to_string(*gpu.minor)) ||
             (gpu.drm_render && one.path == "/dev/dri/renderD" + std::to_string(*gpu.drm_render));
    });
    if (has) gpus.push_back(g);
  }
  return gpus;
}

std::span<const Check> pod_checks() {
  return kPodChecks;
}

}  // namespace railhead::checks
