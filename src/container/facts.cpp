// SPDX-License-Identifier: Apache-2.0
#include "container/facts.h"

namespace railhead::container {

std::string_view to_string(GpuSource source) {
  switch (source) {
    case GpuSource::none: return "none";
    case GpuSource::device_nodes: return "device nodes";
    case GpuSource::cdi_names: return "CDI names";
    case GpuSource::kubelet: return "kubelet";
    case GpuSource::mounts: return "mounts";
    case GpuSource::environment: return "environment";
  }
  return "none";
}

}  // namespace railhead::container
