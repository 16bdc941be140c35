// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "container/facts.h"
#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead {

/// What a container was given, as its examination found it with this table: its GPUs, and the NICs
/// whose device nodes it has. A privileged one is given none: it may open all.
Holder holder_of(const ContainerFacts& facts, const DecisionTable& table);

/// The same of each container with a bundle, which is examined as the runtime would have shown it.
/// Nobody asks the kubelet: what the agent's book knows better stands there (ContainerBook).
std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table);

/// What the runtime told the agent of containers, for those whose bundles it cannot read. For any
/// thread.
class ContainerBook {
 public:
  static constexpr std::size_t kMaxContainers = 8192;

  /// `by_kubelet`: the holder's GPUs are what the kubelet says, and so the truth.
  void note(Holder holder, bool by_kubelet = false);

  /// Adds those of this reading that are not named yet, and gives those that are the GPUs that the
  /// kubelet has said: a container can name what it was denied. Containers that the reading lacks
  /// are forgotten, unless they were noted since the last one.
  void complete(std::vector<Holder>& holders, const Usage& usage);

 private:
  struct Entry {
    Holder holder;
    bool by_kubelet = false;
    bool fresh = true;
  };

  std::mutex mutex_;
  std::map<std::string, Entry> by_id_;
};

}  // namespace railhead
