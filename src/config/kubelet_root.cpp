// SPDX-License-Identifier: Apache-2.0
#include "config/kubelet_root.h"

#include <array>
#include <string_view>

#include "base/contains.h"
#include "base/text.h"
#include "data/below.h"

namespace railhead::config {
namespace {

using data::below;
using data::items_below;
using data::text_below;

constexpr std::string_view kDevicePlugins = "device-plugins";

/// Folders that a kubelet has below its root. Source: kubernetes/kubernetes
/// pkg/kubelet/config/defaults.go.
constexpr std::array<std::string_view, 3> kFolders = {kDevicePlugins, "plugins_registry",
                                                      "pod-resources"};

/// Roots of distributions. Sources: k0sproject/k0s pkg/constant, canonical/microk8s
/// microk8s-resources/default-args/kubelet, k3s-io/k3s pkg/agent/config/config.go (rootless alone;
/// else it is the default).
constexpr std::array<std::string_view, 4> kKnownRoots = {
    kDefaultKubeletRoot, "/var/lib/k0s/kubelet", "/var/snap/microk8s/common/var/lib/kubelet",
    "/var/lib/rancher/k3s/agent/kubelet"};

/// Without `.` and slashes that say nothing; "" where it is not absolute, or not known here.
std::string plain_path(std::string_view path) {
  if (!path.starts_with('/') || path.find_first_of("${}") != std::string_view::npos) return "";
  std::string plain;
  for (const auto name : split(path, '/')) {
    if (name == "..") return "";  // the API server refuses it
    if (!name.empty() && name != ".") plain.append("/").append(name);
  }
  return plain;
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view parent(std::string_view path) {
  return path.substr(0, path.rfind('/'));
}

class RootFinder {
 public:
  void look_at_mount(const data::Value& volume, const data::Value* mount) {
    const auto* place = below(volume, {"hostPath", "path"});
    if (place == nullptr || below(mount, {"subPathExpr"}) != nullptr) return;
    auto path = place->scalar;
    const auto sub_path = text_below(mount, {"subPath"});
    if (!sub_path.empty()) path.append("/").append(sub_path);
    look_at_path(plain_path(path), plain_path(text_below(mount, {"mountPath"})), place->mark);
  }

  void look_at_arguments(const data::Value& container) {
    std::string_view before;
    for (const char* key : {"command", "args"}) {
      for (const auto& word : items_below(container, {key})) {
        constexpr std::string_view kFlag = "-kubelet-root-dir";
        std::string_view text = word.scalar;
        if (text.starts_with("--")) text.remove_prefix(1);
        if (before == kFlag) add(plain_path(text), word.mark, false);
        before = text;
        if (!text.starts_with(kFlag)) continue;
        text.remove_prefix(kFlag.size());
        if (text.starts_with('=')) add(plain_path(text.substr(1)), word.mark, false);
      }
    }
  }

  [[nodiscard]] std::vector<KubeletRoot> take() && { return std::move(roots_); }

 private:
  void look_at_path(std::string_view path, std::string_view mounted_at, data::Mark mark) {
    // A socket in the folder, as device-plugins/kubelet.sock.
    if (path.ends_with(".sock")) {
      path = parent(path);
      mounted_at = parent(mounted_at);
    }
    if (contains(kKnownRoots, path) || mounted_at == kDefaultKubeletRoot) {
      return add(std::string(path), mark, false);
    }
    const auto name = last_name(path);
    const auto root = parent(path);
    // Others may have a folder of this name.
    const bool is_kubelets =
        last_name(root) == last_name(kDefaultKubeletRoot) ||
        (parent(mounted_at) == kDefaultKubeletRoot && last_name(mounted_at) == name);
    if (contains(kFolders, name) && is_kubelets) {
      add(std::string(root), mark, name == kDevicePlugins);
    }
  }

  void add(std::string folder, data::Mark mark, bool is_by_device_plugins) {
    if (!folder.empty()) roots_.push_back({std::move(folder), mark, is_by_device_plugins});
  }

  std::vector<KubeletRoot> roots_;
};

}  // namespace

std::vector<KubeletRoot> kubelet_roots(const data::Value& daemon_set) {
  RootFinder finder;
  const auto* pod = below(daemon_set, {"spec", "template", "spec"});
  for (const auto& volume : items_below(pod, {"volumes"})) {
    if (below(volume, {"hostPath", "path"}) == nullptr) continue;
    for (const char* list : {"containers", "initContainers"}) {
      for (const auto& container : items_below(pod, {list})) {
        for (const auto& mount : items_below(container, {"volumeMounts"})) {
          if (text_below(mount, {"name"}) == text_below(volume, {"name"})) {
            finder.look_at_mount(volume, &mount);
          }
        }
      }
    }
  }
  for (const auto& container : items_below(pod, {"containers"})) {
    finder.look_at_arguments(container);
  }
  return std::move(finder).take();
}

}  // namespace railhead::config
