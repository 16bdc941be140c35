// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"

// Annotations on a pod, written by whoever may create pods. Invariants:
//  - What they can name is checked elsewhere against the node; here is only what they say.
//  - <what>/container.<name> of this container wins over <what>/pod; of the two well-known domains
//    of one kind, noderesource.dev wins over the older one within a form (as the upstream plugins
//    look them up).
//  - Nothing is parsed unless its key is there, and YAML never beyond kAnnotationLimits.
//  - What is not understood is reported and counts as absent. Nothing here fails a container.
//  - Time is linear in the number of annotations. One whose first character begins none of our
//    domains costs a look at that character.
namespace railhead::inject {

/// Domains of the annotations that our Allocate sets, and of CDI names. '/' and a name follow.
inline constexpr std::string_view kAllocationDomain = "allocation.railhead.io";
inline constexpr std::string_view kCdiDomain = "cdi.k8s.io";

/// Whether anything of this layer looks at an annotation with this key, on a pod or a container.
bool is_looked_at(std::string_view key);

/// The annotation that was meant by a key that looks like one of ours, and is none: without a
/// domain ("rdma"), of another one ("railhead.io/rdma"), of a misspelt one
/// ("rdma.railhaed.io/pod"). "rdma.railhead.io/pod", or "" where it can be anything. Absent of all
/// other keys, and of those that are looked at.
std::optional<std::string> meant_annotation(std::string_view key);

/// Under `deny` every annotation is reported and none is in the answer.
container::Wishes read_annotations(const container::Request& request,
                                   config::AnnotationPolicy policy);

}  // namespace railhead::inject
