// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace railhead::test {

/// The source tree that this test program was built from: committed machines and documents.
std::string source_dir();

}  // namespace railhead::test
