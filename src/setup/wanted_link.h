// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "data/value.h"
#include "setup/wanted.h"

namespace railhead::setup {

/// What is wanted of one netdev: the value of a key of `link`.
Result<LinkWish> read_link_wish(const data::Value& value);

}  // namespace railhead::setup
