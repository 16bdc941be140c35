// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "container/request.h"

namespace railhead::container {

/// A request that outlives the message it came in.
class KeptRequest {
 public:
  explicit KeptRequest(const Request& request);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;
  KeptRequest(KeptRequest&&) = default;
  KeptRequest& operator=(KeptRequest&&) = default;
  ~KeptRequest() = default;

  /// Valid as long as this object, wherever it is moved.
  [[nodiscard]] const Request& request() const { return request_; }

  /// Of its texts and of what says where each is: many short ones are small and take much.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<char> texts_;  // moving a vector does not move its elements
  Request request_;
  std::size_t bytes_ = 0;
};

}  // namespace railhead::container
