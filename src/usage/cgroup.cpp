// SPDX-License-Identifier: Apache-2.0
#include "usage/cgroup.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kMaxLines = 64;

bool is_lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_id(std::string_view text) {
  return text.size() == kIdDigits && std::ranges::all_of(text, is_lower_hex);
}

/// The container that a component names: "<id>", "<runtime>-<id>.scope", "<runtime>-<id>" (CRI-O's
/// cgroupfs driver).
std::optional<std::string_view> container_in(std::string_view component) {
  constexpr std::string_view kScope = ".scope";
  if (component.ends_with(kScope)) component.remove_suffix(kScope.size());
  if (is_id(component)) return component;
  if (component.size() < kIdDigits + 2) return std::nullopt;
  const auto id = component.substr(component.size() - kIdDigits);
  const auto runtime = component.substr(0, component.size() - kIdDigits);
  // conmon's own cgroup has the container's name in it: "crio-conmon-<id>.scope".
  if (!is_id(id) || !runtime.ends_with('-') || runtime.ends_with("conmon-")) return std::nullopt;
  return id;
}

/// A uid, or the hash of a static pod: hexadecimal digits in the groups 8-4-4-4-12, or 32 of them.
bool is_uid(std::string_view text) {
  const auto digits = std::ranges::count_if(text, is_lower_hex);
  const auto dashes = std::ranges::count(text, '-');
  return digits == 32 && (dashes == 0 || dashes == 4) &&
         static_cast<std::size_t>(digits + dashes) == text.size();
}

/// "pod<uid>" (cgroupfs), "kubepods-burstable-pod<uid with _>.slice" (systemd).
std::optional<std::string> pod_in(std::string_view component) {
  constexpr std::string_view kSlice = ".slice";
  if (component.ends_with(kSlice)) component.remove_suffix(kSlice.size());
  const auto pod = component.rfind("pod");
  if (pod == std::string_view::npos) return std::nullopt;
  if (pod != 0 && component[pod - 1] != '-') return std::nullopt;
  std::string uid(component.substr(pod + 3));
  std::ranges::replace(uid, '_', '-');
  if (!is_uid(uid)) return std::nullopt;
  return uid;
}

/// The first container below the first pod; without a pod the outermost. What is below that are
/// names that whoever is in the container may have given to cgroups of its own.
std::optional<ContainerPlace> container_of_path(std::string path) {
  // A cgroup path in systemd's notation that was taken for one of the file system has colons:
  // "kubepods-besteffort-pod<uid>.slice:cri-containerd:<id>".
  std::ranges::replace(path, ':', '/');
  std::optional<ContainerPlace> found;
  std::optional<std::string> pod;
  for (const auto component : split(path, '/')) {
    if (auto uid = pod ? std::nullopt : pod_in(component)) {
      pod = std::move(uid);
      found.reset();
    }
    const auto id = container_in(component);
    if (id && !found) found = ContainerPlace{std::string(*id), pod};
  }
  return found;
}

}  // namespace

std::optional<ContainerPlace> container_of_cgroup(std::string_view text) {
  std::optional<ContainerPlace> without_pod;
  std::size_t lines = 0;
  for (const auto line : split(text, '\n')) {
    if (++lines > kMaxLines) break;
    const auto controllers = line.find(':');
    if (controllers == std::string_view::npos) continue;
    const auto path = line.find(':', controllers + 1);
    if (path == std::string_view::npos) continue;
    auto found = container_of_path(std::string(line.substr(path + 1)));
    if (found && found->pod_uid) return found;
    if (found && !without_pod) without_pod = std::move(found);
  }
  return without_pod;
}

}  // namespace railhead::usage
