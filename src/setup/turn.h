// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace railhead::setup {

/// Says when this machine may do what other machines should not do at the same time: steps of class
/// R2, which restart a service or let traffic notice.
class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  virtual ~Turn() = default;

  /// Before each such step. Waits as long as others have their turn. An error says why the step is
  /// not to be done now.
  virtual Status take() = 0;

  /// After such a step: returns when the machine runs containers again. An error says what does not
  /// answer.
  virtual Status come_back() = 0;

  /// At the end of a run, also of one that took no turn: a run before it may have been ended within
  /// its own. `kept_for`: why others must not follow; "": they may, once this machine runs
  /// containers. An error says why the turn stays with this machine; none where it has none.
  virtual Status give_back(const std::string& kept_for) = 0;
};

}  // namespace railhead::setup
