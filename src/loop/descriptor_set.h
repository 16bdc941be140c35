// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "host/unique_fd.h"

namespace railhead {

/// One descriptor that is readable while any of a set is (epoll(7)). Closing one takes it out.
class DescriptorSet {
 public:
  /// Fails where the kernel has no descriptor left.
  static Result<std::unique_ptr<DescriptorSet>> open();

  /// What is in the set already stays in it.
  void add(const std::vector<int>& descriptors);

  [[nodiscard]] int descriptor() const { return epoll_.get(); }

  /// Without waiting.
  [[nodiscard]] bool is_ready() const;

 private:
  explicit DescriptorSet(UniqueFd epoll)
      : epoll_(std::move(epoll)) {}

  UniqueFd epoll_;
};

}  // namespace railhead
