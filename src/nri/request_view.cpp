// SPDX-License-Identifier: Apache-2.0
#include "nri/request_view.h"

#include <cstdint>

#include "nri/api.h"
#include "wire/protobuf_wire.h"

namespace railhead::nri {
namespace {

Error malformed(const char* what) {
  return {ErrorCode::malformed, std::string("nri: malformed ") + what};
}

Status finish(const wire::FieldReader& fields, const char* what) {
  if (!fields.malformed()) return {};
  return malformed(what);
}

// What adds an entry is false where its message is malformed: there are dozens in a request, and
// the caller has the words for it.

bool add_map_entry(std::string_view bytes, container::KeyValues& map) {
  constexpr int kKey = 1;
  constexpr int kValue = 2;
  auto& entry = map.emplace_back();
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::bytes_key(kKey)) entry.first = field.bytes;
    if (field.key == wire::bytes_key(kValue)) entry.second = field.bytes;
  }
  return !fields.malformed();
}

/// The text of this number in a message; "" where it is absent.
Result<std::string_view> read_text(std::string_view bytes, int number, const char* what) {
  std::string_view value;
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::bytes_key(number)) value = field.bytes;
  }
  TRY_STATUS(finish(fields, what));
  return value;
}

Status read_linux_pod(std::string_view bytes, container::Request& request) {
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::bytes_key(api::LinuxPodSandbox::kNamespacesFieldNumber)) {
      request.pod_namespaces.push_back(
          TRY(read_text(field.bytes, api::LinuxNamespace::kTypeFieldNumber, "namespace")));
    }
  }
  return finish(fields, "pod sandbox");
}

bool add_mount(std::string_view bytes, std::vector<container::PresentMount>& mounts) {
  auto& mount = mounts.emplace_back();
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    switch (field.key) {
      case wire::bytes_key(api::Mount::kDestinationFieldNumber):
        mount.destination = field.bytes;
        break;
      case wire::bytes_key(api::Mount::kTypeFieldNumber): mount.type = field.bytes; break;
      case wire::bytes_key(api::Mount::kSourceFieldNumber): mount.source = field.bytes; break;
      case wire::bytes_key(api::Mount::kOptionsFieldNumber):
        mount.read_write = mount.read_write || field.bytes == "rw";
        break;
      default: break;
    }
  }
  return !fields.malformed();
}

bool add_device(std::string_view bytes, std::vector<container::PresentDevice>& devices) {
  auto& device = devices.emplace_back();
  device.type = '\0';  // not said
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    switch (field.key) {
      case wire::bytes_key(api::LinuxDevice::kPathFieldNumber): device.path = field.bytes; break;
      case wire::bytes_key(api::LinuxDevice::kTypeFieldNumber):
        device.type = field.bytes.empty() ? '\0' : field.bytes.front();
        break;
      case wire::varint_key(api::LinuxDevice::kMajorFieldNumber):
        device.major = static_cast<std::int64_t>(field.value);
        break;
      case wire::varint_key(api::LinuxDevice::kMinorFieldNumber):
        device.minor = static_cast<std::int64_t>(field.value);
        break;
      default: break;
    }
  }
  return !fields.malformed();
}

bool add_limit(std::string_view bytes, std::vector<container::ResourceLimit>& limits) {
  auto& limit = limits.emplace_back();
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    switch (field.key) {
      case wire::bytes_key(api::POSIXRlimit::kTypeFieldNumber): limit.type = field.bytes; break;
      case wire::varint_key(api::POSIXRlimit::kHardFieldNumber): limit.hard = field.value; break;
      case wire::varint_key(api::POSIXRlimit::kSoftFieldNumber): limit.soft = field.value; break;
      default: break;
    }
  }
  return !fields.malformed();
}

Status read_linux_container(std::string_view bytes, container::Request& request) {
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::bytes_key(api::LinuxContainer::kNamespacesFieldNumber)) {
      request.container_namespaces.push_back(
          TRY(read_text(field.bytes, api::LinuxNamespace::kTypeFieldNumber, "namespace")));
    }
    if (field.key == wire::bytes_key(api::LinuxContainer::kDevicesFieldNumber)) {
      if (!add_device(field.bytes, request.devices)) return malformed("device");
    }
  }
  return finish(fields, "linux container");
}

}  // namespace

void clear(container::Request& request) {
  request.pod_name = request.pod_namespace = request.pod_uid = request.runtime_handler = {};
  request.id = request.name = {};
  request.pod_annotations.clear();
  request.pod_namespaces.clear();
  request.container_namespaces.clear();
  request.annotations.clear();
  request.env.clear();
  request.mounts.clear();
  request.devices.clear();
  request.rlimits.clear();
  request.cdi_devices.clear();
}

Status read_pod(std::string_view bytes, container::Request& request) {
  using Pod = api::PodSandbox;
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    switch (field.key) {
      case wire::bytes_key(Pod::kNameFieldNumber): request.pod_name = field.bytes; break;
      case wire::bytes_key(Pod::kNamespaceFieldNumber): request.pod_namespace = field.bytes; break;
      case wire::bytes_key(Pod::kUidFieldNumber): request.pod_uid = field.bytes; break;
      case wire::bytes_key(Pod::kRuntimeHandlerFieldNumber):
        request.runtime_handler = field.bytes;
        break;
      case wire::bytes_key(Pod::kAnnotationsFieldNumber):
        if (!add_map_entry(field.bytes, request.pod_annotations)) return malformed("map entry");
        break;
      case wire::bytes_key(Pod::kLinuxFieldNumber):
        TRY_STATUS(read_linux_pod(field.bytes, request));
        break;
      default: break;
    }
  }
  return finish(fields, "pod sandbox");
}

Status read_container(std::string_view bytes, container::Request& request) {
  using Ctr = api::Container;
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    switch (field.key) {
      case wire::bytes_key(Ctr::kIdFieldNumber): request.id = field.bytes; break;
      case wire::bytes_key(Ctr::kNameFieldNumber): request.name = field.bytes; break;
      case wire::bytes_key(Ctr::kEnvFieldNumber): request.env.push_back(field.bytes); break;
      case wire::bytes_key(Ctr::kAnnotationsFieldNumber):
        if (!add_map_entry(field.bytes, request.annotations)) return malformed("map entry");
        break;
      case wire::bytes_key(Ctr::kMountsFieldNumber):
        if (!add_mount(field.bytes, request.mounts)) return malformed("mount");
        break;
      case wire::bytes_key(Ctr::kLinuxFieldNumber):
        TRY_STATUS(read_linux_container(field.bytes, request));
        break;
      case wire::bytes_key(Ctr::kRlimitsFieldNumber):
        if (!add_limit(field.bytes, request.rlimits)) return malformed("rlimit");
        break;
      case wire::bytes_key(Ctr::kCDIDevicesFieldNumber):
        request.cdi_devices.push_back(
            TRY(read_text(field.bytes, api::CDIDevice::kNameFieldNumber, "cdi device")));
        break;
      default: break;
    }
  }
  return finish(fields, "container");
}

Status read_create_request(std::string_view bytes, container::Request& request) {
  clear(request);
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::bytes_key(api::CreateContainerRequest::kPodFieldNumber)) {
      TRY_STATUS(read_pod(field.bytes, request));
    }
    if (field.key == wire::bytes_key(api::CreateContainerRequest::kContainerFieldNumber)) {
      TRY_STATUS(read_container(field.bytes, request));
    }
  }
  return finish(fields, "container request");
}

Result<bool> read_sandbox_runs(std::string_view bytes, container::Request& request) {
  using Event = api::StateChangeEvent;
  clear(request);
  bool runs = false;
  wire::FieldReader fields(bytes);
  for (wire::Field field; fields.next(field);) {
    if (field.key == wire::varint_key(Event::kEventFieldNumber)) {
      runs = static_cast<std::int32_t>(field.value) == api::EVENT_RUN_POD_SANDBOX;
    }
    if (field.key == wire::bytes_key(Event::kPodFieldNumber)) {
      TRY_STATUS(read_pod(field.bytes, request));
    }
  }
  TRY_STATUS(finish(fields, "event"));
  return runs;
}

Result<std::string_view> read_pod_id(std::string_view pod_sandbox) {
  return read_text(pod_sandbox, api::PodSandbox::kIdFieldNumber, "pod sandbox");
}

Result<std::string_view> read_container_pod_id(std::string_view container) {
  return read_text(container, api::Container::kPodSandboxIdFieldNumber, "container");
}

}  // namespace railhead::nri
