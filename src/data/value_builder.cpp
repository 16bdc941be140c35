// SPDX-License-Identifier: Apache-2.0
#include "data/value_builder.h"

#include <utility>

#include "base/text.h"

namespace railhead::data {
namespace {

/// Each costs a search of its map.
constexpr std::size_t kMostRepeated = 64;

}  // namespace

void ValueBuilder::fail(Mark mark, const std::string& what, ErrorCode code) {
  if (!error_) error_ = error_at(mark, what, code);
}

bool ValueBuilder::wants_key() const {
  return !open_.empty() && open_.back().value.kind == Value::Kind::map && !open_.back().pending;
}

bool ValueBuilder::count(Mark mark) {
  if (failed()) return false;
  if (++values_ <= limits_.values) return true;
  fail(mark, "more than " + std::to_string(limits_.values) + " values", ErrorCode::too_large);
  return false;
}

void ValueBuilder::add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Open& parent = open_.back();
  if (parent.value.kind == Value::Kind::list) {
    parent.value.items.push_back(std::move(value));
  } else {
    parent.pending->value = std::move(value);
    parent.value.entries.push_back(*std::move(parent.pending));
    parent.pending.reset();
  }
}

void ValueBuilder::scalar(Mark mark, std::string text, bool quoted) {
  if (!count(mark)) return;
  const bool nothing = !quoted && (text.empty() || text == "~" || text == "null" ||
                                   text == "Null" || text == "NULL");
  Value value;
  value.mark = mark;
  value.quoted = quoted;
  value.kind = nothing ? Value::Kind::null : Value::Kind::scalar;
  if (!nothing) value.scalar = std::move(text);
  add(std::move(value));
}

void ValueBuilder::start(Value::Kind kind, Mark mark) {
  if (!count(mark)) return;
  if (open_.size() >= limits_.depth) {
    return fail(mark, "deeper than " + std::to_string(limits_.depth) + " levels",
                ErrorCode::too_large);
  }
  Open open;
  open.value.kind = kind;
  open.value.mark = mark;
  open_.push_back(std::move(open));
}

void ValueBuilder::end() {
  if (failed()) return;
  Value done = std::move(open_.back().value);
  open_.pop_back();
  add(std::move(done));
}

void ValueBuilder::key(Mark mark, std::string text) {
  if (!count(mark)) return;
  if (!open_.back().keys.insert(text).second) repeat(mark, text);
  if (failed()) return;
  open_.back().pending = Value::Entry{std::move(text), mark, {}};
}

void ValueBuilder::repeat(Mark mark, const std::string& key) {
  const auto what = "key " + in_quotes(key) + " stands twice";
  if (repeated_ == nullptr || repeated_->size() == kMostRepeated) return fail(mark, what);
  repeated_->push_back(error_at(mark, what));
  auto& entries = open_.back().value.entries;
  std::erase_if(entries, [&](const Value::Entry& entry) { return entry.key == key; });
}

Result<Value> ValueBuilder::finish() && {
  if (error_) return std::move(*error_);
  return root_ ? std::move(*root_) : Value{};
}

}  // namespace railhead::data
