// SPDX-License-Identifier: Apache-2.0
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/text.h"
#include "container/job_arguments.h"
#include "host/host_error.h"
#include "host/keep.h"
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

/// How many objects of each kind may still be kept.
struct ObjectRoom {
  std::size_t queue_pairs = kKeptQueuePairs;
  std::size_t regions = kKeptQueuePairs / 2;
  std::size_t domains = kKeptQueuePairs / 2;
  std::size_t contexts = kKeptQueuePairs / 2;
  std::size_t connections = kKeptQueuePairs / 2;
};

TableState state_of(const Error& error) {
  const int number = host::errno_of(error);
  if (number == EOPNOTSUPP) return TableState::unsupported;
  if (error.code == ErrorCode::denied) return TableState::denied;
  return number == EINTR ? TableState::interrupted : TableState::failed;
}

/// Why a list has no end: the kernel gave up, or we did.
std::string why_cut(int error_number) {
  if (error_number == EFBIG) return "it has more of them than are read";
  if (error_number == ETIMEDOUT) return "the kernel takes too long to list them";
  return "the kernel gave up in the middle of its list (" +
         std::string(host::errno_name(error_number)) + ")";
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
    return {TableState::failed, why_cut(*number), *std::move(objects)};
  }
  return {TableState::read, "", *std::move(objects)};
}

/// Keeps what there is room for.
template <typename Object>
RdmaTable<Object> kept(RdmaTable<Object> table, std::size_t& room) {
  if (table.objects.size() > room) {
    table = {TableState::failed,
             "there are more of them on this node than are kept",
             {table.objects.begin(), table.objects.begin() + static_cast<std::ptrdiff_t>(room)}};
  }
  room -= table.objects.size();
  return table;
}

/// A dump of a device that is gone and one that fails at the first object end alike, with EINVAL. A
/// device is gone for whatever is asked, so one that answers or refuses another question is there.
void tell_failed_from_gone(RdmaDeviceUse& use) {
  const auto each = [&](auto&& visit) {
    visit(use.queue_pairs);
    visit(use.memory_regions);
    visit(use.domains);
    visit(use.contexts);
  };
  bool is_there = false;
  each([&](const auto& table) {
    is_there = is_there || (table.state != TableState::gone && table.state != TableState::left_out);
  });
  each([&](auto& table) {
    if (!is_there || table.state != TableState::gone) return;
    table.state = TableState::failed;
    table.why = "the kernel lists none of them (EINVAL)";
  });
}

std::optional<std::uint64_t> read_uptime(host::Host& host, const std::string& proc_dir) {
  const auto text = host.read_keeping(proc_dir + "/uptime", host::keep_first_number);
  return text && *text ? parse_uptime(**text) : std::nullopt;
}

/// Adds up the counters of a device's ports. Of a sum that lacks a counter that is there, a later
/// look that has it would take what it counted in years for the traffic of a second.
class CounterSum {
 public:
  explicit CounterSum(host::Host& host)
      : host_(host) {}

  /// Both ways of one port, in units of so many; false where the port does not count them.
  bool add(const std::string& received, const std::string& sent, std::uint64_t factor) {
    const auto one = read(received);
    const auto other = read(sent);
    if (one && other) sum_ = sum_.value_or(0) + (*one + *other) * factor;
    is_whole_ = is_whole_ && one.has_value() == other.has_value();
    return one || other || !is_whole_;
  }

  [[nodiscard]] std::optional<std::uint64_t> whole() const {
    return is_whole_ ? sum_ : std::nullopt;
  }

 private:
  std::optional<std::uint64_t> read(const std::string& path) {
    const auto text = host_.read_keeping(path, host::keep_numbers);
    if (text && !*text) return std::nullopt;
    const auto number = text ? parse_unsigned(trim(**text)) : Result<std::uint64_t>(text.error());
    is_whole_ = is_whole_ && number;
    return number ? std::optional(*number) : std::nullopt;
  }

  host::Host& host_;
  std::optional<std::uint64_t> sum_;
  bool is_whole_ = true;
};

/// port_*_data count words of four bytes (InfiniBand PortCounters); EFA has rx_bytes and tx_bytes
/// instead (drivers/infiniband/hw/efa/efa_verbs.c), soft-RoCE packets only
/// (drivers/infiniband/sw/rxe/rxe_hw_counters.c).
PortTraffic read_traffic(host::Host& host, const std::string& device) {
  const auto folder = "/sys/class/infiniband/" + device + "/ports";
  const auto ports = host.list(folder);
  if (!ports || !*ports) return {};
  CounterSum bytes(host);
  CounterSum packets(host);
  for (std::size_t i = 0; i < (**ports).size() && i < kMaxPorts; ++i) {
    const auto words = folder + "/" + (**ports)[i] + "/counters/port_";
    const auto others = folder + "/" + (**ports)[i] + "/hw_counters/";
    if (!bytes.add(words + "rcv_data", words + "xmit_data", 4)) {
      bytes.add(others + "rx_bytes", others + "tx_bytes", 1);
    }
    packets.add(others + "rcvd_pkts", others + "sent_pkts", 1);
  }
  return {bytes.whole(), packets.whole()};
}

RdmaDeviceUse read_device(host::Host& host, const RdmaDevice& device, const QueuePairLists& lists,
                          ObjectRoom& room) {
  const auto why_not = lists.why_not(host, device.name);
  const auto list = [&](std::uint16_t command, auto parse, std::size_t& left) {
    return kept(ask(host, {command, device.index}, parse), left);
  };
  RdmaDeviceUse use;
  use.device = device;
  if (why_not.empty()) {
    use.queue_pairs = list(RDMA_NLDEV_CMD_RES_QP_GET, parse_queue_pairs, room.queue_pairs);
  } else {
    use.queue_pairs = {TableState::left_out, why_not, {}};
  }
  use.memory_regions = list(RDMA_NLDEV_CMD_RES_MR_GET, parse_memory_regions, room.regions);
  use.domains = list(RDMA_NLDEV_CMD_RES_PD_GET, parse_protection_domains, room.domains);
  use.contexts = list(RDMA_NLDEV_CMD_RES_CTX_GET, parse_user_contexts, room.contexts);
  use.connections = list(RDMA_NLDEV_CMD_RES_CM_ID_GET, parse_connection_ids, room.connections);
  tell_failed_from_gone(use);
  return use;
}

void read_devices(host::Host& host, const QueuePairLists& lists, Usage& usage) {
  const auto devices = ask(host, {RDMA_NLDEV_CMD_GET, {}}, parse_rdma_devices);
  usage.rdma = devices.state;
  usage.rdma_why =
      devices.state == TableState::gone ? "this machine has no RDMA netlink" : devices.why;
  ObjectRoom room;
  for (const auto& device : devices.objects) {
    usage.devices.push_back(read_device(host, device, lists, room));
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
    if (!text) container.bundle_problem = text.error().message;
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
                held.doubt};
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
                            const std::vector<std::uint32_t>& processes,
                            const ProcessTable& table) {
  container::JobSize job;
  std::size_t left = kArgumentBytes;
  for (std::size_t i = 0; i < std::min(processes.size(), kCommandLines); ++i) {
    const auto text = host.read_keeping(proc_dir + "/" + std::to_string(processes[i]) + "/cmdline",
                                        shortened_command_line);
    if (!text || !*text) continue;
    if ((*text)->size() > left) break;
    left -= (*text)->size();
    const auto said = container::larger(job, container::job_size_of_arguments(**text));
    if (said != job && is_still(host, proc_dir, table, processes[i])) job = said;
  }
  return job;
}

}  // namespace

Usage read_usage(host::Host& host, const std::string& proc_dir, ListQueuePairs queue_pairs) {
  Usage usage;
  const auto first = host.readlink(proc_dir + "/self/ns/pid");
  if (first && *first) usage.sees_all_processes = **first == kFirstPidNamespace;
  usage.asked_ticks = read_uptime(host, proc_dir);
  read_devices(host, QueuePairLists(host, proc_dir, queue_pairs), usage);
  // After the objects: a process that is younger than they are has the number of one that ended.
  read_all_processes(host, proc_dir, usage);
  HeldFilesReader files(host, proc_dir, usage.processes);
  Networks networks(host, proc_dir, usage.processes);
  for (auto& [id, container] : usage.containers) {
    read_bundle(host, proc_dir, container);
    if (!may_concern_us(container)) continue;
    const auto held = files.read(container.processes);
    container.files = files_of(container, held, usage.processes);
    container.job = read_job(host, proc_dir, container.processes, usage.processes);
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
