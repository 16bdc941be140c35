// SPDX-License-Identifier: Apache-2.0
#include "lint/schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/closest.h"
#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"

namespace railhead::lint {
namespace {

using Kind = Shape::Kind;

struct Letter {
  char letter;
  Kind kind;
};

constexpr std::array kLetters = {
    Letter{'s', Kind::text},   Letter{'i', Kind::integer},         Letter{'b', Kind::boolean},
    Letter{'n', Kind::number}, Letter{'q', Kind::integer_or_text}, Letter{'*', Kind::anything}};

/// Reads the notation of schema.h.
class ShapeReader {
 public:
  explicit ShapeReader(std::string_view text)
      : text_(text) {}

  bool read(Shape& into) {
    if (take('{')) return read_keys(into, '}');
    if (take('<')) return read_one(into, Kind::free_map, '>');
    if (take('[')) return read_one(into, Kind::list, ']');
    if (text_.empty()) return false;
    const auto* letter = find_by(kLetters, &Letter::letter, text_.front());
    if (letter == nullptr) return false;
    into.kind = letter->kind;
    text_.remove_prefix(1);
    return !take('(') || read_limits(into);
  }

  bool read_fragment(Shape& into) { return read_keys(into, '\0'); }

  [[nodiscard]] bool is_at_end() const { return text_.empty(); }

 private:
  bool take(char expected) {
    if (text_.empty() || text_.front() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view until(std::string_view ends) {
    const auto word = text_.substr(0, text_.find_first_of(ends));
    text_.remove_prefix(word.size());
    return word;
  }

  bool read_one(Shape& into, Kind kind, char end) {
    into.kind = kind;
    return read(into.item.emplace_back()) && take(end);
  }

  bool read_limits(Shape& into) {
    const auto inside = until(")");
    if (into.kind == Kind::text) {
      into.words = split(inside, '|');
    } else {
      const auto dots = inside.find("..");
      if (dots == std::string_view::npos) return false;
      if (const auto least = parse_signed(inside.substr(0, dots))) into.least = *least;
      if (const auto most = parse_signed(inside.substr(dots + 2))) into.most = *most;
    }
    return take(')');
  }

  bool read_keys(Shape& into, char end) {
    into.kind = Kind::map;
    for (;;) {
      while (take(' ')) continue;
      if (end == '\0' ? text_.empty() : take(end)) return true;
      if (take('&')) {
        const auto all = fragments();
        const auto* fragment = find_by(all, &Fragment::name, until(" }"));
        if (fragment == nullptr || !ShapeReader(fragment->keys).read_fragment(into)) return false;
        continue;
      }
      Shape::Key key;
      key.name = until("!=-");
      key.is_required = take('!');
      if (take('-')) key.gone_since = until("=");
      if (key.name.empty() || !take('=') || !read(key.shape)) return false;
      into.keys.push_back(std::move(key));
    }
  }

  std::string_view text_;
};

/// By notation.
const Shape& kept_shape(std::string_view notation) {
  static const auto shapes = [] {
    std::map<std::string_view, Shape> all;
    for (const auto table : {sriov_schemas(), nic_schemas(), gpu_schemas()}) {
      for (const auto& one : table) all.emplace(one.spec, parse_shape(one.spec).value_or(Shape()));
    }
    const auto values = gpu_operator_values();
    all.emplace(values, parse_shape(values).value_or(Shape()));
    return all;
  }();
  return shapes.at(notation);
}

bool is_all_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

ScalarType number_type(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789_";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (is_all_of(text, kDigits) && text.front() != '_') return ScalarType::integer;

  struct Base {
    std::string_view prefix;
    std::string_view digits;
  };

  constexpr std::array kBases = {Base{"0x", "0123456789abcdefABCDEF_"},
                                 Base{"0X", "0123456789abcdefABCDEF_"}, Base{"0o", "01234567_"},
                                 Base{"0b", "01_"}};
  for (const auto& base : kBases) {
    if (text.starts_with(base.prefix) && is_all_of(text.substr(2), base.digits)) {
      return ScalarType::integer;
    }
  }
  constexpr std::array<std::string_view, 6> kWords = {".nan", ".NaN", ".NAN",
                                                      ".inf", ".Inf", ".INF"};
  if (contains(kWords, text)) return ScalarType::number;
  const auto mantissa = text.substr(0, text.find_first_of("eE"));
  auto exponent = text.substr(std::min(mantissa.size() + 1, text.size()));
  if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
  const auto dots = std::ranges::count(mantissa, '.');
  const bool has_exponent = mantissa.size() < text.size();
  const bool is_float = is_all_of(mantissa, "0123456789_.") && mantissa != "." && dots < 2 &&
                        mantissa.front() != '_' &&
                        (!has_exponent || is_all_of(exponent, "0123456789"));
  return is_float ? ScalarType::number : ScalarType::text;
}

std::string type_of(const data::Value& value) {
  switch (value.kind) {
    case data::Value::Kind::map: return "a map";
    case data::Value::Kind::list: return "a list";
    case data::Value::Kind::null: return "nothing";
    case data::Value::Kind::scalar: break;
  }
  switch (scalar_type(value)) {
    case ScalarType::integer: return "the integer " + in_quotes(value.scalar);
    case ScalarType::number: return "the number " + in_quotes(value.scalar);
    case ScalarType::boolean: return "the boolean " + in_quotes(value.scalar);
    default: return "the string " + in_quotes(value.scalar);
  }
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::text: return "a string";
    case Kind::integer: return "an integer";
    case Kind::boolean: return "a boolean (true, false)";
    case Kind::number: return "a number";
    case Kind::integer_or_text: return "an integer or a string";
    case Kind::map:
    case Kind::free_map: return "a map";
    case Kind::list: return "a list";
    case Kind::anything: break;
  }
  return "anything";
}

bool is_scalar_kind(Kind kind) {
  return kind != Kind::map && kind != Kind::free_map && kind != Kind::list;
}

bool has_type(Kind kind, ScalarType type) {
  switch (kind) {
    case Kind::text: return type == ScalarType::text;
    // 8.0 is an integer of JSON, and whether a number is one is not looked at.
    case Kind::integer:
    case Kind::number: return type == ScalarType::integer || type == ScalarType::number;
    case Kind::boolean: return type == ScalarType::boolean;
    case Kind::integer_or_text: return type == ScalarType::integer || type == ScalarType::text;
    default: return kind == Kind::anything;
  }
}

/// " (isRdma is a key of spec)": where a map above has a key of this name.
std::string where_else(const std::vector<std::pair<const Shape*, std::string>>& above,
                       std::string_view name) {
  for (auto at = above.rbegin(); at != above.rend(); ++at) {
    if (at == above.rbegin()) continue;
    if (at->first->kind == Kind::map && at->first->key(name) != nullptr) {
      return "; it is a key of " + at->second;
    }
  }
  return "";
}

/// "; it is a key of spec.nicSelector": of the maps directly in this one, which has the key.
std::string in_which(const Shape& shape, const std::string& path, std::string_view name) {
  std::string said;
  for (const auto& key : shape.keys) {
    if (key.shape.kind != Kind::map || key.shape.key(name) == nullptr) continue;
    if (!said.empty()) return "";  // several
    said = "; it is a key of " + path + "." + std::string(key.name);
  }
  return said;
}

class MisfitFinder {
 public:
  std::vector<Misfit> find(const Shape& shape, const data::Value& value, const std::string& path) {
    look(shape, value, path);
    return std::move(found_);
  }

 private:
  using ValueKind = data::Value::Kind;

  void add(const std::string& path, data::Mark mark, std::string text) {
    found_.push_back({Misfit::What::value, path, mark, std::move(text)});
  }

  void look(const Shape& shape, const data::Value& value, const std::string& path) {
    if (shape.kind == Kind::anything || value.kind == ValueKind::null) return;
    if (is_scalar_kind(shape.kind)) {
      if (value.kind != ValueKind::scalar || !has_type(shape.kind, scalar_type(value))) {
        return refuse(shape, value, path);
      }
      return look_at_scalar(shape, value, path);
    }
    const bool wants_list = shape.kind == Kind::list;
    if (value.kind != (wants_list ? ValueKind::list : ValueKind::map)) {
      return refuse(shape, value, path);
    }
    above_.emplace_back(&shape, path);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      look(shape.item.front(), value.items[i], path + "[" + std::to_string(i) + "]");
    }
    for (const auto& entry : value.entries) {
      if (shape.kind == Kind::free_map) {
        look(shape.item.front(), entry.value, path + "." + entry.key);
      } else {
        look_at_key(shape, entry, path);
      }
    }
    above_.pop_back();
    if (shape.kind == Kind::map) look_for_required(shape, value, path);
  }

  /// A part of an object, as a patch has it, lacks most of what the whole needs.
  void look_for_required(const Shape& shape, const data::Value& value, const std::string& path) {
    std::vector<std::string> missing;
    std::size_t there = 0;
    for (const auto& key : shape.keys) {
      if (!key.is_required) continue;
      const auto* one = value.find(key.name);
      if (one != nullptr && one->kind != ValueKind::null) {
        ++there;
      } else {
        missing.emplace_back(key.name);
      }
    }
    if (missing.empty() || missing.size() > there) return;
    add(path, value.mark, "has no " + join(missing, ", ") + ", which the API server requires");
  }

  void refuse(const Shape& shape, const data::Value& value, const std::string& path) {
    const bool is_number_as_text = shape.kind == Kind::text && value.kind == ValueKind::scalar;
    const bool is_text_as_other =
        is_scalar_kind(shape.kind) && value.quoted && shape.kind != Kind::text;
    add(path, value.mark,
        "is " + type_of(value) + ", and the API server takes " + std::string(name_of(shape.kind)) +
            (is_number_as_text  ? ": write it in quotes"
             : is_text_as_other ? ": write it without quotes"
                                : ""));
  }

  void look_at_scalar(const Shape& shape, const data::Value& value, const std::string& path) {
    if (!shape.words.empty() && !contains(shape.words, value.scalar)) {
      std::vector<std::string> known;
      for (const auto word : shape.words) {
        if (!word.empty()) known.emplace_back(word);
      }
      add(path, value.mark,
          "is " + in_quotes(value.scalar) + ", and the API server takes " + join(known, ", "));
    }
    const auto number = parse_signed(value.scalar);
    if (!number) return;
    if ((shape.least && *number < *shape.least) || (shape.most && *number > *shape.most)) {
      add(path, value.mark,
          "is " + value.scalar + ", and the API server takes " +
              (shape.least ? "from " + std::to_string(*shape.least) : "") +
              (shape.most ? " to " + std::to_string(*shape.most) : ""));
    }
  }

  void look_at_key(const Shape& shape, const data::Value::Entry& entry, const std::string& path) {
    const auto* key = shape.key(entry.key);
    const auto whole = path + "." + entry.key;
    if (key == nullptr) {
      std::vector<std::string> known;
      for (const auto& one : shape.keys) known.emplace_back(one.name);
      auto hint = where_else(above_, entry.key);
      if (hint.empty()) hint = in_which(shape, path, entry.key);
      if (hint.empty()) hint = did_you_mean(entry.key, known);
      found_.push_back({Misfit::What::unknown_key, whole, entry.mark, std::move(hint)});
    } else if (!key->gone_since.empty()) {
      found_.push_back({Misfit::What::old_key, whole, entry.mark, std::string(key->gone_since)});
    } else {
      look(key->shape, entry.value, whole);
    }
  }

  std::vector<Misfit> found_;
  std::vector<std::pair<const Shape*, std::string>> above_;
};

}  // namespace

const Shape::Key* Shape::key(std::string_view name) const {
  return find_by(keys, &Key::name, name);
}

std::optional<Shape> parse_shape(std::string_view notation) {
  Shape shape;
  ShapeReader reader(notation);
  if (!reader.read(shape) || !reader.is_at_end()) return std::nullopt;
  return shape;
}

const Schema* schema_of(std::string_view kind, std::string_view api) {
  const auto group = api.substr(0, api.find('/'));
  for (const auto table : {sriov_schemas(), nic_schemas(), gpu_schemas()}) {
    for (const auto& one : table) {
      if (one.kind == kind && one.group == group) return &one;
    }
  }
  return nullptr;
}

const Shape& shape_of(const Schema& schema) {
  return kept_shape(schema.spec);
}

const Shape& shape_of_gpu_values() {
  static const auto shape = [] {
    const auto all = gpu_schemas();
    auto values = kept_shape(find_by(all, &Schema::kind, "ClusterPolicy")->spec);
    auto more = kept_shape(gpu_operator_values());
    for (auto& key : more.keys) {
      const auto at = std::ranges::find(values.keys, key.name, &Shape::Key::name);
      if (at == values.keys.end()) {
        values.keys.push_back(std::move(key));
      } else {
        std::ranges::move(key.shape.keys, std::back_inserter(at->shape.keys));
      }
    }
    return values;
  }();
  return shape;
}

std::vector<Misfit> misfits(const Shape& shape, const data::Value& value, const std::string& path) {
  return MisfitFinder().find(shape, value, path);
}

ScalarType scalar_type(const data::Value& value) {
  constexpr std::array<std::string_view, 22> kBooleans = {
      "y", "Y", "yes", "Yes", "YES", "true",  "True",  "TRUE",  "on",  "On",  "ON",
      "n", "N", "no",  "No",  "NO",  "false", "False", "FALSE", "off", "Off", "OFF"};
  if (value.kind == data::Value::Kind::null) return ScalarType::null;
  if (value.quoted) return ScalarType::text;
  if (contains(kBooleans, value.scalar)) return ScalarType::boolean;
  return number_type(value.scalar);
}

}  // namespace railhead::lint
