// SPDX-License-Identifier: Apache-2.0
//
// Turns of the nodes of a cluster: so many Leases are there, and who holds one has its turn. A
// Lease does not expire. It is given back by the run that finds that its node answers, so a node
// that does not come back keeps its Lease, and nothing is restarted on any other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "container/holdings.h"
#include "host/clock.h"
#include "kube/lease.h"
#include "setup/turn.h"

namespace railhead::setup {

/// The pods that hold a GPU, "NAMESPACE/NAME", sorted: by a resource that one of `patterns` names,
/// or by a claim of a driver "gpu.…".
std::vector<std::string> pods_with_gpus(const std::vector<container::PodHoldings>& pods,
                                        const std::vector<std::string>& patterns);

class LeaseTurn final : public Turn {
 public:
  /// What is outside of this program. Each may wait some seconds.
  struct Outside {
    std::function<Result<kube::Answer>(const kube::Request&)> ask;
    /// Names of pods that hold GPUs on this node.
    std::function<Result<std::vector<std::string>>()> gpu_pods;
    /// That this node runs containers: its runtime and its kubelet answer.
    std::function<Status()> node_answers;
    /// A line for people, once for each state of waiting.
    std::function<void(const std::string& text)> say;
  };

  struct Rules {
    std::vector<kube::LeaseName> leases;  ///< one or more; any of them is a turn
    std::string node;                     ///< the holder's name
    bool beside_gpu_pods = false;         ///< do not ask for gpu_pods
  };

  LeaseTurn(Rules rules, Outside outside, host::Clock& clock);

  /// Refused (unavailable) while pods with GPUs run here, or nobody says whether. While the API
  /// server does not answer it is asked again, without end; a refusal of it is the error.
  Status take() override;
  Status come_back() override;
  Status give_back(const std::string& kept_for) override;

 private:
  /// What is to be seen of the Leases.
  struct Look {
    std::optional<kube::LeaseName> ours{};
    std::optional<kube::LeaseName> free{};
    kube::Lease lease{};                 ///< of `ours`, else of `free`
    std::vector<std::string> holders{};  ///< of the others, for people
  };

  Status check_gpu_pods();
  kube::Answer answer(const kube::Request& request);
  Result<std::optional<kube::Lease>> read(const kube::LeaseName& name);
  Result<Look> look();
  /// Whether it was done; not where the Lease is another one by now.
  Result<bool> change(const kube::Request& request);
  void say(const std::string& text);

  const Rules rules_;
  const Outside outside_;
  host::Clock& clock_;
  std::optional<kube::LeaseName> held_;
  std::string said_;  ///< last
};

}  // namespace railhead::setup
