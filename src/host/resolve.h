// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>

namespace railhead::host {

/// Opens `path` below the directory `root`, in which every link is followed and none leads out of
/// it. `flags` are those of open(2); with O_NOFOLLOW the last component is not followed. Both
/// return a descriptor, or -1 and errno.
int open_in_root(int root, const std::string& path, int flags);  ///< by openat2(2), one call
int walk_in_root(int root, const std::string& path, int flags);  ///< component by component

/// Opens `path`, which has no "..", below a directory where no link is on the way: ELOOP. With
/// O_PATH and O_NOFOLLOW the last component may be one, and is opened itself. By openat2(2).
int open_without_links(int directory, const char* path, int flags);

/// Links that are followed on the way to one file: what Linux itself allows (MAXSYMLINKS,
/// include/linux/namei.h).
inline constexpr int kMaxLinks = 40;

/// Puts the components of `path` in front of what is still to be walked, without "" and ".".
void push_front(std::deque<std::string>& todo, std::string_view path);

}  // namespace railhead::host
