// SPDX-License-Identifier: Apache-2.0
#include "nri/records.h"

#include "nri/api.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

using wire::append_bytes_field;
using wire::append_entry_field;
using wire::append_varint_field;

void append_map(std::string& out, int number, const KeyValues& map) {
  constexpr int kKey = 1;
  constexpr int kValue = 2;
  for (const auto& [key, value] : map) {
    std::string entry;
    append_bytes_field(entry, kKey, key);
    append_bytes_field(entry, kValue, value);
    append_entry_field(out, number, entry);
  }
}

std::string mount_record(const PresentMount& mount) {
  std::string out;
  append_bytes_field(out, api::Mount::kDestinationFieldNumber, mount.destination);
  append_bytes_field(out, api::Mount::kTypeFieldNumber, mount.type);
  append_bytes_field(out, api::Mount::kSourceFieldNumber, mount.source);
  if (mount.read_write) append_bytes_field(out, api::Mount::kOptionsFieldNumber, "rw");
  return out;
}

std::string device_record(const PresentDevice& device) {
  std::string out;
  append_bytes_field(out, api::LinuxDevice::kPathFieldNumber, device.path);
  if (device.type != '\0') {
    append_bytes_field(out, api::LinuxDevice::kTypeFieldNumber, {&device.type, 1});
  }
  append_varint_field(out, api::LinuxDevice::kMajorFieldNumber,
                      static_cast<std::uint64_t>(device.major));
  append_varint_field(out, api::LinuxDevice::kMinorFieldNumber,
                      static_cast<std::uint64_t>(device.minor));
  return out;
}

std::string limit_record(const ResourceLimit& limit) {
  std::string out;
  append_bytes_field(out, api::POSIXRlimit::kTypeFieldNumber, limit.type);
  append_varint_field(out, api::POSIXRlimit::kHardFieldNumber, limit.hard);
  append_varint_field(out, api::POSIXRlimit::kSoftFieldNumber, limit.soft);
  return out;
}

}  // namespace

std::string pod_record(const ContainerRequest& request) {
  using Pod = api::PodSandbox;
  std::string out;
  append_bytes_field(out, Pod::kNameFieldNumber, request.pod_name);
  append_bytes_field(out, Pod::kNamespaceFieldNumber, request.pod_namespace);
  append_bytes_field(out, Pod::kUidFieldNumber, request.pod_uid);
  append_bytes_field(out, Pod::kRuntimeHandlerFieldNumber, request.runtime_handler);
  append_map(out, Pod::kAnnotationsFieldNumber, request.pod_annotations);
  std::string linux_pod;
  for (const std::string_view type : request.pod_namespaces) {
    std::string entry;
    append_bytes_field(entry, api::LinuxNamespace::kTypeFieldNumber, type);
    append_entry_field(linux_pod, api::LinuxPodSandbox::kNamespacesFieldNumber, entry);
  }
  append_bytes_field(out, Pod::kLinuxFieldNumber, linux_pod);
  return out;
}

std::string container_record(const ContainerRequest& request) {
  using Ctr = api::Container;
  std::string out;
  append_bytes_field(out, Ctr::kIdFieldNumber, request.id);
  append_bytes_field(out, Ctr::kNameFieldNumber, request.name);
  append_map(out, Ctr::kAnnotationsFieldNumber, request.annotations);
  for (const std::string_view variable : request.env) {
    append_entry_field(out, Ctr::kEnvFieldNumber, variable);
  }
  for (const PresentMount& mount : request.mounts) {
    append_entry_field(out, Ctr::kMountsFieldNumber, mount_record(mount));
  }
  std::string linux_container;
  for (const PresentDevice& device : request.devices) {
    append_entry_field(linux_container, api::LinuxContainer::kDevicesFieldNumber,
                       device_record(device));
  }
  append_bytes_field(out, Ctr::kLinuxFieldNumber, linux_container);
  for (const ResourceLimit& limit : request.rlimits) {
    append_entry_field(out, Ctr::kRlimitsFieldNumber, limit_record(limit));
  }
  for (const std::string_view name : request.cdi_devices) {
    std::string entry;
    append_bytes_field(entry, api::CDIDevice::kNameFieldNumber, name);
    append_entry_field(out, Ctr::kCDIDevicesFieldNumber, entry);
  }
  return out;
}

}  // namespace railhead::nri
