// SPDX-License-Identifier: Apache-2.0
#include "system/system.h"

#include <gmock/gmock.h>

#include "data/toml.h"
#include "node/kept_files.h"
#include "snapshot/hex_text.h"
#include "system/gather.h"
#include "system/kept_files.h"
#include "system/runtime_answer.h"
#include "unit/link_builder.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using system::Part;
using testing::HasSubstr;
using testing::Not;

system::System system_of(const std::string& entries, Part parts = Part::all) {
  const auto host = host_of(entries);
  const auto node = node::read_node(*host);
  return system::read_system(*host, node, parts);
}

TEST(System, a_fact_is_known_absent_or_unreadable) {
  const auto system = system_of("t /proc/sys/kernel/osrelease 6.8.0\ne /proc/cmdline EACCES\n");
  EXPECT_EQ(system.text("/proc/sys/kernel/osrelease").value, "6.8.0");
  EXPECT_TRUE(system.text("/proc/1/net/route").absent());
  EXPECT_EQ(system.text("/proc/cmdline").error, "EACCES");
  EXPECT_FALSE(system.text("/proc/cmdline").absent());
  EXPECT_EQ(system.text("/nobody/asked").error, "not read");
}

TEST(System, what_the_kernel_says_of_a_netdev_is_known_or_not) {
  const auto hex = [](const std::string& bytes) { return snapshot::hex_of_bytes(bytes) + "\n"; };
  const auto host = snapshot::SnapshotHost::parse(
                        machine_text("hgx-h100-roce") + "t /.netlink/dcb/enp26s0np0/0000 " +
                        hex(flow_answer(0x08, {{26, 3}})) + "t /.netlink/dcb/enp60s0np0/0000 " +
                        hex("garbage") + "e /.netlink/dcb/enp77s0np0/0000 EPERM\n")
                        .value();
  const auto system = system::read_system(*host, node::read_node(*host), Part::netdevs);
  EXPECT_EQ(system.dcb.at("enp26s0np0").value->pfc, 0x08);
  EXPECT_EQ(system.dcb.at("enp60s0np0").error, "malformed: not a message of DCB");
  EXPECT_EQ(system.dcb.at("enp77s0np0").error, "EPERM");
  EXPECT_TRUE(system.dcb.at("enp94s0np0").absent());
}

TEST(System, of_numbers_of_devices_a_snapshot_keeps_those_of_gdrcopy) {
  EXPECT_EQ(node::kept_device_numbers("  1 mem\n240 gdrdrv\n241 secret\n"), "240 gdrdrv\n");
}

TEST(System, reads_only_the_parts_that_are_asked_for) {
  const std::string entries = "t /proc/sys/kernel/osrelease 6.8.0\nt /proc/modules x\n";
  const auto system = system_of(entries, Part::modules);
  EXPECT_TRUE(system.text("/proc/modules").known());
  EXPECT_FALSE(system.text("/proc/sys/kernel/osrelease").known());
  EXPECT_TRUE(system_of(entries, Part::none).texts.empty());
}

TEST(System, finds_services_by_the_names_of_their_processes) {
  const auto system = system_of(
      "t /proc/1/comm systemd\nt /proc/9/comm containerd\n"
      "t /proc/9/limits Max locked memory         8388608              8388608              "
      "bytes\n" +
      file_entry("/proc/9/status", "CapEff:\t00000000a80425fb\n") +
      file_entry("/proc/9/cmdline", std::string("containerd\0--config=/x.toml\0", 28)));
  EXPECT_EQ(system.processes.seen.value, 2U);
  const auto* service = system.processes.find("containerd");
  ASSERT_NE(service, nullptr);
  EXPECT_EQ(service->pid, 9);
  EXPECT_EQ(service->config, "/x.toml");
  EXPECT_EQ(service->facts.value->memlock_soft_bytes, 8388608U);
  EXPECT_EQ(system.processes.find("crio"), nullptr);
}

TEST(System, follows_the_imports_of_containerd_once_each) {
  const auto system = system_of(
      file_entry("/etc/containerd/config.toml", "imports = ['conf.d/*.toml', '/a.toml']\n") +
      file_entry("/etc/containerd/conf.d/b.toml", "imports = ['/etc/containerd/config.toml']\n") +
      file_entry("/etc/containerd/conf.d/c.txt", "x = 1\n") + file_entry("/a.toml", "[x\n"));
  std::vector<std::string> paths;
  for (const auto& file : system.containerd.files) {
    if (!file.content.absent()) paths.push_back(file.path);
  }
  EXPECT_THAT(paths, testing::ElementsAre("/etc/containerd/config.toml",
                                          "/etc/containerd/conf.d/b.toml", "/a.toml"));
  EXPECT_THAT(system.containerd.files[2].content.error, testing::StartsWith("malformed: line 1"));
}

TEST(System, takes_a_units_limit_from_the_drop_in_that_counts) {
  const auto system = system_of(
      file_entry("/usr/lib/systemd/system/containerd.service", "[Service]\n") +
      file_entry("/etc/systemd/system/containerd.service.d/a.conf", "LimitMEMLOCK=infinity\n") +
      file_entry("/usr/lib/systemd/system/containerd.service.d/z.conf", " LimitMEMLOCK = 64\n"));
  ASSERT_EQ(system.units.size(), 3U);
  EXPECT_EQ(system.units[0],
            (system::Unit{"containerd", "/usr/lib/systemd/system/containerd.service", "64",
                          "/usr/lib/systemd/system/containerd.service.d/z.conf"}));
  EXPECT_EQ(system.units[1], (system::Unit{"crio", ""}));
}

TEST(System, names_modules_that_a_start_loads_as_the_kernel_does) {
  const auto system =
      system_of(file_entry("/etc/rdma/modules/rdma.conf", "# all\nib-umad\n") +
                file_entry("/run/modules-load.d/x.conf", "; none\nrdma_ucm # cm\n"));
  EXPECT_THAT(
      system.boot_modules,
      testing::UnorderedElementsAre(system::BootModule{"ib_umad", "/etc/rdma/modules/rdma.conf"},
                                    system::BootModule{"rdma_ucm", "/run/modules-load.d/x.conf"}));
}

TEST(System, stops_reading_counters_of_a_port_that_refuses) {
  const std::string port = "/sys/class/infiniband/x/ports/1/";
  const auto system =
      system_of("t /sys/class/infiniband/x/node_type 1: CA\nt " + port + "state 4: ACTIVE\ne " +
                port + "counters/symbol_error EINVAL\nt " + port + "counters/link_downed 3\n");
  EXPECT_EQ(system.text(port + "counters/symbol_error").error, "EINVAL");
  EXPECT_EQ(system.text(port + "counters/link_downed").error, "not read");
}

TEST(System, cuts_the_kernels_log_into_lines_with_times) {
  const auto lines = system::parse_kernel_log(
      "6,12,3456789,-;mlx5_core: text; more\n SUBSYSTEM=pci\n\nno record\n4,x,y,-;odd\n");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], (system::LogLine{3456789, "mlx5_core: text; more"}));
  EXPECT_EQ(lines[1], (system::LogLine{0, "no record"}));
  EXPECT_EQ(lines[2].usec, 0U);
  std::string flood;
  for (int n = 0; n < 30'000; ++n) flood += "6,1,1,-;x\n";
  EXPECT_EQ(system::parse_kernel_log(flood).size(), system::kMaxLogLines);
}

TEST(KeptFiles, hold_no_secret_of_a_runtime) {
  const std::string file =
      "# secret\nversion = 2\nimports = ['conf.d/*.toml', \"/a\\rb\"]\n"
      "disabled_plugins = ['io.containerd.grpc.v1.cri', 'secret of mine']\n"
      "[plugins.'io.containerd.grpc.v1.cri'.registry.configs.'secret.example.com'.auth]\n"
      "password = 'secret'\n[secret]\nkey = 'secret'\n"
      "[plugins.'io.containerd.nri.v1.nri']\ndisable = false\nsocket_path = '/run/nri.sock'\n"
      "plugin_request_timeout = '2s'\nnote = 'secret'\n";
  const auto text = system::kept_runtime_settings(file);
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_THAT(text, testing::HasSubstr("version = 2\nimports = ['conf.d/*.toml', '', ]\n"));
  EXPECT_THAT(text, testing::HasSubstr("[plugins.\"io.containerd.nri.v1.nri\"]\ndisable = false\n"
                                       "socket_path = '/run/nri.sock'\n"
                                       "plugin_request_timeout = '2s'\nother-"));
  EXPECT_EQ(system::kept_runtime_settings(text), text);
  EXPECT_EQ(system::kept_runtime_settings("[plugins.nri]\ndisable = true\n"),
            "[plugins.nri]\ndisable = true\n");
  EXPECT_EQ(system::kept_runtime_settings(
                "[crio.nri]\nenable-nri = true\n[crio.api]\nlisten = 'secret'\n"),
            "[crio.nri]\nenable-nri = true\n[crio.api]\nlisten = ''\n");
  EXPECT_EQ(system::kept_runtime_settings("[crio.image]\nglobal_auth_file = '/secret'\n"
                                          "pinned_images = ['secret']\npause_image = 3\n"
                                          "[crio.runtime]\ndefault_env = ['A=secret', 2]\n"),
            "[crio.image]\nglobal_auth_file = ''\n\npause_image = 3\n"
            "[crio.runtime]\ndefault_env = ['', 2, ]\n");
}

/// What both texts say to containerd and to CRI-O: the answer, the codes, and the lines.
void expect_same_answers(const std::string& file) {
  const auto kept = system::kept_runtime_settings(file);
  EXPECT_EQ(kept.find("secret"), std::string::npos) << kept;
  EXPECT_EQ(system::kept_runtime_settings(kept), kept) << file;
  const auto answers_to = [](const std::string& text) {
    system::ConfigFile config{"/c", text, {"/c", {}, {}}};
    auto parsed = data::parse_toml(text);
    config.is_beyond_us = !parsed && parsed.error().code != ErrorCode::malformed;
    if (parsed) config.content.value = *std::move(parsed);
    if (!parsed) config.content.error = "malformed";
    const system::ContainerdFiles containerd{
        .path = "/c", .is_named = true, .files = {config}, .drop_in_folders = {}};
    system::CrioFiles crio;
    crio.files = {config};
    std::vector<std::string> said;
    const auto add = [&](const system::RuntimeAnswer& answer) {
      said.push_back(std::to_string(static_cast<int>(answer.starts)) +
                     std::to_string(static_cast<int>(answer.nri)) + answer.socket);
      for (const auto& reason : answer.reasons)
        said.push_back(std::string(reason.code) + ":" + std::to_string(reason.mark.line));
    };
    for (const auto release : {system::ContainerdRelease::v1_7, system::ContainerdRelease::v2_0,
                               system::ContainerdRelease::v2_2, system::ContainerdRelease::v2_3,
                               system::ContainerdRelease::v2_4})
      add(system::read_as(containerd, release).answer);
    add(system::judge_crio(crio));
    return said;
  };
  EXPECT_EQ(answers_to(kept), answers_to(file)) << file << "---\n" << kept;
}

TEST(KeptFiles, of_a_runtime_give_the_same_answers_with_the_same_lines) {
  for (const std::string file :
       {"version = 2\n[debug]\nlevel = 'secret'\n",
        "[debug]\nformat = 'secret'\nlevel = 'INFO'\n",
        "version = 2\n\n[timeouts]\n'secret' = '1x'\nb = '5s'\n",
        "timeouts = {secret = 1}\n",
        "[timeouts]\n'io.secret' = '1µs'\n",
        "proxy_plugins = {secret = {type = 1}}\n",
        "[proxy_plugins.secret]\ntype = 'secret'\naddress = 'secret'\nexports = {secret = 1}\n",
        "proxy_plugins = {secret = 1}\n",
        "[stream_processors.secret]\nargs = 'secret'\n",
        "[stream_processors.secret]\naccepts = [1]\n",
        "grpc = 'secret'\n",
        "version = 2\n[plugins.secret]\nx = 1\n",
        "version = 2\nplugins.'secret.v1' = 'secret'\n",
        "version = 3\n\n[plugins.'io.containerd.nri.v1.nri']\n  disable = true # secret\n"
        "  secret_key = 'secret'\n",
        "version = 2\n[plugins.'io.containerd.nri.v1.nri']\nplugin_request_timeout = 'secret'\n",
        "version = 2\n[plugins]\n[plugins.'io.containerd.nri.v1.nri']\n"
        "[plugins.'io.containerd.nri.v1.nri'.default_validator]\nenable = 'secret'\n",
        "version = 2\ndisabled_plugins = ['secret of mine', 'io.containerd.secret x.a.b']\n",
        "required_plugins = ['io.containerd.grpc.v1.x']\n",
        "version = 2\nsecret = 1979-05-27\n",
        "version = 2\n[secret]\nx = {a = [1979-05-27]}\n",
        "\xEF\xBB\xBFversion = 2\n",
        "version = 2\n\xEF\xBB\xBFsecret = 1\n",
        "secret = 01\n",
        "[secret\n",
        "secret = .5\n",
        "a = 'x\n",
        "[a.b]\n[a]\nb = 1\n",
        "a = {b = 1,}\n",
        "[crio.nri]\nenable_nri = true\nsecret = 1\n[crio.runtime]\nenable_nri = true\n",
        "enable_nri = true\n[crio]\nnri_listen = '/x'\n[secret]\nnri_disable_connections = true\n",
        "[crio.secret]\nx = 1\n[crio.nri]\nenable_nri = 'secret'\n",
        "crio = 'secret'\n",
        "[crio]\nnri = 'secret'\n",
        "[crio.nri]\nEnable_NRI = true\nenable_nri = false\n",
        "[crio.nri]\nnri_plugin_request_timeout = 'secret'\n",
        "version = 'secret'\n",
        "Version = 2\n[DEBUG]\nLevel = 'secret'\n",
        "imports = 'x'\n",
        "root = 1\n",
        "",
        "[a]\n[plugins]\n[crio]\n",
        "debug = {level = 'x', format = 'secret'}\n[a]\nb = 1\n",
        "[plugins.nri]\ndisable = true\n[grpc]\naddress = '/x'\n[plugins.cri]\nsecret = 1\n"})
    expect_same_answers(file);
}

TEST(KeptFiles, hold_of_others_what_a_check_looks_at) {
  EXPECT_EQ(system::kept_kernel_arguments(
                "root=UUID=1 token=secret iommu=pt,secret iommu_secret=1 pci=noacs,noats,"
                "config_acs=xxx0@0000:3b:00.0 iommu.passthrough=1\n"),
            "iommu=pt pci=noats,config_acs=xxx0@0000:3b:00.0 iommu.passthrough=1\n");
  EXPECT_EQ(system::kept_process_name("bank-server\n"), "other\n");
  EXPECT_EQ(system::kept_process_name("containerd\n"), "containerd\n");
  EXPECT_EQ(system::kept_memlock("Environment=HTTPS_PROXY=user:secret@p\nLimitMEMLOCK=infinity\n"
                                 "# LimitMEMLOCK secret\n"),
            "LimitMEMLOCK=infinity\n");
  EXPECT_EQ(system::kept_service_arguments(std::string("c\0--token\0secret\0-c\0/x\0", 23)),
            std::string("\0-c\0/x\0", 7));
  EXPECT_EQ(system::kept_service_arguments(std::string("c\0--token\0secret\0", 17)),
            std::string("\0-\0", 3));
  EXPECT_EQ(
      system::kept_unit("1:name=x:/secret/kubelet.service\n0::/system.slice/kubelet.service\n"),
      "0::/kubelet.service\n");
  EXPECT_EQ(
      system::kept_kubelet_settings("a: secret\ncontainerRuntimeEndpoint: unix:///run/x.sock\n"),
      "containerRuntimeEndpoint: 'unix:///run/x.sock'\n");
  EXPECT_EQ(
      system::kept_endpoint_argument(
          "KUBELET_KUBEADM_ARGS=\"--token=secret --container-runtime-endpoint=/run/x.sock\"\n"),
      "--container-runtime-endpoint=/run/x.sock\n");
  EXPECT_EQ(system::kept_modules("ib_core 9 2 mlx5_ib,rdma_cm, Live 0xffffffffc0a00000 (OE)\n"),
            "ib_core 0 0 - Live 0x0\n");
  EXPECT_EQ(system::kept_boot_modules("# of alice\nrdma_ucm # secret\nib-umad\nsecret\n"),
            "rdma_ucm\nib-umad\n");
  EXPECT_EQ(
      system::kept_nvidia_version(
          "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  "
          "(alice@build)\nGCC version:  secret\n"),
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64 550.54.15 Release Build\n");
}

TEST(KeptFiles, hold_of_the_kernel_log_words_of_drivers) {
  const auto kept = [](const std::string& line) { return system::kept_kernel_log(line + "\n"); };
  for (const std::string line :
       {"4,1,1,-;mlx5_core 0000:18:00.0 ens1f0np0: Link down",
        "3,1,1,-;mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 1234): CREATE_MKEY(0x200) "
        "op_mod(0x0) failed, status no resources(0xf), syndrome (0x1234ab), err(-11)",
        "3,1,1,-;pcieport 0000:17:01.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal)",
        "3,1,1,-;NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus."}) {
    EXPECT_EQ(kept(line), line + "\n");
  }
  EXPECT_EQ(kept("6,1,1,-;mlx5_core 0000:18:00.0: host secret01 10.1.2.3 aa:bb:cc:dd:ee:ff "
                 "00:11:22:33:44:55 fe80::1 MT2145X00123 123456789 alice@example.com"),
            "6,1,1,-;mlx5_core 0000:18:00.0: host \u2026 \u2026 \u2026 \u2026 \u2026 \u2026 \u2026 "
            "\u2026@\u2026.\u2026\n");
  EXPECT_EQ(kept("6,1,1,-;mlx5_core 0000:18:00.0: ip-10-98-76-54.internal 10_98_76_54 28.39.1002"),
            "6,1,1,-;mlx5_core 0000:18:00.0: \u2026-\u2026.internal \u2026 28.39.1002\n");
  EXPECT_EQ(kept("6,1,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, name=secret, GPU has fallen"),
            "6,1,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, name=\u2026, GPU has fallen\n");
  EXPECT_EQ(kept("6,1,1,-;IN=eth0 SRC=10.0.0.1\n secret\n6,2,2,-;audit: user=alice"),
            "-\n6,2,2,-;\n");
}

}  // namespace
}  // namespace railhead::test
