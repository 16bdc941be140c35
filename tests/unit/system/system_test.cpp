// SPDX-License-Identifier: Apache-2.0
#include "system/system.h"

#include <gmock/gmock.h>

#include "snapshot/hex_text.h"
#include "system/gather.h"
#include "system/shorten.h"
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
  EXPECT_EQ(system::shortened_file("/proc/devices", "  1 mem\n240 gdrdrv\n241 secret\n"),
            "240 gdrdrv\n");
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

std::string kept(const std::string& path, const std::string& content) {
  return system::shortened_file(path, content);
}

TEST(ShortenedFile, holds_no_secret_of_a_runtime) {
  const auto text =
      kept("/etc/containerd/config.toml",
           "version = 2\nimports = ['conf.d/*.toml', \"/a\\rb\"]\n"
           "[plugins.'io.containerd.grpc.v1.cri'.registry.auth]\npassword = 'secret'\n"
           "[plugins.'io.containerd.nri.v1.nri']\ndisable = false\n");
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_EQ(text,
            "imports = ['conf.d/*.toml', ]\n[plugins.\"io.containerd.nri.v1.nri\"]\n"
            "disable = false\n");
  EXPECT_EQ(kept("/etc/containerd/config.toml", text), text);
  EXPECT_EQ(kept("/etc/containerd/config.toml", "[plugins.nri]\ndisable = true\nsecret = 1\n"),
            "[plugins.\"nri\"]\ndisable = true\n");
  EXPECT_EQ(kept("/etc/crio/crio.conf", "[a\nsecret"), "[malformed\n");
}

TEST(ShortenedFile, keeps_of_other_files_what_a_check_looks_at) {
  EXPECT_EQ(kept("/proc/cmdline", "root=UUID=1 token=secret iommu=pt pci=noacs\n"),
            "iommu=pt pci=noacs\n");
  EXPECT_EQ(kept("/proc/77/comm", "bank-server\n"), "other\n");
  EXPECT_EQ(kept("/proc/77/comm", "containerd\n"), "containerd\n");
  EXPECT_EQ(kept("/etc/systemd/system/containerd.service.d/p.conf",
                 "Environment=HTTPS_PROXY=user:secret@p\nLimitMEMLOCK=infinity\n"),
            "LimitMEMLOCK=infinity\n");
  EXPECT_EQ(kept("/dev/kmsg", "6,1,1,-;IN=eth0 SRC=10.0.0.1\n6,2,2,-;mlx5_core: x\n"),
            "6,2,2,-;mlx5_core: x\n");
  EXPECT_EQ(kept("/proc/9/cmdline", std::string("c\0--token\0secret\0-c\0/x\0", 23)),
            std::string("\0-c\0/x\0", 7));
  EXPECT_EQ(kept("/sys/class/net/eth0/mtu", "9000\n"), "9000\n");
}

}  // namespace
}  // namespace railhead::test
