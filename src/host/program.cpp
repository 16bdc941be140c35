// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "host/host.h"

namespace railhead::host {
namespace {

/// The folder that this program is in; empty when the kernel does not say.
std::string own_folder() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return "";
  const std::string whole(path.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.rfind('/'));
}

void set_hang_ups(int how) {
  sigset_t hang_ups;
  ::sigemptyset(&hang_ups);
  ::sigaddset(&hang_ups, SIGHUP);
  ::pthread_sigmask(how, &hang_ups, nullptr);
}

}  // namespace

Result<std::string> find_program(const std::string& name, const Environment& environment) {
  std::vector<std::string> folders;
  if (const auto own = own_folder(); !own.empty()) {
    folders.push_back(own);
    folders.push_back(own + "/../libexec/railhead");
  }
  if (const auto path = environment.find("PATH"); path != environment.end()) {
    for (const auto folder : split(path->second, ':')) {
      if (!folder.empty() && folder.front() == '/') folders.emplace_back(folder);
    }
  }
  for (const auto& folder : folders) {
    const auto candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error{ErrorCode::unavailable, name + " is not installed: it is none of " +
                                           (folders.empty() ? "(no folder)" : join(folders, ", "))};
}

Error become_program(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{base_name(path)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(path.c_str(), pointers.data());
  return {ErrorCode::unavailable, path + ": " + std::strerror(errno)};
}

void hold_hang_ups() {
  set_hang_ups(SIG_BLOCK);
}

void let_hang_ups_in() {
  set_hang_ups(SIG_UNBLOCK);
}

void end_process(int exit_code) {
  ::_exit(exit_code);
}

}  // namespace railhead::host
