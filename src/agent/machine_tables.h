// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "inject/decide.h"

namespace railhead::agent {

/// The machine as the deciding thread may use it: finished tables, and a bounded wait for a fresher
/// one.
class MachineTables {
 public:
  virtual ~MachineTables() = default;

  [[nodiscard]] virtual std::shared_ptr<const inject::DecisionTable> table() const = 0;

  /// Something changed that the table may not have yet, and a fresher one can be waited for.
  [[nodiscard]] virtual bool is_behind() = 0;

  /// Something changed that the table does not have: it is not read yet, or cannot be read. What is
  /// decided now is decided by what was; is_behind() says whether it is of use to wait.
  [[nodiscard]] virtual bool is_stale() const = 0;

  /// False where nothing has been read yet: table() is that of a machine without anything.
  [[nodiscard]] virtual bool is_read() const = 0;

  /// Asks for a reading although no event came. `cause` is a literal, for metrics and the log.
  virtual void look_again(std::string_view cause) = 0;

  /// Calls `done` once: true when all that had changed by now is in the table, false where that
  /// took longer than `patience`.
  virtual void wait(std::chrono::milliseconds patience, std::function<void(bool fresh)> done) = 0;
};

}  // namespace railhead::agent
