// SPDX-License-Identifier: Apache-2.0
//
// What is kept of a runtime's files: keys that containerd and CRI-O know, so that what a loader
// makes of them can be told. Registries, their passwords and proxies stand beside those.
#include <algorithm>
#include <array>
#include <optional>

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

/// Of the root and of tables of fixed keys. Sources: containerd cmd/containerd/server/config
/// (config.go), CRI-O pkg/config (config.go).
constexpr auto kKeys = std::to_array<std::string_view>({"version",
                                                        "root",
                                                        "state",
                                                        "temp",
                                                        "plugin_dir",
                                                        "grpc",
                                                        "ttrpc",
                                                        "debug",
                                                        "metrics",
                                                        "cgroup",
                                                        "plugins",
                                                        "proxy_plugins",
                                                        "timeouts",
                                                        "imports",
                                                        "oom_score",
                                                        "stream_processors",
                                                        "crio",
                                                        "address",
                                                        "disabled_plugins",
                                                        "required_plugins",
                                                        "tcp_address",
                                                        "tcp_tls_ca",
                                                        "tcp_tls_cert",
                                                        "tcp_tls_key",
                                                        "uid",
                                                        "gid",
                                                        "level",
                                                        "format",
                                                        "path",
                                                        "log_trace_id",
                                                        "grpc_histogram",
                                                        "tcp_tls_common_name",
                                                        "max_recv_message_size",
                                                        "max_send_message_size"});
/// Tables whose keys a person chose.
constexpr auto kOpenTables =
    std::to_array<std::string_view>({"proxy_plugins", "timeouts", "stream_processors"});
/// Texts that say where something is.
constexpr auto kPlaceKeys = std::to_array<std::string_view>(
    {"address", "listen", "socket_path", "nri_listen", "plugin_path", "plugin_config_path", "root",
     "nri_plugin_dir", "nri_plugin_config_dir", "state", "base_runtime_spec"});

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

/// The CRI plugin of containerd in files of version 3, 2 and 1.
bool is_cri(std::string_view name) {
  return name == "io.containerd.cri.v1.runtime" || name == "io.containerd.grpc.v1.cri" ||
         name == "cri";
}

/// A key or a table of CRI-O's whose type is looked at.
bool is_of_crio(std::string_view table, std::string_view key) {
  const auto name = to_lower(key);
  return type_in_crio(table, name) || (table.empty() && is_table_of_crio(name));
}

/// A runtime is called as a person likes: the usual names stay, others become a number that tells
/// them apart.
std::string runtime_name(std::string_view name) {
  constexpr auto kUsual = std::to_array<std::string_view>(
      {"runc", "crun", "nvidia", "nvidia-cdi", "nvidia-legacy", "nvidia-container-runtime"});
  if (contains(kUsual, name)) return std::string(name);
  std::uint32_t hash = 0x811c9dc5;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  return "other-" + to_hex(hash, 8);
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

/// "5s", "1m30s"
bool is_duration(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         text.find_first_not_of("0123456789.hmsun") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

std::string kept_text(std::string_view key, std::string_view text) {
  const auto name = to_lower(key);
  if (name == "imports") return quoted(text);
  const bool is_id = name == "disabled_plugins" || name == "required_plugins";
  if (is_id && text.size() <= kMaxName && is_made_of(text, "._-")) return quoted(text);
  if (name == "default_runtime_name") return quoted(runtime_name(text));
  if (name == "default_ulimits" && is_ulimit(text)) return quoted(text);
  if (contains(kPlaceKeys, std::string_view(name)) && is_place(text)) return quoted(text);
  if (is_duration(text) || text == "true" || text == "false") return quoted(text);
  return "''";
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

class Keeper {
 public:
  std::string kept(const Value& root) {
    take(root, Inside::root, "");
    std::ranges::stable_sort(lines_, {}, &Line::number);
    std::string text;
    unsigned at = 1;
    for (const auto& line : lines_) {
      for (; at < line.number; ++at) text += '\n';
      text += line.text + "\n";
      ++at;
    }
    return text.empty() ? "\n" : text;
  }

 private:
  enum class Inside : std::uint8_t {
    root,
    plugins,
    crio,
    table_of_crio,
    nri,
    cri,
    containerd,
    cni,
    runtimes,
    runtime
  };

  struct Line {
    unsigned number;
    std::string text;
  };

  /// What of a table is inside; absent: nothing of it is kept but that it is there.
  static std::optional<Inside> inside_of(Inside outer, std::string_view key) {
    const auto name = to_lower(key);
    if (outer == Inside::plugins && is_cri(key)) return Inside::cri;
    if (outer == Inside::cri && key == "cni") return Inside::cni;
    if (outer == Inside::cri && key == "containerd") return Inside::containerd;
    if (outer == Inside::containerd && key == "runtimes") return Inside::runtimes;
    if (outer == Inside::cri || outer == Inside::containerd || outer == Inside::cni)
      return std::nullopt;
    if (outer == Inside::runtimes) return Inside::runtime;
    if (outer == Inside::runtime || outer == Inside::table_of_crio) return std::nullopt;
    if (outer == Inside::crio && is_table_of_crio(name)) return Inside::table_of_crio;
    if (outer == Inside::plugins || outer == Inside::crio) {
      return is_nri(key) ? std::optional(Inside::nri) : std::nullopt;
    }
    if (contains(kOpenTables, std::string_view(name))) return std::nullopt;
    if (outer == Inside::root && name == "plugins") return Inside::plugins;
    if (outer == Inside::root && name == "crio") return Inside::crio;
    return outer;
  }

  static bool knows(Inside inside, std::string_view table, std::string_view key) {
    switch (inside) {
      case Inside::root: return contains(kKeys, std::string_view(to_lower(key)));
      case Inside::plugins: return is_plugin(key);
      case Inside::crio: return is_nri(key) || is_of_crio("", key);
      case Inside::table_of_crio: return is_of_crio(table, key);
      case Inside::cri: return has_type_in_cri(CriTable::cri, to_lower(key));
      case Inside::containerd: return has_type_in_cri(CriTable::containerd, to_lower(key));
      case Inside::cni: return has_type_in_cri(CriTable::cni, to_lower(key));
      case Inside::runtimes: return true;
      case Inside::runtime: return has_type_in_cri(CriTable::runtime, to_lower(key));
      case Inside::nri: return key.size() <= kMaxName && is_made_of(key, "_-");
    }
    return false;
  }

  /// Dotted keys from the root: no header can take them to another table.
  void take(const Value& table, Inside inside, const std::string& above,
            const std::string& name = "") {
    for (const auto& entry : table.entries) {
      if (!knows(inside, name, entry.key)) continue;
      const auto key = inside == Inside::runtimes ? runtime_name(entry.key) : entry.key;
      const auto path = above + (is_made_of(key, "_-") ? key : "\"" + key + "\"");
      const auto before = lines_.size();
      const auto inner = inside_of(inside, entry.key);
      if (entry.value.kind == Value::Kind::map && inner)
        take(entry.value, *inner, path + ".", to_lower(entry.key));
      if (lines_.size() != before) continue;
      lines_.push_back({entry.mark.line, path + " = " + kept_value(entry.key, entry.value)});
    }
  }

  std::vector<Line> lines_;
};

}  // namespace

std::string kept_runtime_settings(std::string_view content) {
  const auto root = data::parse_toml(content);
  return root ? Keeper().kept(*root) : "[malformed\n";
}

}  // namespace railhead::system
