// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "agent/log.h"
#include "agent/metrics.h"
#include "base/result.h"
#include "host/clock.h"
#include "host/host.h"
#include "loop/loop_thread.h"
#include "loop/mailbox.h"

namespace railhead::agent {

/// Opens the machine anew, for each look at it.
using OpenMachine = std::function<Result<std::unique_ptr<host::Host>>()>;

/// Where a part of the agent runs, and what every part is given. `loop` and `mailbox` are its own
/// thread's; clock, log and metrics may be used from any thread.
struct Context {
  boost::asio::io_context& loop;
  loop::Mailbox& mailbox;
  host::Clock& clock;
  Log& log;
  Metrics& metrics;

  /// The same for what lives on another thread.
  [[nodiscard]] Context on(loop::LoopThread& thread) const {
    return {thread.loop(), thread.mailbox(), clock, log, metrics};
  }
};

}  // namespace railhead::agent
