// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace railhead::snapshot {

/// A line "INODE SENT RECEIVED" for each; see host::tcp_path().
std::string text_of_sockets(const std::vector<host::TcpSocket>& sockets);

/// Nothing where a line has another form, or there are too many.
std::optional<std::vector<host::TcpSocket>> sockets_of_text(std::string_view text);

}  // namespace railhead::snapshot
