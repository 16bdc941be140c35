// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::bench {

/// How a run ended; each has a name that scripts may rely on, and an exit code.
enum class State : std::uint8_t {
  ok,
  data_mismatch,     ///< bytes arrived that were not sent
  below_expected,    ///< slower than --require asks
  cannot_tell,       ///< what --require asks could not be judged
  transfer_failed,   ///< a queue pair went into the error state, or nothing moved any more
  peer_lost,         ///< the other side closed the connection, or was never there
  timed_out,         ///< the other side is silent
  wrong_key,         ///< the two sides hold different keys
  version_mismatch,  ///< the two sides speak different versions of the protocol
  protocol_error,    ///< the other side said what makes no sense
  in_use,            ///< others have queue pairs on the NIC
  no_device,         ///< no such NIC, port not active, no GID
  no_address,        ///< the server cannot listen where it was told
  no_memory,         ///< memory could not be allocated or registered
  not_written,       ///< the file of --proof cannot be written
  unsupported,       ///< this memory or operation is not to be had here
  interrupted,
  usage,
};

std::string_view to_string(State state);   ///< "data-mismatch"
State parse_state(std::string_view text);  ///< protocol_error for a text that names none

/// 0 ok, 1 a problem was found, 2 cannot tell, 64 usage: as everywhere in Railhead.
int exit_code(State state);

struct Outcome {
  State state = State::ok;
  std::string why;

  [[nodiscard]] bool ok() const { return state == State::ok; }
};

/// What an error of the control channel means.
Outcome channel_outcome(const Error& error);
/// What an error of a device or of its memory means before anything moved.
Outcome device_outcome(const Error& error);
/// What an error of a measuring loop means.
Outcome transfer_outcome(const Error& error);

}  // namespace railhead::bench

/// Returns an Outcome that is not ok from the enclosing function.
#define TRY_OUTCOME(expression)                  \
  do {                                           \
    auto try_outcome_ = (expression);            \
    if (!try_outcome_.ok()) return try_outcome_; \
  } while (false)
