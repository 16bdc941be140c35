// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

TEST(NicsCommand, exclusive_rdma_namespaces_are_shown) {
  const TextFile exclusive("railhead-snapshot 1\nt /sys/module/ib_core/parameters/netns_mode N\n");
  for (const char* command : {"nics", "topology", "affinity"}) {
    const auto said = run({command, "--snapshot", exclusive.path()});
    EXPECT_THAT(said.out, HasSubstr("RDMA namespaces are exclusive")) << command;
  }
  const auto document = run({"nics", "--snapshot", exclusive.path(), "-o", "json"}).json();
  EXPECT_EQ(document["rdmaNamespaces"], "exclusive");
}

TEST(NicsCommand, namespaces_of_which_nothing_is_known_are_null) {
  const TextFile silent("railhead-snapshot 1\n");
  const auto document = run({"nics", "--snapshot", silent.path(), "-o", "json"}).json();
  EXPECT_TRUE(document["rdmaNamespaces"].is_null());
}

}  // namespace
}  // namespace railhead::test
