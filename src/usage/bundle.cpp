// SPDX-License-Identifier: Apache-2.0
#include "usage/bundle.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "container/job_arguments.h"
#include "container/job_size.h"
#include "data/below.h"
#include "data/json.h"
#include "gpu/vendors.h"
#include "transports/variables.h"
#include "usage/processes.h"

namespace railhead::usage {
namespace {

using data::items_below;
using data::text_below;

constexpr data::ParseLimits kSpecLimits{std::size_t{1} << 20, 32, 65536};
constexpr int kMaxGenerations = 64;
constexpr std::size_t kMaxAnnotations = 64;
constexpr std::size_t kMaxVariables = 256;
constexpr std::size_t kMaxBundleMounts = 1024;

struct Annotation {
  std::string_view containerd;
  std::string_view crio;
  std::string Bundle::*into;
};

constexpr std::array<Annotation, 4> kNames = {
    {{"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace", &Bundle::pod_namespace},
     {"io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name", &Bundle::pod},
     {"io.kubernetes.cri.sandbox-uid", "io.kubernetes.pod.uid", &Bundle::pod_uid},
     {"io.kubernetes.cri.container-name", "io.kubernetes.container.name", &Bundle::container}}};
constexpr std::string_view kTypeOfContainerd = "io.kubernetes.cri.container-type";
constexpr std::string_view kTypeOfCrio = "io.kubernetes.cri-o.ContainerType";

std::int64_t number(const data::Value& map, std::string_view key) {
  return parse_signed(text_below(map, {key})).value_or(0);
}

/// What texts of one pod may take. The pod writes them itself, and those of a whole node are kept
/// at a time. What does not fit is left out.
class Allowance {
 public:
  bool take(std::size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::size_t left_ = std::size_t{64} << 10;
};

void read_annotations(const data::Value* annotations, Allowance& allowance, Bundle& bundle) {
  for (const auto& name : kNames) {
    bundle.*name.into = text_below(annotations, {name.containerd});
    if ((bundle.*name.into).empty()) bundle.*name.into = text_below(annotations, {name.crio});
  }
  bundle.sandbox = text_below(annotations, {kTypeOfContainerd}) == "sandbox" ||
                   text_below(annotations, {kTypeOfCrio}) == "sandbox";
  if (bundle.sandbox) bundle.container.clear();
  if (annotations == nullptr) return;
  for (const auto& entry : annotations->entries) {
    const bool is_ours = is_allocation(entry.key) || entry.key.starts_with("rdma.railhead.io/");
    if (is_ours && bundle.annotations.size() < kMaxAnnotations &&
        allowance.take(entry.key.size() + entry.value.scalar.size())) {
      bundle.annotations.emplace_back(entry.key, entry.value.scalar);
    }
  }
}

void read_devices(const data::Value* linux, Bundle& bundle) {
  for (const auto& item : items_below(linux, {"devices"})) {
    std::string path(text_below(item, {"path"}));
    if (!gpu::is_gpu_path(path) && !path.starts_with("/dev/infiniband/")) continue;
    const auto type = text_below(item, {"type"});
    bundle.devices.push_back({std::move(path), type.empty() ? 'c' : type.front(),
                              number(item, "major"), number(item, "minor")});
  }
}

void read_mounts(const data::Value* mounts, Bundle& bundle) {
  for (const auto& item : items_below(mounts, {})) {
    BundleMount mount{std::string(text_below(item, {"destination"})),
                      std::string(text_below(item, {"type"})),
                      std::string(text_below(item, {"source"})), false};
    if (!gpu::is_gpu_mount(mount.destination) && !mount.destination.starts_with("/sys")) continue;
    if (bundle.mounts.size() == kMaxBundleMounts) return;
    const auto& options = items_below(item, {"options"});
    mount.read_write =
        std::ranges::any_of(options, [](const data::Value& one) { return one.scalar == "rw"; });
    bundle.mounts.push_back(std::move(mount));
  }
}

/// "-b", "<folder>" among conmon's arguments.
std::optional<std::string> conmon_bundle(std::string_view command_line) {
  const auto arguments = split(command_line, '\0');
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == "-b" || arguments[i] == "--bundle") return std::string(arguments[i + 1]);
  }
  return std::nullopt;
}

Result<std::optional<std::string>> bundle_of_shim(host::Host& host, const std::string& folder,
                                                  const ProcessUse& shim,
                                                  const std::string& container) {
  using Text = std::optional<std::string>;
  if (shim.name.starts_with("conmon")) {
    const auto arguments = TRY(host.read_keeping(folder + "/cmdline", shortened_command_line));
    const auto bundle = arguments ? conmon_bundle(*arguments) : std::nullopt;
    if (!bundle || bundle->find(container) == std::string::npos) return Text();
    return host.read_keeping(*bundle + "/config.json", shortened_bundle);
  }
  if (!shim.name.starts_with("containerd-shim")) return Text();
  const auto working = TRY(host.readlink(folder + "/cwd"));
  if (!working || !working->starts_with('/')) return Text();
  return host.read_keeping(
      working->substr(0, working->rfind('/')) + "/" + container + "/config.json", shortened_bundle);
}

/// Of a variable of a job the number that it says, or that it says something: an address of this
/// or another host, above all.
std::string kept_variable(const std::string& variable) {
  if (!container::is_job_variable(variable)) return variable;
  const auto begin = variable.find('=') + 1;
  const auto value = trim(std::string_view(variable).substr(begin));
  if (value.empty() || container::count_of(value)) return variable;
  return variable.substr(0, begin) + "?";
}

data::Json json_of(const Bundle& bundle) {
  data::Json json;
  for (const auto& name : kNames) {
    const auto& value = bundle.*name.into;
    if (!value.empty()) json["annotations"][std::string(name.containerd)] = value;
  }
  for (const auto& [key, value] : bundle.annotations) json["annotations"][key] = value;
  if (bundle.sandbox) json["annotations"][std::string(kTypeOfContainerd)] = "sandbox";
  for (const auto& variable : bundle.env) json["process"]["env"].push_back(kept_variable(variable));
  for (const auto& device : bundle.devices) {
    json["linux"]["devices"].push_back({{"path", device.path},
                                        {"type", std::string(1, device.type)},
                                        {"major", device.major},
                                        {"minor", device.minor}});
  }
  for (const auto& name : bundle.namespaces) {
    json["linux"]["namespaces"].push_back({{"type", name}});
  }
  for (const auto& mount : bundle.mounts) {
    data::Json one = {
        {"destination", mount.destination}, {"type", mount.type}, {"source", mount.source}};
    if (mount.read_write) one["options"].push_back("rw");
    json["mounts"].push_back(std::move(one));
  }
  return json.is_null() ? data::Json::object() : json;
}

}  // namespace

bool is_allocation(std::string_view key) {
  return key.starts_with("allocation.railhead.io/");
}

bool names_gpus(const Bundle& bundle) {
  constexpr std::array<std::string_view, 3> kNone = {"", "void", "none"};
  return std::ranges::any_of(bundle.env, [&](const std::string& variable) {
    const auto value = std::string_view(variable).substr(variable.find('=') + 1);
    return gpu::names_gpus(variable) && !contains(kNone, value);
  });
}

Result<Bundle> parse_bundle(std::string_view config_json) {
  const auto spec = TRY(data::parse_json(config_json, kSpecLimits));
  if (spec.kind != data::Value::Kind::map)
    return Error{ErrorCode::malformed, "the spec is not a map"};
  Bundle bundle;
  Allowance allowance;
  read_annotations(spec.find("annotations"), allowance, bundle);
  for (const auto& item : items_below(spec, {"process", "env"})) {
    const bool is_read = gpu::is_gpu_variable(item.scalar) ||
                         container::is_job_variable(item.scalar) ||
                         transports::is_transport_variable(item.scalar);
    if (is_read && bundle.env.size() < kMaxVariables && allowance.take(item.scalar.size()))
      bundle.env.push_back(item.scalar);
  }
  const auto* linux = spec.find("linux");
  read_devices(linux, bundle);
  read_mounts(spec.find("mounts"), bundle);
  for (const auto& item : items_below(linux, {"namespaces"})) {
    bundle.namespaces.emplace_back(text_below(item, {"type"}));
  }
  return bundle;
}

std::string shortened_bundle(std::string_view config_json) {
  const auto bundle = parse_bundle(config_json);
  return bundle ? data::to_json_text(json_of(*bundle)) : "[\n";
}

std::string shortened_command_line(std::string_view command_line) {
  auto text = container::shortened_arguments(command_line);
  const auto bundle = conmon_bundle(command_line);
  if (bundle) text += std::string("-b") + '\0' + *bundle + '\0';
  return text;
}

Result<std::optional<std::string>> find_bundle(host::Host& host, const std::string& proc_dir,
                                               const std::string& container,
                                               std::uint32_t process) {
  std::optional<std::string> pod;
  for (int generation = 0; generation < kMaxGenerations && process > 1; ++generation) {
    const auto facts = TRY(read_process_use(host, proc_dir, process));
    if (!facts) break;
    const auto& place = facts->place;
    if (place && place->container == container) pod = place->pod_uid;
    const bool inside = place && (place->container == container || (pod && place->pod_uid == pod));
    if (!inside) {
      const auto folder = proc_dir + "/" + std::to_string(process);
      return bundle_of_shim(host, folder, *facts, container);
    }
    process = facts->parent;
  }
  return std::optional<std::string>();
}

}  // namespace railhead::usage
