// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace railhead::metrics {

struct HttpRequest {
  std::string_view target;         ///< the path, without '?' and what follows it
  std::string_view authorization;  ///< the header of this name; "" without one
  bool is_local = false;           ///< it came over the Unix socket
};

struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

/// What a GET or HEAD is answered with, on the loop's thread.
using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

}  // namespace railhead::metrics
