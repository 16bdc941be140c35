// SPDX-License-Identifier: Apache-2.0
#include "inject/copied_annotations.h"

#include "base/text.h"
#include "inject/codes.h"

namespace railhead::inject {

void CopiedAnnotations::collect() {
  collected_ = true;
  for (const auto& [key, value] : request_.pod_annotations) {
    if (!key.starts_with(prefix_)) continue;
    keys_.insert(key);
    too_many_ = keys_.size() > kMost;
    if (too_many_) return;
  }
}

bool CopiedAnnotations::stands_on_pod(std::string_view key) {
  if (!collected_) collect();
  return too_many_ || keys_.contains(key);
}

void add_copied_remark(std::string_view key, container::Remarks& remarks) {
  if (remarks.full()) return remarks.skip();
  remarks.add(
      warn::kAnnotationCopied,
      in_quotes(key, 128) + " also stands in the pod's annotations, so it proves nothing: ignored");
}

}  // namespace railhead::inject
