// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

/// Whether it is a table of that many rows and columns, all of words that exist.
void expect_relations(const Json& table, std::size_t rows, std::size_t columns,
                      const std::string& where) {
  const std::set<std::string> known = {"PIX", "PXB", "PHB", "NODE", "SYS"};
  ASSERT_EQ(table.size(), rows) << where;
  for (const auto& row : table) {
    ASSERT_EQ(row.size(), columns) << where;
    for (const auto& cell : row) EXPECT_TRUE(known.contains(cell.get<std::string>())) << cell;
  }
}

TEST(TopologyCommand, relations_have_a_row_a_gpu_and_a_column_a_nic_on_every_machine) {
  for (const char* machine : {"amd-mi300x", "broken-host", "dgx-a100", "dgx-h100", "gpus-only",
                              "nics-only", "renamed-devices", "seed-8gpu-4nic", "soft-roce"}) {
    const auto said = run_on(machine, "topology", {"-o", "json"});
    ASSERT_EQ(said.code, kExitOk) << machine << said.err;
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
            Json::parse(R"(["PIX","PIX","PHB","PHB","SYS","SYS","SYS","SYS"])"));
  EXPECT_EQ(document["nicRelations"][0], Json::parse(R"(["PIX","PHB","SYS","SYS"])"));
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

TEST(TopologyCommand, the_tree_leaves_out_bridges_that_lead_to_one_thing_only) {
  const auto said = run_on("seed-8gpu-4nic", "topology", {"-o", "tree"});
  EXPECT_EQ(said.code, kExitOk);
  EXPECT_THAT(said.out, HasSubstr("seed-8gpu-4nic\n├─ NUMA node 0\n│  └─ host bridge pci0000:15\n"
                                  "│     ├─ switch 0000:16:00.0\n"
                                  "│     │  ├─ GPU0 0000:18:00.0  → mlx5_0 (PIX)\n"));
  EXPECT_THAT(said.out, HasSubstr("mlx5_0 0000:1a:00.0  InfiniBand 400 Gb/s ACTIVE  compute\n"));
  EXPECT_THAT(run_on("gpus-only", "topology", {"-o", "tree"}).out, HasSubstr("→ no NIC\n"));
}

}  // namespace
}  // namespace railhead::test
