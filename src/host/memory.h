// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace railhead {

/// Gives memory that was freed back to the system. The C library keeps it, so that once much was
/// needed for a moment (a large machine read anew, the list of all containers), it would count as
/// ours for ever.
void give_back_free_memory();

}  // namespace railhead
