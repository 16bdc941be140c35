// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/holders.h"
#include "agent/log.h"
#include "agent/machine_tables.h"
#include "agent/recent_creations.h"
#include "host/host.h"
#include "inject/decide.h"
#include "metrics/registry.h"
#include "nri/session.h"

namespace railhead {

/// What the runtime can do, looked up in the live host's procfs (never in a host root or snapshot):
/// the peer's pid, else the process of its name. Unknown stays unknown and is logged.
RuntimeAbility ability_of(const nri::RuntimePeer& peer, Host& live, const std::string& proc_dir,
                          Log& log);

/// Asks whether a pod holds GPUs; answers once, on the loop, within the time given.
using AskClaim = std::function<void(const ContainerRequest&, std::shared_ptr<const DecisionTable>,
                                    std::chrono::milliseconds, std::function<void(GpuClaim)>)>;

/// The same for all pods at once: what each claims by namespace and name, or why nobody knows.
using AskAllClaims = std::function<void(
    std::shared_ptr<const DecisionTable>, std::chrono::milliseconds,
    std::function<void(Result<std::function<GpuClaim(std::string_view, std::string_view)>>)>)>;

/// The agent's side of the NRI session: decides, logs every decision once with its reason, counts.
class NriFace : public nri::Handler {
 public:
  /// `fail_request`: the node's policy is fail-closed, which the runtime should be able to honour.
  /// Without `ask` the environment is trusted. With a `book` every container is noted there.
  NriFace(MachineTables& machine, Host& live, std::string proc_dir, bool fail_request, Log& log,
          MetricRegistry& metrics, AskClaim ask = {}, ContainerBook* book = nullptr,
          AskAllClaims ask_all = {});

  void configured(const nri::RuntimePeer& peer) override;
  void existing(const ContainerRequest& container) override;
  void synchronized(std::size_t pods, std::size_t containers) override;
  void create(const ContainerRequest& request,
              std::function<void(nri::CreateAnswer)> done) override;
  /// Decides without the kubelet's word on GPUs, which is all that can be late: `required` holds,
  /// and GPUs that only the environment names do not count.
  nri::CreateAnswer on_deadline(const ContainerRequest& request) override;
  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override;

  /// Of this table the NCCL topology file is where the runtime sees it; null: of none.
  void set_topology_provided(std::shared_ptr<const DecisionTable> table) {
    topology_provided_ = std::move(table);
  }

 private:
  /// A container of a Synchronize whose GPUs are known from its environment alone.
  struct Undecided {
    std::string pod_namespace;
    std::string pod;
    std::string container;
    std::string missing_if_trusted;
    std::string missing_if_denied;
  };

  void report_missing(const std::string& pod, const std::string& container,
                      const std::string& missing);
  void settle_undecided(
      const Result<std::function<GpuClaim(std::string_view, std::string_view)>>& claims);
  void report_synchronized(std::size_t pods, std::size_t containers, const std::string& doubt);
  /// What decide() says, without what cannot be provided just now.
  Decision decided(const ContainerRequest& request, const DecisionTable& table, GpuClaim claim);
  void note_container(const ContainerRequest& request, const Decision& decision,
                      const DecisionTable& table);
  void report_again(const ContainerRequest& request);
  void report(const ContainerRequest& request, const Decision& decision,
              const DecisionTable& table);

  MachineTables& machine_;
  std::shared_ptr<const DecisionTable> topology_provided_;
  Host& live_;
  std::string proc_dir_;
  bool fail_request_;
  Log& log_;
  MetricRegistry& metrics_;
  AskClaim ask_;
  ContainerBook* book_;
  std::chrono::milliseconds claim_timeout_{1000};
  RuntimeAbility ability_;
  RecentCreations recent_;
  AskAllClaims ask_all_;
  std::size_t lacking_ = 0;  ///< containers of this Synchronize without their devices
  std::vector<Undecided> undecided_;
  std::uint64_t synchronize_ = 0;  ///< tells a late answer from one to the Synchronize after
  bool was_connected_ = true;
  std::string last_error_;
};

}  // namespace railhead
