// SPDX-License-Identifier: Apache-2.0
#include "host/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <initializer_list>

#include "base/text.h"
#include "host/host.h"
#include "host/host_error.h"
#include "host/unique_fd.h"

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

/// The words and, behind them, the pointers that exec wants.
class ArgumentList {
 public:
  ArgumentList(const std::string& path, const std::vector<std::string>& arguments)
      : words_{base_name(path)} {
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (auto& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }

  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// Until the end of its output; ETIMEDOUT and EFBIG are limits of ours, 0 is all of it.
int read_output(int descriptor, std::chrono::milliseconds limit, std::string& output) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::array<char, 4096> page{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    const auto got = ::read(descriptor, page.data(), page.size());
    if (got < 0 && errno != EINTR) return errno;
    if (got == 0) return 0;
    if (got > 0) output.append(page.data(), static_cast<std::size_t>(got));
    if (output.size() > Host::kMaxFileBytes) return EFBIG;
  }
}

void mask_signals(int how, std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  ::pthread_sigmask(how, &set, nullptr);
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
  const ArgumentList words(path, arguments);
  ::execv(path.c_str(), words.get());
  return {ErrorCode::unavailable, path + ": " + std::strerror(errno)};
}

Result<ProgramAnswer> run_program(const std::string& path,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds limit) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return host_error(path, errno);
  const UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const ArgumentList words(path, arguments);
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, path.c_str(), &actions, nullptr, words.get(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return host_error(path, failure);
  input = UniqueFd();
  ProgramAnswer answer;
  const int cut = read_output(output.get(), limit, answer.output);
  if (cut != 0) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (cut == ETIMEDOUT) {
    return Error{ErrorCode::timeout,
                 path + " took longer than " + std::to_string(limit.count()) + " ms"};
  }
  if (cut != 0) return host_error(path, cut);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

void hold_hang_ups() {
  mask_signals(SIG_BLOCK, {SIGHUP});
}

void let_signals_in() {
  mask_signals(SIG_UNBLOCK, {SIGHUP, SIGTERM, SIGINT});
}

void end_process(int exit_code) {
  ::_exit(exit_code);
}

}  // namespace railhead::host
