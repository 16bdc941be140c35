// SPDX-License-Identifier: Apache-2.0
#include "system/container.h"

#include <algorithm>
#include <set>

#include "base/contains.h"
#include "base/text.h"
#include "data/below.h"
#include "host/mounts.h"
#include "system/container_root.h"
#include "transports/variables.h"
#include "usage/bundle.h"
#include "usage/processes.h"

namespace railhead::system {
namespace {

constexpr std::size_t kMaxRules = 1024;
constexpr std::size_t kMaxDescriptors = 4096;
constexpr std::size_t kMaxAddresses = 4096;

bool is_looked_at(std::string_view entry) {
  return transports::is_transport_variable(entry) ||
         contains(kContainerVariables, entry.substr(0, entry.find('=')));
}

std::vector<std::string> variables_in(std::string_view text) {
  std::vector<std::string> kept;
  for (const auto entry : split(text, '\0')) {
    if (is_looked_at(entry)) kept.emplace_back(entry);
  }
  return kept;
}

/// The mapped files that say which libraries a process took.
bool is_rdma_object(std::string_view name) {
  constexpr std::array<std::string_view, 10> kBeginnings = {
      "libibverbs", "librdmacm",  "libmlx", "libnccl",   "libuct_ib",
      "libefa",     "libbnxt_re", "libucp", "libgdrapi", "nvshmem_transport_ibgda"};
  return name.find("-rdmav") != std::string_view::npos ||
         std::ranges::any_of(kBeginnings,
                             [&](std::string_view one) { return name.starts_with(one); });
}

std::vector<std::string> objects_in(std::string_view maps) {
  std::set<std::string> found;
  for (const auto line : split(maps, '\n')) {
    const auto slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const auto path = line.substr(slash);
    if (is_rdma_object(path.substr(path.rfind('/') + 1))) found.emplace(path);
  }
  return {found.begin(), found.end()};
}

/// Names before the colons: the first two lines are a heading. Source: net/core/net-procfs.c.
std::vector<std::string> netdevs_in(std::string_view text) {
  std::vector<std::string> names;
  for (const auto line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) names.emplace_back(trim(line.substr(0, colon)));
  }
  return names;
}

/// The last of several mounts at one place is the one that is seen; its options behind " - ".
std::optional<std::string> mount_options(std::string_view mountinfo, std::string_view where) {
  std::optional<std::string> options;
  for (const auto line : split(mountinfo, '\n')) {
    const auto mount = host::parse_mount_line(line);
    if (mount && mount->point == where)
      options = std::string(mount->type) + " " + std::string(mount->options);
  }
  return options;
}

class ContainerReader {
 public:
  ContainerReader(const ContainerSource& source, const node::Node& node, int pid)
      : source_(source),
        node_(node),
        folder_(source.proc_dir + "/" + std::to_string(pid)) {
    into_.pid = pid;
    into_.name = "pid " + std::to_string(pid);
    into_.root = folder_ + "/root";
  }

  Result<Container> read() {
    const auto process = TRY(usage::read_process_use(source_.host, source_.proc_dir,
                                                     static_cast<std::uint32_t>(into_.pid)));
    if (!process) return Error{ErrorCode::unavailable, folder_ + ": no such process"};
    read_bundle(*process);
    read_process();
    read_network();
    read_held();
    auto root = source_.open_root(into_.root);
    read_container_root(root, node_, into_);
    read_abi();
    return std::move(into_);
  }

 private:
  Text text(const std::string& file) {
    auto fact = fact_of(folder_ + "/" + file, source_.host.read(folder_ + "/" + file));
    if (fact.value && fact.value->ends_with('\n')) fact.value->pop_back();
    return fact;
  }

  /// What `make` finds in the text of a file.
  template <typename Make>
  auto made_of(const std::string& file, const Make& make)
      -> Fact<decltype(make(std::string_view()))> {
    const auto read = text(file);
    Fact<decltype(make(std::string_view()))> fact{read.path, {}, read.error};
    if (read.value) fact.value = make(*read.value);
    return fact;
  }

  void read_bundle(const usage::ProcessUse& process) {
    into_.device_rules.path = "config.json of its bundle";
    if (!process.place) {
      into_.device_rules.error = "the process is in no container";
      return;
    }
    into_.id = process.place->container;
    const auto found = usage::find_bundle(source_.host, source_.proc_dir, into_.id, process.id);
    if (!found || !*found) {
      into_.device_rules.error = found ? "its bundle was not found" : found.error().message;
      return;
    }
    const auto bundle = usage::parse_bundle(**found);
    if (bundle && !bundle->container.empty()) into_.name = bundle->container;
    auto rules = parse_device_rules(**found);
    if (rules) {
      into_.device_rules.value = *std::move(rules);
    } else {
      into_.device_rules.error = "malformed: " + rules.error().message;
    }
  }

  void read_process() {
    into_.process = fact_of(folder_, host::read_process(source_.host, source_.proc_dir, into_.pid));
    into_.uid_map = text("uid_map");
    into_.environment = made_of("environ", variables_in);
    into_.mapped = made_of("maps", objects_in);
    auto mounts = text("mountinfo");
    into_.shm = {mounts.path + " /dev/shm", {}, mounts.error};
    if (mounts.value) into_.shm.value = mount_options(*mounts.value, "/dev/shm");
  }

  Text link(const std::string& path) { return fact_of(path, source_.host.readlink(path)); }

  void read_network() {
    into_.network = link(folder_ + "/ns/net");
    into_.node_network = link(source_.proc_dir + "/1/ns/net");
    into_.netdevs = made_of("net/dev", netdevs_in);
    const auto v4 = text("net/fib_trie");
    const auto v6 = text("net/if_inet6");
    into_.addresses = {v4.path, {}, v4.error};
    // Without IPv6 there is no if_inet6; one that is there and hidden may hold the address.
    if (!v6.error.empty()) into_.addresses.error = v6.error;
    if (v4.value && v6.error.empty()) {
      into_.addresses.value = local_addresses(*v4.value, v6.value.value_or(""));
    }
  }

  void read_held() {
    into_.held.path = folder_ + "/fd";
    const auto names = fact_of(into_.held.path, source_.host.list(into_.held.path));
    into_.held.error = names.error;
    if (!names.value) return;
    into_.held.value.emplace();
    for (std::size_t i = 0; i < std::min(names.value->size(), kMaxDescriptors); ++i) {
      const auto target = source_.host.readlink(into_.held.path + "/" + (*names.value)[i]);
      if (target && *target && (*target)->starts_with("/dev/infiniband/")) {
        into_.held.value->push_back(**target);
      }
    }
  }

  /// Its devices are those of the machine, whose sysfs has more than a container's.
  void read_abi() {
    if (!into_.rdma_nodes.value) return;
    for (const auto& nic : node_.nics) {
      for (const auto& device : nic.uverbs) {
        const bool has = std::ranges::any_of(*into_.rdma_nodes.value, [&](const auto& one) {
          return one.node.major == device.major && one.node.minor == device.minor;
        });
        if (!has) continue;
        const auto path =
            "/sys/class/infiniband_verbs/" + host::base_name(device.path) + "/abi_version";
        auto text = fact_of(path, source_.host.read(path));
        if (text.value) text.value = std::string(trim(*text.value));
        into_.abi[nic.name] = std::move(text);
      }
    }
  }

  const ContainerSource& source_;
  const node::Node& node_;
  std::string folder_;
  Container into_;
};

std::string gid_text(std::string_view digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 4) {
    if (i > 0) text += ":";
    text += digits.substr(i, 4);
  }
  return text;
}

/// "10.0.0.5" as "0000:0000:0000:0000:0000:ffff:0a00:0005"; "" for what is none.
std::string mapped_gid(std::string_view address) {
  std::string digits = "00000000000000000000ffff";
  const auto parts = split(address, '.');
  for (const auto part : parts) {
    const auto number = parse_unsigned(part);
    if (!number || *number > 255) return "";
    digits += to_hex(*number, 2);
  }
  return parts.size() == 4 ? gid_text(digits) : "";
}

/// Absent: any; runtimes write that as -1, too.
std::optional<std::int64_t> number_of(const data::Value& rule, std::string_view key) {
  const auto number = parse_signed(data::text_below(rule, {key}));
  if (!number || *number < 0) return std::nullopt;
  return *number;
}

}  // namespace

std::vector<std::string> local_addresses(std::string_view fib_trie, std::string_view if_inet6) {
  std::set<std::string> found;
  std::string_view leaf;
  for (const auto line : split(fib_trie, '\n')) {
    const auto words = split_words(line);
    if (words.size() == 2 && words[0] == "|--") leaf = words[1];
    const bool is_local =
        words.size() >= 3 && words[0] == "/32" && words[1] == "host" && words[2] == "LOCAL";
    if (!is_local || leaf.starts_with("127.") || found.size() == kMaxAddresses) continue;
    auto gid = mapped_gid(leaf);
    if (!gid.empty()) found.insert(std::move(gid));
  }
  for (const auto line : split(if_inet6, '\n')) {
    const auto words = split_words(line);
    const bool fits = !words.empty() && words[0].size() == 32 && found.size() < kMaxAddresses;
    if (fits && words.back() != "lo") found.insert(gid_text(words[0]));
  }
  return {found.begin(), found.end()};
}

Result<std::vector<DeviceRule>> parse_device_rules(std::string_view config_json) {
  const auto spec = TRY(data::parse_json(config_json));
  std::vector<DeviceRule> rules;
  for (const auto& item : data::items_below(spec, {"linux", "resources", "devices"})) {
    if (rules.size() == kMaxRules) return Error{ErrorCode::too_large, "more than 1024 rules"};
    const auto type = data::text_below(item, {"type"});
    rules.push_back({data::is_true(item, {"allow"}), type.empty() ? 'a' : type.front(),
                     number_of(item, "major"), number_of(item, "minor"),
                     std::string(data::text_below(item, {"access"}))});
  }
  return rules;
}

bool may_open(const std::vector<DeviceRule>& rules, const host::DeviceNode& node) {
  bool may_read = false;
  bool may_write = false;
  for (const auto& rule : rules) {
    const bool fits = (rule.type == 'a' || rule.type == node.type) &&
                      rule.major.value_or(node.major) == node.major &&
                      rule.minor.value_or(node.minor) == node.minor;
    if (!fits) continue;
    // Without a word of access a rule is about all of it.
    const bool all = rule.access.empty();
    if (all || contains(rule.access, 'r')) may_read = rule.allow;
    if (all || contains(rule.access, 'w')) may_write = rule.allow;
  }
  return may_read && may_write;
}

std::optional<std::string> provider_suffix_in(std::string_view library) {
  constexpr std::string_view kBegin = "-rdmav";
  constexpr std::string_view kEnd = ".so";
  for (auto at = library.find(kBegin); at != std::string_view::npos;
       at = library.find(kBegin, at + 1)) {
    const auto rest = library.substr(at + kBegin.size());
    const auto digits = rest.find_first_not_of(kDecimalDigits);
    if (digits == 0 || digits > 4 || digits == std::string_view::npos) continue;
    if (!rest.substr(digits).starts_with(kEnd)) continue;
    return std::string(library.substr(at, kBegin.size() + digits + kEnd.size()));
  }
  return std::nullopt;
}

Result<Container> read_container(const ContainerSource& source, const node::Node& node, int pid) {
  return ContainerReader(source, node, pid).read();
}

Result<std::vector<int>> find_pod(const ContainerSource& source, std::string_view pod_namespace,
                                  std::string_view pod) {
  const auto table = TRY(usage::read_processes(source.host, source.proc_dir, {}));
  // The first process of a container is its oldest.
  std::map<std::string, const usage::ProcessUse*> first;
  for (const auto& [id, process] : table.by_id) {
    auto& oldest = first[process.place->container];
    if (oldest == nullptr || process.start_ticks < oldest->start_ticks) oldest = &process;
  }
  std::map<std::string, int> by_name;
  std::size_t unnamed = 0;
  for (const auto& [container, process] : first) {
    const auto text = usage::find_bundle(source.host, source.proc_dir, container, process->id);
    const auto bundle = text && *text ? usage::parse_bundle(**text)
                                      : Result<usage::Bundle>(Error{ErrorCode::unavailable, ""});
    if (!bundle) ++unnamed;
    if (!bundle || bundle->sandbox || bundle->pod_namespace != pod_namespace || bundle->pod != pod)
      continue;
    by_name.emplace(bundle->container, static_cast<int>(process->id));
  }
  if (by_name.empty()) {
    auto why = "no running container of pod " + std::string(pod_namespace) + "/" +
               std::string(pod) + " among " + counted(first.size(), "container") + " of this node";
    if (unnamed > 0 || !table.doubt.empty()) {
      why += "; " + counted(unnamed, "bundle") +
             " could not be read (root and the host's PID "
             "namespace are needed)";
    }
    return Error{ErrorCode::unavailable, std::move(why)};
  }
  std::vector<int> pids;
  for (const auto& [name, pid] : by_name) pids.push_back(pid);
  return pids;
}

}  // namespace railhead::system
