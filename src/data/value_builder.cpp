// SPDX-License-Identifier: Apache-2.0
#include "data/value_builder.h"

#include <utility>

#include "base/text.h"

namespace railhead {

void ValueBuilder::fail(Mark mark, const std::string& what) {
  if (error_) return;
  std::string place;
  if (mark.line != 0) {
    place = "line " + std::to_string(mark.line) + " column " + std::to_string(mark.column) + ": ";
  }
  error_ = Error{ErrorCode::malformed, place + what};
}

bool ValueBuilder::wants_key() const {
  return !open_.empty() && open_.back().kind == Value::Kind::map && !keys_.back();
}

void ValueBuilder::add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (open_.back().kind == Value::Kind::list) {
    open_.back().items.push_back(std::move(value));
  } else {
    keys_.back()->value = std::move(value);
    open_.back().entries.push_back(std::move(*keys_.back()));
    keys_.back().reset();
  }
}

void ValueBuilder::null(Mark mark) {
  scalar(mark, "", false);
}

void ValueBuilder::scalar(Mark mark, std::string text, bool quoted) {
  if (failed()) return;
  if (++values_ > limits_.values) {
    return fail(mark, "more than " + std::to_string(limits_.values) + " values");
  }
  Value value;
  value.mark = mark;
  value.quoted = quoted;
  const bool nothing = !quoted && (text.empty() || text == "~" || text == "null" ||
                                   text == "Null" || text == "NULL");
  value.kind = nothing ? Value::Kind::null : Value::Kind::scalar;
  if (!nothing) value.scalar = std::move(text);
  add(std::move(value));
}

void ValueBuilder::start(Value::Kind kind, Mark mark) {
  if (failed()) return;
  if (open_.size() >= limits_.depth) {
    return fail(mark, "deeper than " + std::to_string(limits_.depth) + " levels");
  }
  if (++values_ > limits_.values) {
    return fail(mark, "more than " + std::to_string(limits_.values) + " values");
  }
  Value value;
  value.kind = kind;
  value.mark = mark;
  open_.push_back(std::move(value));
  keys_.emplace_back();
}

void ValueBuilder::end() {
  if (failed()) return;
  Value done = std::move(open_.back());
  open_.pop_back();
  keys_.pop_back();
  add(std::move(done));
}

void ValueBuilder::key(Mark mark, std::string text) {
  if (failed()) return;
  if (open_.back().find(text) != nullptr)
    return fail(mark, "key " + quoted(text) + " stands twice");
  if (++values_ > limits_.values) {
    return fail(mark, "more than " + std::to_string(limits_.values) + " values");
  }
  keys_.back() = Value::Entry{std::move(text), mark, {}};
}

Result<Value> ValueBuilder::finish() && {
  if (error_) return std::move(*error_);
  return root_ ? std::move(*root_) : Value{};
}

}  // namespace railhead
