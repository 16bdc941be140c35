// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

/// What the program that runs a test is.
namespace railhead::test {

/// A sanitizer brings an allocator and descriptors of its own. Clang and GCC tell of it
/// differently.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

#ifdef __GLIBC__
constexpr bool kHasGlibcMalloc = !kIsSanitized;
#else
constexpr bool kHasGlibcMalloc = false;
#endif

/// proc(5), statm.
inline std::size_t resident_bytes() {
  std::size_t whole = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace railhead::test
