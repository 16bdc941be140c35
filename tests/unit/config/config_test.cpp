// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace railhead::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Config> from_file(const std::string& text) {
  return make_config({{{"railhead.yaml", text}}, {}, {}});
}

TEST(Config, every_default_passes_its_own_check) {
  Settings settings;
  for (const auto& row : kSettings) EXPECT_TRUE(row.read(row.fallback, settings)) << row.key;
}

TEST(Config, a_machine_of_a_stronger_source_takes_the_place_of_others) {
  const ConfigFile file{"a.yaml", "host: {snapshot: a.node}"};
  const auto by_flag = make_config({{file}, {}, {{SettingRow("host.root"), "/mnt"}}}).value();
  EXPECT_EQ(by_flag.settings().host.snapshot, "");
  EXPECT_EQ(by_flag.settings().host.root, "/mnt");
  const auto by_variable = make_config({{file}, {{"RAILHEAD_NCCL_TOPO", "a.xml"}}, {}}).value();
  EXPECT_EQ(by_variable.settings().host.snapshot, "");
  EXPECT_EQ(by_variable.settings().host.nccl_topo, "a.xml");
  const auto by_empty = make_config({{file}, {{"RAILHEAD_NCCL_TOPO", ""}}, {}}).value();
  EXPECT_EQ(by_empty.settings().host.snapshot, "a.node");
}

TEST(Config, keys_and_flags_are_unique) {
  std::set<std::string_view> keys;
  std::set<std::string_view> flags;
  for (const auto& row : kSettings) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(flags.insert(row.flag).second) << row.flag;
  }
}

TEST(Config, a_variable_is_named_after_its_flag) {
  EXPECT_EQ(SettingRow("nri.pluginName")->flag, "--nri-plugin-name");
  EXPECT_EQ(SettingRow("nri.pluginName")->variable(), "RAILHEAD_NRI_PLUGIN_NAME");
}

TEST(Config, each_setting_is_read_into_its_own_member) {
  const auto config = from_file(R"(
host: {root: /a, snapshot: b, ncclTopo: c, proc: /d, rescanSeconds: 5, portCheckSeconds: 6}
topology: {file: g}
node: {name: h}
nri: {enabled: false, socket: /i, pluginName: j, pluginIndex: '07', failRequest: true}
devicePlugin: {enabled: false, dir: /k, handout: cdi, cdiDir: /l, deviceInfoDir: /m,
  registration: found, resourcePrefix: n}
kubelet: {rootDir: /o}
injection: {gpus: numa, gpuResources: p, annotations: deny, memlockCap: 8Mi, devices: umad,
  roceWithoutHostNetwork: true, pfWithVfs: false, vmRuntimes: true, vmRuntimeHandlers: q,
  ucxEnvironment: false, nvshmemEnvironment: true, gdrcopy: true,
  ncclTopoFile: /r}
nfd: {file: /x, expirySeconds: 10, removeAtEnd: true}
kubernetes: {startupTaint: true, events: true, conditions: true, kubeconfig: /w}
pods: {sampleSeconds: 7, graceSeconds: 8, ignore: s/s, queuePairs: always}
metrics: {bindAddress: t, socket: /u, tokenFile: /v, portSeconds: 9}
doctor: {everySeconds: 10, historyFile: /w}
log: {level: error, format: json}
)");
  ASSERT_TRUE(config) << config.error().message;
  for (const auto& row : kSettings) {
    EXPECT_TRUE(config->entry(row).origin == Origin::file) << row.key << " is missing in this test";
  }
  const auto& [host, topology, node, nri, plugin, kubelet, kubernetes, nfd, injection, pods,
               metrics, doctor, log] = config->settings();
  EXPECT_EQ(std::tie(nfd.file, nfd.expiry, nfd.remove_at_end), std::tuple("/x", 10s, true));
  EXPECT_EQ(std::tie(kubernetes.startup_taint, kubernetes.events, kubernetes.conditions,
                     kubernetes.kubeconfig),
            std::tuple(true, true, true, "/w"));
  EXPECT_EQ(std::tie(host.root, host.snapshot, host.nccl_topo, host.proc),
            std::tuple("/a", "b", "c", "/d"));
  EXPECT_EQ(std::tie(host.rescan, host.port_check), std::tuple(5s, 6s));
  EXPECT_EQ(std::tie(topology.file, node.name, kubelet.root_dir), std::tuple("g", "h", "/o"));
  EXPECT_EQ(std::tie(nri.enabled, nri.socket, nri.plugin_name, nri.plugin_index, nri.fail_request),
            std::tuple(false, "/i", "j", "07", true));
  EXPECT_EQ(std::tie(plugin.enabled, plugin.dir, plugin.hand_out, plugin.registration),
            std::tuple(false, "/k", HandOut::cdi, Registration::found));
  EXPECT_EQ(std::tie(plugin.cdi_dir, plugin.device_info_dir, plugin.resource_prefix),
            std::tuple("/l", "/m", "n"));
  EXPECT_EQ(std::tie(injection.gpus, injection.annotations, injection.memlock_cap_bytes),
            std::tuple(GpuPolicy::numa, AnnotationPolicy::deny, 8388608U));
  EXPECT_THAT(injection.gpu_resources, ElementsAre("p"));
  EXPECT_THAT(injection.devices, ElementsAre("umad"));
  EXPECT_THAT(injection.vm_runtime_handlers, ElementsAre("q"));
  EXPECT_EQ(std::tie(injection.roce_without_host_network, injection.pf_with_vfs,
                     injection.vm_runtimes, injection.ucx_environment,
                     injection.nvshmem_environment, injection.gdrcopy, injection.nccl_topo_file),
            std::tuple(true, false, true, false, true, true, "/r"));
  EXPECT_EQ(std::tie(pods.sample, pods.grace, pods.queue_pairs),
            std::tuple(7s, 8s, QueuePairChoice::always));
  EXPECT_THAT(pods.ignore, ElementsAre("s/s"));
  EXPECT_EQ(std::tie(metrics.bind_address, metrics.socket, metrics.token_file, metrics.ports),
            std::tuple("t", "/u", "/v", 9s));
  EXPECT_EQ(std::tie(doctor.every, doctor.history_file), std::tuple(10s, "/w"));
  EXPECT_EQ(std::tie(log.level, log.format), std::tuple(LogLevel::error, LogFormat::json));
}

TEST(Config, one_switch_turns_nothing_else) {
  using Injection = Settings::Injection;
  constexpr std::pair<const char*, bool Injection::*> kSwitches[] = {
      {"roceWithoutHostNetwork", &Injection::roce_without_host_network},
      {"pfWithVfs", &Injection::pf_with_vfs},
      {"vmRuntimes", &Injection::vm_runtimes},
      {"ucxEnvironment", &Injection::ucx_environment},
      {"nvshmemEnvironment", &Injection::nvshmem_environment},
      {"gdrcopy", &Injection::gdrcopy},
  };
  for (const auto& [key, turned] : kSwitches) {
    const auto config = from_file("injection: {" + std::string(key) + ": true}\n");
    for (const auto& [other, member] : kSwitches) {
      EXPECT_EQ(config->settings().injection.*member, member == turned) << key << " " << other;
    }
  }
}

TEST(Config, precedence_is_flag_variable_rdma_variable_file_and_default) {
  ConfigSources sources;
  EXPECT_EQ(make_config(sources)->settings().injection.gpus, GpuPolicy::closest);
  sources.files = {{"a.yaml", "injection: {gpus: numa}"}};
  EXPECT_EQ(make_config(sources)->settings().injection.gpus, GpuPolicy::numa);
  sources.environment["RDMA_GPU_AUTO_INJECT"] = "true";
  EXPECT_EQ(make_config(sources)->settings().injection.gpus, GpuPolicy::closest);
  sources.environment["RAILHEAD_GPUS"] = "all";
  EXPECT_EQ(make_config(sources)->settings().injection.gpus, GpuPolicy::all);
  sources.flags["injection.gpus"] = "none";
  const auto config = make_config(sources);
  EXPECT_EQ(config->settings().injection.gpus, GpuPolicy::none);
  EXPECT_EQ(config->entry("injection.gpus").where, "--gpus");
  EXPECT_EQ(config->entry("injection.gpus").origin, Origin::flag);
}

TEST(Config, a_value_knows_line_and_column_of_its_file) {
  const auto config = from_file("nri:\n  socket: /run/nri.sock\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->entry("nri.socket").where, "railhead.yaml:2:11");
}

TEST(Config, an_unknown_key_is_an_error_with_its_place_and_known_keys) {
  const auto section = from_file("nri:\n  soket: /run/nri.sock\n");
  ASSERT_FALSE(section);
  EXPECT_THAT(section.error().message, HasSubstr("railhead.yaml:2:3: unknown key \"nri.soket\""));
  EXPECT_THAT(section.error().message, HasSubstr("socket"));
  const auto top = from_file("injektion: {}\n");
  ASSERT_FALSE(top);
  EXPECT_THAT(top.error().message, HasSubstr("railhead.yaml:1:1: unknown key \"injektion\""));
}

TEST(Config, no_setting_names_a_program_to_run) {
  const auto config = from_file("pods:\n  hook: /bin/true\n");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("railhead.yaml:2:3: unknown key \"pods.hook\""));
}

TEST(Config, a_value_of_the_wrong_shape_is_an_error_with_what_is_allowed) {
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
  EXPECT_EQ(config->settings().injection.devices,
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
  const NicRule& role = config->roles().at(0);
  EXPECT_EQ(role.pci.text, "0000:29:00.0");
  EXPECT_EQ(role.device.text, "15b3:101d");
  EXPECT_EQ(role.link_layer.text, "Ethernet");
  EXPECT_EQ(role.netdev.text, "ens*");
  EXPECT_EQ(role.netdev.where, "railhead.yaml:3:14");
}

TEST(Config, a_k8s_rdma_device_plugin_file_injects_nothing_by_default) {
  EXPECT_EQ(from_file("resourceName: rdma.io/hca\n")->settings().injection.gpus, GpuPolicy::none);
  const auto config = from_file("gpuRdmaAutoInject: true\nlogPath: '-'\ncolour: red\n");
  EXPECT_EQ(config->settings().injection.gpus, GpuPolicy::closest);
  EXPECT_THAT(config->warnings(),
              ElementsAre(HasSubstr("railhead.yaml:3:1: unknown key \"colour\"")));
}

TEST(Config, k8s_rdma_device_plugin_variables_inject_nothing_by_default) {
  ConfigSources sources;
  sources.environment["RDMA_RESOURCE_NAME"] = "rdma.io/hca";
  EXPECT_EQ(make_config(sources)->settings().injection.gpus, GpuPolicy::none);
  sources.environment["RDMA_GPU_AUTO_INJECT"] = "maybe";
  EXPECT_FALSE(make_config(sources));
}

TEST(Config, files_of_other_plugins_are_known_and_handed_on_unchanged) {
  const auto shared = from_file(R"({"configList": [{"resourceName": "a"}]})");
  ASSERT_TRUE(shared) << shared.error().message;
  ASSERT_EQ(shared->pool_sources().size(), 1U);
  EXPECT_EQ(shared->pool_sources()[0].shape, PoolSource::Shape::shared_plugin);
  EXPECT_EQ(shared->pool_sources()[0].name, "railhead.yaml");
  EXPECT_EQ(shared->pool_sources()[0].value.find("configList")->items.size(), 1U);
  const auto sriov = from_file(R"({"ResourceList": []})");
  ASSERT_TRUE(sriov) << sriov.error().message;
  EXPECT_EQ(sriov->pool_sources().at(0).shape, PoolSource::Shape::sriov_plugin);
  EXPECT_EQ(shared->settings().injection.gpus, GpuPolicy::closest);
}

TEST(Config, pools_of_all_files_and_the_environment_are_kept_in_order) {
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

TEST(Config, the_shared_plugins_interval_is_that_of_the_rescan) {
  const auto with = [](const std::string& interval) {
    return from_file(R"({"configList": [], "periodicUpdateInterval": )" + interval + "}");
  };
  EXPECT_EQ(with("300")->settings().host.rescan, 300s);
  EXPECT_EQ(with("null")->settings().host.rescan, 30s);
  const auto never = with("0");
  EXPECT_EQ(never->settings().host.rescan, 30s);
  EXPECT_THAT(never->warnings(), ElementsAre(HasSubstr("periodicUpdateInterval 0 ignored")));
  EXPECT_FALSE(with("-1"));
  EXPECT_FALSE(with("\"often\""));
}

TEST(Config, an_interval_that_is_too_long_is_the_longest_and_named) {
  const auto config = from_file(R"({"configList": [], "periodicUpdateInterval": 100000})");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->settings().host.rescan, 86400s);
  EXPECT_THAT(config->warnings(),
              ElementsAre(HasSubstr("periodicUpdateInterval 100000: 86400 seconds")));
}

TEST(Config, the_default_of_an_absent_variable_does_not_beat_a_file) {
  const auto gpus = [](const std::string& file, std::map<std::string, std::string> variables) {
    return make_config({{{"a.yaml", file}}, std::move(variables), {}})->settings().injection.gpus;
  };
  const std::map<std::string, std::string> count{{"RDMA_RESOURCE_COUNT", "7"}};
  EXPECT_EQ(gpus("", count), GpuPolicy::none);
  EXPECT_EQ(gpus("resourceCount: 5\ngpuRdmaAutoInject: true\n", count), GpuPolicy::closest);
  EXPECT_EQ(gpus("injection: {gpus: closest}\n", count), GpuPolicy::closest);
  EXPECT_EQ(gpus("injection: {gpus: closest}\n", {{"RDMA_GPU_AUTO_INJECT", "false"}}),
            GpuPolicy::none);
  EXPECT_EQ(gpus("", {{"RDMA_GPU_AUTO_INJECT", ""}}), GpuPolicy::closest);
}

TEST(Config, what_may_be_0_says_so_and_takes_it_in_any_unit) {
  EXPECT_EQ(from_file("doctor: {everySeconds: 0s}")->settings().doctor.every, 0s);
  EXPECT_EQ(from_file("doctor: {everySeconds: 2m}")->settings().doctor.every, 120s);
  EXPECT_THAT(from_file("doctor: {everySeconds: 500ms}").error().message,
              HasSubstr("is neither 0 nor 1 to 86400 seconds"));
  EXPECT_THAT(from_file("host: {rescanSeconds: 0}").error().message,
              HasSubstr("is not 1 to 86400 seconds"));
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
  EXPECT_THAT(config->settings().pods.ignore, ElementsAre("monitoring/*", "*/dcgm-exporter-*"));
  for (const auto* wrong : {"monitoring", "/a", "a/", "a/b/c", "a/b, c"}) {
    ConfigSources sources;
    sources.environment["RAILHEAD_PODS_IGNORE"] = wrong;
    const auto refused = make_config(sources);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("is not NAMESPACE/POD"));
  }
}

TEST(Config, a_list_entry_has_no_comma_because_commas_separate_entries) {
  const auto config = from_file("injection:\n  gpuResources: [nvidia.com/gpu, 'a,b']\n");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("injection.gpuResources"));
  EXPECT_THAT(config.error().message, HasSubstr("\"a,b\" has a comma"));
}

}  // namespace
}  // namespace railhead::config
