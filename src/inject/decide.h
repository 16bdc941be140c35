// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "affinity/affinity.h"
#include "config/words.h"
#include "container/adjustment.h"
#include "container/facts.h"
#include "container/request.h"
#include "inject/cdi.h"
#include "node/node.h"
#include "pools/pools.h"
#include "topology/arrange.h"
#include "topology/topology.h"

namespace railhead::inject {

/// The resources of all rows of kGpuRows.
std::vector<std::string> default_gpu_resources();

/// What the node's operator allows. Values come from configuration.
struct InjectionPolicy {
  config::GpuPolicy gpus = config::GpuPolicy::closest;
  config::AnnotationPolicy annotations = config::AnnotationPolicy::narrow;
  std::uint64_t memlock_cap = container::kUnlimited;
  std::vector<std::string> devices = {"uverbs", "rdma_cm"};  ///< may add "umad", "issm"
  bool roce_without_host_network = false;
  bool pf_with_vfs = false;  ///< deal physical functions that have virtual functions enabled, too
  /// Resources that are GPUs, shell patterns.
  std::vector<std::string> gpu_resources = default_gpu_resources();
  /// Runtime handlers whose containers have a kernel of their own, shell patterns.
  std::vector<std::string> vm_runtime_handlers = {"kata*", "firecracker*", "gvisor*", "runsc*"};
  bool vm_runtimes = false;  ///< inject into those, too
  bool ucx_env = false;
  bool nvshmem_env = false;
  bool gdrcopy = false;  ///< /dev/gdrdrv for containers with NVIDIA GPUs
  /// Where on the host the agent keeps the NCCL topology file that containers get where sysfs hides
  /// the switches; "": they get none.
  std::string topology_file;
  std::vector<pools::PoolSpec> pools;  ///< none: no resources at all, not even the default one
};

/// What the connected runtime is able to do, looked up before it is asked for it.
struct RuntimeAbility {
  std::string name;     ///< "containerd"
  std::string version;  ///< as the runtime says it
  bool rlimits = true;  ///< honours ContainerAdjustment.rlimits (containerd 1.7.7, CRI-O 1.29)
  /// Highest RLIMIT_MEMLOCK that the runtime can set: kUnlimited with CAP_SYS_RESOURCE, else its
  /// own hard limit; absent: nothing is known of it, ask as configured.
  std::optional<std::uint64_t> memlock_ceiling;
  /// Soft RLIMIT_MEMLOCK that a container inherits from the runtime where nobody sets one; a limit
  /// below it is never set. Absent: unknown.
  std::optional<std::uint64_t> memlock_inherited;
  /// Which process the runtime is, or what that one may set, is not known (yet): nothing is raised,
  /// because a limit above what it can set fails the container.
  bool memlock_in_doubt = false;
  /// The table's NCCL topology file lies where the runtime can mount it from. A mount without a
  /// source would fail the container.
  bool has_topology_file = true;
};

/// A node made ready for decisions: everything that can be computed before a container comes.
/// Immutable; a change of the machine makes a new one.
class DecisionTable {
 public:
  /// `from_operator` is the topology file of the configuration.
  DecisionTable(node::Node as_read, const affinity::OperatorRules& rules, InjectionPolicy policy,
                const std::optional<topology::NcclTopology>& from_operator = std::nullopt);

  /// With functions where the best source puts them (arrange.h), and without the texts of files:
  /// what they say is in cdi() and arrangement().
  [[nodiscard]] const node::Node& node() const { return arrangement_.node; }

  [[nodiscard]] const topology::Arrangement& arrangement() const { return arrangement_; }

  [[nodiscard]] const topology::Topology& topology() const { return topology_; }

  [[nodiscard]] const affinity::Deal& deal() const { return deal_; }

  [[nodiscard]] const std::vector<affinity::Usability>& usable() const { return usable_; }

  [[nodiscard]] const InjectionPolicy& policy() const { return policy_; }

  [[nodiscard]] const pools::PoolTable& pools() const { return pools_; }

  /// Why this NIC cannot carry traffic for whoever holds it; "" where it can. One of an exclusive
  /// pool may be idle: its link comes up in the pod.
  [[nodiscard]] const std::string& trouble_of(std::size_t nic) const {
    return statuses_[nic].trouble;
  }

  /// The ACTIVE ports of this NIC, as NCCL and UCX name them: "mlx5_0:1,mlx5_0:2". "" where it has
  /// none, or no name: a topology file may know a device by its address only.
  [[nodiscard]] const std::string& active_ports_of(std::size_t nic) const {
    return active_ports_[nic];
  }

  /// For each of pools().functions why it is not in this pool; "" where it is.
  [[nodiscard]] std::vector<std::string> why_not_in(std::size_t pool) const;
  /// The same for one function.
  [[nodiscard]] std::string why_not_in(std::size_t pool, std::size_t function) const;
  /// pools::is_useless() of a pool.
  [[nodiscard]] bool is_useless(std::size_t pool) const;

  [[nodiscard]] const CdiRegistry& cdi() const { return cdi_; }

  /// The file that tells NCCL of this machine, at the policy's path, where NCCL cannot see for
  /// itself: sysfs hides the switches, and a file or the table of known machines shows them.
  [[nodiscard]] const std::optional<node::TextFile>& topology_file() const {
    return topology_file_;
  }

  [[nodiscard]] std::optional<std::size_t> gpu_by_uuid(std::string_view uuid) const;
  [[nodiscard]] std::optional<std::size_t> gpu_by_index(unsigned index) const;
  [[nodiscard]] std::optional<std::size_t> gpu_by_node(gpu::GpuNode node) const;
  /// Several GPUs of the node claim this UUID, so it names none of them.
  [[nodiscard]] bool is_ambiguous(std::string_view uuid) const;
  [[nodiscard]] std::optional<std::size_t> nic_by_device_path(std::string_view path) const;

 private:
  topology::Arrangement arrangement_;
  topology::Topology topology_;
  affinity::Deal deal_;
  std::vector<affinity::Usability> usable_;
  InjectionPolicy policy_;
  std::vector<pools::NicStatus> statuses_;
  std::vector<std::string> active_ports_;  ///< by NIC
  pools::PoolTable pools_;
  CdiRegistry cdi_;
  std::optional<node::TextFile> topology_file_;
  std::unordered_map<std::uint64_t, std::size_t> by_node_;  ///< by major and minor number
  std::unordered_map<std::string, std::size_t> by_uuid_;    ///< UUIDs that are unique
  std::unordered_map<unsigned, std::size_t> by_index_;
  std::unordered_set<std::string> ambiguous_;
  std::unordered_map<std::string, std::size_t> by_device_path_;
};

enum class Outcome : std::uint8_t {
  untouched,  ///< not an RDMA container, or nothing is due
  adjusted,
  refused,  ///< `required`, or a slot that it holds, cannot be met: the creation must fail with
            ///< `message`
};

struct Decision {
  Outcome outcome = Outcome::untouched;
  std::string reason_code;  ///< stable, counted: "not-rdma", "gpus", "roce-own-network", …
  std::string message;      ///< one line for the log; for `refused` it begins "railhead: "
  container::Adjustment adjustment;
  std::vector<std::size_t> gpus;  ///< indices into the node
  std::vector<std::size_t> nics;
  std::string off_rdma;  ///< as in Facts, with the NICs that it gets
  std::vector<container::Remark>
      remarks;  ///< at most 32; the last one may say how many more there were
};

/// Decides what a container gets. `facts` are what examine() says of this request with this table.
/// Pure: no clock, no file, no lock. `Pod interface` of the contract.
Decision decide(const container::Request& request, const container::Facts& facts,
                const DecisionTable& table, const RuntimeAbility& runtime);

/// The same for a container that holds exactly these GPUs (indices into the node), however it was
/// given them: the request need not show them.
Decision decide_holding(std::vector<std::size_t> gpus, const container::Request& request,
                        const DecisionTable& table, const RuntimeAbility& runtime);

/// Names in the node that a container which exists should have and lacks (found at Synchronize);
/// empty when nothing is missing.
std::vector<std::string> missing_devices(const container::Request& request,
                                         const container::Facts& facts, const DecisionTable& table,
                                         const RuntimeAbility& runtime);

}  // namespace railhead::inject
