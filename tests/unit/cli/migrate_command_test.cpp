// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> ids(const data::Json& migration) {
  std::vector<std::string> ids;
  for (const auto& change : migration["changes"]) ids.push_back(change["id"]);
  return ids;
}

std::string example_file(const std::string& name) {
  return source_dir() + "/examples/" + name;
}

/// What `railhead config` makes of a file, without the places where things stand.
data::Json effective(const std::string& path) {
  const auto said = run({"config", "--config", path, "-o", "json", "--snapshot",
                         source_dir() + "/tests/nodes/dgx-h100.node"});
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  auto json = said.json();
  for (auto& pool : json["pools"]) pool.erase("where");
  for (auto& setting : json["settings"]) {
    setting.erase("where");
    setting.erase("from");
  }
  json.erase("warnings");
  return json;
}

TEST(MigrateCommand, its_configuration_does_what_the_plugins_file_does) {
  for (const char* name : {"k8s-rdma-shared-dev-plugin.json", "sriov-network-device-plugin.json",
                           "k8s-rdma-device-plugin.yaml"}) {
    const auto said = run({"migrate", example_file(name), "-o", "config"});
    EXPECT_EQ(said.code, cli::kExitOk) << said.err;
    const TextFile ours(said.out);
    EXPECT_EQ(effective(ours.path()), effective(example_file(name))) << said.out;
  }
}

TEST(MigrateCommand, the_document_has_all_that_a_program_needs) {
  const auto said = run({"migrate", example_file("k8s-rdma-shared-dev-plugin.json"), "-o", "json"});
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  const auto json = said.json();
  EXPECT_EQ(json["apiVersion"], "railhead.io/v1alpha1");
  EXPECT_EQ(json["kind"], "Migration");
  EXPECT_THAT(json["configuration"].get<std::string>(),
              HasSubstr("injection:\n  gpus: \"closest\"\n"));
  EXPECT_THAT(ids(json), ElementsAre("nics-without-a-slot", "slot-narrowed", "nodes-by-nri",
                                     "start-waits", "pool-unhealthy", "no-umad"));
  EXPECT_EQ(json["changes"][0]["setting"], "injection.gpus: none");
  EXPECT_TRUE(json["changes"][4]["setting"].is_null());
  EXPECT_GT(json["steps"].size(), 4U);
  EXPECT_GT(json["rollback"].size(), 3U);
  EXPECT_EQ(json["warnings"].size(), 0U);
  EXPECT_EQ(json["leftOut"].size(), 0U);
}

TEST(MigrateCommand, a_person_reads_the_same) {
  const auto said = run({"migrate", example_file("k8s-rdma-device-plugin.yaml")});
  EXPECT_THAT(said.out, HasSubstr("CONFIGURATION\ninjection:\n  gpus: \"closest\"\n"));
  EXPECT_THAT(said.out, HasSubstr("other-pods-need-a-slot: A container without GPUs"));
  EXPECT_THAT(said.out, HasSubstr(" Setting: devicePlugin.handout: device-specs\n"));
  EXPECT_THAT(said.out, HasSubstr("2. Compare: `railhead pools`"));
  EXPECT_THAT(said.out, HasSubstr("4. End k8s-rdma-device-plugin on the node"));
  EXPECT_THAT(said.out, HasSubstr("THE WAY BACK\n1. kubectl cordon NODE\n2. Stop"));
}

TEST(MigrateCommand, its_own_flags_and_those_of_the_plugin_count) {
  const TextFile flat("gpuRdmaAutoInject: false\n");
  const auto json =
      run({"migrate", flat.path(), "--resource-count", "7", "--gpu-rdma-auto-inject", "-o", "json"})
          .json();
  EXPECT_THAT(json["configuration"].get<std::string>(), HasSubstr("slots: 7"));
  EXPECT_THAT(json["configuration"].get<std::string>(), HasSubstr("gpus: \"closest\""));
  EXPECT_THAT(ids(json), Not(Contains("gpu-pods-need-a-slot")));
}

constexpr const char* kPolicy = R"(apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: p}
spec: {resourceName: vfs, numVfs: 4, isRdma: true, nicSelector: {pfNames: [ens1f0]}}
)";

TEST(MigrateCommand, manifests_are_taken_as_they_are_printed) {
  const TextFile policy(kPolicy);
  const auto said = run({"migrate", policy.path(), "-o", "config"});
  EXPECT_THAT(said.out, HasSubstr("name: \"openshift.io/vfs\""));
  EXPECT_THAT(said.err,
              HasSubstr("railhead migrate: policies name no prefix of resources: openshift.io"));
  const auto other = run({"migrate", policy.path(), "--resource-prefix", "a.b", "-o", "config"});
  EXPECT_THAT(other.out, HasSubstr("name: \"a.b/vfs\""));
  EXPECT_EQ(other.err, "");

  const TextFile map(
      "apiVersion: v1\nkind: ConfigMap\ndata:\n"
      "  c: '{\"resourceList\": [{\"resourceName\": \"v\", \"selectors\": {\"vendors\": "
      "[\"1\"]}}]}'\n",
      "-map");
  const TextFile set(
      "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [\n"
      "  {args: [--use-cdi, --resource-prefix=nvidia.com]}]}}}\n",
      "-set");
  const auto set_last = run({"migrate", policy.path(), set.path(), "-o", "config"});
  EXPECT_THAT(set_last.out, HasSubstr("name: \"nvidia.com/vfs\""));
  EXPECT_EQ(set_last.err, "");
  const auto both = run({"migrate", map.path(), set.path(), "-o", "json"});
  const auto configuration = both.json()["configuration"].get<std::string>();
  EXPECT_THAT(configuration, HasSubstr("handout: \"cdi\""));
  EXPECT_THAT(configuration, HasSubstr("pools: []\n"));
  EXPECT_THAT(both.json()["warnings"].dump(), HasSubstr("nvidia.com/v: left out: vendors"));
}

TEST(MigrateCommand, a_resource_that_is_left_out_is_a_problem) {
  const TextFile file(
      R"({"configList": [{"resourceName": "a", "rdmaHcaMax": 9, "selectors": {"vendors": ["15b3"]}},
 {"resourceName": "b", "rdmaHcaMax": 70000, "selectors": {"vendors": ["15b3"]}}]})");
  const auto said = run({"migrate", file.path(), "-o", "json"});
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.json()["leftOut"].dump(), HasSubstr(file.path() + ":2:"));
  const auto alone = run({"migrate", file.path(), "-o", "config"});
  EXPECT_EQ(alone.code, cli::kExitProblem);
  EXPECT_THAT(alone.out, Not(HasSubstr("rdma/b")));
  EXPECT_THAT(alone.err, HasSubstr("left out: " + file.path() + ":2:"));
}

TEST(MigrateCommand, values_of_a_helm_chart_are_a_configuration) {
  const TextFile values("rdma:\n  resourceName: a.io/hca\n  resourceCount: 7\n");
  const auto said = run({"migrate", values.path(), "-o", "config"});
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  EXPECT_THAT(said.out, HasSubstr("gpus: \"none\""));
  EXPECT_THAT(said.out, HasSubstr("- name: \"a.io/hca\""));
  EXPECT_THAT(said.out, HasSubstr("slots: 7"));
}

TEST(MigrateCommand, our_own_file_has_nothing_to_move) {
  const auto said = run({"migrate", example_file("pools.yaml")});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("the pools are in Railhead's own words already"));
}

TEST(MigrateCommand, what_cannot_be_used_is_a_usage_error_at_its_place) {
  EXPECT_EQ(run({"migrate"}).code, cli::kExitUsage);
  const TextFile half("apiVersion: v1\nkind: ConfigMap\ndata:\n  c: '{\"configList\": ['\n");
  const auto said = run({"migrate", half.path()});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr(half.path() + ":4:6: data.c"));
  EXPECT_THAT(run({"migrate", "/no/such/file"}).err, HasSubstr("/no/such/file"));
  const TextFile flags(
      "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [\n"
      "  {args: [--use-cdi]}]}}}\n",
      "-flags");
  EXPECT_THAT(run({"migrate", flags.path()}).err, HasSubstr("name its file, ConfigMap or policy"));
}

}  // namespace
}  // namespace railhead::test
