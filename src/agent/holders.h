// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead {

/// What a container was given: its GPUs by the rules of the injection, and the NICs whose device
/// nodes it has. A privileged one is given none: it may open all.
Holder holder_of(const ContainerRequest& request, const DecisionTable& table);

/// The same of each container with a bundle.
std::vector<Holder> holders_of(const Usage& usage, const DecisionTable& table);

/// What the runtime told the agent of containers, for those whose bundles it cannot read.
class ContainerBook {
 public:
  static constexpr std::size_t kMaxContainers = 8192;

  void note(Holder holder);

  /// Adds those of this reading that are not named yet; containers that it lacks are forgotten,
  /// unless they were noted since the last reading.
  void complete(std::vector<Holder>& holders, const Usage& usage);

 private:
  struct Entry {
    Holder holder;
    bool fresh = true;
  };

  std::map<std::string, Entry> by_id_;
};

}  // namespace railhead
