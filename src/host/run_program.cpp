// SPDX-License-Identifier: Apache-2.0
#include "host/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "host/environment.h"
#include "host/host_error.h"

namespace railhead {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kComplaintBytes = 256;
/// Without pidfd_open(2) (Linux before 5.3) the end of a program is looked for this often.
constexpr milliseconds kLookAgain{50};

/// A descriptor that redirecting 0, 1 and 2 cannot hit.
UniqueFd beyond_standard(UniqueFd descriptor) {
  if (!descriptor || descriptor.get() > STDERR_FILENO) return descriptor;
  return UniqueFd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// A file that only memory holds, to be read from its beginning; none with errno set on failure.
UniqueFd memory_file(std::string_view text) {
  constexpr unsigned kNoExecSeal = 8;  // MFD_NOEXEC_SEAL, Linux 6.3; a sysctl may demand it
  UniqueFd file(::memfd_create("railhead", MFD_CLOEXEC | kNoExecSeal));
  if (!file && errno == EINVAL) file.reset(::memfd_create("railhead", MFD_CLOEXEC));
  file = beyond_standard(std::move(file));
  while (file && !text.empty()) {
    const auto written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return UniqueFd();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file) ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string path_variable() {
  const auto environment = read_environment();
  const auto at = environment.find("PATH");
  return "PATH=" + (at != environment.end() ? at->second
                                            : std::string("/usr/local/sbin:/usr/local/bin:"
                                                          "/usr/sbin:/usr/bin:/sbin:/bin"));
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The actions and attributes of posix_spawn(3), which does not copy this process's memory.
class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }

  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// The errno of what failed, 0 with the process's number in `pid`.
  int start(std::vector<std::string> words, int input, int complaints, pid_t& pid) {
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, complaints, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> environment{path_variable()};
    const auto path = words.front();
    return ::posix_spawn(&pid, path.c_str(), &actions_, &attributes_, pointers_to(words).data(),
                         pointers_to(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// What a program writes to standard error: the first line is kept, the rest read and dropped.
class Complaints {
 public:
  explicit Complaints(UniqueFd pipe)
      : pipe_(std::move(pipe)) {
    ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  }

  /// What is there now, but not for ever: a flood must not keep the limits from being looked at.
  void read() {
    std::array<char, 4096> bytes;
    for (int i = 0; i < 16 && pipe_; ++i) {
      const auto length = ::read(pipe_.get(), bytes.data(), bytes.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return;
      if (length == 0) pipe_.reset();
      const auto room = kComplaintBytes - text_.size();
      text_.append(bytes.data(), std::min(room, static_cast<std::size_t>(length)));
    }
  }

  [[nodiscard]] int descriptor() const { return pipe_.get(); }

  [[nodiscard]] std::string first_line() const { return text_.substr(0, text_.find('\n')); }

 private:
  UniqueFd pipe_;
  std::string text_;
};

/// A program that runs, from its start to its end.
class Child {
 public:
  Child(pid_t pid, Complaints complaints, const ProgramCall& call, const Stop& stop)
      : pid_(pid),
        pid_descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        complaints_(std::move(complaints)),
        call_(call),
        stop_(stop.descriptor()),
        deadline_(steady_clock::now() + call.limit) {}

  ProgramEnd run() {
    while (!has_ended() && press()) {
      wait();
      complaints_.read();
    }
    complaints_.read();
    // It is not reaped yet, so its number still is its group's alone.
    ::kill(-pid_, SIGKILL);
    siginfo_t info{};
    const bool reaped =
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0;
    reap_adopted();
    ProgramEnd end{ProgramEnd::How::exited, info.si_status, complaints_.first_line()};
    if (pressed_for_) {
      end.how = *pressed_for_;
    } else if (reaped && info.si_code != CLD_EXITED) {
      end.how = ProgramEnd::How::signalled;
    }
    return end;
  }

 private:
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    const auto asked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return asked != 0 ? errno != EINTR : info.si_pid != 0;
  }

  /// Ends it by degrees once its time is up; false when even SIGKILL did not.
  bool press() {
    if (steady_clock::now() < deadline_) return true;
    if (signals_sent_ == 2) return false;
    if (!pressed_for_) pressed_for_ = ProgramEnd::How::timed_out;
    ::kill(-pid_, signals_sent_ == 0 ? SIGTERM : SIGKILL);
    ++signals_sent_;
    deadline_ = steady_clock::now() + call_.grace;
    return true;
  }

  void wait() {
    std::array<pollfd, 3> places{{{complaints_.descriptor(), POLLIN, 0},
                                  {pid_descriptor_.get(), POLLIN, 0},
                                  {pressed_for_ ? -1 : stop_, POLLIN, 0}}};
    auto time = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
    if (!pid_descriptor_) time = std::min(time, kLookAgain);
    const auto count = ::poll(places.data(), places.size(),
                              static_cast<int>(std::max(time, milliseconds(0)).count()));
    if (count <= 0 || places[2].revents == 0) return;
    pressed_for_ = ProgramEnd::How::stopped;
    deadline_ = steady_clock::now();
  }

  /// As the first process of a container this one inherits what the program left behind, and is the
  /// only one that can bury it. Nothing else here starts processes.
  static void reap_adopted() {
    if (::getpid() != 1) return;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  pid_t pid_;
  UniqueFd pid_descriptor_;
  Complaints complaints_;
  const ProgramCall& call_;
  int stop_;
  steady_clock::time_point deadline_;
  std::optional<ProgramEnd::How> pressed_for_;
  int signals_sent_ = 0;
};

ProgramEnd not_started(const std::string& what, int error_number) {
  return {ProgramEnd::How::not_started, error_number, host_error(what, error_number).message};
}

}  // namespace

Result<std::unique_ptr<Stop>> Stop::open() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return host_error("eventfd", errno);
  return std::unique_ptr<Stop>(new Stop(std::move(event)));
}

void Stop::raise() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

ProgramEnd run_program(const ProgramCall& call, const Stop& stop) {
  if (call.words.empty()) return not_started("no program", EINVAL);
  const auto input = memory_file(call.input);
  if (!input) return not_started("memfd_create", errno);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return not_started("pipe", errno);
  UniqueFd reader(ends[0]);
  auto writer = beyond_standard(UniqueFd(ends[1]));
  pid_t pid = 0;
  const int failure = Spawn().start(call.words, input.get(), writer.get(), pid);
  if (failure != 0) return not_started(call.words.front(), failure);
  writer.reset();
  return Child(pid, Complaints(std::move(reader)), call, stop).run();
}

Status check_program(const std::string& path) {
  struct stat found {};

  if (::stat(path.c_str(), &found) != 0) return host_error(path, errno);
  if (!S_ISREG(found.st_mode)) return Error{ErrorCode::malformed, path + " is not a file"};
  if (::access(path.c_str(), X_OK) != 0) {
    return Error{ErrorCode::denied, path + " is not executable"};
  }
  return {};
}

}  // namespace railhead
