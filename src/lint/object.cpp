// SPDX-License-Identifier: Apache-2.0
#include "lint/object.h"

#include <algorithm>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "data/documents.h"

namespace railhead::lint {
namespace {

constexpr data::ParseLimits kDocumentLimits{kMaxFileBytes, 64, std::size_t{1} << 18};

/// The first tab that indents a line; YAML allows none there.
data::Mark tab_in_indentation(std::string_view text) {
  unsigned line = 0;
  for (const auto one : split(text, '\n')) {
    ++line;
    const auto begin = one.find_first_not_of(" \t");
    const auto tab = one.find('\t');
    if (begin != std::string_view::npos && tab < begin) {
      return {line, static_cast<unsigned>(tab + 1)};
    }
  }
  return {};
}

Unread why_unread(const Input& input, std::string_view text, const Error& error) {
  auto [mark, what] = place_and_words(error.message);
  const bool refused = error.code == ErrorCode::too_large || what.ends_with("is not allowed");
  Unread unread{input.name, mark, what, !refused};
  const auto tab = tab_in_indentation(text);
  if (unread.is_wrong && text.find("{{") != std::string_view::npos) {
    unread.is_wrong = false;
    unread.what = "a template of Helm, which is no YAML yet: look at what `helm template` prints";
  } else if (unread.is_wrong && tab.line > 0 && tab.line <= mark.line) {
    unread.mark = tab;
    unread.what = "a tab in the indentation, where YAML allows blanks only";
  }
  return unread;
}

void add_object(Object object, Objects& objects) {
  if (!object.kind.ends_with("List") || object.root.find("items") == nullptr) {
    objects.all.push_back(std::move(object));
    return;
  }
  for (auto& entry : object.root.entries) {
    if (entry.key != "items") continue;
    // Growing by doubling would need half as much again.
    const auto count = entry.value.items.size();
    if (count > objects.all.size()) objects.all.reserve(objects.all.size() + count);
    for (auto& item : entry.value.items) {
      if (item.entries.empty()) continue;
      auto one = object_of(std::move(item));
      one.source = object.source;
      add_object(std::move(one), objects);
    }
  }
}

void read_document(const Input& input, const data::Document& document, Objects& objects) {
  const auto& [text, before] = document;
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return;
  auto root = text[begin] == '{' ? data::parse_json(text, kDocumentLimits)
                                 : data::parse_yaml(text, kDocumentLimits);
  if (!root) {
    auto unread = why_unread(input, text, root.error());
    if (unread.mark.line > 0) unread.mark.line += before;
    objects.unread.push_back(std::move(unread));
    return;
  }
  if (root->kind == data::Value::Kind::null) return;
  auto value = std::move(root).value();
  data::move_down(value, before);
  auto object = object_of(std::move(value));
  object.source = std::make_shared<Source>(Source{input.name, std::string(text), before});
  add_object(std::move(object), objects);
}

}  // namespace

std::string Object::label() const {
  if (kind.empty()) return "values";
  return kind + " " + (name_space.empty() ? "" : name_space + "/") + (name.empty() ? "?" : name);
}

std::string Object::file() const {
  return source == nullptr ? "" : source->file;
}

bool is_template(std::string_view text) {
  return text.find_first_of("$<{") != std::string_view::npos;
}

Object object_of(data::Value root) {
  Object object;
  object.kind = text_below(root, {"kind"});
  object.api = text_below(root, {"apiVersion"});
  object.name = text_below(root, {"metadata", "name"});
  object.name_space = text_below(root, {"metadata", "namespace"});
  object.root = std::move(root);
  return object;
}

void read_objects(const Input& input, Objects& objects) {
  if (input.text.size() > kMaxFileBytes) {
    objects.unread.push_back(
        {input.name, {}, "more than " + std::to_string(kMaxFileBytes) + " bytes"});
    return;
  }
  std::size_t documents = 0;
  for (const auto& document : data::documents_in(input.text)) {
    if (++documents > kMaxDocuments) {
      objects.unread.push_back(
          {input.name,
           {document.before, 1},
           "more than " + std::to_string(kMaxDocuments) + " documents; the others are left out"});
      return;
    }
    read_document(input, document, objects);
  }
}

const data::Value::Entry* entry_of(const data::Value* map, std::string_view key) {
  return map == nullptr ? nullptr : find_by(map->entries, &data::Value::Entry::key, key);
}

std::pair<data::Mark, std::string> place_and_words(std::string_view message) {
  const auto colon = message.find(": ");
  if (colon == std::string_view::npos) return {{}, std::string(message)};
  const auto words = split_words(message.substr(0, colon));
  if (words.size() < 2 || words[0] != "line") return {{}, std::string(message)};
  data::Mark mark;
  mark.line = static_cast<unsigned>(parse_unsigned(words[1]).value_or(0U));
  if (words.size() == 4 && words[2] == "column") {
    mark.column = static_cast<unsigned>(parse_unsigned(words[3]).value_or(0U));
  }
  return {mark, std::string(message.substr(colon + 2))};
}

}  // namespace railhead::lint
