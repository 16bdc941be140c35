// SPDX-License-Identifier: Apache-2.0
#include "container/kept_request.h"

#include <string_view>

namespace railhead::container {
namespace {

/// Calls `visit` with each text of a request, by reference.
template <typename Visit>
void each_text(Request& request, Visit visit) {
  for (auto* text : {&request.pod_name, &request.pod_namespace, &request.pod_uid,
                     &request.runtime_handler, &request.id, &request.name}) {
    visit(*text);
  }
  for (auto* pairs : {&request.pod_annotations, &request.annotations}) {
    for (auto& [key, value] : *pairs) {
      visit(key);
      visit(value);
    }
  }
  for (auto* list : {&request.pod_namespaces, &request.container_namespaces, &request.env,
                     &request.cdi_devices}) {
    for (auto& text : *list) visit(text);
  }
  for (auto& mount : request.mounts) {
    visit(mount.destination);
    visit(mount.type);
    visit(mount.source);
  }
  for (auto& device : request.devices) visit(device.path);
  for (auto& limit : request.rlimits) visit(limit.type);
}

}  // namespace

KeptRequest::KeptRequest(const Request& request)
    : request_(request) {
  std::size_t size = 0;
  each_text(request_, [&](std::string_view text) {
    size += text.size();
    bytes_ += text.size() + sizeof(std::string_view);
  });
  texts_.reserve(size);
  each_text(request_, [&](std::string_view& text) {
    const auto* at = texts_.data() + texts_.size();
    texts_.insert(texts_.end(), text.begin(), text.end());
    text = {at, text.size()};
  });
}

}  // namespace railhead::container
