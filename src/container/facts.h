// SPDX-License-Identifier: Apache-2.0
// What a container is, found out once.
//
// Invariants
// * Facts are derived by examine() of inject/ and nowhere else. The decision, the log, the records
//   of containers and the answer to "who uses RDMA" take them from here.
// * They own their texts: they outlive the request. They name GPUs and NICs by index into the node
//   of the table that they were derived with, and mean nothing with another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/job_size.h"
#include "container/remarks.h"

namespace railhead::container {

struct Identity {
  std::string pod_namespace;
  std::string pod;
  std::string pod_uid;
  std::string id;
  std::string name;
};

/// What kind of sandbox a container lives in, as far as the runtime shows it.
struct Surroundings {
  bool privileged = false;
  bool host_network = false;
  bool vm = false;  ///< the handler gives it a kernel of its own, and policy says: not those
};

/// Who said which GPUs a container holds. Pod authors can forge the last two.
enum class GpuSource : std::uint8_t { none, device_nodes, cdi_names, kubelet, mounts, environment };
std::string_view to_string(GpuSource source);  ///< "device nodes"

/// Only what a pod author can write names the GPUs of some containers: what became of that claim.
enum class GpuClaim : std::uint8_t {
  none,        ///< somebody else names them, or nobody does
  unchecked,   ///< there is no kubelet, or it has not been asked
  answered,    ///< the kubelet has said which they are
  unanswered,  ///< it did not say in time
};

struct GpuFacts {
  std::vector<std::size_t> indices;  ///< GPUs that it holds, sorted
  GpuSource source = GpuSource::none;
  /// Ids that somebody who can be believed names, and that are no GPU of the table; at most 64.
  std::vector<std::string> unresolved;
  /// It counts as a container with GPUs, whether or not it is known which: annotations in the pod
  /// form reach it.
  bool named = false;
  GpuClaim claim = GpuClaim::none;
  bool asks_for_all = false;  ///< the environment says "all"
  /// CDI devices, of whatever kind: a spec may make GPUs of them. Where device nodes are `source`
  /// nobody looked.
  bool names_cdi_devices = false;
  Remarks remarks{8};

  /// A GPU that was unknown when the table was made could resolve it.
  [[nodiscard]] bool might_be_new() const { return !unresolved.empty(); }

  /// The kubelet was asked: `indices` are GPUs that it says the container holds, and none where it
  /// did not answer. It may hold more that are no GPU of the table.
  [[nodiscard]] bool is_claim_checked() const {
    return claim == GpuClaim::answered || claim == GpuClaim::unanswered;
  }
};

/// What a container holds of this node's pools: our Allocate has put it into the container's
/// annotations, `allocation.railhead.io/<resource>` with the ids of functions. Lists of NICs are
/// sorted.
struct SharedAllocation {
  std::vector<std::size_t> pool;   ///< all NICs of the pool, sorted
  std::vector<std::size_t> slots;  ///< of slots that are a NIC, that NIC; of others all; sorted
  bool narrow = true;              ///< with GPUs: of these only the NICs of its GPUs
};

/// Functions of one exclusive pool.
struct FunctionAllocation {
  std::size_t pool = 0;              ///< index into DecisionTable::pools().pools
  std::vector<std::size_t> members;  ///< indices into its members
};

struct Allocations {
  std::vector<std::size_t> pools;             ///< indices into DecisionTable::pools().pools
  std::vector<FunctionAllocation> functions;  ///< of each exclusive pool
  std::vector<std::size_t> exclusive;         ///< allocated from exclusive pools
  std::vector<SharedAllocation> shared;       ///< of each shared pool that it holds slots of
  std::vector<std::string> gone;              ///< devices that this node has no more
  std::vector<std::string> devices;  ///< classes that these pools hand out beside the policy's
  bool rdma = false;                 ///< RDMA devices are part of what was promised
  /// Key of one that also stands on the pod: whether the kubelet has counted it cannot be known.
  std::string copied;
  Remarks remarks{8};

  [[nodiscard]] bool any() const { return !pools.empty(); }
};

enum class AnnotationForm : std::uint8_t { container, pod };

/// Something a pod author asks for, and where.
template <typename T>
struct Asked {
  T value{};
  AnnotationForm form = AnnotationForm::pod;
  std::string key;
};

enum class RdmaWish : std::uint8_t { preferred, required, none };

/// One entry of `devices.nri.io` or `devices.noderesource.dev`. The path alone counts; the rest is
/// kept to be compared with the node. Zero mode, uid and gid mean "not stated" there.
/// Source: containerd/nri plugins/device-injector.
struct AskedDevice {
  std::string path;
  std::optional<std::string> type;
  std::optional<std::int64_t> major;
  std::optional<std::int64_t> minor;
  std::optional<std::int64_t> mode;
  std::optional<std::int64_t> uid;
  std::optional<std::int64_t> gid;
};

/// What the annotations of a pod say to one of its containers.
struct Wishes {
  std::optional<Asked<RdmaWish>> rdma;
  std::optional<Asked<std::vector<std::string>>> nics;  ///< RDMA device names, as written
  std::optional<Asked<std::uint64_t>> memlock;          ///< bytes or kUnlimited
  std::optional<Asked<std::vector<AskedDevice>>> devices;
  Remarks remarks{16};

  [[nodiscard]] bool empty() const;
};

/// Calls `visit` with each wish. A new member does not compile until it has its name here, so that
/// nobody who drops or reports all of them forgets one.
template <typename AnyWishes, typename Visit>
void for_each_wish(AnyWishes& wishes, Visit visit) {
  auto& [rdma, nics, memlock, devices, remarks] = wishes;
  static_cast<void>(remarks);
  visit(rdma);
  visit(nics);
  visit(memlock);
  visit(devices);
}

inline bool Wishes::empty() const {
  bool is_empty = remarks.empty();
  for_each_wish(*this, [&](const auto& wish) { is_empty = is_empty && !wish; });
  return is_empty;
}

/// RDMA devices that a container has already, from whomever.
struct PresentRdma {
  bool any = false;
  std::vector<std::size_t> nics;  ///< whose uverbs is there and is of this node; sorted
};

struct Facts {
  Identity identity;
  Surroundings surroundings;
  GpuFacts gpus;
  Allocations allocated;
  Wishes wishes;                   ///< those that reach this container
  std::vector<std::size_t> asked;  ///< NICs that device annotations name, sorted
  JobSize job;
  PresentRdma present;  ///< none where it is privileged: nobody chose those for it
  /// What of its environment keeps NCCL, UCX or NVSHMEM off RDMA, with the RDMA devices that it has
  /// already; "" where nothing does.
  std::string off_rdma;
};

}  // namespace railhead::container
