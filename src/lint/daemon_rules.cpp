// SPDX-License-Identifier: Apache-2.0
//
// DaemonSets that prepare nodes, and those that get in each other's way.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

/// Calls `use(pod, place, script)` with each text that a container of a DaemonSet runs.
template <typename Use>
void for_each_script(const Given& given, Use use) {
  for (const auto& pod : given.pods) {
    if (pod.object->kind != "DaemonSet") continue;
    for (const auto* list : {&pod.init_containers, &pod.containers}) {
      for (const auto& container : *list) {
        for (const char* key : {"command", "args"}) {
          for (const auto& word : items_below(*container.value, {key})) {
            use(pod, word, std::string_view(word.scalar));
          }
        }
      }
    }
  }
}

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

void restarts(const Given& given, Found& found) {
  for_each_script(given, [&](const Pod& pod, const data::Value& place, std::string_view script) {
    std::vector<std::string> services;
    for (const std::string service : {"containerd", "kubelet", "crio"}) {
      if (has(script, "systemctl restart " + service)) services.push_back(service);
    }
    if (services.empty()) return;
    found.add(*pod.object, &place, "its script restarts " + join(services, " and "));
  });
}

void kubelet_limit(const Given& given, Found& found) {
  for_each_script(given, [&](const Pod& pod, const data::Value& place, std::string_view script) {
    const bool kubelet = has(script, "kubelet.service.d") && has(script, "LimitMEMLOCK");
    const bool pam = has(script, "/etc/security/limits");
    if (!kubelet && !pam) return;
    found.add(*pod.object, &place,
              std::string("its script sets ") + (kubelet ? "the kubelet's limit" : "") +
                  (kubelet && pam ? " and " : "") + (pam ? "limits of PAM" : ""));
  });
}

void obsolete_module(const Given& given, Found& found) {
  for_each_script(given, [&](const Pod& pod, const data::Value& place, std::string_view script) {
    if (!has(script, "modprobe ib_ucm")) return;
    found.add(*pod.object, &place, "its script loads ib_ucm");
  });
}

/// Of which only one may run on a node.
constexpr std::string_view kAlone[] = {"k8s-rdma-shared-dev-plugin", "k8s-rdma-device-plugin",
                                       "nvidia-peermem-reloader", "nri-ulimit-adjuster"};

/// All that a value says, in one order.
std::string flat_text(const data::Value* value) {
  if (value == nullptr) return "";
  std::vector<std::string> words;
  for (const auto& entry : value->entries)
    words.push_back(entry.key + "=" + flat_text(&entry.value));
  std::ranges::sort(words);
  for (const auto& item : value->items) words.push_back(flat_text(&item));
  return value->scalar + "(" + join(words, ",") + ")";
}

/// On which nodes it runs.
std::string selector_text(const Pod& pod) {
  return flat_text(below(*pod.root, {"spec", "nodeSelector"})) +
         flat_text(below(*pod.root, {"spec", "affinity", "nodeAffinity"}));
}

void twice(const Given& given, Found& found) {
  for (const auto words : kAlone) {
    std::map<std::string, const Pod*> first;
    for (const auto* pod : daemons_running(given, words)) {
      const auto [at, is_new] = first.emplace(selector_text(*pod), pod);
      if (is_new) continue;
      found.add(*pod->object, pod->root,
                std::string(words) + " runs on the same nodes by " + at->second->object->label());
    }
  }
}

/// The plugin acts on pods that have its annotation, in this domain.
void idle_adjuster(const Given& given, Found& found) {
  const auto adjusters = daemons_running(given, "ulimit-adjuster");
  if (adjusters.empty()) return;
  for (const auto& pod : given.pods) {
    const auto* annotations = pod.annotations();
    if (annotations == nullptr) continue;
    for (const auto& entry : annotations->entries) {
      if (entry.key.starts_with("ulimits.")) return;
    }
  }
  const bool has_pods = std::ranges::any_of(
      given.pods, [](const Pod& pod) { return pod.object->kind != "DaemonSet" && !pod.is_part; });
  // A plugin alone says nothing of the pods that it was installed for.
  if (!has_pods && !given.is_whole_cluster) return;
  for (const auto* pod : adjusters) {
    found.add(*pod->object, pod->root, "no pod has its annotation");
  }
}

void peermem_twice(const Given& given, Found& found) {
  for (const auto* policy : given.of_kind("ClusterPolicy")) {
    if (is_false(policy->root, {"spec", "driver", "enabled"})) continue;
    if (!is_true(policy->root, {"spec", "driver", "rdma", "enabled"})) continue;
    for (const auto& pod : given.pods) {
      if (pod.object->kind != "DaemonSet" || !has(pod.object->name, "peermem")) continue;
      found.add(*pod.object, pod.root,
                "it loads nvidia_peermem, and so does the driver of " + policy->label());
    }
  }
}

void exact_label(const Given& given, Found& found) {
  for (const auto& object : given.objects) {
    for (const auto* labels : {below(object.root, {"spec", "selector", "matchLabels"}),
                               below(object.root, {"spec", "podSelector", "matchLabels"})}) {
      const auto* app = below(labels, {"app"});
      if (app == nullptr || !app->scalar.starts_with("mofed")) continue;
      if (object.kind == "DaemonSet") continue;  // the driver's own
      found.add(object, app, "app=" + app->scalar + " is to select the OFED driver's pods");
    }
  }
}

constexpr Rule kDaemonRules[] = {
    {"daemon.restarts-services", "A DaemonSet restarts the runtime or the kubelet.", Severity::warn,
     "It does so each time its pod starts, on every node, also when nothing has changed; device "
     "plugins and NRI plugins have to register again.",
     "Prepare nodes once: `railhead setup` writes only what is missing and restarts nothing that "
     "has it, and Railhead's agent raises the limit of containers without a restart.",
     "D19 D20 L08", restarts},
    {"daemon.wrong-limit", "A limit is set that no container gets.", Severity::warn,
     "Containers inherit from the runtime's shim: neither the kubelet's limit nor "
     "/etc/security/limits.d (PAM) reaches them. To look at the kubelet proves nothing.",
     "Raise the container's own limit (Railhead's agent does), or LimitMEMLOCK of the runtime "
     "alone; look at /proc/PID/limits of the container.",
     "D18 D21 E09", kubelet_limit},
    {"daemon.obsolete-module", "A DaemonSet loads ib_ucm.", Severity::note,
     "Linux 5.3 and OFED have no such module; rdma_ucm is what librdmacm needs.",
     "Take the line away.", "D15", obsolete_module},
    {"daemon.twice", "Two DaemonSets run the same plugin on the same nodes.", Severity::fail,
     "They register the same resource or NRI name; the last one wins, and the other restarts.",
     "Remove one of them.", "", twice},
    {"daemon.idle-adjuster", "The ulimit adjuster runs, and no pod asks it for anything.",
     Severity::warn,
     "It acts on pods with the annotation ulimits.noderesource.dev/container.NAME alone; without "
     "it limits stay as they are.",
     "Annotate the pods, or use Railhead's agent, which raises memlock of containers with NICs by "
     "itself.",
     "L09 E05", idle_adjuster},
    {"daemon.peermem-twice", "Two owners load nvidia_peermem.", Severity::warn,
     "The reloader loads a module of the host, which a driver in a container is not; it fails, or "
     "holds the module that the driver wants to replace.",
     "Remove the reloader: it is for drivers that are installed on the host.", "D32 L05",
     peermem_twice},
    {"daemon.ofed-label", "A selector names the OFED driver's pods by a label that changes.",
     Severity::warn,
     "The label is app=mofed-OS-KERNELHASH, another for each kernel; a selector that matches "
     "nothing looks like one that is satisfied.",
     "Select by the key nvidia.com/ofed-driver.", "D11 E12", exact_label},
};

}  // namespace

std::span<const Rule> daemon_rules() {
  return kDaemonRules;
}

}  // namespace railhead::lint
