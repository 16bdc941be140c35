// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/adjustment.h"
#include "container/request.h"
#include "inject/decide.h"
#include "inject/device_list.h"

// Annotations on a pod, written by whoever may create pods. Invariants:
//  - What they can name is checked elsewhere against the node; here is only what they say.
//  - <what>/container.<name> of this container wins over <what>/pod; of the two well-known domains
//    of one kind, noderesource.dev wins over the older one within a form (as the upstream plugins
//    look them up).
//  - Nothing is parsed unless its key is there, and YAML never beyond kAnnotationLimits.
//  - What is not understood is reported and counts as absent. Nothing here fails a container.
namespace railhead {

enum class AnnotationForm : std::uint8_t { container, pod };

/// Something a pod author asks for, and where.
template <typename T>
struct Asked {
  T value{};
  AnnotationForm form = AnnotationForm::pod;
  std::string_view key;
};

enum class RdmaWish : std::uint8_t { preferred, required, none };

/// What the annotations of a pod say to one of its containers.
struct Wishes {
  std::optional<Asked<RdmaWish>> rdma;
  std::optional<Asked<std::vector<std::string>>> nics;  ///< RDMA device names, as written
  std::optional<Asked<std::uint64_t>> memlock;          ///< bytes or kUnlimited
  std::optional<Asked<std::vector<AskedDevice>>> devices;
  std::vector<Remark> remarks;

  [[nodiscard]] bool empty() const {
    return !rdma && !nics && !memlock && !devices && remarks.empty();
  }
};

/// Under `deny` every annotation is reported and none is in the answer.
Wishes read_annotations(const ContainerRequest& request, AnnotationPolicy policy);

}  // namespace railhead
