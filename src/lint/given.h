// SPDX-License-Identifier: Apache-2.0
// All that a run looks at together. Invariants:
// * what points into an object lives as long as the Given, which cannot be copied;
// * an offer is what somebody says that nodes have: a rule that needs all of them asks whether
//   there is any, because a single manifest says nothing of the rest of its cluster.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "pools/pool_spec.h"

namespace railhead::lint {

/// Of NVIDIA's resources: GPUs, and NICs of its network operator.
inline constexpr std::string_view kNvidiaDomain = "nvidia.com";

/// A container of a pod's template, or of a pod.
struct Container {
  const data::Value* value = nullptr;
  std::string name;
  std::vector<std::string> environment;  ///< "NAME=value", also of `NAME=value` in its script
  std::vector<const data::Value*> environment_places;  ///< of each, where it stands
};

/// A resource that a container asks for.
struct Asked {
  std::string name;  ///< "rdma/ib"
  std::uint64_t count = 0;
  bool is_limit = false;
  const data::Value::Entry* entry = nullptr;
};

/// A pod, or the template of one, in whichever object it stands.
struct Pod {
  const Object* object = nullptr;
  const data::Value* root = nullptr;  ///< has `metadata` and `spec`; of a part, it is the container
  bool is_part = false;               ///< only `resources:` of a container were given
  std::vector<Container> containers;  ///< init containers are not among them
  std::vector<Container> init_containers;

  [[nodiscard]] const data::Value* annotations() const;
  [[nodiscard]] const data::Value* annotation(std::string_view key) const;
};

/// A resource that somebody says nodes have.
struct Offer {
  std::string name;  ///< "rdma/hca_shared_devices_a"
  std::optional<pools::PoolMode> mode;
  std::string by;                  ///< "ConfigMap kube-system/rdma-devices"
  const Object* object = nullptr;  ///< nullptr: Railhead's configuration, or a node
  const data::Value* place = nullptr;
  std::optional<pools::PoolSpec> spec;
};

/// Offers in the order in which they were added, found by their names. Positions are stable.
class Offers {
 public:
  Offers() = default;
  Offers(Offers&&) = default;
  Offers& operator=(Offers&&) = default;

  void add(Offer offer);

  [[nodiscard]] bool empty() const { return all_.empty(); }

  [[nodiscard]] auto begin() const { return all_.begin(); }

  [[nodiscard]] auto end() const { return all_.end(); }

  /// Who says what the resource is knows more than a node that has it, and is taken first.
  [[nodiscard]] const Offer* find(std::string_view resource) const;
  /// The first that has the last part of this name, whatever its domain.
  [[nodiscard]] const Offer* find_last_part(std::string_view resource) const;
  /// Whether a node, or Railhead's configuration, has it.
  [[nodiscard]] bool is_beyond_objects(std::string_view resource) const;

 private:
  using ByText = std::map<std::string, const Offer*, std::less<>>;

  std::deque<Offer> all_;
  ByText by_name_;
  ByText by_last_part_;
  std::set<std::string, std::less<>> beyond_objects_;
};

/// A plugin's file in an object that cannot be used as it is.
struct Complaint {
  const Object* object = nullptr;
  const data::Value* place = nullptr;
  data::Mark mark;  ///< line 0: that of `place`
  std::string what;
  bool is_left_out = false;  ///< a resource is missing for it; else a key does nothing
};

struct Given {
  Given() = default;
  Given(Given&&) = default;
  Given& operator=(Given&&) = default;

  std::vector<Object> objects;
  std::vector<Unread> unread;
  std::vector<Pod> pods;
  std::deque<data::Value> made;  ///< roots of pods that no object has as they will be
  std::string sriov_domain;      ///< that the SR-IOV operator or its chart says; "": neither does
  std::set<std::string, std::less<>> asked;  ///< resources in limits of containers
  Offers offers;
  std::vector<Complaint> complaints;
  /// The objects are all of a cluster: what is not among them is not there.
  bool is_whole_cluster = false;

  /// Objects of this kind.
  [[nodiscard]] std::vector<const Object*> of_kind(std::string_view kind) const;
};

/// Pods, offers and complaints are found in the objects. `offers`: what is known beyond them.
Given give(Objects objects, std::vector<Offer> offers, bool is_whole_cluster = false);

/// DaemonSets of which a container's image has these words in its name.
std::vector<const Pod*> daemons_running(const Given& given, std::string_view words);

/// What a container asks for, less cpu, memory and the other resources of Kubernetes itself.
std::vector<Asked> asked_by(const Container& container);

/// Whether this is a GPU: of a vendor's plugin, or a model's name in its place, as
/// `nvidia.com/v100`.
bool is_gpu(const Given& given, std::string_view resource);
/// Whether this is an RDMA NIC, by its name or because somebody offers it.
bool is_nic(const Given& given, std::string_view resource);

/// How many GPUs, or NICs, a container asks for.
std::uint64_t gpus_of(const Given& given, const Container& container);
std::uint64_t nics_of(const Given& given, const Container& container);

/// A count as Kubernetes writes it: "8", "1k"; 0 where it is none.
std::uint64_t quantity(std::string_view text);

}  // namespace railhead::lint
