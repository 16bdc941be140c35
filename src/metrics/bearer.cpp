// SPDX-License-Identifier: Apache-2.0
#include "metrics/bearer.h"

#include "base/text.h"

namespace railhead::metrics {

bool is_bearer(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  if (token.empty() || to_lower(authorization.substr(0, kScheme.size())) != kScheme) return false;
  const auto given = trim(authorization.substr(kScheme.size()));
  unsigned different = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ token[i % token.size()]);
  }
  return different == 0;
}

bool may_read_pods(const HttpRequest& request, std::string_view token) {
  return request.is_local || is_bearer(request.authorization, token);
}

}  // namespace railhead::metrics
