// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace railhead::container {

/// Devices of one resource that a container holds, or that a node offers, as the kubelet says it.
struct Holding {
  std::string resource;
  std::vector<std::string> ids;

  friend bool operator==(const Holding&, const Holding&) = default;
};

struct Holdings {
  std::string container;
  std::vector<Holding> devices;

  friend bool operator==(const Holdings&, const Holdings&) = default;
};

/// Ordinary init containers are not among the containers.
struct PodHoldings {
  std::string pod_namespace;
  std::string pod;
  std::vector<Holdings> containers;

  friend bool operator==(const PodHoldings&, const PodHoldings&) = default;
};

}  // namespace railhead::container
