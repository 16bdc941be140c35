// SPDX-License-Identifier: Apache-2.0
#include "system/container_memlock.h"

#include <map>

#include "base/absent.h"
#include "base/text.h"
#include "data/below.h"
#include "host/process.h"
#include "system/kept_files.h"
#include "system/system.h"

namespace railhead::system {
namespace {

constexpr std::uint64_t kUnlimited = host::ProcessFacts::kUnlimited;

/// What containerd's files say of its runtimes: the path of a spec by name, "" where there is none.
/// The last file that says it counts.
std::map<std::string, std::string> specs_of(const ContainerdFiles& containerd) {
  std::map<std::string, std::string> specs;
  std::string usual = "runc";
  for (const auto& file : containerd.files) {
    if (!file.content.value) continue;
    for (const auto plugin : kCriPlugins) {
      const auto* section = data::below(*file.content.value, {"plugins", plugin, "containerd"});
      const auto name = data::text_below(section, {"default_runtime_name"});
      if (!name.empty()) usual = name;
      const auto* runtimes = data::below(section, {"runtimes"});
      if (runtimes == nullptr) continue;
      for (const auto& [runtime, mark, value] : runtimes->entries) {
        auto& path = specs.try_emplace(runtime, "").first->second;
        const auto said = data::text_below(value, {"base_runtime_spec"});
        if (!said.empty()) path = said;
      }
    }
  }
  specs.try_emplace(usual, "");
  return specs;
}

/// A number of JSON up to 2^64 - 1; a larger one is none.
std::optional<std::uint64_t> number_in(const data::Value& value, std::string_view key) {
  const auto* found = value.find(key);
  return found == nullptr ? std::nullopt : or_absent(found->as_unsigned());
}

ContainerMemlock in_spec(host::Host& host, const std::string& path) {
  ContainerMemlock found{path, "base_runtime_spec"};
  const auto text = host.read_keeping(path, kept_spec);
  if (!text || !*text) {
    found.error = text ? "it is not there" : text.error().message;
    return found;
  }
  const auto spec = data::parse_json(**text);
  if (!spec) {
    found.error = "malformed: " + spec.error().message;
    return found;
  }
  for (const auto& limit : data::items_below(*spec, {"process", "rlimits"})) {
    if (data::text_below(limit, {"type"}) != "RLIMIT_MEMLOCK") continue;
    found.soft_bytes = number_in(limit, "soft");
    if (!found.soft_bytes) found.error = "its RLIMIT_MEMLOCK has no number";
    found.says = "RLIMIT_MEMLOCK " + std::string(data::text_below(limit, {"soft"}));
    return found;
  }
  found.says = "";
  return found;
}

std::optional<ContainerMemlock> of_containerd(host::Host& host, const System& system) {
  std::optional<ContainerMemlock> worst;
  std::vector<std::string> others;
  for (const auto& [runtime, path] : specs_of(system.containerd)) {
    auto found = path.empty() ? ContainerMemlock() : in_spec(host, path);
    if (found.says.empty()) {
      others.push_back(runtime);
    } else if (!worst || !found.soft_bytes ||
               (worst->soft_bytes && *found.soft_bytes < *worst->soft_bytes)) {
      worst = std::move(found);
    }
  }
  if (worst) worst->others = std::move(others);
  return worst;
}

/// "memlock=SOFT[:HARD]", where -1 is unlimited (docker/go-units, ParseUlimit()).
std::optional<ContainerMemlock> in_ulimit(const std::string& path, std::string_view text) {
  constexpr std::string_view kName = "memlock=";
  if (!text.starts_with(kName)) return std::nullopt;
  ContainerMemlock found{path, "default_ulimits " + std::string(text)};
  const auto soft = text.substr(kName.size(), text.find(':') - kName.size());
  found.soft_bytes = soft == "-1" ? std::optional(kUnlimited) : or_absent(parse_unsigned(soft));
  if (!found.soft_bytes) found.error = in_quotes(text) + " has no number";
  return found;
}

/// A list in a later file takes the place of one before (crio.conf.d(5)).
std::optional<ContainerMemlock> of_crio(const System& system) {
  std::optional<ContainerMemlock> found;
  for (const auto& file : system.crio.files) {
    const auto* list = file.content.value ? data::below(*file.content.value,
                                                        {"crio", "runtime", "default_ulimits"})
                                          : nullptr;
    if (list == nullptr) continue;
    found.reset();
    for (const auto& one : list->items) {
      if (auto limit = in_ulimit(file.path, one.scalar)) found = std::move(limit);
    }
  }
  return found;
}

}  // namespace

std::optional<ContainerMemlock> read_container_memlock(host::Host& host, const System& system) {
  if (system.runtime.is("crio")) return of_crio(system);
  if (system.runtime.is("containerd")) return of_containerd(host, system);
  return std::nullopt;
}

}  // namespace railhead::system
