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

constexpr std::size_t kUsualAnswerBytes = 512;

// By hand, not by the generated types: an answer is written while the runtime waits, and they cost
// more than reading the whole request. Fields are in the order of their numbers, as protobuf writes
// them; a test compares the two.

/// A wrapper message, there also where its value is 0.
void append_optional(std::string& out, int number, std::uint32_t value) {
  constexpr int kValue = 1;
  wire::append_message_field(out, number, [&] { wire::append_varint_field(out, kValue, value); });
}

void append_device(const container::NewDevice& device, std::string& out) {
  using Device = api::LinuxDevice;
  constexpr std::uint32_t kPermissionBits = 07777;
  wire::append_message_field(out, api::LinuxContainerAdjustment::kDevicesFieldNumber, [&] {
    wire::append_text_field(out, Device::kPathFieldNumber, device.path);
    wire::append_bytes_field(out, Device::kTypeFieldNumber, "c");
    wire::append_varint_field(out, Device::kMajorFieldNumber,
                              static_cast<std::uint64_t>(device.major));
    wire::append_varint_field(out, Device::kMinorFieldNumber,
                              static_cast<std::uint64_t>(device.minor));
    append_optional(out, Device::kFileModeFieldNumber, device.mode & kPermissionBits);
    append_optional(out, Device::kUidFieldNumber, device.uid);
    append_optional(out, Device::kGidFieldNumber, device.gid);
  });
}

/// Nothing in the file is to be executed, whatever it is.
void append_mount(const container::NewMount& mount, std::string& out) {
  using Mount = api::Mount;
  wire::append_message_field(out, api::ContainerAdjustment::kMountsFieldNumber, [&] {
    wire::append_text_field(out, Mount::kDestinationFieldNumber, mount.destination);
    wire::append_bytes_field(out, Mount::kTypeFieldNumber, "bind");
    wire::append_text_field(out, Mount::kSourceFieldNumber, mount.source);
    for (const std::string_view option : {"bind", "ro", "nosuid", "nodev", "noexec"}) {
      wire::append_bytes_field(out, Mount::kOptionsFieldNumber, option);
    }
  });
}

void append_variable(std::string_view name, std::string_view value, std::string& out) {
  wire::append_message_field(out, api::ContainerAdjustment::kEnvFieldNumber, [&] {
    wire::append_text_field(out, api::KeyValue::kKeyFieldNumber, name);
    wire::append_text_field(out, api::KeyValue::kValueFieldNumber, value);
  });
}

void append_memlock(std::uint64_t bytes, std::string& out) {
  using Limit = api::POSIXRlimit;
  wire::append_message_field(out, api::ContainerAdjustment::kRlimitsFieldNumber, [&] {
    wire::append_bytes_field(out, Limit::kTypeFieldNumber, "RLIMIT_MEMLOCK");
    wire::append_varint_field(out, Limit::kHardFieldNumber, bytes);
    wire::append_varint_field(out, Limit::kSoftFieldNumber, bytes);
  });
}

void append_adjustment(const container::Adjustment& adjustment, std::string& out) {
  for (const container::NewMount& mount : adjustment.mounts) append_mount(mount, out);
  for (const auto& [name, value] : adjustment.env) append_variable(name, value, out);
  if (!adjustment.devices.empty()) {
    wire::append_message_field(out, api::ContainerAdjustment::kLinuxFieldNumber, [&] {
      for (const container::NewDevice& device : adjustment.devices) append_device(device, out);
    });
  }
  if (adjustment.memlock_bytes) append_memlock(*adjustment.memlock_bytes, out);
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

std::string encode_create_response(const container::Adjustment& adjustment) {
  if (adjustment.empty()) return {};
  std::string response;
  response.reserve(kUsualAnswerBytes);
  wire::append_message_field(response, api::CreateContainerResponse::kAdjustFieldNumber,
                             [&] { append_adjustment(adjustment, response); });
  return response;
}

}  // namespace railhead::nri
