// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "host/directory_host.h"
#include "host/input_file.h"
#include "host/machine_root.h"
#include "snapshot/snapshot_host.h"

namespace railhead::options {
namespace {

constexpr std::size_t kMaxSnapshotBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTopologyBytes = std::size_t{1} << 20;

/// "config.yaml:3:5: topology.file": who says a setting, and which.
std::string place_of(const config::Config& config, config::SettingRow row) {
  return config.entry(row).where + ": " + std::string(row->key);
}

/// What two settings say together.
Status check_settings(const config::Config& config) {
  const auto& settings = config.settings();
  if (!settings.host.nccl_topo.empty()) {
    return Error{ErrorCode::usage,
                 place_of(config, "host.ncclTopo") + ": a topology file is not a machine to read"};
  }
  if (settings.kubernetes.conditions && settings.doctor.every.count() == 0) {
    return Error{ErrorCode::usage, place_of(config, "kubernetes.conditions") +
                                       ": they come of the doctor's looks; set "
                                       "doctor.everySeconds, such as 300"};
  }
  if (settings.device_plugin.enabled) TRY(hand_out(settings));
  return {};
}

/// `key`: with its list, "roles.pci".
Error bad_rule(const config::NicRule::Text& setting, const std::string& key, std::string_view why) {
  return Error{ErrorCode::malformed, setting.where + ": " + key + ": " + in_quotes(setting.text) +
                                         " " + std::string(why)};
}

Status read_address(const config::NicRule::Text& setting, const std::string& list,
                    affinity::NicSelector& into) {
  if (setting.text.empty()) return {};
  const auto address = node::PciAddress::parse(setting.text);
  if (!address)
    return bad_rule(setting, list + ".pci", "is not a PCI address such as 0000:18:00.0");
  into.pci = *address;
  return {};
}

/// Four hexadecimal digits, as lspci -n prints an id.
std::optional<std::uint16_t> parse_id(std::string_view text) {
  const auto id = parse_hex(text);
  if (text.size() != 4 || !id) return std::nullopt;
  return static_cast<std::uint16_t>(*id);
}

Status read_ids(const config::NicRule::Text& setting, const std::string& list,
                affinity::NicSelector& into) {
  if (setting.text.empty()) return {};
  const auto parts = split(setting.text, ':');
  if (parts.size() == 2) {
    into.vendor = parse_id(parts[0]);
    into.device = parse_id(parts[1]);
    if (into.vendor && (into.device || parts[1] == "*")) return {};
  }
  return bad_rule(setting, list + ".device", "is not a vendor:device such as 15b3:1021 or 15b3:*");
}

Status read_link_layer(const config::NicRule::Text& setting, const std::string& list,
                       affinity::NicSelector& into) {
  if (setting.text.empty()) return {};
  for (const auto layer : {node::LinkLayer::infiniband, node::LinkLayer::ethernet}) {
    if (setting.text == to_string(layer)) {
      into.link_layer = layer;
      return {};
    }
  }
  return bad_rule(setting, list + ".linkLayer", "is neither InfiniBand nor Ethernet");
}

Status read_selector(const config::NicRule& rule, const std::string& list,
                     affinity::NicSelector& into) {
  into.name_globs = rule.name.text;
  into.netdev_glob = rule.netdev.text;
  TRY_STATUS(read_address(rule.pci, list, into));
  TRY_STATUS(read_ids(rule.device, list, into));
  return read_link_layer(rule.link_layer, list, into);
}

Result<affinity::RoleOverride> role_override(const config::NicRule& rule) {
  affinity::RoleOverride one;
  TRY_STATUS(read_selector(rule, "roles", one));
  const auto role = affinity::parse_role(rule.role.text);
  if (!role) {
    return bad_rule(rule.role, "roles.role",
                    "is not a role: compute, storage, management, front-end, nvlink-management, "
                    "virtual-function, unused");
  }
  one.role = *role;
  return one;
}

Result<affinity::Expectation> expectation(const config::NicRule& rule) {
  using Kind = affinity::Expectation::Kind;
  affinity::Expectation one;
  one.where = rule.entry.where;
  TRY_STATUS(read_selector(rule, "expect", one));
  const std::array words{std::pair{&rule.unused, Kind::unused},
                         std::pair{&rule.one_up, Kind::one_up},
                         std::pair{&rule.rate_gbps, Kind::rate}};
  const auto said =
      std::ranges::count_if(words, [](const auto& word) { return !word.first->text.empty(); });
  if (said != 1) {
    return Error{ErrorCode::malformed,
                 rule.entry.where + ": an entry of expect says one of unused, oneUp and rateGbps"};
  }
  for (const auto& [word, kind] : words) {
    if (word->text.empty()) continue;
    one.kind = kind;
    if (kind == Kind::rate) {
      const auto gbps = parse_unsigned(word->text);
      if (!gbps || *gbps == 0)
        return bad_rule(*word, "expect.rateGbps", "is not a rate in Gbit/s, such as 200");
      one.gbps = static_cast<double>(*gbps);
    } else if (word->text != "true") {
      return bad_rule(*word, kind == Kind::unused ? "expect.unused" : "expect.oneUp",
                      "is not true");
    }
  }
  if (rule.port.text.empty()) return one;
  const auto port = parse_unsigned(rule.port.text);
  if (one.kind != Kind::unused || !port || *port == 0 || *port > 255) {
    return bad_rule(rule.port, "expect.port",
                    "is not a port, 1 to 255, of an entry that says unused");
  }
  one.port = static_cast<unsigned>(*port);
  return one;
}

/// A snapshot of a machine has at least a name below /sys: every machine was asked for its NICs.
Status check_snapshot(host::Host& host, const std::string& file) {
  const auto names = TRY(host.list("/sys"));
  if (names && !names->empty()) return {};
  return Error{ErrorCode::unavailable, file + " has nothing of /sys: it tells of no machine"};
}

using RootCheck = Status (*)(host::Host& host, const std::string& root);

Result<std::unique_ptr<host::Host>> open_origin(const MachineOrigin& origin, RootCheck check) {
  if (origin.snapshot.empty()) {
    auto host = TRY(host::DirectoryHost::open(origin.root));
    TRY_STATUS(check(*host, origin.root));
    return host;
  }
  auto host =
      snapshot::SnapshotHost::parse(TRY(host::read_input_file(origin.snapshot, kMaxSnapshotBytes)));
  if (!host) return host.error().context(origin.snapshot);
  TRY_STATUS(check_snapshot(**host, origin.snapshot));
  return host;
}

}  // namespace

Result<std::unique_ptr<host::Host>> open_machine(const MachineOrigin& origin) {
  return open_origin(origin, host::check_machine);
}

Result<std::unique_ptr<host::Host>> open_part_of_machine(const MachineOrigin& origin) {
  return open_origin(origin, host::check_part_of_machine);
}

Result<MachineOrigin> machine_origin(const config::Settings& settings) {
  if (!settings.host.nccl_topo.empty()) {
    return Error{ErrorCode::usage, "--nccl-topo: a topology file is not a machine to read"};
  }
  return MachineOrigin{settings.host.root, settings.host.snapshot};
}

std::string kubernetes_node_name(const config::Settings& settings) {
  if (!settings.node.name.empty()) return settings.node.name;
  constexpr std::size_t kMaxBytes = 256;
  const auto text = host::read_file_at_once("/proc/sys/kernel/hostname", kMaxBytes);
  return text ? to_lower(trim(*text)) : "";
}

Result<std::optional<topology::NcclTopology>> machine_file(const config::Settings& settings) {
  const std::string& path = settings.host.nccl_topo;
  if (path.empty()) return std::optional<topology::NcclTopology>();
  if (!settings.host.snapshot.empty()) {
    return Error{ErrorCode::usage, "--nccl-topo and --snapshot exclude each other"};
  }
  const auto text = TRY(host::read_input_file(path, kMaxTopologyBytes));
  return std::optional(TRY(topology::parse_nccl_topology(text, path)));
}

inject::InjectionPolicy injection_policy(const config::Settings& settings) {
  // Names every member, so that a new one does not compile until it is said here what it does.
  const auto& [gpus, gpu_resources, annotations, memlock_cap_bytes, devices,
               roce_without_host_network, pf_with_vfs, vm_runtimes, vm_runtime_handlers,
               ucx_environment, nvshmem_environment, gdrcopy, nccl_topo_file] = settings.injection;
  inject::InjectionPolicy policy;
  policy.gpus = gpus;
  policy.annotations = annotations;
  policy.memlock_cap = memlock_cap_bytes;
  policy.devices = devices;
  policy.roce_without_host_network = roce_without_host_network;
  policy.pf_with_vfs = pf_with_vfs;
  policy.gpu_resources = gpu_resources;
  policy.vm_runtimes = vm_runtimes;
  policy.vm_runtime_handlers = vm_runtime_handlers;
  policy.ucx_env = ucx_environment;
  policy.nvshmem_env = nvshmem_environment;
  policy.gdrcopy = gdrcopy;
  policy.topology_file = nccl_topo_file;
  return policy;
}

Result<config::HandOut> hand_out(const config::Settings& settings) {
  const auto& plugin = settings.device_plugin;
  if (plugin.hand_out == config::HandOut::nri && !settings.nri.enabled) {
    return Error{ErrorCode::usage,
                 "devicePlugin.handout: nri hands out nothing while nri.enabled "
                 "is false; say device-specs"};
  }
  return plugin.hand_out.value_or(settings.nri.enabled ? config::HandOut::nri
                                                       : config::HandOut::device_specs);
}

Result<pools::PoolSpecs> pool_specs(const config::Config& config,
                                    std::vector<pools::PoolSpec> in_force) {
  pools::PoolParseOptions options;
  options.in_force = std::move(in_force);
  options.sriov_prefix = config.settings().device_plugin.resource_prefix;
  for (const auto role :
       {affinity::Role::compute, affinity::Role::storage, affinity::Role::management,
        affinity::Role::front_end, affinity::Role::nvlink_management,
        affinity::Role::virtual_function, affinity::Role::unused, affinity::Role::unknown}) {
    options.roles.emplace_back(to_string(role));
  }
  return pools::parse_pools(config.pool_sources(), options);
}

std::vector<pools::Difference> logged_differences(const config::Config& config) {
  auto differences = pools::differences(config.pool_sources(), config.settings().injection.gpus);
  std::erase_if(differences, [](const pools::Difference& one) { return !one.logged; });
  return differences;
}

Result<affinity::OperatorRules> operator_rules(const config::Config& config) {
  affinity::OperatorRules rules;
  for (const auto& rule : config.roles()) {
    rules.roles.push_back(TRY(role_override(rule)));
  }
  for (const auto& rule : config.expect()) {
    rules.expect.push_back(TRY(expectation(rule)));
  }
  return rules;
}

Result<std::optional<node::TextFile>> read_topology_file(const std::string& path,
                                                         host::ReadFile read) {
  if (path.empty()) return std::optional<node::TextFile>();
  auto text = TRY(read(path, kMaxTopologyBytes));
  return std::optional<node::TextFile>({path, std::move(text)});
}

Result<std::optional<topology::NcclTopology>> operator_topology(const config::Settings& settings) {
  const auto file = TRY(read_topology_file(settings.topology.file, host::read_input_file));
  if (!file) return std::optional<topology::NcclTopology>();
  return std::optional<topology::NcclTopology>(
      TRY(topology::parse_nccl_topology(file->text, file->path)));
}

namespace {

std::vector<checks::NetdevSelector> netdev_selectors(const std::vector<pools::PoolSpec>& specs) {
  std::vector<checks::NetdevSelector> all;
  for (const auto& spec : specs) {
    for (const auto& selector : spec.include) {
      for (const auto& condition : selector.conditions) {
        if (condition.fact != pools::Fact::pf_name && condition.fact != pools::Fact::netdev) {
          continue;
        }
        checks::NetdevSelector one{spec.name, condition.key, {}};
        for (const auto& range : condition.functions) one.patterns.push_back(range.parent);
        if (one.patterns.empty()) one.patterns = condition.values;
        if (!one.patterns.empty()) all.push_back(std::move(one));
      }
    }
  }
  return all;
}

}  // namespace

Result<checks::Wishes> doctor_wishes(const config::Config& config) {
  checks::Wishes wishes;
  wishes.rules = TRY(operator_rules(config));
  wishes.nri = config.settings().nri.enabled;
  wishes.nccl_file = !config.settings().injection.nccl_topo_file.empty();
  wishes.topology = TRY(operator_topology(config.settings()));
  // Where resources cannot be read the agent does not start, and says so.
  if (const auto specs = pool_specs(config)) wishes.netdevs = netdev_selectors(specs->specs);
  return wishes;
}

usage::ListQueuePairs listed_queue_pairs(const config::Settings& settings) {
  switch (settings.pods.queue_pairs) {
    case config::QueuePairChoice::always: return usage::ListQueuePairs::always;
    case config::QueuePairChoice::never: return usage::ListQueuePairs::never;
    case config::QueuePairChoice::automatic: break;
  }
  return settings.host.snapshot.empty() ? usage::ListQueuePairs::automatic
                                        : usage::ListQueuePairs::always;
}

Result<Policies> agent_policies(const config::Config& config,
                                std::vector<pools::PoolSpec> in_force) {
  const auto& settings = config.settings();
  TRY_STATUS(check_settings(config));
  Policies policies;
  if (!settings.metrics.bind_address.empty()) {
    const auto address = metrics::parse_http_address(settings.metrics.bind_address);
    if (!address) return address.error().context(place_of(config, "metrics.bindAddress"));
    policies.pages = *address;
  }
  policies.settings.rules = TRY(operator_rules(config));
  auto pools = TRY(pool_specs(config, std::move(in_force)));
  policies.left_out = std::move(pools.left_out);
  policies.warnings = config.warnings();
  policies.warnings.insert(policies.warnings.end(), pools.warnings.begin(), pools.warnings.end());
  for (const auto& spec : pools.specs) {
    if (spec.origin.where.empty() || settings.device_plugin.enabled) continue;
    policies.warnings.push_back(spec.origin.where + ": pool " + spec.name +
                                " is not reported: devicePlugin.enabled is false");
  }
  policies.settings.policy = injection_policy(settings);
  policies.settings.policy.pools = std::move(pools.specs);
  policies.settings.read_topology_file = [path = settings.topology.file] {
    return read_topology_file(path, host::read_file_at_once);
  };
  policies.settings.topology_setting = place_of(config, "topology.file");
  return policies;
}

}  // namespace railhead::options
