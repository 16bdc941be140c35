// SPDX-License-Identifier: Apache-2.0
//
// What is asked of the API server, and what an answer says.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json.h"
#include "data/value.h"

namespace railhead::kube {

enum class Verb : std::uint8_t { get, post, patch };
std::string_view to_string(Verb verb);  ///< "GET"

struct Request {
  Verb verb = Verb::get;
  std::string target;        ///< path and query: "/api/v1/nodes/node-1"
  std::string content_type;  ///< of the body; "" without one
  std::string body;
};

/// Text as one segment of a path, or one value of a query.
std::string encoded(std::string_view text);

Request get(std::string target);
Request create(std::string target, const data::Json& object);
/// RFC 6902; applied as a whole, or not at all: 422 where a `test` fails.
Request json_patch(std::string target, const data::Json& operations);
Request strategic_merge_patch(std::string target, const data::Json& patch);

struct Answer {
  unsigned status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;  ///< the header, where it is a number

  [[nodiscard]] bool is_ok() const { return status >= 200 && status < 300; }
};

/// Why a request was not done: "GET /api/v1/nodes/a: 403 Forbidden: nodes \"a\" is forbidden: …".
/// The text is the API server's own where the body is its Status, else the body's beginning.
Error refusal(const Request& request, const Answer& answer);

/// The object that an answer holds; refusal() where it holds none.
Result<data::Value> object_in(const Request& request, const Answer& answer);

}  // namespace railhead::kube
