// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <array>
#include <ostream>

#include "cli/describe.h"
#include "host/host.h"
#include "host/input_file.h"
#include "node/rdma_models.h"
#include "node/unread.h"
#include "options/options.h"
#include "topology/layout.h"

namespace railhead::cli {
namespace {

constexpr const char* kDefaultConfigFile = "/etc/railhead/config.yaml";
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

/// What the help says of a setting's default behind its words: " [30s]".
std::string default_text(const config::SettingSpec& row) {
  if (row.help.find("; default: ") != std::string_view::npos) return "";
  const bool lacks_unit = row.shape == "TIME" && row.fallback != "0";
  return " [" + std::string(row.fallback.empty() ? "none" : row.fallback) +
         (lacks_unit ? "s]" : "]");
}

}  // namespace

Result<config::Config> Invocation::config() const {
  return config::make_config(TRY(sources(host::read_input_file)));
}

std::vector<std::string> Invocation::config_paths() const {
  return config_files.empty() ? std::vector<std::string>{kDefaultConfigFile} : config_files;
}

Result<config::ConfigSources> Invocation::sources(host::ReadFile read) const {
  config::ConfigSources sources;
  sources.environment = environment;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) sources.environment[name] = value;
  }
  sources.flags = flags;
  for (const auto& path : config_files) {
    auto text = TRY(read(path, kMaxConfigBytes));
    sources.files.push_back({path, std::move(text)});
  }
  if (config_files.empty() && host::input_file_exists(kDefaultConfigFile)) {
    auto text = TRY(read(kDefaultConfigFile, kMaxConfigBytes));
    sources.files.push_back({kDefaultConfigFile, std::move(text)});
  }
  return sources;
}

void Invocation::answer_with_config(
    CLI::App& app, const std::function<Result<int>(const config::Config&)>& with_it) {
  answer(app, [this, with_it]() -> Result<int> {
    const auto read = config();
    if (!read) return as_usage(read.error());
    const auto pools = options::pool_specs(*read);
    return pools ? with_it(*read) : as_usage(pools.error());
  });
}

void Invocation::answer_with_machine(
    CLI::App& app, const std::function<Result<int>(const inject::DecisionTable&)>& with_it) {
  answer_with_config(app, [with_it](const config::Config& read) -> Result<int> {
    return with_it(*TRY(load_table(read)));
  });
}

Error as_usage(const Error& error) {
  return {ErrorCode::usage, error.message};
}

void add_settings(CLI::App& app, Invocation& invocation,
                  const std::vector<config::SettingRow>& rows) {
  for (const auto row : rows) {
    auto* option = app.add_option_function<std::string>(
        std::string(row->flag),
        [&invocation, row](const std::string& text) {
          const bool is_root = row->key == "host.root" && !text.empty();
          invocation.flags[row] = is_root ? host::absolute_path(text) : text;
        },
        std::string(row->help) + default_text(*row));
    option->type_name(std::string(row->shape));
    invocation.may_be_empty.insert(option);
  }
  // Without one it would be the machine that the command runs on.
  for (const char* name : {"--snapshot", "--nccl-topo"}) {
    invocation.may_be_empty.erase(app.get_option_no_throw(name));
  }
  auto* root = app.get_option_no_throw("--host-root");
  auto* snapshot = app.get_option_no_throw("--snapshot");
  if (root != nullptr && snapshot != nullptr) snapshot->excludes(root);
}

void add_rdma_plugin_flags(CLI::App& app, Invocation& invocation) {
  const auto describe = [](CLI::Option& option, const char* variable, const char* shape) {
    option.type_name(shape)->group("Options of k8s-rdma-device-plugin");
    option.description("the same as " + std::string(variable));
  };
  for (const auto& [flag, variable, shape] :
       {std::array{"--resource-name", "RDMA_RESOURCE_NAME", "NAME"},
        std::array{"--resource-count", "RDMA_RESOURCE_COUNT", "SLOTS"}}) {
    describe(*app.add_option(flag, invocation.variables[variable]), variable, shape);
  }
  // The word alone is true.
  for (const auto& [flag, variable] :
       {std::array{"--enable-device-plugin{true}", "RDMA_ENABLE_DEVICE_PLUGIN"},
        std::array{"--gpu-rdma-auto-inject{true}", "RDMA_GPU_AUTO_INJECT"}}) {
    describe(*app.add_flag(flag, invocation.variables[variable]), variable, "true|false");
  }
}

void add_config_option(CLI::App& app, Invocation& invocation) {
  app.add_option(
         "--config", invocation.config_files,
         "configuration file; may be repeated: the last that has a setting wins, and pools of all "
         "count [/etc/railhead/config.yaml]")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_machine_options(CLI::App& app, Invocation& invocation) {
  add_settings(app, invocation, {"host.root", "host.snapshot", "host.ncclTopo"});
  add_config_option(app, invocation);
}

void add_fail_on_option(CLI::App& app, std::string& fail_on) {
  const std::vector<std::string> severities = {"warn", "fail"};
  app.add_option("--fail-on", fail_on, "the exit code is 1 from this severity on [fail]")
      ->check(shell::one_of(severities, "a severity of --fail-on"));
}

std::vector<std::string> no_rdma_lines(const node::Node& node) {
  if (!node.nics.empty()) return {};
  if (const auto* problem = node::unread_nic(node)) {
    return {"whether this node has an RDMA device is not known: " + problem->text()};
  }
  constexpr const char* kNext = "railhead doctor says what is missing";
  const auto candidates = node::rdma_candidates(node);
  if (candidates.empty()) {
    return {
        "this node has no RDMA device: none is in /sys/class/infiniband, and no PCI function is "
        "of a NIC known for RDMA",
        kNext};
  }
  std::vector<std::string> lines = {
      "this node has no RDMA device: none is in /sys/class/infiniband"};
  for (const auto* one : candidates) lines.push_back(node::promise_text(*one));
  lines.emplace_back(kNext);
  return lines;
}

Result<std::shared_ptr<const inject::DecisionTable>> load_table(const config::Config& config) {
  const auto rules = TRY(options::operator_rules(config));
  const auto from_operator = TRY(options::operator_topology(config.settings()));
  auto policy = options::injection_policy(config.settings());
  policy.pools = TRY(options::pool_specs(config)).specs;
  if (const auto file = TRY(options::machine_file(config.settings()))) {
    return std::make_shared<const inject::DecisionTable>(
        topology::node_from(*file), rules, std::move(policy), from_operator ? from_operator : file);
  }
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto host = TRY(options::open_machine(origin));
  return std::make_shared<const inject::DecisionTable>(node::read_node(*host), rules,
                                                       std::move(policy), from_operator);
}

}  // namespace railhead::cli
