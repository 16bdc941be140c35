// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_events.h"

#include <array>

#include "inject/codes.h"

namespace railhead::agent {
namespace {

constexpr std::string_view kRequiredNotMet = "RdmaRequiredNotMet";
constexpr std::string_view kRequestRefused = "RdmaRequestRefused";
constexpr std::string_view kContradicts = "RdmaEnvironmentContradicts";
constexpr std::string_view kSilentFallback = "RdmaSilentFallback";

struct RemarkRow {
  std::string_view code;
  std::string_view reason;  ///< of the Event
};

/// Remarks that whoever wrote the pod has to know. What the node's operator has to mend (a port
/// that is down) has metrics and alerts.
constexpr auto kRemarks = std::to_array<RemarkRow>({
    {inject::warn::kEnvironment, kContradicts},
    {inject::warn::kAnnotationRefused, kRequestRefused},
    {inject::warn::kAnnotationMalformed, kRequestRefused},
    {inject::warn::kAnnotationDenied, kRequestRefused},
    {inject::warn::kAnnotationCopied, kRequestRefused},
    {inject::warn::kAllocationUnknown, kRequestRefused},
    {inject::warn::kGpuClaimDenied, kRequestRefused},
    {inject::warn::kMemlockCapped, kRequestRefused},
});

/// All that the remarks of this reason say; "" where there are none.
std::string text_of(const std::vector<container::Remark>& remarks, std::string_view reason) {
  std::string text;
  for (const auto& remark : remarks) {
    for (const auto& row : kRemarks) {
      if (row.code != remark.code || row.reason != reason) continue;
      text += (text.empty() ? "" : "; ") + remark.text;
    }
  }
  return text;
}

}  // namespace

void PodEvents::decided(const container::Identity& container, const inject::Decision& decision) {
  if (decision.outcome == inject::Outcome::refused) {
    return tell(container, kRequiredNotMet, decision.message);
  }
  for (const auto reason : {kContradicts, kRequestRefused}) {
    const auto text = text_of(decision.remarks, reason);
    if (!text.empty()) tell(container, reason, text);
  }
}

void PodEvents::fell_back(const proof::PodUse& pod) {
  const auto& record = pod.record;
  tell({record.pod_namespace, record.pod, record.pod_uid, record.container_id, record.container},
       kSilentFallback, "due to use RDMA, and runs over TCP: " + pod.why);
}

void PodEvents::tell(const container::Identity& container, std::string_view reason,
                     const std::string& message) {
  if (container.pod.empty() || container.pod_namespace.empty()) return;  // of no pod
  const auto who = "container " + container.name;
  outbox_.note({"Pod", container.pod_namespace, container.pod, container.pod_uid}, reason,
               who + ": " + message);
  if (node_.empty()) return;
  outbox_.note({"Node", "", node_, node_}, reason,
               "pod " + container.pod_namespace + "/" + container.pod + ", " + who +
                   ": its events say more");
}

}  // namespace railhead::agent
