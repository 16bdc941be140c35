// SPDX-License-Identifier: Apache-2.0
#include "kube/messages.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "data/below.h"

namespace railhead::kube {
namespace {

constexpr std::size_t kMaxWords = 400;  ///< bytes of what the other side says, in a message
/// A list of 500 pods has some 20 MB; the transport has the limit of bytes.
constexpr data::ParseLimits kObjectLimits{std::size_t{32} << 20, 64, std::size_t{1} << 20};

struct StatusRow {
  unsigned status;
  ErrorCode code;
  std::string_view reason;
};

constexpr auto kStatuses = std::to_array<StatusRow>({
    {400, ErrorCode::usage, " Bad Request"},
    {401, ErrorCode::denied, " Unauthorized"},
    {403, ErrorCode::denied, " Forbidden"},
    {404, ErrorCode::usage, " Not Found"},
    {409, ErrorCode::unavailable, " Conflict"},
    {410, ErrorCode::unavailable, " Gone"},
    {422, ErrorCode::usage, " Unprocessable Entity"},
    {429, ErrorCode::unavailable, " Too Many Requests"},
    {500, ErrorCode::unavailable, " Internal Server Error"},
    {503, ErrorCode::unavailable, " Service Unavailable"},
    {504, ErrorCode::unavailable, " Gateway Timeout"},
});

/// What the API server says, without the quotes that a text of unknown origin gets.
std::string words_of(const Answer& answer) {
  const auto body = trim(answer.body);
  if (body.empty()) return "";
  if (const auto object = data::parse_json(body, kObjectLimits)) {
    const auto message = data::text_below(*object, {"message"});
    if (!message.empty()) {
      const auto quoted = in_quotes(message, kMaxWords);
      return ": " + quoted.substr(1, quoted.size() - 2);
    }
  }
  return ": " + in_quotes(body, kMaxWords);
}

Request with_body(Verb verb, std::string target, std::string content_type, const data::Json& body) {
  return {verb, std::move(target), std::move(content_type), data::to_json_text(body)};
}

}  // namespace

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::get: return "GET";
    case Verb::post: return "POST";
    case Verb::patch: return "PATCH";
  }
  return "?";
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += "%" + to_hex(static_cast<unsigned char>(c), 2);
    }
  }
  return out;
}

Request get(std::string target) {
  return {Verb::get, std::move(target), "", ""};
}

Request create(std::string target, const data::Json& object) {
  return with_body(Verb::post, std::move(target), "application/json", object);
}

Request json_patch(std::string target, const data::Json& operations) {
  return with_body(Verb::patch, std::move(target), "application/json-patch+json", operations);
}

Request strategic_merge_patch(std::string target, const data::Json& patch) {
  return with_body(Verb::patch, std::move(target), "application/strategic-merge-patch+json", patch);
}

Error refusal(const Request& request, const Answer& answer) {
  StatusRow row{answer.status, ErrorCode::unavailable, ""};
  for (const auto& known : kStatuses) {
    if (known.status == answer.status) row = known;
  }
  return {row.code, std::string(to_string(request.verb)) + " " + request.target + ": " +
                        std::to_string(answer.status) + std::string(row.reason) + words_of(answer)};
}

Result<data::Value> object_in(const Request& request, const Answer& answer) {
  if (!answer.is_ok()) return refusal(request, answer);
  auto object = data::parse_json(answer.body, kObjectLimits);
  const std::string asked = std::string(to_string(request.verb)) + " " + request.target;
  if (!object) return object.error().context(asked + ": the answer");
  if (object->kind != data::Value::Kind::map) {
    return Error{ErrorCode::malformed, asked + ": the answer is not an object"};
  }
  return object;
}

}  // namespace railhead::kube
