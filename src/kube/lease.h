// SPDX-License-Identifier: Apache-2.0
//
// A Lease of coordination.k8s.io/v1 as a right that one holder has until it gives it back: nothing
// here expires by time.
// Source: Kubernetes staging/src/k8s.io/api/coordination/v1/types.go, type LeaseSpec.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "data/value.h"
#include "kube/messages.h"

namespace railhead::kube {

struct LeaseName {
  std::string lease_namespace;
  std::string name;

  friend bool operator==(const LeaseName&, const LeaseName&) = default;
};

std::string to_string(const LeaseName& name);  ///< "kube-system/railhead-setup-0"

struct Lease {
  std::string version;   ///< resourceVersion: which state of the object this is
  std::string holder{};  ///< "": nobody
  std::string since{};   ///< acquireTime, as the server says it; "": it says none
};

/// An error (malformed) where it is no Lease, has no version, or its holder is no text.
Result<Lease> lease_in(const data::Value& object);

Request get_lease(const LeaseName& name);

/// Makes `holder` the one who has it. The server refuses with 409 where the Lease is not as `known`
/// any more.
Request take_lease(const LeaseName& name, const Lease& known, std::string_view holder,
                   std::chrono::system_clock::time_point now);

/// Makes it nobody's, under the same condition.
Request free_lease(const LeaseName& name, const Lease& known);

}  // namespace railhead::kube
