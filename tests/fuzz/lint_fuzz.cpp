// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "lint/lint.h"

/// Manifests of any bytes: findings whose rules exist, at places that the text has.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const railhead::lint::Input input{"fuzz.yaml",
                                    std::string(reinterpret_cast<const char*>(data), size)};
  railhead::lint::Objects objects;
  read_objects(input, objects);
  const auto given = railhead::lint::give(std::move(objects), {});
  const auto findings = railhead::lint::lint(given);
  for (const auto& finding : findings) {
    if (railhead::lint::find_rule(finding.rule) == nullptr || finding.what.empty()) {
      __builtin_trap();
    }
  }
  static_cast<void>(railhead::report::to_json(railhead::lint::report_of(findings, 1)));
  return 0;
}
