// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace railhead::pools {

/// Whether the kubelet would take `domain/name` as an extended resource: a DNS subdomain, a slash
/// and at most 63 letters, digits, "-", "_" and "." that begin and end with a letter or digit; not
/// of kubernetes.io, not beginning with "requests.". Source: kubernetes
/// pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName(), apimachinery
/// pkg/util/validation/validation.go IsQualifiedName().
Status check_resource_name(std::string_view name);

}  // namespace railhead::pools
