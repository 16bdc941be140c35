// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/given.h"

namespace railhead::lint {

/// A secondary network, by the name and namespace of its NetworkAttachmentDefinition.
struct Network {
  const Object* object = nullptr;
  std::string name;
  std::string name_space;
  std::string resource;  ///< that its pods ask for; "" where it needs none, or that is not known
};

/// NetworkAttachmentDefinitions, and the objects that operators make them of.
std::vector<Network> networks_of(const Given& given);

struct WantedNetwork {
  std::string name;
  std::string name_space;
  const data::Value* place = nullptr;  ///< the annotation
};

/// What a pod's annotation names, by commas or as a JSON list; a network of which it wants several
/// interfaces once.
std::vector<WantedNetwork> wanted_networks(const Pod& pod);

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
