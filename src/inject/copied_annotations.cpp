// SPDX-License-Identifier: Apache-2.0
#include "inject/copied_annotations.h"

#include <algorithm>

#include "base/text.h"
#include "inject/codes.h"

namespace railhead {

bool stands_on_pod(const ContainerRequest& request, std::string_view key) {
  const auto& pod = request.pod_annotations;
  return std::any_of(pod.begin(), pod.end(), [&](const auto& entry) { return entry.first == key; });
}

Remark copied_annotation(std::string_view key) {
  return {
      std::string(warn::kAnnotationCopied),
      quoted(key, 128) + " also stands in the pod's annotations, so it proves nothing: ignored"};
}

void report_foreign_allocations(const ContainerRequest& request, std::vector<Remark>& remarks) {
  constexpr std::string_view kPrefix = "allocation.railhead.io/";
  for (const auto& [key, value] : request.annotations) {
    if (!key.starts_with(kPrefix)) continue;
    if (stands_on_pod(request, key)) {
      remarks.push_back(copied_annotation(key));
    } else {
      remarks.push_back({std::string(warn::kAllocationUnknown),
                         quoted(key.substr(kPrefix.size()), 128) +
                             " is no resource that this node offers: ignored"});
    }
  }
}

}  // namespace railhead
