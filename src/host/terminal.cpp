// SPDX-License-Identifier: Apache-2.0
#include "host/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace railhead::host {

Terminal standard_output() {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (terminal.is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col;
  }
  return terminal;
}

}  // namespace railhead::host
