// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "agent/options.h"
#include "base/text.h"
#include "host/host.h"
#include "host/input_file.h"
#include "topology/layout.h"

namespace railhead {
namespace {

constexpr const char* kDefaultConfigFile = "/etc/railhead/config.yaml";
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

}  // namespace

Result<Config> Invocation::config() const {
  return make_config(TRY(sources(read_input_file)));
}

std::vector<std::string> Invocation::config_paths() const {
  return config_files.empty() ? std::vector<std::string>{kDefaultConfigFile} : config_files;
}

Result<ConfigSources> Invocation::sources(ReadFile read) const {
  ConfigSources sources;
  sources.environment = environment;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) sources.environment[name] = value;
  }
  sources.flags = flags;
  for (const auto& path : config_files) {
    auto text = TRY(read(path, kMaxConfigBytes));
    sources.files.push_back({path, std::move(text)});
  }
  if (config_files.empty() && input_file_exists(kDefaultConfigFile)) {
    auto text = TRY(read(kDefaultConfigFile, kMaxConfigBytes));
    sources.files.push_back({kDefaultConfigFile, std::move(text)});
  }
  return sources;
}

int Invocation::fail(std::string_view command, const Error& error, int code) const {
  err << "railhead " << command << ": " << error.message << "\n";
  return error.code == ErrorCode::usage ? kExitUsage : code;
}

int Invocation::with_config(std::string_view command,
                            const std::function<int(const Config&)>& answer) const {
  const auto read = config();
  if (!read) return fail(command, read.error(), kExitUsage);
  const auto pools = pool_specs(*read);
  return pools ? answer(*read) : fail(command, pools.error(), kExitUsage);
}

int Invocation::with_machine(std::string_view command,
                             const std::function<int(const DecisionTable&)>& answer) const {
  return with_config(command, [&](const Config& read) {
    const auto table = load_table(read);
    return table ? answer(**table) : fail(command, table.error());
  });
}

int Invocation::print(const Report& report, int code) const {
  out << render(report, parse_format(output).value_or(Format::table));
  return code;
}

void add_settings(CLI::App& app, Invocation& invocation,
                  const std::vector<std::string_view>& keys) {
  for (const auto key : keys) {
    const auto* spec = find_setting(key);
    const std::string name(key);
    app.add_option_function<std::string>(
           std::string(spec->flag),
           [&invocation, name](const std::string& text) { invocation.flags[name] = text; },
           std::string(spec->help) + " [" +
               (spec->fallback.empty() ? "none" : std::string(spec->fallback)) + "]")
        ->type_name(std::string(spec->shape));
  }
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
  app.add_option("--config", invocation.config_files,
                 "configuration file; may be repeated, later ones win [/etc/railhead/config.yaml]")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_machine_options(CLI::App& app, Invocation& invocation) {
  add_settings(app, invocation, {"host.root", "host.snapshot", "host.ncclTopo"});
  add_config_option(app, invocation);
}

void add_output_option(CLI::App& app, Invocation& invocation,
                       const std::vector<std::string>& more) {
  std::vector<std::string> formats = {"table", "wide", "json", "yaml"};
  formats.insert(formats.end(), more.begin(), more.end());
  const auto shape = join(formats, "|");
  const auto refuse_others = [formats, shape](const std::string& text) {
    if (std::find(formats.begin(), formats.end(), text) != formats.end()) return std::string();
    return railhead::in_quotes(text) + " is not a format of this command (" + shape + ")";
  };
  app.add_option("-o,--output", invocation.output, "format [table]")
      ->type_name(shape)
      ->check(refuse_others);
}

Result<std::shared_ptr<const DecisionTable>> load_table(const Config& config) {
  const auto overrides = TRY(role_overrides(config));
  const auto from_operator = TRY(operator_topology(config));
  auto policy = injection_policy(config);
  policy.pools = TRY(pool_specs(config)).specs;
  if (const auto file = TRY(machine_file(config))) {
    return std::make_shared<const DecisionTable>(node_from(*file), overrides, std::move(policy),
                                                 from_operator ? from_operator : file);
  }
  const auto origin = TRY(machine_origin(config));
  const auto host = TRY(open_machine(origin));
  return std::make_shared<const DecisionTable>(read_node(*host), overrides, std::move(policy),
                                               from_operator);
}

}  // namespace railhead
