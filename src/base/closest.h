// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railhead {

/// The word of `words` that was probably meant by `typed`: at most a third of its letters, and two
/// at least, are wrong, left out, too many or swapped with the next. "" where none is as near.
std::string closest_word(std::string_view typed, const std::vector<std::string>& words);

/// "; did you mean topology?", or "".
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace railhead
