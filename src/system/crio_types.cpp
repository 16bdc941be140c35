// SPDX-License-Identifier: Apache-2.0
#include "system/crio_types.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"

namespace railhead::system {
namespace {

struct CrioKey {
  std::string_view table;
  std::string_view key;
  CrioType type;
};

constexpr auto kFlag = CrioType::flag;
constexpr auto kWhole = CrioType::whole;
constexpr auto kText = CrioType::text;
constexpr auto kTexts = CrioType::texts;

constexpr CrioKey kCrioKeys[] = {
    {"", "root", kText},
    {"", "runroot", kText},
    {"", "storage_driver", kText},
    {"", "storage_option", kTexts},
    {"", "log_dir", kText},
    {"", "version_file", kText},
    {"", "version_file_persist", kText},
    {"", "clean_shutdown_file", kText},
    {"", "internal_wipe", kFlag},
    {"api", "listen", kText},
    {"api", "stream_address", kText},
    {"api", "stream_port", kText},
    {"api", "stream_enable_tls", kFlag},
    {"api", "stream_tls_cert", kText},
    {"api", "stream_tls_key", kText},
    {"api", "stream_tls_ca", kText},
    {"api", "stream_idle_timeout", kText},
    {"api", "grpc_max_send_msg_size", kWhole},
    {"api", "grpc_max_recv_msg_size", kWhole},
    {"runtime", "no_pivot", kFlag},
    {"runtime", "selinux", kFlag},
    {"runtime", "log_to_journald", kFlag},
    {"runtime", "drop_infra_ctr", kFlag},
    {"runtime", "read_only", kFlag},
    {"runtime", "conmon", kText},
    {"runtime", "conmon_cgroup", kText},
    {"runtime", "conmon_env", kTexts},
    {"runtime", "hooks_dir", kTexts},
    {"runtime", "default_capabilities", kTexts},
    {"runtime", "default_env", kTexts},
    {"runtime", "default_sysctls", kTexts},
    {"runtime", "default_ulimits", kTexts},
    {"runtime", "allowed_devices", kTexts},
    {"runtime", "additional_devices", kTexts},
    {"runtime", "default_runtime", kText},
    {"runtime", "decryption_keys_path", kText},
    {"runtime", "seccomp_profile", kText},
    {"runtime", "apparmor_profile", kText},
    {"runtime", "irqbalance_config_file", kText},
    {"runtime", "rdt_config_file", kText},
    {"runtime", "cgroup_manager", kText},
    {"runtime", "default_mounts_file", kText},
    {"runtime", "container_exits_dir", kText},
    {"runtime", "container_attach_socket_dir", kText},
    {"runtime", "bind_mount_prefix", kText},
    {"runtime", "uid_mappings", kText},
    {"runtime", "gid_mappings", kText},
    {"runtime", "log_level", kText},
    {"runtime", "log_filter", kText},
    {"runtime", "namespaces_dir", kText},
    {"runtime", "pinns_path", kText},
    {"runtime", "pids_limit", kWhole},
    {"runtime", "log_size_max", kWhole},
    {"runtime", "ctr_stop_timeout", kWhole},
    {"runtime", "infra_ctr_cpuset", kText},
    {"runtime", "separate_pull_cgroup", kText},
    {"runtime", "blockio_config_file", kText},
    {"runtime", "cdi_spec_dirs", kTexts},
    {"runtime", "absent_mount_sources_to_reject", kTexts},
    {"runtime", "device_ownership_from_security_context", kFlag},
    {"runtime", "minimum_mappable_uid", kWhole},
    {"runtime", "minimum_mappable_gid", kWhole},
    {"image", "default_transport", kText},
    {"image", "global_auth_file", kText},
    {"image", "pause_image", kText},
    {"image", "pause_image_auth_file", kText},
    {"image", "pause_command", kText},
    {"image", "signature_policy", kText},
    {"image", "insecure_registries", kTexts},
    {"image", "image_volumes", kText},
    {"image", "big_files_temporary_dir", kText},
    {"network", "cni_default_network", kText},
    {"network", "network_dir", kText},
    {"network", "plugin_dir", kText},
    {"network", "plugin_dirs", kTexts},
    {"metrics", "enable_metrics", kFlag},
    {"metrics", "metrics_collectors", kTexts},
    {"metrics", "metrics_port", kWhole},
    {"metrics", "metrics_socket", kText},
    {"metrics", "metrics_cert", kText},
    {"metrics", "metrics_key", kText},
    {"tracing", "enable_tracing", kFlag},
    {"tracing", "tracing_endpoint", kText},
    {"tracing", "tracing_sampling_rate_per_million", kWhole},
    {"stats", "stats_collection_period", kWhole},
};

bool is_scalar(const data::Value& value, bool is_quoted) {
  return value.kind == data::Value::Kind::scalar && value.quoted == is_quoted;
}

}  // namespace

bool is_crio_nri_key(std::string_view key) {
  return key != kCrioNriKeys.back() && contains(kCrioNriKeys, key);
}

std::string_view to_string(CrioType type) {
  constexpr std::array<std::string_view, 4> kNames = {"true or false", "a whole number", "a text",
                                                      "a list of texts"};
  return kNames[static_cast<std::size_t>(type)];
}

std::optional<CrioType> type_in_crio(std::string_view table, std::string_view key) {
  const auto* found = find_where(
      kCrioKeys, [&](const CrioKey& one) { return one.table == table && one.key == key; });
  return found == nullptr ? std::nullopt : std::optional(found->type);
}

bool is_table_of_crio(std::string_view name) {
  return !name.empty() && find_by(kCrioKeys, &CrioKey::table, name) != nullptr;
}

bool has_crio_type(const data::Value& value, CrioType type) {
  switch (type) {
    case CrioType::flag: return value.as_bool().has_value();
    case CrioType::whole: return is_scalar(value, false) && parse_signed(value.scalar).has_value();
    case CrioType::text: return is_scalar(value, true);
    case CrioType::texts:
      return value.kind == data::Value::Kind::list &&
             std::ranges::all_of(value.items,
                                 [](const data::Value& item) { return is_scalar(item, true); });
  }
  return false;
}

}  // namespace railhead::system
