// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead {
namespace {

using testing::HasSubstr;

Result<Config> from_file(const std::string& text) {
  return make_config({{{"railhead.yaml", text}}, {}, {}});
}

TEST(Config, every_default_passes_its_own_check) {
  for (const auto& spec : all_settings()) EXPECT_TRUE(spec.check(spec.fallback)) << spec.key;
}

TEST(Config, keys_flags_and_variables_are_unique) {
  for (const auto& a : all_settings()) {
    for (const auto& b : all_settings()) {
      if (&a == &b) continue;
      EXPECT_NE(a.key, b.key);
      EXPECT_NE(a.flag, b.flag);
      EXPECT_NE(a.variable, b.variable);
    }
  }
}

TEST(Config, a_flag_beats_the_environment_beats_rdma_variables_beats_files_beats_the_default) {
  ConfigSources sources;
  EXPECT_EQ(make_config(sources)->text("injection.gpus"), "closest");
  sources.files = {{"a.yaml", "injection: {gpus: numa}"}};
  EXPECT_EQ(make_config(sources)->text("injection.gpus"), "numa");
  sources.environment["RDMA_GPU_AUTO_INJECT"] = "true";
  EXPECT_EQ(make_config(sources)->text("injection.gpus"), "closest");
  sources.environment["RAILHEAD_GPUS"] = "all";
  EXPECT_EQ(make_config(sources)->text("injection.gpus"), "all");
  sources.flags["injection.gpus"] = "none";
  const auto config = make_config(sources);
  EXPECT_EQ(config->text("injection.gpus"), "none");
  EXPECT_EQ(config->entry("injection.gpus").where, "--gpus");
  EXPECT_EQ(config->entry("injection.gpus").origin, Origin::flag);
}

TEST(Config, a_value_knows_line_and_column_of_its_file) {
  const auto config = from_file("nri:\n  socket: /run/nri.sock\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->entry("nri.socket").where, "railhead.yaml:2:11");
}

TEST(Config, an_unknown_key_is_an_error_with_line_and_column_and_what_is_known) {
  const auto section = from_file("nri:\n  soket: /run/nri.sock\n");
  ASSERT_FALSE(section);
  EXPECT_THAT(section.error().message, HasSubstr("railhead.yaml:2:3: unknown key \"nri.soket\""));
  EXPECT_THAT(section.error().message, HasSubstr("socket"));
  const auto top = from_file("injektion: {}\n");
  ASSERT_FALSE(top);
  EXPECT_THAT(top.error().message, HasSubstr("railhead.yaml:1:1: unknown key \"injektion\""));
}

TEST(Config, a_value_of_the_wrong_shape_is_an_error_that_says_what_is_allowed) {
  const auto config = from_file("injection:\n  gpus: nearest\n");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message,
              HasSubstr("railhead.yaml:2:9: injection.gpus: \"nearest\" is none of closest"));
  EXPECT_FALSE(from_file("nri: {pluginIndex: '9'}"));
  EXPECT_FALSE(from_file("host: {root: relative}"));
  EXPECT_FALSE(from_file("- a list"));
}

TEST(Config, lists_in_a_file_are_the_comma_separated_text_of_the_flag) {
  const auto config = from_file("injection:\n  devices: [uverbs, rdma_cm, umad]\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->list("injection.devices"),
            (std::vector<std::string>{"uverbs", "rdma_cm", "umad"}));
}

TEST(Config, roles_need_a_selector_and_a_role) {
  const auto config = from_file("roles:\n  - {name: 'mlx5_1*', role: storage}\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->roles().at(0).name.text, "mlx5_1*");
  EXPECT_EQ(config->roles().at(0).name.where, "railhead.yaml:2:12");
  EXPECT_FALSE(from_file("roles: [{role: storage}]"));
  EXPECT_FALSE(from_file("roles: [{name: a}]"));
  EXPECT_FALSE(from_file("roles: [storage]"));
  EXPECT_FALSE(from_file("roles: [{name: a, role: storage, colour: red}]"));
}

TEST(Config, roles_select_by_name_address_ids_link_layer_and_netdev) {
  const auto config = from_file(
      "roles:\n  - {pci: '0000:29:00.0', device: '15b3:101d', linkLayer: Ethernet,\n     netdev: "
      "'ens*', role: storage}\n");
  ASSERT_TRUE(config) << config.error().message;
  const RoleSetting& role = config->roles().at(0);
  EXPECT_EQ(role.pci.text, "0000:29:00.0");
  EXPECT_EQ(role.device.text, "15b3:101d");
  EXPECT_EQ(role.link_layer.text, "Ethernet");
  EXPECT_EQ(role.netdev.text, "ens*");
  EXPECT_EQ(role.netdev.where, "railhead.yaml:3:14");
}

TEST(Config, the_file_of_k8s_rdma_device_plugin_is_recognised_and_its_default_is_no_injection) {
  EXPECT_EQ(from_file("resourceName: rdma.io/hca\n")->text("injection.gpus"), "none");
  const auto config = from_file("gpuRdmaAutoInject: true\nlogPath: '-'\ncolour: red\n");
  EXPECT_EQ(config->text("injection.gpus"), "closest");
  EXPECT_THAT(config->warnings(),
              testing::ElementsAre(HasSubstr("railhead.yaml:3:1: unknown key \"colour\"")));
}

TEST(Config, an_environment_of_k8s_rdma_device_plugin_without_auto_inject_means_none) {
  ConfigSources sources;
  sources.environment["RDMA_RESOURCE_NAME"] = "rdma.io/hca";
  EXPECT_EQ(make_config(sources)->text("injection.gpus"), "none");
  sources.environment["RDMA_GPU_AUTO_INJECT"] = "maybe";
  EXPECT_FALSE(make_config(sources));
}

TEST(Config, files_of_other_device_plugins_are_recognised_and_handed_on_as_they_are) {
  const auto shared = from_file(R"({"configList": [{"resourceName": "a"}]})");
  ASSERT_TRUE(shared) << shared.error().message;
  ASSERT_EQ(shared->pool_sources().size(), 1U);
  EXPECT_EQ(shared->pool_sources()[0].shape, PoolSource::Shape::shared_plugin);
  EXPECT_EQ(shared->pool_sources()[0].name, "railhead.yaml");
  EXPECT_EQ(shared->pool_sources()[0].value.find("configList")->items.size(), 1U);
  const auto sriov = from_file(R"({"ResourceList": []})");
  ASSERT_TRUE(sriov) << sriov.error().message;
  EXPECT_EQ(sriov->pool_sources().at(0).shape, PoolSource::Shape::sriov_plugin);
  EXPECT_EQ(shared->text("injection.gpus"), "closest");
}

TEST(Config, pools_of_all_files_and_of_the_environment_are_handed_on_in_order) {
  const auto config = make_config({{{"a.yaml", "pools: [{name: a.io/a}]\n"},
                                    {"b.yaml", "resourceCount: 5\n"},
                                    {"c.yaml", "pools: []\n"}},
                                   {{"RDMA_RESOURCE_COUNT", "7"}},
                                   {}});
  ASSERT_TRUE(config) << config.error().message;
  std::vector<std::string> names;
  for (const auto& source : config->pool_sources()) names.push_back(source.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.yaml", "b.yaml", "c.yaml", "environment"}));
  EXPECT_EQ(config->pool_sources().back().value.find("RDMA_RESOURCE_COUNT")->scalar, "7");
}

TEST(Config, the_shared_plugins_interval_is_how_often_the_machine_is_read_again) {
  const auto with = [](const std::string& interval) {
    return from_file(R"({"configList": [], "periodicUpdateInterval": )" + interval + "}");
  };
  EXPECT_EQ(with("300")->text("host.rescanSeconds"), "300");
  EXPECT_EQ(with("null")->text("host.rescanSeconds"), "30");
  const auto never = with("0");
  EXPECT_EQ(never->text("host.rescanSeconds"), "30");
  EXPECT_THAT(never->warnings(),
              testing::ElementsAre(HasSubstr("periodicUpdateInterval 0 ignored")));
  EXPECT_FALSE(with("-1"));
  EXPECT_FALSE(with("\"often\""));
}

TEST(Config, an_interval_that_is_too_long_is_the_longest_and_named) {
  const auto config = from_file(R"({"configList": [], "periodicUpdateInterval": 100000})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->text("host.rescanSeconds"), "86400");
  EXPECT_THAT(config->warnings(),
              testing::ElementsAre(HasSubstr("periodicUpdateInterval 100000: 86400 seconds")));
}

TEST(Config, the_default_of_a_variable_that_is_not_there_does_not_beat_a_file) {
  const auto gpus = [](const std::string& file, std::map<std::string, std::string> variables) {
    return make_config({{{"a.yaml", file}}, std::move(variables), {}})->text("injection.gpus");
  };
  const std::map<std::string, std::string> count{{"RDMA_RESOURCE_COUNT", "7"}};
  EXPECT_EQ(gpus("", count), "none");
  EXPECT_EQ(gpus("resourceCount: 5\ngpuRdmaAutoInject: true\n", count), "closest");
  EXPECT_EQ(gpus("injection: {gpus: closest}\n", count), "closest");
  EXPECT_EQ(gpus("injection: {gpus: closest}\n", {{"RDMA_GPU_AUTO_INJECT", "false"}}), "none");
  EXPECT_EQ(gpus("", {{"RDMA_GPU_AUTO_INJECT", ""}}), "closest");
}

TEST(Config, an_empty_file_says_nothing) {
  EXPECT_TRUE(from_file(""));
  EXPECT_TRUE(from_file("# only a comment\n"));
}

TEST(Config, byte_limits_have_binary_suffixes_and_a_word_for_no_limit) {
  EXPECT_EQ(parse_byte_limit("unlimited").value(), ~std::uint64_t{0});
  EXPECT_EQ(parse_byte_limit("8Mi").value(), 8388608U);
  EXPECT_EQ(parse_byte_limit("65536").value(), 65536U);
  for (const char* bad : {"", "8M", "-2", "99999999999Ti", "1.5Gi"})
    EXPECT_FALSE(parse_byte_limit(bad)) << bad;
}

TEST(Config, pods_to_ignore_are_patterns_of_namespace_and_pod) {
  const auto config = from_file("pods:\n  ignore: [monitoring/*, '*/dcgm-exporter-*']\n");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->list("pods.ignore"),
              testing::ElementsAre("monitoring/*", "*/dcgm-exporter-*"));
  for (const auto* wrong : {"monitoring", "/a", "a/", "a/b/c", "a/b, c"}) {
    ConfigSources sources;
    sources.environment["RAILHEAD_PODS_IGNORE"] = wrong;
    const auto refused = make_config(sources);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("is not NAMESPACE/POD"));
  }
}

TEST(Config, an_entry_of_a_list_has_no_comma_because_commas_separate_entries) {
  const auto config = from_file("injection:\n  gpuResources: [nvidia.com/gpu, 'a,b']\n");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("injection.gpuResources"));
  EXPECT_THAT(config.error().message, HasSubstr("\"a,b\" has a comma"));
}

}  // namespace
}  // namespace railhead
