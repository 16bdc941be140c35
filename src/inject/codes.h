// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// The stable words of a decision. Users alert on them (railhead_nri_decisions_total{reason="…"},
/// railhead_nri_warnings_total{code="…"}), so a code is never renamed, only retired.
/// docs/pod-interface.md shows both tables; a test keeps the page complete.
namespace railhead::inject {

struct CodeMeaning {
  std::string_view code;
  std::string_view meaning;
};

namespace reason {
inline constexpr std::string_view kNotRdma = "not-rdma";
inline constexpr std::string_view kGpuUnresolved = "gpu-unresolved";
inline constexpr std::string_view kGpusOff = "gpus-off";
inline constexpr std::string_view kGpus = "gpus";
inline constexpr std::string_view kResource = "resource";
inline constexpr std::string_view kAnnotation = "annotation";
inline constexpr std::string_view kPresent = "rdma-present";
inline constexpr std::string_view kPrivileged = "privileged";
inline constexpr std::string_view kComplete = "complete";
inline constexpr std::string_view kOptedOut = "opted-out";
inline constexpr std::string_view kVmRuntime = "vm-runtime";
inline constexpr std::string_view kRoceOwnNetwork = "roce-own-network";
inline constexpr std::string_view kRdmaNetnsExclusive = "rdma-netns-exclusive";
inline constexpr std::string_view kNarrowedAway = "narrowed-away";
inline constexpr std::string_view kNoUsableNic = "no-usable-nic";
inline constexpr std::string_view kAllocationGone = "allocation-gone";
inline constexpr std::string_view kAllocationCopied = "allocation-copied";
inline constexpr std::string_view kStandIn = "stand-in";
inline constexpr std::string_view kNicSlow = "nic-slow";
inline constexpr std::string_view kMemlockShort = "memlock-short";
inline constexpr std::string_view kEnvironment = "environment-contradicts";
}  // namespace reason

inline constexpr auto kReasonCodes = std::to_array<CodeMeaning>({
    {reason::kNotRdma, "holds no GPU, and no annotation names it where that counts"},
    {reason::kGpuUnresolved, "holds GPUs, and which ones could not be found out"},
    {reason::kGpusOff, "holds GPUs, and --gpus is none"},
    {reason::kGpus, "holds GPUs and gets the NICs that belong to them"},
    {reason::kResource, "holds a resource of this node and gets its NICs"},
    {reason::kAnnotation, "an annotation names it, and --annotations is allow"},
    {reason::kPresent, "has RDMA devices from elsewhere: memlock and environment only"},
    {reason::kPrivileged, "privileged: memlock and environment only"},
    {reason::kComplete, "everything that is due is there already"},
    {reason::kOptedOut, "the annotation rdma.railhead.io says none"},
    {reason::kVmRuntime, "the runtime handler gives its containers a kernel of their own"},
    {reason::kRoceOwnNetwork, "only Ethernet NICs are due, and the pod has its own network"},
    {reason::kRdmaNetnsExclusive, "RDMA namespaces are exclusive, and the pod has its own network"},
    {reason::kNarrowedAway, "the nics annotation leaves no NIC that is due"},
    {reason::kNoUsableNic, "no usable NIC is due"},
    {reason::kAllocationGone, "the NICs that were allocated to it are gone"},
    {reason::kAllocationCopied, "refused: an allocation also stands in the pod's annotations"},
    {reason::kStandIn, "refused: rdma is required, and a GPU's own NIC is not usable"},
    {reason::kNicSlow, "refused: rdma is required, and a NIC is slower than `expect` says"},
    {reason::kMemlockShort, "refused: rdma is required, and the memlock limit cannot be met"},
    {reason::kEnvironment, "refused: rdma is required, and its environment keeps it off RDMA"},
});

/// Which reasons an outcome can have: what a counter of decisions can ever count.
inline constexpr std::array kReasonsAdjusted = {
    reason::kGpus, reason::kResource, reason::kAnnotation, reason::kPresent, reason::kPrivileged};
inline constexpr std::array kReasonsUntouched = {
    reason::kNotRdma,        reason::kGpuUnresolved,      reason::kGpusOff,
    reason::kComplete,       reason::kOptedOut,           reason::kVmRuntime,
    reason::kRoceOwnNetwork, reason::kRdmaNetnsExclusive, reason::kNarrowedAway,
    reason::kNoUsableNic,    reason::kAllocationGone};
inline constexpr std::array kReasonsRefused = {
    reason::kNotRdma,      reason::kGpuUnresolved,   reason::kGpusOff,
    reason::kVmRuntime,    reason::kRoceOwnNetwork,  reason::kRdmaNetnsExclusive,
    reason::kNarrowedAway, reason::kNoUsableNic,     reason::kAllocationGone,
    reason::kStandIn,      reason::kNicSlow,         reason::kMemlockShort,
    reason::kEnvironment,  reason::kAllocationCopied};

namespace warn {
inline constexpr std::string_view kAnnotationRefused = "annotation-refused";
inline constexpr std::string_view kAnnotationMalformed = "annotation-malformed";
inline constexpr std::string_view kAnnotationUnknown = "annotation-unknown";
inline constexpr std::string_view kAnnotationDenied = "annotation-denied";
inline constexpr std::string_view kNumbersIgnored = "annotation-numbers-ignored";
inline constexpr std::string_view kAnnotationCopied = "annotation-copied";
inline constexpr std::string_view kAllocationUnknown = "allocation-unknown";
inline constexpr std::string_view kAllocationGone = "allocation-gone";
inline constexpr std::string_view kGpuUnresolved = "gpu-unresolved";
inline constexpr std::string_view kGpuAmbiguous = "gpu-ambiguous";
inline constexpr std::string_view kGpuEnvDiffers = "gpu-env-differs";
inline constexpr std::string_view kGpuMaskUnknown = "gpu-mask-unknown";
inline constexpr std::string_view kGpuClaimDenied = "gpu-claim-denied";
inline constexpr std::string_view kGpuClaimUnanswered = "gpu-claim-unanswered";
inline constexpr std::string_view kNicNotUsable = "nic-not-usable";
inline constexpr std::string_view kStandIn = "stand-in";
inline constexpr std::string_view kNicSlow = "nic-slow";
inline constexpr std::string_view kRoceOwnNetwork = "roce-own-network";
inline constexpr std::string_view kRoceNeedsNetdev = "roce-needs-netdev";
inline constexpr std::string_view kRdmaNotMoved = "rdma-not-moved";
inline constexpr std::string_view kMemlockCapped = "memlock-capped";
inline constexpr std::string_view kMemlockClamped = "memlock-clamped";
inline constexpr std::string_view kMemlockLeft = "memlock-left";
inline constexpr std::string_view kMemlockUnsupported = "memlock-unsupported";
inline constexpr std::string_view kEnvironment = "environment-contradicts";
inline constexpr std::string_view kRemarksCut = "remarks-cut";
}  // namespace warn

inline constexpr auto kRemarkCodes = std::to_array<CodeMeaning>({
    {warn::kAnnotationRefused, "an annotation asks for what is not due and not allowed"},
    {warn::kAnnotationMalformed, "an annotation is not what its key says, and was ignored"},
    {warn::kAnnotationUnknown, "an annotation looks like one of Railhead's, and is none"},
    {warn::kAnnotationDenied, "an annotation was ignored because --annotations is deny"},
    {warn::kNumbersIgnored, "a device annotation states numbers that are not the node's"},
    {warn::kAnnotationCopied, "a container annotation also stands on the pod: it proves nothing"},
    {warn::kAllocationUnknown, "an allocation of a resource that no pool of this node offers"},
    {warn::kAllocationGone, "a NIC that was allocated to it is gone"},
    {warn::kGpuUnresolved, "a GPU id that is no GPU of this node"},
    {warn::kGpuAmbiguous, "a GPU id that several GPUs of this node carry"},
    {warn::kGpuEnvDiffers,
     "the environment names GPUs that were not allocated: those do not count"},
    {warn::kGpuMaskUnknown,
     "ZE_AFFINITY_MASK leaves some GPUs, and which ones is not known: all count"},
    {warn::kGpuClaimDenied,
     "a pod author names GPUs, and the kubelet says the container holds none"},
    {warn::kGpuClaimUnanswered, "a pod author names GPUs, and the kubelet did not answer"},
    {warn::kNicNotUsable, "a NIC of one of the container's GPUs is not usable"},
    {warn::kStandIn, "a GPU got another NIC because its own are not usable"},
    {warn::kNicSlow, "a NIC runs below the rate that `expect` of the configuration says"},
    {warn::kRoceOwnNetwork, "some Ethernet NICs were left out: the pod has its own network"},
    {warn::kRoceNeedsNetdev,
     "it has an Ethernet NIC and its own network: no address without a netdev"},
    {warn::kRdmaNotMoved,
     "RDMA namespaces are exclusive, and a NIC of its own is not in the pod's"},
    {warn::kMemlockCapped, "more memlock was asked for than --memlock-cap allows"},
    {warn::kMemlockClamped, "the runtime cannot raise memlock as far as wanted"},
    {warn::kMemlockLeft, "a lower memlock limit was set by another plugin, and was left"},
    {warn::kMemlockUnsupported, "the runtime ignores resource limits of plugins"},
    {warn::kEnvironment, "a variable of NCCL, UCX or NVSHMEM does not fit the container's NICs"},
    {warn::kRemarksCut, "there were more remarks than are shown"},
});

}  // namespace railhead::inject
