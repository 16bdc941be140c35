// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "node/node.h"
#include "node/reader.h"

namespace railhead::node {

/// The value that NCCL takes for NCCL_TOPO_FILE from the text of its configuration file: of the
/// first line that starts with the name and '=', up to the end of the line; nothing is trimmed and
/// quotes are part of it. Absent where no line sets it.
/// Source: NCCL src/misc/param.cc setEnvFile(), src/os/linux.cc ncclOsSetEnv().
std::optional<std::string_view> topo_file_of_nccl_conf(std::string_view text);

/// The topology file that NCCL reads on this node (Node::nccl_file). One that is named in
/// /etc/nccl.conf and cannot be used is a Problem; the file of nvidia-topologyd is then not looked
/// for, as NCCL does not either.
std::optional<TextFile> read_nccl_file(Reader& reader);

}  // namespace railhead::node
