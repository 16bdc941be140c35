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

}  // namespace railhead
