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

TEST(TopologyCommand, without_a_gpu_there_is_no_empty_matrix) {
  const auto text = run_on("nics-only", "topology").out;
  EXPECT_EQ(text.find("no GPU on this node"), 0U) << text;
  EXPECT_EQ(text.find("mlx5_0"), std::string::npos);
}

TEST(TopologyCommand, a_rate_without_link_layer_stands_as_one_with_it) {
  const auto tree = run_on("aws-g5", "topology", {"-o", "tree"}).out;
  EXPECT_NE(tree.find("rdmap0s21 0000:00:15.0  100 Gb/s ACTIVE  compute\n"), std::string::npos)
      << tree;
}

}  // namespace
}  // namespace railhead::test
