// SPDX-License-Identifier: Apache-2.0
#include "host/back_off_host.h"

#include <algorithm>
#include <cerrno>

#include "host/host_error.h"

namespace railhead::host {

bool Refusals::is_resting(const std::string& path,
                          std::chrono::steady_clock::time_point now) const {
  const auto at = rests_.find(path);
  return at != rests_.end() && now < at->second.until;
}

void Refusals::forget_below(const std::string& folder) {
  std::erase_if(rests_, [&](const auto& rest) { return rest.first.starts_with(folder + "/"); });
}

void Refusals::refused(const std::string& path, std::chrono::steady_clock::time_point now) {
  const auto at = rests_.find(path);
  if (at == rests_.end() && rests_.size() >= kMaxFiles) return;
  const auto length = at == rests_.end() ? kFirst : std::min(at->second.length * 2, kLongest);
  rests_.insert_or_assign(path, Rest{now + length, length});
}

Result<std::optional<std::string>> BackOffHost::read(const std::string& path) {
  const auto now = clock_.now();
  if (refusals_.is_resting(path, now)) return host_error(path, EINVAL);
  auto answer = inner_.read(path);
  if (!answer && errno_of(answer.error()) == EINVAL) {
    refusals_.refused(path, now);
  } else {
    refusals_.answered(path);
  }
  return answer;
}

}  // namespace railhead::host
