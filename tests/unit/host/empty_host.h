// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/host.h"

namespace railhead::test {

/// A machine without any file, for those that answer one question.
class EmptyHost : public host::Host {
 public:
  Result<std::optional<std::string>> read(const std::string&) override { return host::kAbsent; }

  Result<std::optional<std::string>> readlink(const std::string&) override { return host::kAbsent; }

  Result<std::optional<std::vector<std::string>>> list(const std::string&) override {
    return host::kAbsent;
  }

  Result<std::optional<host::DeviceNode>> device(const std::string&) override {
    return host::kAbsent;
  }
};

}  // namespace railhead::test
