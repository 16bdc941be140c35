// SPDX-License-Identifier: Apache-2.0
// The types of containerd's configuration: services/server/config/config.go and pkg/nri/config.go
// of 1.7, cmd/containerd/server/config/config.go and internal/nri/config.go of 2.x.
#include "system/containerd_types.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/find.h"
#include "base/text.h"

namespace railhead::system {
namespace {

using data::Value;
using Release = ContainerdRelease;

enum class Type : std::uint8_t { whole, flag, text, texts, duration, table, tables, text_map, any };

struct Field {
  std::string_view key;
  Type type;
  std::span<const Field> fields{};  ///< of a table, or of each of a map of tables
  Release since = Release::v1_7;
  Release until = Release::v2_4;
};

constexpr Field kGrpc[] = {{"address", Type::text},
                           {"tcp_address", Type::text},
                           {"tcp_tls_ca", Type::text},
                           {"tcp_tls_cert", Type::text},
                           {"tcp_tls_key", Type::text},
                           {"tcp_tls_common_name", Type::text, {}, Release::v2_2},
                           {"uid", Type::whole},
                           {"gid", Type::whole},
                           {"max_recv_message_size", Type::whole},
                           {"max_send_message_size", Type::whole}};
constexpr Field kTtrpc[] = {{"address", Type::text}, {"uid", Type::whole}, {"gid", Type::whole}};
constexpr Field kDebug[] = {
    {"address", Type::text}, {"uid", Type::whole},
    {"gid", Type::whole},    {"level", Type::text},
    {"format", Type::text},  {"log_trace_id", Type::flag, {}, Release::v2_3}};
constexpr Field kMetrics[] = {{"address", Type::text}, {"grpc_histogram", Type::flag}};
constexpr Field kCgroup[] = {{"path", Type::text}};
constexpr Field kProxy[] = {{"type", Type::text},
                            {"address", Type::text},
                            {"platform", Type::text},
                            {"exports", Type::text_map},
                            {"capabilities", Type::texts}};
constexpr Field kProcessor[] = {{"accepts", Type::texts},
                                {"returns", Type::text},
                                {"path", Type::text},
                                {"args", Type::texts},
                                {"env", Type::texts}};
constexpr Field kFile[] = {{"version", Type::whole},
                           {"root", Type::text},
                           {"state", Type::text},
                           {"temp", Type::text},
                           {"plugin_dir", Type::text, {}, Release::v1_7, Release::v2_0},
                           {"grpc", Type::table, kGrpc},
                           {"ttrpc", Type::table, kTtrpc},
                           {"debug", Type::table, kDebug},
                           {"metrics", Type::table, kMetrics},
                           {"disabled_plugins", Type::texts},
                           {"required_plugins", Type::texts},
                           {"plugins", Type::tables, {}, Release::v1_7, Release::v1_7},
                           {"plugins", Type::any, {}, Release::v2_0},
                           {"oom_score", Type::whole},
                           {"cgroup", Type::table, kCgroup},
                           {"proxy_plugins", Type::tables, kProxy},
                           {"timeouts", Type::text_map},
                           {"imports", Type::texts},
                           {"stream_processors", Type::tables, kProcessor}};

constexpr Field kValidator[] = {{"enable", Type::flag},
                                {"reject_oci_hook_adjustment", Type::flag},
                                {"reject_runtime_default_seccomp_adjustment", Type::flag},
                                {"reject_unconfined_seccomp_adjustment", Type::flag},
                                {"reject_custom_seccomp_adjustment", Type::flag},
                                {"reject_namespace_adjustment", Type::flag},
                                {"reject_sysctl_adjustment", Type::flag, {}, Release::v2_3},
                                {"required_plugins", Type::texts},
                                {"tolerate_missing_plugins_annotation", Type::text}};
constexpr Field kNri[] = {{"disable", Type::flag},
                          {"socket_path", Type::text},
                          {"plugin_path", Type::text},
                          {"plugin_config_path", Type::text},
                          {"plugin_registration_timeout", Type::duration},
                          {"plugin_request_timeout", Type::duration},
                          {"disable_connections", Type::flag},
                          {"default_validator", Type::table, kValidator, Release::v2_2}};

/// Of CRI's section what 1.7 and 2.x have with one type, of one runtime in it, and of CNI:
/// pkg/cri/config/config.go of 1.7, internal/cri/config/config.go of 2.x.
constexpr Field kCriRuntime[] = {{"runtime_type", Type::text},
                                 {"runtime_path", Type::text},
                                 {"pod_annotations", Type::texts},
                                 {"container_annotations", Type::texts},
                                 {"options", Type::any},
                                 {"privileged_without_host_devices", Type::flag},
                                 {"base_runtime_spec", Type::text},
                                 {"cni_conf_dir", Type::text},
                                 {"cni_max_conf_num", Type::whole},
                                 {"snapshotter", Type::text}};
constexpr Field kCriContainerd[] = {{"default_runtime_name", Type::text},
                                    {"runtimes", Type::tables, kCriRuntime},
                                    {"ignore_blockio_not_enabled_errors", Type::flag},
                                    {"ignore_rdt_not_enabled_errors", Type::flag}};
constexpr Field kCriCni[] = {{"conf_dir", Type::text},
                             {"max_conf_num", Type::whole},
                             {"setup_serially", Type::flag},
                             {"conf_template", Type::text},
                             {"ip_pref", Type::text}};
constexpr Field kCri[] = {{"containerd", Type::table, kCriContainerd},
                          {"cni", Type::table, kCriCni},
                          {"enable_selinux", Type::flag},
                          {"selinux_category_range", Type::whole},
                          {"max_container_log_line_size", Type::whole},
                          {"disable_apparmor", Type::flag},
                          {"restrict_oom_score_adj", Type::flag},
                          {"disable_proc_mount", Type::flag},
                          {"unset_seccomp_profile", Type::text},
                          {"tolerate_missing_hugetlb_controller", Type::flag},
                          {"disable_hugetlb_controller", Type::flag},
                          {"device_ownership_from_security_context", Type::flag},
                          {"ignore_image_defined_volumes", Type::flag},
                          {"netns_mounts_under_state_dir", Type::flag},
                          {"enable_unprivileged_ports", Type::flag},
                          {"enable_unprivileged_icmp", Type::flag},
                          {"enable_cdi", Type::flag},
                          {"cdi_spec_dirs", Type::texts},
                          {"drain_exec_sync_io_timeout", Type::text},
                          {"disable_tcp_service", Type::flag},
                          {"stream_server_address", Type::text},
                          {"stream_server_port", Type::text},
                          {"stream_idle_timeout", Type::text},
                          {"enable_tls_streaming", Type::flag},
                          {"max_concurrent_downloads", Type::whole},
                          {"image_pull_progress_timeout", Type::text},
                          {"image_pull_with_sync_fs", Type::flag},
                          {"stats_collect_period", Type::whole}};

constexpr std::span<const Field> kFileTables[] = {kFile, kGrpc, kTtrpc, kDebug, kMetrics, kCgroup};
constexpr std::span<const Field> kHelperTables[] = {kProxy, kProcessor};
constexpr std::span<const Field> kNriTables[] = {kNri, kValidator};
constexpr std::span<const Field> kCriTables[] = {kCri, kCriContainerd, kCriCni, kCriRuntime};

std::span<const std::span<const Field>> tables_of(ContainerdTable table) {
  const std::span cri(kCriTables);
  switch (table) {
    case ContainerdTable::file: return kFileTables;
    case ContainerdTable::helper: return kHelperTables;
    case ContainerdTable::nri: return kNriTables;
    case ContainerdTable::cri: return cri.subspan(0, 1);
    case ContainerdTable::cri_containerd: return cri.subspan(1, 1);
    case ContainerdTable::cri_cni: return cri.subspan(2, 1);
    case ContainerdTable::cri_runtime: return cri.subspan(3, 1);
  }
  return {};
}

bool is_text(const Value& value) {
  return value.kind == Value::Kind::scalar && value.quoted;
}

bool is_whole(const Value& value) {
  return value.kind == Value::Kind::scalar && !value.quoted && parse_signed(value.scalar);
}

bool is_map(const Value& value) {
  return value.kind == Value::Kind::map;
}

/// containerd 2 takes its text, whatever it is (internal/tomlext); 1.7 and 2.4 take a number, too.
bool is_duration(const Value& value, Release release) {
  if (value.kind != Value::Kind::scalar) return false;
  return is_go_duration(value.scalar) ||
         ((release == Release::v1_7 || release == Release::v2_4) && is_whole(value));
}

std::string_view name_of(Type type) {
  constexpr std::array<std::string_view, 9> kNames = {
      "a whole number", "true or false", "a text",         "a list of texts", "a duration",
      "a table",        "tables",        "a map of texts", "a table"};
  return kNames[static_cast<std::size_t>(type)];
}

RuntimeReason wrong(const Value& value, std::string_view key, Type type) {
  return {.code = "type",
          .path = "",
          .mark = value.mark,
          .text = in_quotes(key) + " is not " + std::string(name_of(type)),
          .is_failure = true};
}

std::optional<RuntimeReason> check(const Value& table, std::span<const Field> fields,
                                   Release release);

bool is_of_type(const Value& value, Type type, Release release) {
  switch (type) {
    case Type::whole: return is_whole(value);
    case Type::flag: return value.as_bool().has_value();
    case Type::text: return is_text(value);
    case Type::texts:
      return value.kind == Value::Kind::list && std::ranges::all_of(value.items, is_text);
    case Type::duration: return is_duration(value, release);
    case Type::text_map:
      return is_map(value) && std::ranges::all_of(value.entries, [](const auto& entry) {
               return is_text(entry.value);
             });
    case Type::tables:
      return is_map(value) && std::ranges::all_of(value.entries, [](const auto& entry) {
               return is_map(entry.value);
             });
    case Type::table:
    case Type::any: return is_map(value);
  }
  return false;
}

std::optional<RuntimeReason> check(const Value& value, const Field& field, Release release) {
  if (!is_of_type(value, field.type, release)) return wrong(value, field.key, field.type);
  if (field.type == Type::table) return check(value, field.fields, release);
  if (field.type != Type::tables) return std::nullopt;
  for (const auto& entry : value.entries) {
    if (auto reason = check(entry.value, field.fields, release)) return reason;
  }
  return std::nullopt;
}

std::optional<RuntimeReason> check(const Value& table, std::span<const Field> fields,
                                   Release release) {
  for (const auto& field : fields) {
    if (release < field.since || release > field.until) continue;
    for (const auto* value : values_of(table, field.key, release)) {
      if (auto reason = check(*value, field, release)) return reason;
    }
  }
  return std::nullopt;
}

/// Whether it has a date without time, of which go-toml 1.9.5 wants more before the line's end.
bool has_date(const Value& value) {
  constexpr std::size_t kLength = std::string_view("1979-05-27").size();
  const bool is_date = value.kind == Value::Kind::scalar && !value.quoted &&
                       value.scalar.size() == kLength && value.scalar[4] == '-' &&
                       value.scalar[7] == '-';
  return is_date || std::ranges::any_of(value.items, has_date) ||
         std::ranges::any_of(value.entries,
                             [](const auto& entry) { return has_date(entry.value); });
}

/// Whether a table's name has an escape, which go-toml 1.9.5 takes as it stands (keysparsing.go).
bool has_escape_in_header(std::string_view text) {
  return std::ranges::any_of(split(text, '\n'), [](std::string_view line) {
    line = trim(line);
    return line.starts_with('[') && line.substr(0, line.find('#')).find('\\') != line.npos;
  });
}

std::string in_capitals(std::string_view key) {
  std::string capitals(key);
  for (char& c : capitals) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return capitals;
}

}  // namespace

std::vector<const Value*> values_of(const Value& table, std::string_view key, Release release) {
  std::vector<const Value*> found;
  if (release == Release::v1_7) {
    const auto* value = table.find(key);
    if (value == nullptr) value = table.find(in_capitals(key));
    if (value != nullptr) found.push_back(value);
    return found;
  }
  for (const auto* entry : entries_in_any_case(table, key)) found.push_back(&entry->value);
  return found;
}

bool is_read_otherwise_by_1(const Value& file, std::string_view text) {
  return has_date(file) || has_escape_in_header(text);
}

std::optional<RuntimeReason> bad_type(const Value& file, Release release) {
  return check(file, kFile, release);
}

std::optional<RuntimeReason> bad_nri_type(const Value& section, Release release) {
  if (!is_map(section)) return wrong(section, kNriPlugin, Type::table);
  return check(section, kNri, release);
}

std::optional<RuntimeReason> bad_cri_type(const Value& section, Release release) {
  auto reason = is_map(section) ? check(section, kCri, release) : std::nullopt;
  if (!reason) return std::nullopt;
  reason->code = "cri-type";
  reason->text += ", and CRI may keep containerd from starting";
  reason->is_failure = false;
  return reason;
}

std::vector<std::string> keys_of(ContainerdTable table) {
  std::vector<std::string> keys;
  for (const auto fields : tables_of(table)) {
    for (const auto& field : fields) keys.emplace_back(field.key);
  }
  return keys;
}

bool has_key(ContainerdTable table, std::string_view key) {
  return std::ranges::any_of(tables_of(table), [&](std::span<const Field> fields) {
    return find_by(fields, &Field::key, key) != nullptr;
  });
}

bool is_go_duration(std::string_view text) {
  constexpr std::array<std::string_view, 8> kUnits = {"ns", "us", "µs", "μs", "ms", "s", "m", "h"};
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return true;
  if (text.empty()) return false;
  while (!text.empty()) {
    const auto digits = std::min(text.find_first_not_of(kDecimalDigits), text.size());
    text.remove_prefix(digits);
    std::size_t fraction = 0;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = std::min(text.find_first_not_of(kDecimalDigits), text.size());
      text.remove_prefix(fraction);
    }
    if (digits == 0 && fraction == 0) return false;
    const auto size = std::min(text.find_first_of(".0123456789"), text.size());
    if (std::ranges::find(kUnits, text.substr(0, size)) == kUnits.end()) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace railhead::system
