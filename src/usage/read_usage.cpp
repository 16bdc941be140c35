// SPDX-License-Identifier: Apache-2.0
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/text.h"
#include "container/job_arguments.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "usage/usage.h"

namespace railhead::usage {
namespace {

/// PROC_PID_INIT_INO, include/linux/proc_ns.h
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";
constexpr std::size_t kMaxPorts = 16;

/// So many processes of a container are tried on the way to its shim: another container's shim
/// (CRI-O has one for each) may have adopted the first.
constexpr std::size_t kProcessesTried = 8;

constexpr std::size_t kCommandLines = 256;  ///< of a container are read

TableState state_of(const Error& error) {
  const int number = host::errno_of(error);
  if (number == EOPNOTSUPP) return TableState::unsupported;
  if (error.code == ErrorCode::denied) return TableState::denied;
  return number == EINTR ? TableState::interrupted : TableState::failed;
}

template <typename Object>
RdmaTable<Object> ask(host::Host& host, const host::RdmaDump& dump,
                      Result<std::vector<Object>> (*parse)(std::string_view)) {
  const auto answer = host.rdma(dump);
  if (!answer) return {state_of(answer.error()), answer.error().message, {}};
  if (!*answer) return {TableState::gone, "no such device any more", {}};
  auto objects = parse(**answer);
  if (!objects) return {TableState::failed, objects.error().message, {}};
  if (const auto number = host::cut_short(**answer)) {
    return {TableState::failed,
            "the kernel gave up in the middle of its list (" +
                std::string(host::errno_name(*number)) + ")",
            *std::move(objects)};
  }
  return {TableState::read, "", *std::move(objects)};
}

/// A dump of a device that is gone and one that fails at the first object end alike, with EINVAL. A
/// device that answers another question is there.
void tell_failed_from_gone(RdmaDeviceUse& use) {
  const bool is_there = use.domains.state == TableState::read ||
                        use.contexts.state == TableState::read ||
                        use.memory_regions.state == TableState::read;
  if (!is_there || use.queue_pairs.state != TableState::gone) return;
  use.queue_pairs = {TableState::failed, "the kernel lists none of them (EINVAL)", {}};
}

std::optional<std::uint64_t> read_uptime(host::Host& host, const std::string& proc_dir) {
  const auto text = host.read(proc_dir + "/uptime");
  return text && *text ? parse_uptime(**text) : std::nullopt;
}

std::optional<std::uint64_t> counter(host::Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text || !*text) return std::nullopt;
  const auto number = parse_unsigned(trim(**text));
  if (!number) return std::nullopt;
  return *number;
}

void add(std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> one,
         std::optional<std::uint64_t> other, std::uint64_t factor) {
  if (one && other) sum = sum.value_or(0) + (*one + *other) * factor;
}

/// port_*_data count words of four bytes (InfiniBand PortCounters); EFA has rx_bytes and tx_bytes
/// instead (drivers/infiniband/hw/efa/efa_verbs.c), soft-RoCE packets only
/// (drivers/infiniband/sw/rxe/rxe_hw_counters.c).
PortTraffic read_traffic(host::Host& host, const std::string& device) {
  PortTraffic traffic;
  const auto folder = "/sys/class/infiniband/" + device + "/ports";
  const auto ports = host.list(folder);
  if (!ports || !*ports) return traffic;
  for (std::size_t i = 0; i < (**ports).size() && i < kMaxPorts; ++i) {
    const auto port = folder + "/" + (**ports)[i];
    const auto words = counter(host, port + "/counters/port_rcv_data");
    add(traffic.bytes, words, counter(host, port + "/counters/port_xmit_data"), 4);
    if (!words) {
      add(traffic.bytes, counter(host, port + "/hw_counters/rx_bytes"),
          counter(host, port + "/hw_counters/tx_bytes"), 1);
    }
    add(traffic.packets, counter(host, port + "/hw_counters/rcvd_pkts"),
        counter(host, port + "/hw_counters/sent_pkts"), 1);
  }
  return traffic;
}

RdmaDeviceUse read_device(host::Host& host, const RdmaDevice& device, const QueuePairLists& lists) {
  const auto why_not = lists.why_not(host, device.name);
  const auto dump = [&](std::uint16_t command) { return host::RdmaDump{command, device.index}; };
  RdmaDeviceUse use{device,
                    why_not.empty() ? ask(host, dump(RDMA_NLDEV_CMD_RES_QP_GET), parse_queue_pairs)
                                    : RdmaTable<QueuePair>{TableState::left_out, why_not, {}},
                    ask(host, dump(RDMA_NLDEV_CMD_RES_MR_GET), parse_memory_regions),
                    ask(host, dump(RDMA_NLDEV_CMD_RES_PD_GET), parse_protection_domains),
                    ask(host, dump(RDMA_NLDEV_CMD_RES_CTX_GET), parse_user_contexts),
                    ask(host, dump(RDMA_NLDEV_CMD_RES_CM_ID_GET), parse_connection_ids),
                    {}};
  tell_failed_from_gone(use);
  return use;
}

void read_devices(host::Host& host, const QueuePairLists& lists, Usage& usage) {
  const auto devices = ask(host, {RDMA_NLDEV_CMD_GET, {}}, parse_rdma_devices);
  usage.rdma = devices.state;
  usage.rdma_why =
      devices.state == TableState::gone ? "this machine has no RDMA netlink" : devices.why;
  for (const auto& device : devices.objects) {
    usage.devices.push_back(read_device(host, device, lists));
  }
}

template <typename Objects>
void add_threads(const Objects& objects, std::set<std::uint32_t>& threads) {
  for (const auto& object : objects) {
    if (object.owner.thread) threads.insert(*object.owner.thread);
  }
}

std::set<std::uint32_t> threads_of(const Usage& usage) {
  std::set<std::uint32_t> threads;
  for (const auto& device : usage.devices) {
    add_threads(device.queue_pairs.objects, threads);
    add_threads(device.memory_regions.objects, threads);
    add_threads(device.domains.objects, threads);
    add_threads(device.contexts.objects, threads);
    add_threads(device.connections.objects, threads);
  }
  return threads;
}

void read_all_processes(host::Host& host, const std::string& proc_dir, Usage& usage) {
  auto table = read_processes(host, proc_dir, threads_of(usage));
  if (!table) {
    usage.processes_why = table.error().message;
    return;
  }
  usage.processes_known = true;
  usage.processes = *std::move(table);
  for (const auto& [id, process] : usage.processes.by_id) {
    if (!process.place || process.process != id) continue;
    auto& container = usage.containers[process.place->container];
    container.place = *process.place;
    const bool first = container.processes.empty();
    if (first || process.start_ticks < container.started_ticks) {
      container.started_ticks = process.start_ticks;
    }
    container.processes.push_back(id);
  }
}

void read_bundle(host::Host& host, const std::string& proc_dir, ContainerUse& container) {
  Result<std::optional<std::string>> text = std::optional<std::string>();
  const auto tries = std::min(container.processes.size(), kProcessesTried);
  for (std::size_t at = 0; at < tries && !(text && *text); ++at) {
    text = find_bundle(host, proc_dir, container.place.container, container.processes[at]);
  }
  if (!text || !*text) {
    container.bundle_problem = text ? "no bundle found through the shim" : text.error().message;
    return;
  }
  auto bundle = parse_bundle(**text);
  if (!bundle) {
    container.bundle_problem = "config.json: " + bundle.error().message;
    return;
  }
  container.bundle = *std::move(bundle);
}

bool may_concern_us(const ContainerUse& container) {
  if (!container.bundle) return true;
  return !container.bundle->devices.empty() || names_gpus(*container.bundle);
}

FileUse files_of(const ContainerUse& container, const HeldFiles& held,
                 const ProcessTable& processes) {
  FileUse files{held.devx,
                held.imex_channels,
                {held.other_fabrics.begin(), held.other_fabrics.end()},
                {},
                held.is_cut};
  for (const auto id : held.gpu_processes) {
    const auto found = processes.by_id.find(id);
    if (found == processes.by_id.end()) continue;
    const auto start = found->second.start_ticks;
    files.gpu_started_ticks = std::min(files.gpu_started_ticks.value_or(start), start);
  }
  if (!container.bundle) return files;
  for (const auto& device : container.bundle->devices) {
    if (is_imex_channel(device.path)) ++files.imex_channels;
  }
  return files;
}

/// What its processes' arguments say of the job.
container::JobSize read_job(host::Host& host, const std::string& proc_dir,
                            const std::vector<std::uint32_t>& processes) {
  container::JobSize job;
  for (std::size_t i = 0; i < std::min(processes.size(), kCommandLines); ++i) {
    const auto text = host.read(proc_dir + "/" + std::to_string(processes[i]) + "/cmdline");
    if (text && *text) job = container::larger(job, container::job_size_of_arguments(**text));
  }
  return job;
}

}  // namespace

std::string_view to_string(TableState state) {
  switch (state) {
    case TableState::read: return "read";
    case TableState::unsupported: return "unsupported";
    case TableState::gone: return "gone";
    case TableState::denied: return "denied";
    case TableState::interrupted: return "interrupted";
    case TableState::left_out: return "left out";
    case TableState::failed: break;
  }
  return "failed";
}

Usage read_usage(host::Host& host, const std::string& proc_dir, ListQueuePairs queue_pairs) {
  Usage usage;
  const auto first = host.readlink(proc_dir + "/self/ns/pid");
  if (first && *first) usage.sees_all_processes = **first == kFirstPidNamespace;
  usage.asked_ticks = read_uptime(host, proc_dir);
  read_devices(host, QueuePairLists(host, proc_dir, queue_pairs), usage);
  // After the objects: a process that is younger than they are has the number of one that ended.
  read_all_processes(host, proc_dir, usage);
  Networks networks(host, proc_dir);
  for (auto& [id, container] : usage.containers) {
    read_bundle(host, proc_dir, container);
    if (!may_concern_us(container)) continue;
    const auto held = read_held_files(host, proc_dir, container.processes);
    container.files = files_of(container, held, usage.processes);
    container.job = read_job(host, proc_dir, container.processes);
    auto use = networks.use_of(container.processes, held);
    if (use) {
      container.network = *std::move(use);
    } else {
      container.network_problem = use.error().message;
    }
  }
  usage.counted_ticks = read_uptime(host, proc_dir);
  for (auto& device : usage.devices) device.traffic = read_traffic(host, device.device.name);
  return usage;
}

}  // namespace railhead::usage
