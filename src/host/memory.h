// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace railhead::host {

/// The C library keeps a heap for each few threads. With this, at the start of the program, all
/// threads share the first one: only of that does malloc_trim(3) give back the free end, where a
/// large answer lay (glibc 2.36, malloc.c, mtrim). glibc only.
void share_heap();

/// Gives memory that was freed back to the system. The C library keeps it, so that once much was
/// needed for a moment (a large machine read anew, the list of all containers), it would count as
/// ours for ever.
void give_back_free_memory();

/// Where memory, or a thread that nobody does without, cannot be had, from now on: ends the program
/// with code 2 and one line on standard error, from whatever thread. For programs whose state
/// survives their end at any point.
void end_without_memory();

/// Gives back the pages of the program's own code and constants. What ran once, at the start, would
/// count as ours for ever; what still runs is mapped again when it runs, from the page cache. What
/// runs for each container stays: the page cache may have lost it, and then the runtime would wait
/// for a disk. For when a large part of the work is over, not for a hot path.
void give_back_code_pages();

/// Addresses, from the first to behind the last.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// What comes before and behind `kept`; all of it once, where that is outside.
std::array<AddressRange, 2> without(AddressRange range, AddressRange kept);

/// What of a range madvise(2) can be asked about: the pages that lie in it as a whole; an empty
/// range where there is none. `page_bytes` is the kernel's: 4 KiB on x86, up to 64 KiB on arm64.
AddressRange whole_pages(AddressRange range, std::uintptr_t page_bytes);

}  // namespace railhead::host
