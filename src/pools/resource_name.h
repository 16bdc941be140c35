// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"

namespace railhead::pools {

/// The shape of a label of RFC 1123: lower-case letters, digits and "-", with a letter or digit at
/// both ends. Its length is the caller's matter.
bool is_dns_label(std::string_view text);

/// Such labels with dots between.
bool is_dns_subdomain(std::string_view text);

/// Whether the kubelet would take `domain/name` as an extended resource: a DNS subdomain, a slash
/// and at most 63 letters, digits, "-", "_" and "." that begin and end with a letter or digit; not
/// of kubernetes.io, not beginning with "requests.". Source: kubernetes
/// pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName(), apimachinery
/// pkg/util/validation/validation.go IsQualifiedName().
Status check_resource_name(std::string_view name);

}  // namespace railhead::pools
