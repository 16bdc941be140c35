// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace railhead {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::pair<std::string_view, milliseconds>, 4> kUnits{
    {{"ms", milliseconds(1)},  // before "m" and "s", with which it would end otherwise
     {"s", milliseconds(1000)},
     {"m", milliseconds(60'000)},
     {"h", milliseconds(3'600'000)}}};
constexpr std::int64_t kLongest = std::int64_t{365} * 24 * 3'600'000;

}  // namespace

Result<milliseconds> parse_duration(std::string_view text, milliseconds unit) {
  std::string_view digits = text;
  for (const auto& [suffix, length] : kUnits) {
    if (!text.ends_with(suffix)) continue;
    unit = length;
    digits.remove_suffix(suffix.size());
    break;
  }
  const auto parts = split(digits, '.');
  const auto whole = parse_unsigned(parts.front());
  const auto bad = [&] {
    return Error{ErrorCode::malformed, in_quotes(text) + " is not a time such as 500ms, 30s or 5m"};
  };
  if (!whole || parts.size() > 2 || *whole > static_cast<std::uint64_t>(kLongest)) return bad();
  double number = static_cast<double>(*whole);
  if (parts.size() == 2) {
    const auto decimals = parse_unsigned(parts[1]);
    if (!decimals || parts[1].size() > 6) return bad();
    number += static_cast<double>(*decimals) / std::pow(10.0, static_cast<double>(parts[1].size()));
  }
  const double total = number * static_cast<double>(unit.count());
  if (total > static_cast<double>(kLongest)) return bad();
  return milliseconds(static_cast<std::int64_t>(std::llround(total)));
}

}  // namespace railhead
