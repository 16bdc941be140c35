// SPDX-License-Identifier: Apache-2.0
#include "host/boot_id.h"

#include <gtest/gtest.h>

#include "host/directory_host.h"
#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

TEST(BootId, it_is_the_kernels_text_without_its_newline) {
  const test::TemporaryDirectory root;
  std::filesystem::create_directories(root.path() / "proc/sys/kernel/random");
  std::ofstream(root / "proc/sys/kernel/random/boot_id") << "6a1b\n";
  EXPECT_EQ(boot_id(**DirectoryHost::open(root.path())), "6a1b");
}

TEST(BootId, a_tree_without_a_kernel_has_none) {
  const test::TemporaryDirectory root;
  EXPECT_EQ(boot_id(**DirectoryHost::open(root.path())), "");
}

}  // namespace
}  // namespace railhead::host
