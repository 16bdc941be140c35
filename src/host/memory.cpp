// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <malloc.h>

namespace railhead {

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace railhead
