// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

TEST(TopologyCommand, a_topology_file_that_cannot_be_used_is_named) {
  const auto absent = run_on("dgx-h100", "topology", {"--topology-file", "/nowhere/topo.xml"});
  EXPECT_EQ(absent.code, cli::kExitCannotTell);
  EXPECT_NE(absent.err.find("/nowhere/topo.xml"), std::string::npos);
  const auto snapshot = source_dir() + "/tests/nodes/dgx-h100.node";
  const auto no_xml = run_on("dgx-h100", "affinity", {"--topology-file", snapshot});
  EXPECT_EQ(no_xml.code, cli::kExitCannotTell);
  EXPECT_NE(no_xml.err.find("dgx-h100.node: line 1"), std::string::npos) << no_xml.err;
}

}  // namespace
}  // namespace railhead::test
