// SPDX-License-Identifier: Apache-2.0
//
// yaml-cpp's events, not its node tree: an alias or a tag is refused when it is met, and a document
// that is too deep or too large is given up at that point instead of after it was built.
#include <algorithm>
#include <sstream>
#include <string>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "data/value_builder.h"

namespace railhead::data {
namespace {

/// Thrown to leave yaml-cpp's parser; never leaves this file.
struct Stop {};

Mark to_mark(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<unsigned>(mark.line + 1), static_cast<unsigned>(mark.column + 1)};
}

/// yaml-cpp's messages end with the byte that it does not like.
std::string printable(std::string message) {
  std::ranges::replace_if(
      message, [](char c) { return c < ' ' || c > '~'; }, '?');
  return message;
}

class YamlEvents : public YAML::EventHandler {
 public:
  explicit YamlEvents(ValueBuilder& builder)
      : builder_(builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(mark, "a second document; there may be one");
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    no_anchor(mark, anchor);
    if (builder_.wants_key()) {
      builder_.fail(to_mark(mark), "a key is missing");
    } else {
      builder_.scalar(to_mark(mark), "", false);
    }
    check();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias is not allowed");
  }

  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    refuse(mark, "an anchor is not allowed");
  }

  /// yaml-cpp gives "?" as the tag of a plain scalar and "!" as that of a quoted one.
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    no_anchor(mark, anchor);
    if (tag != "?" && tag != "!") refuse(mark, "a tag is not allowed");
    if (builder_.wants_key()) {
      if (tag == "?" && value == "<<") refuse(mark, "a merge key is not allowed");
      builder_.key(to_mark(mark), value);
    } else {
      builder_.scalar(to_mark(mark), value, tag == "!");
    }
    check();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(Value::Kind::list, mark, tag, anchor);
  }

  void OnSequenceEnd() override { builder_.end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(Value::Kind::map, mark, tag, anchor);
  }

  void OnMapEnd() override { builder_.end(); }

 private:
  void start(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor) {
    no_anchor(mark, anchor);
    if (tag != "?" && !tag.empty()) refuse(mark, "a tag is not allowed");
    if (builder_.wants_key()) refuse(mark, "a key must be text");
    builder_.start(kind, to_mark(mark));
    check();
  }

  void no_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "an anchor is not allowed");
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) {
    builder_.fail(to_mark(mark), what);
    throw Stop{};
  }

  void check() const {
    if (builder_.failed()) throw Stop{};
  }

  ValueBuilder& builder_;
  int documents_ = 0;
};

/// yaml-cpp turns a whole flow collection ("[…]") into tokens before its first event, some 200
/// bytes each, so limits on values would come too late. No document needs more indicators than this
/// for the values it may have; 1024 more are for texts that contain them.
bool has_too_many_indicators(std::string_view text, const ParseLimits& limits) {
  constexpr std::string_view kIndicators = "[]{},:?&*!'\"";
  std::size_t left = 4 * limits.values + 1024;
  for (const char c : text) {
    if (kIndicators.find(c) != std::string_view::npos && left-- == 0) return true;
  }
  return false;
}

}  // namespace

Result<Value> parse_yaml(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.bytes) + " bytes"};
  }
  ValueBuilder builder(limits);
  if (has_too_many_indicators(text, limits)) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.values) + " values"};
  }
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YamlEvents events(builder);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& problem) {
    builder.fail(to_mark(problem.mark), printable(problem.msg));
  }
  return std::move(builder).finish();
}

}  // namespace railhead::data
