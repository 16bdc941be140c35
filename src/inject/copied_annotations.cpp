// SPDX-License-Identifier: Apache-2.0
#include "inject/copied_annotations.h"

#include "base/text.h"
#include "inject/codes.h"

namespace railhead {

bool CopiedAnnotations::stands_on_pod(std::string_view key) {
  if (!collected_) {
    collected_ = true;
    for (const auto& [pod_key, value] : request_.pod_annotations) {
      const bool relevant =
          pod_key.starts_with("allocation.railhead.io/") || pod_key.starts_with("cdi.k8s.io/");
      if (relevant) keys_.insert(pod_key);
    }
  }
  return keys_.contains(key);
}

void add_copied_remark(std::string_view key, Remarks& remarks) {
  if (remarks.full()) return remarks.skip();
  remarks.add(
      warn::kAnnotationCopied,
      quoted(key, 128) + " also stands in the pod's annotations, so it proves nothing: ignored");
}

}  // namespace railhead
