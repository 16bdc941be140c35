// SPDX-License-Identifier: Apache-2.0
//
// What is kept of a runtime's files: keys that containerd and CRI-O know, so that what a loader
// makes of them can be told. Registries, their passwords and proxies stand beside those.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/closest.h"
#include "base/contains.h"
#include "base/text.h"
#include "data/toml.h"
#include "host/keep.h"
#include "system/containerd_types.h"
#include "system/crio_types.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

using data::Value;
using host::is_made_of;

constexpr std::size_t kMaxName = 80;
constexpr std::size_t kMaxPath = 4096;

/// Of the root and of tables of fixed keys in it, CRI-O's among them.
bool is_key(std::string_view name) {
  return name == "crio" || has_key(ContainerdTable::file, name);
}

/// Texts that say where something is.
constexpr auto kPlaceKeys = std::to_array<std::string_view>(
    {"address", "listen", "socket_path", "nri_listen", "plugin_path", "plugin_config_path", "root",
     "nri_plugin_dir", "nri_plugin_config_dir", "state", "base_runtime_spec"});
constexpr auto kPlainWords =
    std::to_array<std::string_view>({"panic", "fatal", "error", "warn", "warning", "info", "debug",
                                     "trace", "text", "json", "true", "false"});

/// What no parser takes, and what only some take: see parse_toml().
constexpr std::string_view kMalformed = "[malformed\n";
constexpr std::string_view kUnsupported = "unsupported = 01\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// What go-toml 1.9.5 does not read as we do.
constexpr std::string_view kDate = "[date]\nday = 1979-05-27\n";

bool is_nri(std::string_view table) {
  const auto name = to_lower(table);
  return name == "nri" ||
         (name.starts_with("io.containerd.") && name.ends_with(".nri") && is_made_of(name, "._-"));
}

bool is_plugin(std::string_view name) {
  return name.size() <= kMaxName &&
         ((name.starts_with("io.containerd.") && is_made_of(name, "._-")) || is_nri(name) ||
          name == "cri" || name == "linux");
}

/// A name that a person chose: another one for each, the same for the same.
std::string stand_in(std::string_view name) {
  constexpr std::string_view kOther = "other-";
  constexpr std::size_t kDigits = 8;
  if (name.size() == kOther.size() + kDigits && name.starts_with(kOther) &&
      name.find_first_not_of("0123456789abcdef", kOther.size()) == std::string_view::npos) {
    return std::string(name);
  }
  std::uint32_t hash = 0x811c9dc5;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return std::string(kOther) + to_hex(hash, kDigits);
}

/// A runtime is called as a person likes: the usual names stay.
std::string runtime_name(std::string_view name) {
  constexpr auto kUsual = std::to_array<std::string_view>(
      {"runc", "crun", "nvidia", "nvidia-cdi", "nvidia-legacy", "nvidia-container-runtime"});
  return contains(kUsual, name) ? std::string(name) : stand_in(name);
}

/// Another name with as much of a plugin's whole name: releases judge it by its dots.
std::string plugin_name(std::string_view name) {
  constexpr std::string_view kOurs = "io.containerd.";
  if (is_plugin(name)) return std::string(name);
  if (name.starts_with(kOurs))
    return std::string(kOurs) + (std::ranges::count(name, '.') > 2 ? "other." : "") +
           stand_in(name);
  constexpr std::string_view kAnother = "other.";
  const bool is_made = name.starts_with(kAnother) &&
                       stand_in(name.substr(kAnother.size())) == name.substr(kAnother.size());
  if (is_made) return std::string(name);
  return (name.find('.') == std::string_view::npos ? "" : std::string(kAnother)) + stand_in(name);
}

/// "memlock=-1:-1" of CRI-O's default_ulimits.
bool is_ulimit(std::string_view text) {
  const auto equals = text.find('=');
  return equals != std::string_view::npos && equals <= 16 && text.size() <= 64 &&
         is_made_of(text.substr(0, equals), "") &&
         text.find_first_not_of("-0123456789:", equals + 1) == std::string_view::npos;
}

/// Without what TOML's literal strings cannot have.
std::string quoted(std::string_view text) {
  const bool has_place = std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\'' || byte < 0x20 || byte == 0x7f;
  });
  return has_place ? "'" + std::string(text) + "'" : "''";
}

bool is_place(std::string_view text) {
  constexpr std::string_view kScheme = "unix:";
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  return text.size() <= kMaxPath && text.starts_with('/') && is_made_of(text, "/_-.");
}

std::string kept_text(std::string_view key, std::string_view text) {
  constexpr std::size_t kMaxDuration = 24;
  const auto name = to_lower(key);
  if (name == "imports") return text.find("://") == text.npos ? quoted(text) : "''";
  if (name == "disabled_plugins" || name == "required_plugins") {
    const bool is_id = text.size() <= kMaxName && is_made_of(text, "._-");
    return quoted(is_id ? std::string(text) : plugin_name(text));
  }
  if (name == "default_runtime_name") return quoted(runtime_name(text));
  if (name == "default_ulimits" && is_ulimit(text)) return quoted(text);
  if (contains(kPlaceKeys, std::string_view(name)) && is_place(text)) return quoted(text);
  if (is_go_duration(text)) return text.size() <= kMaxDuration ? quoted(text) : "'1s'";
  const bool is_level = name == "level" && contains(kPlainWords, std::string_view(to_lower(text)));
  if (is_level || contains(kPlainWords, text)) return quoted(text);
  return (name == "level" || name == "format") && !text.empty() ? "'?'" : "''";
}

/// The value as TOML on one line.
std::string kept_value(std::string_view key, const Value& value) {
  switch (value.kind) {
    case Value::Kind::null: return "''";
    case Value::Kind::scalar:
      if (value.quoted) return kept_text(key, value.scalar);
      return is_made_of(value.scalar, "+-._:") ? value.scalar : "0";
    case Value::Kind::map: return "{}";
    case Value::Kind::list: break;
  }
  std::string list = "[";
  for (const auto& item : value.items) list += kept_value(key, item) + ", ";
  return list + "]";
}

/// Of a key that nobody knows whether it is there, and whether it is true.
std::string kept_of_unknown(const Value& value) {
  if (value.kind == Value::Kind::map) return "{}";
  if (value.kind == Value::Kind::list) return "[]";
  if (value.quoted || value.kind == Value::Kind::null) return "''";
  return value.as_bool() ? value.scalar : "0";
}

using Path = std::vector<std::string>;

std::string written(const std::string& key) {
  return is_made_of(key, "_-") ? key : "\"" + key + "\"";
}

std::string written(std::span<const std::string> path) {
  std::vector<std::string> keys;
  for (const auto& key : path) keys.push_back(written(key));
  return join(keys, ".");
}

/// The same whatever their marks say.
bool is_same(const Value& a, const Value& b) {
  return a.kind == b.kind && a.quoted == b.quoted && a.scalar == b.scalar &&
         std::ranges::equal(a.items, b.items, is_same) &&
         std::ranges::equal(a.entries, b.entries, [](const auto& one, const auto& other) {
           return one.key == other.key && is_same(one.value, other.value);
         });
}

class Keeper {
 public:
  std::string kept(const Value& root) {
    take(root, Inside::root, {}, "");
    std::ranges::stable_sort(lines_, {}, &Line::number);
    auto text = with_dots();
    const auto same = data::parse_toml(text);
    const auto headers = with_headers();
    const auto other = headers ? data::parse_toml(*headers) : same;
    if (same && headers && other && is_same(*same, *other)) text = *headers;
    return text.empty() ? "\n" : text;
  }

 private:
  enum class Inside : std::uint8_t {
    root,
    known,    ///< a table of fixed keys
    texts,    ///< names that a person chose, and texts
    helpers,  ///< such names, and programs
    helper,
    plugins,
    crio,
    table_of_crio,
    nri,
    crio_nri,
    stray,  ///< a table in which a key of CRI-O's NRI stands by mistake
    cri,
    containerd,
    cni,
    runtimes,
    runtime
  };

  /// A value, or a table, which needs no line of its own where it has any value.
  struct Line {
    unsigned number;
    Path path;
    std::string value;
    bool is_table = false;
    bool is_empty = false;
  };

  /// What of a table is inside; absent: nothing of it is kept but that it is there.
  static std::optional<Inside> inside_of(Inside outer, std::string_view key) {
    const auto name = to_lower(key);
    switch (outer) {
      case Inside::root:
        if (name == "plugins") return Inside::plugins;
        if (name == "crio") return Inside::crio;
        if (name == "timeouts") return Inside::texts;
        if (name == "proxy_plugins" || name == "stream_processors") return Inside::helpers;
        return is_key(name) ? Inside::known : Inside::stray;
      case Inside::helpers: return Inside::helper;
      case Inside::helper: return name == "exports" ? std::optional(Inside::texts) : std::nullopt;
      case Inside::plugins:
        if (contains(kCriPlugins, key)) return Inside::cri;
        return is_nri(key) ? std::optional(Inside::nri) : std::nullopt;
      case Inside::crio:
        if (name == "nri") return Inside::crio_nri;
        return is_table_of_crio(name) ? Inside::table_of_crio : Inside::stray;
      case Inside::nri:
      case Inside::crio_nri: return outer;
      case Inside::cri:
        if (key == "cni") return Inside::cni;
        return key == "containerd" ? std::optional(Inside::containerd) : std::nullopt;
      case Inside::containerd:
        return key == "runtimes" ? std::optional(Inside::runtimes) : std::nullopt;
      case Inside::runtimes: return Inside::runtime;
      default: return std::nullopt;
    }
  }

  /// The name under which a key is kept; absent: it is not.
  static std::optional<std::string> name_of(Inside inside, const std::string& table,
                                            const Value::Entry& entry) {
    const auto& key = entry.key;
    std::optional<std::string> as_is(key);
    const auto lower = to_lower(key);
    const auto only = [&](bool is_kept) { return is_kept ? as_is : std::nullopt; };
    const bool is_of_crio = is_crio_nri_key(lower);
    switch (inside) {
      case Inside::root:
        if (is_key(lower) || is_of_crio) return as_is;
        return entry.value.kind == Value::Kind::map ? std::optional(stand_in(key)) : std::nullopt;
      case Inside::known: return only(is_key(lower));
      case Inside::texts:
      case Inside::helpers: return stand_in(key);
      case Inside::helper: return only(has_key(ContainerdTable::helper, lower));
      case Inside::plugins: return plugin_name(key);
      case Inside::crio:
        if (lower == "nri" || is_table_of_crio(lower) || type_in_crio("", lower) || is_of_crio)
          return as_is;
        return entry.value.kind == Value::Kind::map ? std::optional(stand_in(key)) : std::nullopt;
      case Inside::table_of_crio: return only(type_in_crio(table, lower) || is_of_crio);
      case Inside::stray: return only(is_of_crio);
      case Inside::cri: return only(has_key(ContainerdTable::cri, lower));
      case Inside::containerd: return only(has_key(ContainerdTable::cri_containerd, lower));
      case Inside::cni: return only(has_key(ContainerdTable::cri_cni, lower));
      case Inside::runtimes: return runtime_name(key);
      case Inside::runtime: return only(has_key(ContainerdTable::cri_runtime, lower));
      case Inside::nri:
      case Inside::crio_nri: return is_near_nri(lower) ? as_is : stand_in(key);
    }
    return std::nullopt;
  }

  /// Whether it is a key of NRI's, or was meant to be one.
  static bool is_near_nri(const std::string& lower) {
    static const auto all = [] {
      auto keys = keys_of(ContainerdTable::nri);
      keys.insert(keys.end(), kCrioNriKeys.begin(), kCrioNriKeys.end());
      return keys;
    }();
    return is_made_of(lower, "_-") && !closest_word(lower, all).empty();
  }

  /// `table_name`: that of the table as its parent has it, in small letters.
  void take(const Value& table, Inside inside, const Path& above, const std::string& table_name) {
    for (const auto& entry : table.entries) {
      const auto name = name_of(inside, table_name, entry);
      if (!name) continue;
      auto path = above;
      path.push_back(*name);
      const auto inner = entry.value.kind == Value::Kind::map ? inside_of(inside, entry.key)
                                                              : std::optional<Inside>();
      if (inner) {
        take_table(entry, *inner, path);
        continue;
      }
      const bool is_unknown =
          *name != entry.key && (inside == Inside::nri || inside == Inside::crio_nri);
      lines_.push_back({entry.mark.line, path,
                        is_unknown ? kept_of_unknown(entry.value) : kept_value(*name, entry.value),
                        entry.value.kind == Value::Kind::map, true});
    }
  }

  void take_table(const Value::Entry& entry, Inside inner, const Path& path) {
    const auto at = lines_.size();
    lines_.push_back({entry.value.mark.line, path, "{}", true});
    take(entry.value, inner, path, to_lower(entry.key));
    lines_[at].is_empty = lines_.size() == at + 1;
    const bool is_of_use = inner != Inside::stray || !lines_[at].is_empty;
    if (!is_of_use) lines_.pop_back();
  }

  static void go_to(unsigned number, unsigned& at, std::string& text) {
    for (; at < number; ++at) text += '\n';
    ++at;
  }

  /// Each key from the root on.
  [[nodiscard]] std::string with_dots() const {
    std::string text;
    unsigned at = 1;
    for (const auto& line : lines_) {
      if (line.is_table && !line.is_empty) continue;
      go_to(line.number, at, text);
      text += written(line.path) + " = " + line.value + "\n";
    }
    return text;
  }

  /// With the headers of tables in their lines, which an error may name. Absent: a key stands in
  /// another table than in that whose header is above it.
  [[nodiscard]] std::optional<std::string> with_headers() const {
    std::string text;
    unsigned at = 1;
    std::span<const std::string> table;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const auto& line = lines_[i];
      const std::span<const std::string> path(line.path);
      const bool is_alone = i + 1 == lines_.size() || lines_[i + 1].number != line.number;
      if (line.is_table && !is_alone) continue;  // a table in its line, or a deeper header
      go_to(line.number, at, text);
      if (line.is_table) {
        text += "[" + written(path) + "]\n";
        table = path;
        continue;
      }
      if (path.size() <= table.size() || !std::ranges::equal(table, path.first(table.size())))
        return std::nullopt;
      text += written(path.subspan(table.size())) + " = " + line.value + "\n";
    }
    return text;
  }

  std::vector<Line> lines_;
};

}  // namespace

std::string kept_runtime_settings(std::string_view content) {
  const auto root = data::parse_toml(content);
  if (!root) {
    const bool is_malformed = root.error().code == ErrorCode::malformed;
    return std::string(is_malformed ? kMalformed : kUnsupported);
  }
  return (content.starts_with(kByteOrderMark) ? std::string(kByteOrderMark) : "") +
         Keeper().kept(*root) + (is_read_otherwise_by_1(*root, content) ? std::string(kDate) : "");
}

}  // namespace railhead::system
