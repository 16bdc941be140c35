// SPDX-License-Identifier: Apache-2.0
#include "loop/readable.h"

#include <poll.h>

namespace railhead::loop {

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

}  // namespace railhead::loop
