// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace railhead::host {

/// The C library keeps a heap for each few threads, and each keeps what was freed in it. With this,
/// at the start of the program, the first thread has one and all others share one. glibc only.
void share_heaps();

/// Gives memory that was freed back to the system. The C library keeps it, so that once much was
/// needed for a moment (a large machine read anew, the list of all containers), it would count as
/// ours for ever.
void give_back_free_memory();

/// Gives back the pages of the program's own code and constants. What ran once, at the start, would
/// count as ours for ever; what still runs is mapped again when it runs, from the page cache. For
/// when a large part of the work is over, not for a hot path.
void give_back_code_pages();

}  // namespace railhead::host
