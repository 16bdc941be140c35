// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/machine_tables.h"

namespace railhead::test {

/// A machine that is as it is, and known; or behind, until the test says what became of the wait.
class FixedTables final : public agent::MachineTables {
 public:
  explicit FixedTables(node::Node node, inject::InjectionPolicy policy = {})
      : table_(std::make_shared<const inject::DecisionTable>(
            std::move(node), affinity::OperatorRules(), std::move(policy))) {}

  [[nodiscard]] std::shared_ptr<const inject::DecisionTable> table() const override {
    ++asked;
    return table_;
  }

  [[nodiscard]] bool is_behind() override { return behind; }

  [[nodiscard]] bool is_stale() const override { return behind || stale; }

  [[nodiscard]] bool is_read() const override { return read; }

  void look_again(std::string_view /*cause*/) override { ++looks; }

  void wait(std::chrono::milliseconds most, std::function<void(bool)> done) override {
    waiting.push_back(std::move(done));
    patience = most;
  }

  bool behind = false;
  bool stale = false;  ///< and it is no use to wait
  bool read = true;
  int looks = 0;
  mutable int asked = 0;                 ///< for the table
  std::chrono::milliseconds patience{};  ///< of the last wait
  std::vector<std::function<void(bool)>> waiting;

 private:
  std::shared_ptr<const inject::DecisionTable> table_;
};

}  // namespace railhead::test
