// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace railhead::node {

/// Of a Container Device Interface spec its kind, and names and device nodes of its devices, as
/// JSON: it may set variables and run programs, too. What is no spec stays none.
std::string kept_cdi_json(std::string_view spec);
std::string kept_cdi_yaml(std::string_view spec);

/// The line of gdrdrv in /proc/devices.
std::string kept_device_numbers(std::string_view devices);

/// Of a topology file of NCCL's its elements and what is known of their attributes, each in its
/// line. What is no such file stays none.
std::string kept_nccl_topology(std::string_view xml);

}  // namespace railhead::node
