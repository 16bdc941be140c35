// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace railhead::system {

/// What a snapshot keeps of a file that read_system() read: only what a check looks at. Files of
/// configuration hold passwords of registries, units hold those of proxies, and the kernel's log
/// holds addresses. What is not ours stays as it is.
std::string shortened_file(std::string_view path, std::string content);

}  // namespace railhead::system
