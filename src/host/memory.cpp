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
  // 4 KiB on x86; 64 KiB with the kernel that Grace is sold with.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto begin = (info->dlpi_addr + segment.p_vaddr + page - 1) & ~(page - 1);
    const auto end = (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
    if (begin < end) {
      (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }
  return 1;  // no further object
}

}  // namespace

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
