// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace railhead::host {
namespace {

/// Gives back pages of the program itself, which comes first. Segments that are never written hold
/// nothing that the file does not: dl_iterate_phdr(3), madvise(2).
int give_back_segments(dl_phdr_info* info, std::size_t /*size*/, void* /*unused*/) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto start = info->dlpi_addr + segment.p_vaddr;
    const auto pages = whole_pages({start, start + segment.p_memsz}, page_bytes);
    if (pages.begin != pages.end) {
      (void)::madvise(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, MADV_DONTNEED);
    }
  }
  return 1;  // no further object
}

}  // namespace

AddressRange whole_pages(AddressRange range, std::uintptr_t page_bytes) {
  const auto begin = (range.begin + page_bytes - 1) & ~(page_bytes - 1);
  const auto end = range.end & ~(page_bytes - 1);
  return begin < end ? AddressRange{begin, end} : AddressRange{};
}

void share_heap() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void give_back_code_pages() {
  ::dl_iterate_phdr(give_back_segments, nullptr);
}

}  // namespace railhead::host
