// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

/// Where the linker has put what runs for each container (cmake/container_path.ld); null in a build
/// without that order.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const char railhead_container_path_begin[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char railhead_container_path_end[];
}

namespace railhead::host {
namespace {

AddressRange container_path() {
  return {reinterpret_cast<std::uintptr_t>(railhead_container_path_begin),
          reinterpret_cast<std::uintptr_t>(railhead_container_path_end)};
}

void give_back_pages(AddressRange range, std::uintptr_t page_bytes) {
  const auto pages = whole_pages(range, page_bytes);
  if (pages.begin == pages.end) return;
  (void)::madvise(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, MADV_DONTNEED);
}

/// Gives back pages of the program itself, which comes first. Segments that are never written hold
/// nothing that the file does not: dl_iterate_phdr(3), madvise(2).
int give_back_segments(dl_phdr_info* info, std::size_t /*size*/, void* /*unused*/) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto start = info->dlpi_addr + segment.p_vaddr;
    for (const auto& rest : without({start, start + segment.p_memsz}, container_path())) {
      give_back_pages(rest, page_bytes);
    }
  }
  return 1;  // no further object
}

[[noreturn]] void end_with(std::string_view line) {
  constexpr int kCannotTell = 2;
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(kCannotTell);
}

}  // namespace

std::array<AddressRange, 2> without(AddressRange range, AddressRange kept) {
  const auto inside = [&](std::uintptr_t address) {
    return std::clamp(address, range.begin, range.end);
  };
  return {{{range.begin, inside(kept.begin)}, {inside(kept.end), range.end}}};
}

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

void end_without_memory() {
  std::set_new_handler([] { end_with("railhead: not enough memory\n"); });
  std::set_terminate([] {
    try {
      if (std::current_exception()) throw;
    } catch (const std::system_error& failure) {
      if (failure.code() == std::errc::resource_unavailable_try_again)
        end_with("railhead: no thread can be had: not enough memory, or too many threads\n");
    } catch (...) {  // a mistake of ours
    }
    std::abort();
  });
}

void give_back_code_pages() {
  ::dl_iterate_phdr(give_back_segments, nullptr);
}

}  // namespace railhead::host
