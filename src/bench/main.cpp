// SPDX-License-Identifier: Apache-2.0
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "bench/command_line.h"
#include "host/descriptors.h"
#include "host/directory_host.h"
#include "host/memory.h"
#include "host/terminal.h"
#include "host/unique_fd.h"

namespace {

/// Readable once the program is to end; threads that start later leave these signals to it, too.
railhead::host::UniqueFd watch_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return railhead::host::UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

int main(int argc, char** argv) {
  railhead::host::end_without_memory();
  railhead::host::open_standard_descriptors();
  const auto interrupt = watch_signals();
  const auto host = railhead::host::DirectoryHost::open("/");
  if (!host) {
    std::cerr << "railhead bench: " << host.error().message << '\n';
    return 2;
  }
  const auto environment = railhead::host::read_environment();
  railhead::host::SystemClock clock;
  return railhead::bench::run_bench(
      {argv, argv + argc}, {environment, std::cout, std::cerr, **host, clock, interrupt.get(),
                            isatty(STDERR_FILENO) == 1, railhead::host::standard_output()});
}
