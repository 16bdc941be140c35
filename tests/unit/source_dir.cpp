// SPDX-License-Identifier: Apache-2.0
#include "unit/source_dir.h"

namespace railhead::test {

std::string source_dir() {
  return RAILHEAD_SOURCE_DIR;
}

}  // namespace railhead::test
