// SPDX-License-Identifier: Apache-2.0
#include "nri/backoff.h"

#include <algorithm>
#include <utility>

namespace railhead::nri {

Backoff::Backoff(Milliseconds min, Milliseconds max, std::function<double()> random)
    : min_(std::max(min, Milliseconds(1))),
      max_(std::max(max, min_)),
      ceiling_(min_),
      random_(std::move(random)) {}

Backoff::Milliseconds Backoff::next() {
  ceiling_ = std::min(max_, ceiling_ > max_ / 2 ? max_ : ceiling_ * 2);
  const double share = random_ ? std::clamp(random_(), 0.0, 1.0) : 1.0;
  const auto span = static_cast<double>((ceiling_ - min_).count());
  return min_ + Milliseconds(static_cast<Milliseconds::rep>(share * span));
}

void Backoff::reset() {
  ceiling_ = min_;
}

}  // namespace railhead::nri
