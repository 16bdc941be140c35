// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

/// Whether it is a table of that many rows and columns, all of words that exist.
void expect_relations(const data::Json& table, std::size_t rows, std::size_t columns,
                      const std::string& where) {
  const std::set<std::string> known = {"PIX", "PXB", "PHB", "NODE", "SYS"};
  ASSERT_EQ(table.size(), rows) << where;
  for (const auto& row : table) {
    ASSERT_EQ(row.size(), columns) << where;
    for (const auto& cell : row) EXPECT_TRUE(known.contains(cell.get<std::string>())) << cell;
  }
}

TEST(TopologyCommand, relations_have_a_row_for_each_gpu_and_a_column_for_each_nic) {
  for (const char* machine : {"amd-mi300x", "broken-host", "dgx-a100", "dgx-h100", "gpus-only",
                              "nics-only", "renamed-devices", "seed-8gpu-4nic", "soft-roce"}) {
    const auto said = run_on(machine, "topology", {"-o", "json"});
    ASSERT_EQ(said.code, cli::kExitOk) << machine << said.err;
    const auto document = said.json();
    EXPECT_EQ(document["kind"], "Topology");
    EXPECT_EQ(document["apiVersion"], "railhead.io/v1alpha1");
    const auto gpus = document["gpus"].size();
    const auto nics = document["nics"].size();
    expect_relations(document["relations"], gpus, nics, machine);
    expect_relations(document["gpuRelations"], gpus, gpus, machine);
    expect_relations(document["nicRelations"], nics, nics, machine);
  }
}

TEST(TopologyCommand, relations_among_gpus_and_among_nics_are_there_too) {
  const auto document = run_on("seed-8gpu-4nic", "topology", {"-o", "json"}).json();
  EXPECT_EQ(document["gpuRelations"][0],
            data::Json::parse(R"(["PIX","PIX","PHB","PHB","SYS","SYS","SYS","SYS"])"));
  EXPECT_EQ(document["nicRelations"][0], data::Json::parse(R"(["PIX","PHB","SYS","SYS"])"));
}

TEST(TopologyCommand, unknown_values_are_null) {
  const auto soft = run_on("soft-roce", "topology", {"-o", "json"}).json()["nics"][0];
  EXPECT_TRUE(soft["pci"].is_null());
  EXPECT_TRUE(soft["numaNode"].is_null());
  const auto broken = run_on("broken-host", "topology", {"-o", "json"}).json();
  for (const char* key : {"linkLayer", "state", "rateGbps"})
    EXPECT_TRUE(broken["nics"][1][key].is_null()) << key;
  EXPECT_TRUE(broken["gpus"][0]["numaNode"].is_null());
  EXPECT_FALSE(broken["problems"].empty());
  const auto nics = run_on("broken-host", "nics", {"-o", "json"}).json();
  EXPECT_TRUE(nics["nics"][1]["ports"][0]["linkLayer"].is_null());
}

TEST(TopologyCommand, names_source_origin_and_confidence) {
  const auto table = run_on("azure-nd-a100-v4", "topology");
  EXPECT_NE(table.out.find("source: table of known machines (Azure ND A100 v4), confidence high"),
            std::string::npos);
  const auto json = run_on("azure-nd-a100-v4", "topology", {"-o", "json"}).json();
  EXPECT_EQ(json["source"], "table of known machines");
  EXPECT_EQ(json["origin"], "Azure ND A100 v4");
  EXPECT_EQ(json["confidence"], "high");
  const auto bare = run_on("dgx-h100", "affinity", {"-o", "json"}).json();
  EXPECT_EQ(bare["source"], "PCI tree");
  EXPECT_TRUE(bare["origin"].is_null());
}

TEST(TopologyCommand, a_topology_file_that_cannot_be_used_is_named) {
  const auto absent = run_on("dgx-h100", "topology", {"--topology-file", "/nowhere/topo.xml"});
  EXPECT_EQ(absent.code, cli::kExitCannotTell);
  EXPECT_NE(absent.err.find("/nowhere/topo.xml"), std::string::npos);
  const auto snapshot = source_dir() + "/tests/nodes/dgx-h100.node";
  const auto no_xml = run_on("dgx-h100", "affinity", {"--topology-file", snapshot});
  EXPECT_EQ(no_xml.code, cli::kExitCannotTell);
  EXPECT_NE(no_xml.err.find("dgx-h100.node: line 1"), std::string::npos) << no_xml.err;
}

TEST(TopologyCommand, the_tree_leaves_out_bridges_that_lead_to_one_thing_only) {
  const auto said = run_on("seed-8gpu-4nic", "topology", {"-o", "tree"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, HasSubstr("seed-8gpu-4nic\n├─ NUMA node 0\n│  └─ host bridge pci0000:15\n"
                                  "│     ├─ switch 0000:16:00.0\n"
                                  "│     │  ├─ GPU0 0000:18:00.0  → mlx5_0 (PIX)\n"));
  EXPECT_THAT(said.out, HasSubstr("mlx5_0 0000:1a:00.0  InfiniBand 400 Gb/s ACTIVE  compute\n"));
  EXPECT_THAT(run_on("gpus-only", "topology", {"-o", "tree"}).out, HasSubstr("→ no NIC\n"));
}

}  // namespace
}  // namespace railhead::test
