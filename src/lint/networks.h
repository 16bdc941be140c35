// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lint/given.h"

namespace railhead::lint {

/// Namespace and name of a NetworkAttachmentDefinition.
using NetworkName = std::pair<std::string, std::string>;

/// A secondary network.
struct Network {
  const Object* object = nullptr;
  std::string resource;  ///< that its pods ask for; "" where it needs none, or that is not known
};

/// NetworkAttachmentDefinitions, and the objects that operators make them of.
std::multimap<NetworkName, Network> networks_of(const Given& given);

/// What a pod's annotation names, by commas or as a JSON list; a network of which it wants several
/// interfaces once.
std::set<NetworkName> wanted_networks(const Pod& pod);

/// A CNI configuration, or an IPAM section, that stands as a JSON text in an object.
struct NetworkText {
  const Object* object = nullptr;
  const data::Value* place = nullptr;
  data::Value value;      ///< null where it does not parse
  std::string problem;    ///< why not
  bool is_whole = false;  ///< a whole CNI configuration, which has `ipam` in it
};

std::vector<NetworkText> network_texts(const Given& given);

}  // namespace railhead::lint
