// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace railhead {

/// Why something failed. Absence is not a failure: functions for which "not there" is an ordinary
/// answer return Result<std::optional<T>>.
enum class ErrorCode : std::uint8_t {
  denied,       ///< EACCES, EPERM: we may not look
  malformed,    ///< it was read, and it is not what the format says
  unavailable,  ///< EIO, EINVAL, ECONNREFUSED…: not now; may go away by itself
  timeout,      ///< a deadline of ours passed
  too_large,    ///< above one of our limits
  unsupported,  ///< understood, and this build or peer cannot do it
  usage,        ///< the caller's request makes no sense
  internal,     ///< our own fault
};

/// A failure that a person can act on: the code for programs, the message for people. Messages are
/// lower case without a full stop and name the path, key or peer.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  /// The same failure with what we were doing in front: "reading mlx5_0: numa_node: …".
  [[nodiscard]] Error context(std::string_view doing) const {
    return {code, std::string(doing) + ": " + message};
  }
};

/// A value or an Error. Three ways to handle a failure:
///   auto v = TRY(f());                          hand it to the caller
///   auto r = f(); if (!r) return r.error().context("while …");
///   f().value_or(fallback)                      where a default is right and nobody must know
/// std::expected would replace it under C++23.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)

  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }

  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }

  const T& value() const& { return std::get<0>(state_); }

  T&& value() && { return std::get<0>(std::move(state_)); }

  T& operator*() & { return value(); }

  const T& operator*() const& { return value(); }

  T&& operator*() && { return std::move(*this).value(); }

  T* operator->() { return &value(); }

  const T* operator->() const { return &value(); }

  template <typename U>
  [[nodiscard]] T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;

  Result(Error error)
      : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return !error_; }

  explicit operator bool() const { return has_value(); }

  void value() const {}

  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace railhead

/// The value of a Result, or return its Error from the enclosing function (a GNU statement
/// expression: g++ and clang++).
#define TRY(expression)                           \
  (__extension__({                                \
    auto try_result_ = (expression);              \
    if (!try_result_) return try_result_.error(); \
    std::move(try_result_).value();               \
  }))

/// TRY for a Status.
#define TRY_STATUS(expression)                    \
  do {                                            \
    auto try_status_ = (expression);              \
    if (!try_status_) return try_status_.error(); \
  } while (false)
