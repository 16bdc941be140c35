// SPDX-License-Identifier: Apache-2.0
// The generated types of api/nri.proto. For this layer's .cpp files only: no header includes this.
#pragma once

#include "nri.pb.h"

namespace railhead::nri {

namespace api = ::nri::pkg::api::v1alpha1;

}  // namespace railhead::nri
