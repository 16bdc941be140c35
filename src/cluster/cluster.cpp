// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "cluster/driver_pods.h"
#include "data/below.h"

namespace railhead::cluster {
namespace {

using data::below;
using data::text_below;

struct Kind {
  std::string_view name;
  std::string_view target;
  std::string_view kind = {};  ///< of its objects, where that is not the name
};

/// Everything that is listed. The kinds of operators are absent in most clusters.
constexpr Kind kKinds[] = {
    {"Node", "/api/v1/nodes"},
    {"Pod", "/api/v1/pods"},
    {"Namespace", "/api/v1/namespaces"},
    {"DaemonSet", "/apis/apps/v1/daemonsets"},
    {"Deployment", "/apis/apps/v1/deployments"},
    {"StatefulSet", "/apis/apps/v1/statefulsets"},
    {"Job", "/apis/batch/v1/jobs"},
    {"ConfigMap", "/api/v1/configmaps"},
    {"PersistentVolume", "/api/v1/persistentvolumes"},
    {"StorageClass", "/apis/storage.k8s.io/v1/storageclasses"},
    {"ClusterPolicy", "/apis/nvidia.com/v1/clusterpolicies"},
    {"NicClusterPolicy", "/apis/mellanox.com/v1alpha1/nicclusterpolicies"},
    {"HostDeviceNetwork", "/apis/mellanox.com/v1alpha1/hostdevicenetworks"},
    {"MacvlanNetwork", "/apis/mellanox.com/v1alpha1/macvlannetworks"},
    {"IPoIBNetwork", "/apis/mellanox.com/v1alpha1/ipoibnetworks"},
    {"SriovNetworkNodePolicy", "/apis/sriovnetwork.openshift.io/v1/sriovnetworknodepolicies"},
    {"SriovNetwork", "/apis/sriovnetwork.openshift.io/v1/sriovnetworks"},
    {"SriovIBNetwork", "/apis/sriovnetwork.openshift.io/v1/sriovibnetworks"},
    {"NetworkAttachmentDefinition", "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"},
    {"IPPool", "/apis/nv-ipam.nvidia.com/v1alpha1/ippools"},
    {"WhereaboutsPool", "/apis/whereabouts.cni.cncf.io/v1alpha1/ippools", "IPPool"},
    {"MachineConfig", "/apis/machineconfiguration.openshift.io/v1/machineconfigs"},
    {"VolcanoJob", "/apis/batch.volcano.sh/v1alpha1/jobs", "Job"},
    {"LeaderWorkerSet", "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"},
};

/// Of the groups that every API server has: one that does not know them is none.
bool is_built_in(std::string_view target) {
  constexpr std::string_view kGroups[] = {"/api/v1/", "/apis/apps/v1/", "/apis/batch/v1/",
                                          "/apis/storage.k8s.io/v1/"};
  return std::any_of(std::begin(kGroups), std::end(kGroups),
                     [&](std::string_view group) { return target.starts_with(group); });
}

/// A list of objects; Go writes one that was never filled as null.
bool is_list(const data::Value& answer) {
  using Is = data::Value::Kind;
  const auto* items = answer.find("items");
  return items != nullptr && (items->kind == Is::list || items->kind == Is::null) &&
         std::ranges::all_of(items->items,
                             [](const data::Value& item) { return item.kind == Is::map; });
}

/// Without what no check looks at, and without places of a text that nobody sees.
void strip(data::Value& value) {
  value.mark = {};
  std::erase_if(value.entries,
                [](const data::Value::Entry& entry) { return entry.key == "managedFields"; });
  for (auto& entry : value.entries) {
    entry.mark = {};
    strip(entry.value);
  }
  for (auto& item : value.items) strip(item);
}

class ClusterReader {
 public:
  ClusterReader(const Ask& ask, const ReadLimits& limits, host::Clock& clock)
      : ask_(ask),
        limits_(limits),
        clock_(clock),
        start_(clock.now()) {}

  void list(const Kind& kind, Cluster& cluster) {
    auto& listing = cluster.kinds[std::string(kind.name)];
    listing.target = kind.target;
    std::string next;
    for (std::size_t page = 0; page < limits_.pages; ++page) {
      auto target = listing.target + "?limit=500";
      if (!next.empty()) target += "&continue=" + kube::encoded(next);
      const auto request = kube::get(target);
      const auto answer = send(request, limits_.page_bytes, cluster);
      if (!answer) return fail(listing, answer.error());
      if (answer->status == 404 && !is_built_in(kind.target)) {
        listing.is_absent = true;
        return;
      }
      auto object = kube::object_in(request, *answer);
      if (!object) return fail(listing, object.error());
      if (!is_list(*object)) {
        return fail(listing,
                    {ErrorCode::malformed, "GET " + target + ": the answer is no list of objects"});
      }
      next = text_below(*object, {"metadata", "continue"});
      for (auto& entry : object->entries) {
        if (entry.key != "items") continue;
        for (auto& item : entry.value.items) {
          strip(item);
          listing.items.push_back(std::move(item));
        }
      }
      if (next.empty()) return;
    }
    fail(listing, {ErrorCode::too_large, "more than " + std::to_string(limits_.pages) + " pages"});
  }

  Reply read(std::string subject, std::string target, std::size_t bytes, Cluster& cluster) {
    Reply reply{std::move(subject), std::move(target), "", ""};
    const auto request = kube::get(reply.target);
    const auto answer = send(request, bytes, cluster);
    if (!answer) {
      reply.problem = answer.error().message;
    } else if (!answer->is_ok()) {
      reply.problem = kube::refusal(request, *answer).message;
    } else {
      reply.text = answer->body;
    }
    return reply;
  }

 private:
  /// What was listed of it until then proves nothing of the rest.
  static void fail(Listing& listing, const Error& error) {
    listing.items.clear();
    listing.problem = error.message;
  }

  Result<kube::Answer> send(const kube::Request& request, std::size_t bytes, Cluster& cluster) {
    const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - start_);
    if (silent_) {
      ++cluster.left_out;
      return Error{ErrorCode::unavailable, "not asked: " + *silent_};
    }
    if (gone >= limits_.time) {
      ++cluster.left_out;
      return Error{ErrorCode::timeout,
                   "not asked: " + std::to_string(limits_.time.count()) + " ms are over"};
    }
    if (bytes_ >= limits_.bytes) {
      ++cluster.left_out;
      return Error{ErrorCode::too_large,
                   "not asked: " + std::to_string(limits_.bytes) + " bytes were read"};
    }
    auto answer = ask_(request, {std::min(limits_.answer_time, limits_.time - gone),
                                 std::min(bytes, limits_.bytes - bytes_)});
    if (answer) {
      bytes_ += answer->body.size();
      has_answered_ = true;
    } else if (!has_answered_) {
      silent_ = answer.error().message;
    }
    return answer;
  }

  const Ask& ask_;
  const ReadLimits& limits_;
  host::Clock& clock_;
  std::chrono::steady_clock::time_point start_;
  std::size_t bytes_ = 0;
  bool has_answered_ = false;
  std::optional<std::string> silent_;  ///< why nobody answered the first question
};

/// Pods and sets that a controller among the listed ones made: their template is looked at.
bool is_made_by_listed(const data::Value& object) {
  const auto& owners = data::items_below(object, {"metadata", "ownerReferences"});
  return std::ranges::any_of(owners, [](const data::Value& owner) {
    const auto kind = text_below(owner, {"kind"});
    return kind == "ReplicaSet" ||
           std::any_of(std::begin(kKinds), std::end(kKinds), [&](const Kind& one) {
             return (one.kind.empty() ? one.name : one.kind) == kind;
           });
  });
}

std::vector<lint::Offer> offers_of_nodes(const Listing& nodes) {
  std::map<std::string, std::string> first;
  for (const auto& node : nodes.items) {
    const auto* capacity = below(node, {"status", "capacity"});
    if (capacity == nullptr) continue;
    for (const auto& entry : capacity->entries) {
      if (entry.key.find('/') == std::string::npos) continue;
      first.emplace(entry.key, "node " + object_name(node));
    }
  }
  std::vector<lint::Offer> offers;
  for (const auto& [name, by] : first) {
    lint::Offer offer;
    offer.name = name;
    offer.by = by;
    offers.push_back(std::move(offer));
  }
  return offers;
}

/// Items of a list do not say their kind.
data::Value with_kind(data::Value item, std::string_view kind) {
  if (item.kind != data::Value::Kind::map || item.find("kind") != nullptr) return item;
  data::Value::Entry entry{"kind", {}, {}};
  entry.value.kind = data::Value::Kind::scalar;
  entry.value.scalar = kind;
  item.entries.push_back(std::move(entry));
  return item;
}

lint::Given given_of(const Cluster& cluster) {
  lint::Objects objects;
  for (const auto& kind : kKinds) {
    if (kind.name == "Node") continue;
    for (const auto& item : cluster.kind(kind.name).items) {
      if (kind.name != "DaemonSet" && is_made_by_listed(item)) continue;
      objects.all.push_back(
          lint::object_of(with_kind(item, kind.kind.empty() ? kind.name : kind.kind)));
    }
  }
  return lint::give(std::move(objects), offers_of_nodes(cluster.kind("Node")), true);
}

bool has_gpus(const Cluster& cluster, const data::Value& node) {
  const auto* capacity = below(node, {"status", "allocatable"});
  if (capacity == nullptr) return false;
  return std::ranges::any_of(capacity->entries, [&](const auto& entry) {
    return entry.key.find('/') != std::string::npos && lint::is_gpu(cluster.given, entry.key) &&
           lint::quantity(entry.value.scalar) > 0;
  });
}

std::string log_target(const data::Value& pod, std::string_view container, std::size_t bytes) {
  return "/api/v1/namespaces/" + kube::encoded(text_below(pod, {"metadata", "namespace"})) +
         "/pods/" + kube::encoded(text_below(pod, {"metadata", "name"})) +
         "/log?container=" + kube::encoded(container) + "&limitBytes=" + std::to_string(bytes);
}

/// Reads the logs of pods of drivers and operators that are not ready.
void read_driver_logs(ClusterReader& reader, const ReadLimits& limits, Cluster& cluster) {
  for (const auto& pod : cluster.kind("Pod").items) {
    if (!is_ofed_pod(pod) && !is_operator_pod(pod)) continue;
    if (text_below(pod, {"status", "phase"}) == "Succeeded") continue;
    if (condition(pod, "Ready") == "True") continue;
    const auto stopped = stopped_container(pod);
    if (!stopped || !stopped->has_log) continue;
    if (cluster.driver_logs.size() == limits.driver_logs) {
      ++cluster.left_out;
      return;
    }
    const auto target = log_target(pod, stopped->name, limits.driver_log_bytes) +
                        "&tailLines=" + std::to_string(limits.driver_log_lines);
    cluster.driver_logs.push_back(reader.read(object_name(pod) + "/" + stopped->name, target,
                                              2 * limits.driver_log_bytes, cluster));
  }
}

/// Containers that have GPUs or NICs, of pods that run.
void read_logs(ClusterReader& reader, const ReadLimits& limits, Cluster& cluster) {
  for (const auto& item : cluster.kind("Pod").items) {
    if (text_below(item, {"status", "phase"}) != "Running") continue;
    for (const auto& container : data::items_below(item, {"spec", "containers"})) {
      lint::Container one;
      one.value = &container;
      if (lint::gpus_of(cluster.given, one) + lint::nics_of(cluster.given, one) == 0) continue;
      if (cluster.logs.size() == limits.logs) {
        ++cluster.left_out;
        return;
      }
      const std::string name(text_below(container, {"name"}));
      const auto target = log_target(item, name, limits.log_bytes);
      cluster.logs.push_back(
          reader.read(object_name(item) + "/" + name, target, 2 * limits.log_bytes, cluster));
    }
  }
}

}  // namespace

const Listing& Cluster::kind(std::string_view name) const {
  static const Listing absent{"", {}, "", true};
  const auto at = kinds.find(name);
  return at == kinds.end() ? absent : at->second;
}

Cluster read_cluster(std::string server, const Ask& ask, const ReadLimits& limits,
                     host::Clock& clock) {
  Cluster cluster;
  cluster.server = std::move(server);
  ClusterReader reader(ask, limits, clock);
  cluster.version = reader.read("cluster", "/version", std::size_t{64} << 10, cluster);
  for (const auto& kind : kKinds) reader.list(kind, cluster);
  cluster.given = given_of(cluster);
  for (const auto& node : cluster.kind("Node").items) {
    if (!has_gpus(cluster, node)) continue;
    if (cluster.configz.size() == limits.nodes) {
      ++cluster.left_out;
      break;
    }
    const auto name = object_name(node);
    cluster.configz.push_back(reader.read(name,
                                          "/api/v1/nodes/" + kube::encoded(name) + "/proxy/configz",
                                          std::size_t{1} << 20, cluster));
  }
  read_driver_logs(reader, limits, cluster);
  read_logs(reader, limits, cluster);
  return cluster;
}

std::string object_name(const data::Value& object) {
  const auto name_space = text_below(object, {"metadata", "namespace"});
  const std::string name(text_below(object, {"metadata", "name"}));
  return name_space.empty() ? name : std::string(name_space) + "/" + name;
}

std::string_view condition(const data::Value& object, std::string_view type) {
  for (const auto& one : data::items_below(object, {"status", "conditions"})) {
    if (text_below(one, {"type"}) == type) return text_below(one, {"status"});
  }
  return "";
}

}  // namespace railhead::cluster
