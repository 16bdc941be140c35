// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace railhead {

/// "0.1.0".
std::string_view version();

/// The commit that the program is built from, as 12 hexadecimal digits, with "-dirty" where tracked
/// files differ from it; empty where the sources were no git checkout.
std::string_view commit();

/// Its day, "2026-01-31"; that of SOURCE_DATE_EPOCH, or empty, where the sources were no checkout.
std::string_view commit_date();

/// The compiler with its version, and the kind of the build: "GNU 12.2.0", "Release".
std::string_view compiler();
std::string_view build_type();

}  // namespace railhead
