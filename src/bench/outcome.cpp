// SPDX-License-Identifier: Apache-2.0
#include "bench/outcome.h"

#include <array>

namespace railhead::bench {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 18> kNames = {{
    {State::ok, "ok"},
    {State::data_mismatch, "data-mismatch"},
    {State::below_expected, "below-expected"},
    {State::cannot_tell, "cannot-tell"},
    {State::transfer_failed, "transfer-failed"},
    {State::peer_lost, "peer-lost"},
    {State::timed_out, "timed-out"},
    {State::wrong_key, "wrong-key"},
    {State::version_mismatch, "version-mismatch"},
    {State::protocol_error, "protocol-error"},
    {State::in_use, "in-use"},
    {State::no_device, "no-device"},
    {State::no_address, "no-address"},
    {State::no_memory, "no-memory"},
    {State::not_written, "not-written"},
    {State::unsupported, "unsupported"},
    {State::interrupted, "interrupted"},
    {State::usage, "usage"},
}};

}  // namespace

std::string_view to_string(State state) {
  for (const auto& [value, name] : kNames) {
    if (value == state) return name;
  }
  return "?";
}

State parse_state(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  return State::protocol_error;
}

int exit_code(State state) {
  switch (state) {
    case State::ok: return 0;
    case State::data_mismatch:
    case State::below_expected:
    case State::transfer_failed: return 1;
    case State::usage: return 64;
    default: return 2;
  }
}

Outcome channel_outcome(const Error& error) {
  switch (error.code) {
    case ErrorCode::denied: return {State::wrong_key, error.message};
    case ErrorCode::unsupported: return {State::version_mismatch, error.message};
    case ErrorCode::malformed:
    case ErrorCode::too_large: return {State::protocol_error, error.message};
    case ErrorCode::timeout: return {State::timed_out, error.message};
    default:
      return {error.message == "interrupted" ? State::interrupted : State::peer_lost,
              error.message};
  }
}

Outcome device_outcome(const Error& error) {
  switch (error.code) {
    case ErrorCode::too_large: return {State::no_memory, error.message};
    case ErrorCode::unsupported: return {State::unsupported, error.message};
    case ErrorCode::usage: return {State::usage, error.message};
    case ErrorCode::malformed: return {State::protocol_error, error.message};
    default: return {State::no_device, error.message};
  }
}

Outcome transfer_outcome(const Error& error) {
  switch (error.code) {
    case ErrorCode::malformed: return {State::data_mismatch, error.message};
    case ErrorCode::unsupported: return {State::unsupported, error.message};
    default: return {State::transfer_failed, error.message};
  }
}

}  // namespace railhead::bench
