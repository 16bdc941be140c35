// SPDX-License-Identifier: Apache-2.0
#include "setup/wanted.h"

#include <algorithm>

#include "base/closest.h"
#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/keys.h"
#include "proof/nfs_use.h"
#include "setup/wanted_link.h"

namespace railhead::setup {
namespace {

using data::Value;

constexpr std::string_view kSeparators = "./";  // of the parts of a sysctl

/// Each value may be a step, and each step reads the machine anew.
constexpr data::ParseLimits kWantedLimits{std::size_t{1} << 20, 32, 4096};

/// Names of modules, units and sysctls become parts of paths.
bool is_name(std::string_view text, std::string_view more) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         text.find("..") == std::string_view::npos && std::ranges::all_of(text, [&](char c) {
           return is_letter_or_digit(c) || contains(more, c);
         });
}

Result<std::vector<std::string>> names(const Value& value, std::string_view more) {
  auto found = TRY(value.as_strings());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (is_name(found[i], more)) continue;
    return data::malformed_at(value.items[i].mark, in_quotes(found[i]) + " is no name");
  }
  return found;
}

/// A name that stands twice is wanted once.
std::vector<std::string> without_repeats(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  for (const auto& name : names) {
    if (!contains(once, name)) once.push_back(name);
  }
  return once;
}

Result<Value> map_of(const Value& value, std::string_view key) {
  if (value.kind == Value::Kind::map) return value;
  return data::malformed_at(value.mark, std::string(key) + " is no map");
}

Status read_modules(const Value& value, Wanted& wanted) {
  auto modules = TRY(names(value, "_-"));
  // As the kernel names them: modprobe(8) takes both.
  for (auto& name : modules) std::ranges::replace(name, '-', '_');
  wanted.modules = without_repeats(modules);
  return {};
}

/// "containerd", which may be written "containerd.service".
Status read_services(const Value& value, Wanted& wanted) {
  constexpr std::string_view kSuffix = ".service";
  auto services = TRY(names(value, "_-@."));
  for (auto& name : services) {
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  }
  wanted.memlock_services = without_repeats(services);
  return {};
}

constexpr data::Key<Wanted> kMemlockKeys[] = {
    {"services", read_services},
    {"limitsFile", data::take_flag<&Wanted::limits_file>},
};

Status read_namespaces(const Value& value, Wanted& wanted) {
  const auto text = TRY(value.as_string());
  if (text != "shared" && text != "exclusive") {
    return data::malformed_at(value.mark, in_quotes(text) + " is neither shared nor exclusive");
  }
  wanted.rdma_namespaces = text == "shared" ? node::RdmaNetns::shared : node::RdmaNetns::exclusive;
  return {};
}

/// Each part of it has a name.
bool is_sysctl(const std::string& key) {
  const auto has_two = std::ranges::adjacent_find(
      key, [](char a, char b) { return contains(kSeparators, a) && contains(kSeparators, b); });
  return is_name(key, "_-./") && has_two == key.end() && !contains(kSeparators, key.front()) &&
         !contains(kSeparators, key.back());
}

Status read_sysctl(const Value& value, Wanted& wanted) {
  for (const auto& [written, mark, entry] : TRY(map_of(value, "sysctl")).entries) {
    if (!is_sysctl(written)) return data::malformed_at(mark, in_quotes(written) + " is no name");
    const auto key = sysctl_name(written);
    std::string path = key;
    std::ranges::replace(path, '.', '/');
    if (!may_be_set(path)) {
      return data::malformed_at(mark, in_quotes(written) +
                                          " is none that setup sets: it sets those of net, vm and "
                                          "sunrpc, and limits of kernel and fs");
    }
    if (wanted.sysctl.count(key) != 0)
      return data::malformed_at(mark, in_quotes(written) + " is there twice, also as " + key);
    const auto text = TRY(entry.as_string());
    if (text.find_first_of("\n\r") != std::string::npos || text.size() > 256) {
      return data::malformed_at(entry.mark, "no value of a sysctl");
    }
    wanted.sysctl[key] = text;
  }
  return {};
}

Status check_netdev(const std::string& name, const data::Mark& mark) {
  if (is_name(name, "_-.") && name.size() <= 15) return {};
  return data::malformed_at(mark, in_quotes(name) + " is no netdev");
}

/// 68 is the least of IPv4; 9216 is what switches take (linux/if_ether.h, ETH_MIN_MTU).
Status read_mtu(const Value& value, Wanted& wanted) {
  for (const auto& [key, mark, entry] : TRY(map_of(value, "mtu")).entries) {
    TRY_STATUS(check_netdev(key, mark));
    const auto number = TRY(entry.as_unsigned());
    if (number < 68 || number > 9216) return data::malformed_at(entry.mark, "is not 68 to 9216");
    wanted.mtu[key] = static_cast<unsigned>(number);
  }
  return {};
}

Status read_links(const Value& value, Wanted& wanted) {
  for (const auto& [key, mark, entry] : TRY(map_of(value, "link")).entries) {
    TRY_STATUS(check_netdev(key, mark));
    auto wish = read_link_wish(entry);
    if (!wish) return wish.error().context(key);
    wanted.links[key] = *std::move(wish);
  }
  return {};
}

/// Of the policies that kubernetes.io names in "Control Topology Management Policies on a node".
Status read_topology_policy(const Value& value, Wanted& wanted) {
  const std::vector<std::string> known{"none", "best-effort", "restricted", "single-numa-node"};
  wanted.topology_manager_policy = TRY(value.as_string());
  if (contains(known, wanted.topology_manager_policy)) return {};
  return data::malformed_at(value.mark, "is none of " + join(known, ", "));
}

constexpr data::Key<Wanted> kKubeletKeys[] = {{"topologyManagerPolicy", read_topology_policy}};

constexpr data::Key<GpudirectWish> kGpudirectKeys[] = {
    {"route", data::take_flag<&GpudirectWish::route>},
    {"pcie", data::take_flag<&GpudirectWish::pcie>},
};

/// PCI ids count in lower case.
template <auto Member>
Status take_id(const Value& value, VfPolicy& policy) {
  policy.*Member = to_lower(TRY(value.as_string()));
  return {};
}

template <auto Member>
Status take_names(const Value& value, VfPolicy& policy) {
  policy.*Member = TRY(names(value, "_-:.#@"));
  return {};
}

Status take_device_type(const Value& value, VfPolicy& policy) {
  const auto type = TRY(value.as_string());
  policy.is_vfio = type == "vfio-pci";
  if (policy.is_vfio || type == "netdevice") return {};
  return data::malformed_at(value.mark, in_quotes(type) + " is neither netdevice nor vfio-pci");
}

Status take_trust(const Value& value, VfPolicy& policy) {
  const auto text = TRY(value.as_string());
  if (text != "on" && text != "off")
    return data::malformed_at(value.mark, in_quotes(text) + " is neither on nor off");
  policy.is_trusted = text == "on";
  return {};
}

Status take_mode(const Value& value, VfPolicy& /*policy*/) {
  const auto mode = TRY(value.as_string());
  if (mode == "legacy") return {};
  return data::malformed_at(value.mark, in_quotes(mode) +
                                            " is not done by setup, but legacy: a switch in the "
                                            "card needs a controller for its representors");
}

/// Keys that say nothing to a node: which nodes, how the device plugin counts, what it checks.
Status ignore(const Value& /*value*/, VfPolicy& /*policy*/) {
  return {};
}

constexpr data::Key<VfPolicy> kSelectorKeys[] = {
    {"vendor", take_id<&VfPolicy::vendor>},
    {"deviceID", take_id<&VfPolicy::device>},
    {"pfNames", take_names<&VfPolicy::pf_names>},
    {"rootDevices", take_names<&VfPolicy::root_devices>},
};

constexpr data::Key<VfPolicy> kPolicyKeys[] = {
    {"resourceName", data::take_text<&VfPolicy::resource>},
    {"nicSelector", data::take_map<kSelectorKeys>},
    {"numVfs", data::take_number<&VfPolicy::count>},
    {"mtu", data::take_number<&VfPolicy::mtu>},
    {"isRdma", data::take_flag<&VfPolicy::is_rdma>},
    {"externallyManaged", data::take_flag<&VfPolicy::externally_managed>},
    {"deviceType", take_device_type},
    {"eSwitchMode", take_mode},
    {"trust", take_trust},
    {"nodeSelector", ignore},
    {"priority", ignore},
    {"linkType", ignore},
    {"needVhostNet", ignore},
    {"excludeTopology", ignore},
};

Status check_parts(const Value& value, const VfPolicy& policy) {
  for (const auto& name : policy.pf_names) {
    const auto part = part_of(name);
    if (!part) {
      return data::malformed_at(value.mark,
                                in_quotes(name) + " names no functions: such as \"ens8f0#0-3\"");
    }
    if (part->last == PfPart::kAllVfs || part->last < policy.count) continue;
    return data::malformed_at(value.mark, in_quotes(name) + " names VF " +
                                              std::to_string(part->last) + ", and numVfs is " +
                                              std::to_string(policy.count));
  }
  return {};
}

Result<VfPolicy> read_policy(const Value& value) {
  VfPolicy policy;
  TRY_STATUS(data::take_keys(value, kPolicyKeys, policy));
  if (policy.vendor.empty() && policy.device.empty() && policy.pf_names.empty() &&
      policy.root_devices.empty()) {
    return data::malformed_at(value.mark, "nicSelector selects nothing");
  }
  if (policy.is_vfio && policy.is_rdma) {
    return data::malformed_at(
        value.mark,
        "deviceType vfio-pci and isRdma exclude each other: a VF of a virtual "
        "machine has no RDMA device here");
  }
  // Without it none would be wanted, and those that there are would go.
  if (value.find("numVfs") == nullptr) return data::malformed_at(value.mark, "no numVfs");
  TRY_STATUS(check_parts(value, policy));
  return policy;
}

Status read_sriov(const Value& value, Wanted& wanted) {
  if (value.kind != Value::Kind::list) return data::malformed_at(value.mark, "no list");
  for (const auto& item : value.items) wanted.sriov.push_back(TRY(read_policy(item)));
  return {};
}

/// It becomes a line of a unit, in which systemd expands "%".
bool is_unit_text(std::string_view text) {
  return !text.empty() && text.size() <= 1024 && text.front() != ' ' &&
         std::ranges::none_of(
             text, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '%' || c == '\\'; });
}

template <auto Member>
Status take_unit_text(const Value& value, NfsWish& wish) {
  wish.*Member = TRY(value.as_string());
  if (is_unit_text(wish.*Member)) return {};
  return data::malformed_at(value.mark, in_quotes(wish.*Member) + " cannot stand in a unit");
}

constexpr data::Key<NfsWish> kNfsKeys[] = {
    {"what", take_unit_text<&NfsWish::what>},
    {"where", take_unit_text<&NfsWish::where>},
    {"options", take_unit_text<&NfsWish::options>},
};

/// A file has 255 bytes at most (NAME_MAX), and what setup writes for a mount has longer names.
constexpr std::size_t kMaxUnitName = 200;

Status read_nfs(const Value& value, Wanted& wanted) {
  if (value.kind != Value::Kind::list) return data::malformed_at(value.mark, "no list");
  for (const auto& item : value.items) {
    NfsWish wish;
    TRY_STATUS(data::take_keys(item, kNfsKeys, wish));
    while (wish.where.size() > 1 && wish.where.ends_with('/')) wish.where.pop_back();
    if (wish.what.find(":/") == std::string::npos)
      return data::malformed_at(item.mark, "what is no SERVER:/PATH");
    if (!wish.where.starts_with('/') || wish.where.size() < 2 ||
        wish.where.find("//") != std::string::npos || wish.where.find("/.") != std::string::npos) {
      return data::malformed_at(item.mark, "where is no mount point");
    }
    if (usage::mount_unit_name(wish.where).size() > kMaxUnitName)
      return data::malformed_at(item.mark, "where is too long for the name of a unit");
    if (find_by(wanted.nfs, &NfsWish::where, wish.where) != nullptr)
      return data::malformed_at(item.mark, wish.where + " is there twice");
    wanted.nfs.push_back(std::move(wish));
  }
  return {};
}

constexpr data::Key<Wanted> kKeys[] = {
    {"modules", read_modules},
    {"memlock", data::take_map<kMemlockKeys>},
    {"nri", data::take_flag<&Wanted::nri>},
    {"rdmaNamespaces", read_namespaces},
    {"sysctl", read_sysctl},
    {"sriov", read_sriov},
    {"mtu", read_mtu},
    {"link", read_links},
    {"nfs", read_nfs},
    {"kubelet", data::take_map<kKubeletKeys>},
    {"gpudirect", data::take_map_of<&Wanted::gpudirect, kGpudirectKeys>},
};

Status read_root(const Value& root, Wanted& wanted) {
  if (root.kind != Value::Kind::map) return Error{ErrorCode::malformed, "no map of what is wanted"};
  // The object itself, as kubectl prints it.
  const auto* kind = root.find("kind");
  if (kind == nullptr || kind->scalar != "SriovNetworkNodePolicy") {
    TRY_STATUS(data::take_keys(root, kKeys, wanted));
    // The module is rpcrdma; xprtrdma and svcrdma are its aliases (net/sunrpc/xprtrdma/module.c).
    if (!wanted.nfs.empty() && !contains(wanted.modules, "rpcrdma"))
      wanted.modules.emplace_back("rpcrdma");
    return {};
  }
  const auto* spec = root.find("spec");
  if (spec == nullptr) return data::malformed_at(root.mark, "no spec");
  auto policy = read_policy(*spec);
  if (!policy) return policy.error().context("spec");
  wanted.sriov.push_back(*std::move(policy));
  return {};
}

}  // namespace

bool may_be_set(std::string_view path) {
  // Others start programs as root (kernel.core_pattern, kernel.modprobe) or open the machine.
  constexpr std::string_view kNames[] = {
      "fs/aio-max-nr",
      "fs/file-max",
      "fs/nr_open",
      "fs/inotify/*",
      "fs/pipe-*",
      "kernel/msg*",
      "kernel/shm*",
      "kernel/sem",
      "kernel/pid_max",
      "kernel/threads-max",
      "kernel/sched_*",
      "kernel/numa_*",
      "kernel/timer_migration",
      "kernel/watchdog*",
      "kernel/nmi_watchdog",
      "kernel/hung_task_*",
      "kernel/keys/*",
      "kernel/panic",
      "kernel/panic_on_*",
      "net/*",
      "vm/*",
      "sunrpc/*",
      "user/max_*",
      "dev/raid/*",
  };
  return std::ranges::any_of(kNames, [&](std::string_view name) { return glob_match(name, path); });
}

std::string sysctl_name(const std::string& key) {
  std::string name = key;
  const auto first = name.find_first_of(kSeparators);
  if (first == std::string::npos || name[first] == '.') return name;
  for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return name;
}

std::optional<PfPart> part_of(const std::string& pf_name) {
  const auto hash = pf_name.find('#');
  PfPart part{pf_name.substr(0, hash)};
  if (hash == std::string::npos) return part;
  const auto range = std::string_view(pf_name).substr(hash + 1);
  const auto dash = range.find('-');
  const auto first = parse_unsigned(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_unsigned(range.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= PfPart::kAllVfs) return std::nullopt;
  part.first = static_cast<unsigned>(*first);
  part.last = static_cast<unsigned>(*last);
  return part;
}

Result<Wanted> parse_wanted(const std::string& source, std::string_view text) {
  const auto root = data::parse_yaml(text, kWantedLimits);
  if (!root) return root.error().context(source);
  Wanted wanted;
  wanted.source = source;
  const auto status = read_root(*root, wanted);
  if (!status) return status.error().context(source);
  const bool has_vfio = std::ranges::any_of(wanted.sriov, &VfPolicy::is_vfio);
  // The second is a soft dependency (drivers/vfio/vfio_main.c), which only modprobe(8) goes by; a
  // virtual machine cannot open a function without it.
  for (const auto* name : {"vfio_pci", "vfio_iommu_type1"}) {
    if (has_vfio && !contains(wanted.modules, name)) wanted.modules.emplace_back(name);
  }
  return wanted;
}

Result<Wanted> find_profile(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& profile : profiles()) {
    if (profile.name == name) return parse_wanted("profile " + std::string(name), profile.text);
    known.emplace_back(profile.name);
  }
  return Error{ErrorCode::usage, "there is no profile " + in_quotes(std::string(name)) + ", but " +
                                     join(known, ", ") + did_you_mean(name, known)};
}

}  // namespace railhead::setup
