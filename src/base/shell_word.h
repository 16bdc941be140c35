// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace railhead {

/// A text as one word of a POSIX shell, for commands that people copy: as it is where no character
/// means anything to a shell, else in single quotes.
std::string shell_word(std::string_view text);

}  // namespace railhead
