// SPDX-License-Identifier: Apache-2.0
#include "nri/records.h"

#include "nri/api.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

void append_map(std::string& out, int number, const container::KeyValues& map) {
  constexpr int kKey = 1;
  constexpr int kValue = 2;
  for (const auto& [key, value] : map) {
    std::string entry;
    wire::append_bytes_field(entry, kKey, key);
    wire::append_bytes_field(entry, kValue, value);
    wire::append_entry_field(out, number, entry);
  }
}

void append_namespaces(std::string& out, int number, const std::vector<std::string_view>& types) {
  for (const std::string_view type : types) {
    std::string entry;
    wire::append_bytes_field(entry, api::LinuxNamespace::kTypeFieldNumber, type);
    wire::append_entry_field(out, number, entry);
  }
}

std::string mount_record(const container::PresentMount& mount) {
  std::string out;
  wire::append_bytes_field(out, api::Mount::kDestinationFieldNumber, mount.destination);
  wire::append_bytes_field(out, api::Mount::kTypeFieldNumber, mount.type);
  wire::append_bytes_field(out, api::Mount::kSourceFieldNumber, mount.source);
  if (mount.read_write) wire::append_bytes_field(out, api::Mount::kOptionsFieldNumber, "rw");
  return out;
}

std::string device_record(const container::PresentDevice& device) {
  std::string out;
  wire::append_bytes_field(out, api::LinuxDevice::kPathFieldNumber, device.path);
  if (device.type != '\0') {
    wire::append_bytes_field(out, api::LinuxDevice::kTypeFieldNumber, {&device.type, 1});
  }
  wire::append_varint_field(out, api::LinuxDevice::kMajorFieldNumber,
                            static_cast<std::uint64_t>(device.major));
  wire::append_varint_field(out, api::LinuxDevice::kMinorFieldNumber,
                            static_cast<std::uint64_t>(device.minor));
  return out;
}

std::string limit_record(const container::ResourceLimit& limit) {
  std::string out;
  wire::append_bytes_field(out, api::POSIXRlimit::kTypeFieldNumber, limit.type);
  wire::append_varint_field(out, api::POSIXRlimit::kHardFieldNumber, limit.hard);
  wire::append_varint_field(out, api::POSIXRlimit::kSoftFieldNumber, limit.soft);
  return out;
}

}  // namespace

std::string pod_record(const container::Request& request) {
  using Pod = api::PodSandbox;
  std::string out;
  wire::append_bytes_field(out, Pod::kNameFieldNumber, request.pod_name);
  wire::append_bytes_field(out, Pod::kNamespaceFieldNumber, request.pod_namespace);
  wire::append_bytes_field(out, Pod::kUidFieldNumber, request.pod_uid);
  wire::append_bytes_field(out, Pod::kRuntimeHandlerFieldNumber, request.runtime_handler);
  append_map(out, Pod::kAnnotationsFieldNumber, request.pod_annotations);
  std::string linux_pod;
  append_namespaces(linux_pod, api::LinuxPodSandbox::kNamespacesFieldNumber,
                    request.pod_namespaces);
  wire::append_bytes_field(out, Pod::kLinuxFieldNumber, linux_pod);
  return out;
}

std::string container_record(const container::Request& request) {
  using Ctr = api::Container;
  std::string out;
  wire::append_bytes_field(out, Ctr::kIdFieldNumber, request.id);
  wire::append_bytes_field(out, Ctr::kNameFieldNumber, request.name);
  append_map(out, Ctr::kAnnotationsFieldNumber, request.annotations);
  for (const std::string_view variable : request.env) {
    wire::append_entry_field(out, Ctr::kEnvFieldNumber, variable);
  }
  for (const container::PresentMount& mount : request.mounts) {
    wire::append_entry_field(out, Ctr::kMountsFieldNumber, mount_record(mount));
  }
  std::string linux_container;
  append_namespaces(linux_container, api::LinuxContainer::kNamespacesFieldNumber,
                    request.container_namespaces);
  for (const container::PresentDevice& device : request.devices) {
    wire::append_entry_field(linux_container, api::LinuxContainer::kDevicesFieldNumber,
                             device_record(device));
  }
  wire::append_bytes_field(out, Ctr::kLinuxFieldNumber, linux_container);
  for (const container::ResourceLimit& limit : request.rlimits) {
    wire::append_entry_field(out, Ctr::kRlimitsFieldNumber, limit_record(limit));
  }
  for (const std::string_view name : request.cdi_devices) {
    std::string entry;
    wire::append_bytes_field(entry, api::CDIDevice::kNameFieldNumber, name);
    wire::append_entry_field(out, Ctr::kCDIDevicesFieldNumber, entry);
  }
  return out;
}

}  // namespace railhead::nri
