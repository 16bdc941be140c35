// SPDX-License-Identifier: Apache-2.0
//
// Pods that bring drivers, and their operators: which they are, and which of their containers
// keeps one from being ready.
#pragma once

#include <optional>
#include <string>

#include "data/value.h"

namespace railhead::cluster {

/// A pod of the OFED driver.
bool is_ofed_pod(const data::Value& pod);

/// A pod of an operator, or of the GPU's driver.
bool is_operator_pod(const data::Value& pod);

struct StoppedContainer {
  std::string name;
  std::string reason;    ///< "CrashLoopBackOff", "Error"; "": it runs, or waits for others
  std::string message;   ///< of the kubelet, cut; "" where it says none
  bool has_log = false;  ///< it runs, or has run
};

/// The first of the pod's containers that is not ready, init containers before the others, and one
/// with a reason before those that only wait. Absent where each is ready, or none has a status.
std::optional<StoppedContainer> stopped_container(const data::Value& pod);

}  // namespace railhead::cluster
