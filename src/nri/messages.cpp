// SPDX-License-Identifier: Apache-2.0
#include "nri/messages.h"

#include <algorithm>
#include <limits>

#include "nri/api.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

// A runtime cannot wait longer than this for anything; keeps clock arithmetic far from its limits.
constexpr std::int64_t kLongestTimeoutMs = std::int64_t{24} * 60 * 60 * 1000;

std::chrono::milliseconds timeout_or(std::int64_t ms, std::chrono::milliseconds fallback) {
  if (ms <= 0) return fallback;
  return std::chrono::milliseconds(std::min(ms, kLongestTimeoutMs));
}

void add_device(const NewDevice& device, api::LinuxContainerAdjustment& linux_adjustment) {
  api::LinuxDevice& out = *linux_adjustment.add_devices();
  out.set_path(wire::to_utf8(device.path));
  out.set_type("c");
  out.set_major(device.major);
  out.set_minor(device.minor);
  constexpr std::uint32_t kPermissionBits = 07777;
  out.mutable_file_mode()->set_value(device.mode & kPermissionBits);
  out.mutable_uid()->set_value(device.uid);
  out.mutable_gid()->set_value(device.gid);
}

/// Nothing in the file is to be executed, whatever it is.
void add_mount(const NewMount& mount, api::ContainerAdjustment& adjustment) {
  api::Mount& out = *adjustment.add_mounts();
  out.set_destination(wire::to_utf8(mount.destination));
  out.set_type("bind");
  out.set_source(wire::to_utf8(mount.source));
  for (const char* option : {"bind", "ro", "nosuid", "nodev", "noexec"}) out.add_options(option);
}

}  // namespace

std::string encode_register_plugin(const SessionOptions& options) {
  api::RegisterPluginRequest request;
  request.set_plugin_name(options.plugin_name);
  request.set_plugin_idx(options.plugin_index);
  request.set_nri_version(std::string(kNriVersion));
  return request.SerializeAsString();
}

Result<RuntimePeer> decode_configure(std::string_view payload) {
  api::ConfigureRequest request;
  if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !request.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return Error{ErrorCode::malformed, "nri: malformed configure request"};
  }
  RuntimePeer peer;
  peer.name = request.runtime_name();
  peer.version = request.runtime_version();
  peer.nri_version = request.nri_version();
  peer.request_timeout = timeout_or(request.request_timeout(), peer.request_timeout);
  peer.registration_timeout = timeout_or(request.registration_timeout(), peer.registration_timeout);
  return peer;
}

std::string encode_configure_response(bool fail_request) {
  api::ConfigureResponse response;
  response.set_events(kSubscribedEvents);
  response.mutable_failure_policy()->set_keep_connected(true);
  response.mutable_failure_policy()->set_fail_request(fail_request);
  return response.SerializeAsString();
}

std::string encode_synchronize_response(bool more) {
  api::SynchronizeResponse response;
  response.set_more(more);
  return response.SerializeAsString();
}

std::string encode_create_response(const Adjustment& adjustment) {
  if (adjustment.empty()) return {};
  api::CreateContainerResponse response;
  api::ContainerAdjustment& adjust = *response.mutable_adjust();
  for (const NewDevice& device : adjustment.devices) add_device(device, *adjust.mutable_linux());
  for (const NewMount& mount : adjustment.mounts) add_mount(mount, adjust);
  for (const auto& [name, value] : adjustment.env) {
    api::KeyValue& variable = *adjust.add_env();
    variable.set_key(wire::to_utf8(name));
    variable.set_value(wire::to_utf8(value));
  }
  if (adjustment.memlock_bytes) {
    api::POSIXRlimit& limit = *adjust.add_rlimits();
    limit.set_type("RLIMIT_MEMLOCK");
    limit.set_hard(*adjustment.memlock_bytes);
    limit.set_soft(*adjustment.memlock_bytes);
  }
  return response.SerializeAsString();
}

}  // namespace railhead::nri
