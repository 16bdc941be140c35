// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "metrics/http.h"

namespace railhead::metrics {

/// True where an Authorization header carries this token (RFC 6750, section 2.1). How long that
/// takes says nothing of the token. No header carries an empty token.
bool is_bearer(std::string_view authorization, std::string_view token);

/// Who may read pages that name pods and processes: whoever may open the Unix socket, and who has
/// the token.
bool may_read_pods(const HttpRequest& request, std::string_view token);

}  // namespace railhead::metrics
