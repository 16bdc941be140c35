// SPDX-License-Identifier: Apache-2.0
#include "system/container.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>

#include "host/directory_host.h"
#include "unit/host/temporary_directory.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kId(64, 'a');

/// A tree of /proc with a container in it, process 4711, and its shim, process 12.
class ContainerTest : public testing::Test {
 protected:
  ContainerTest() {
    write("proc/4711/stat", stat_line("train", 12));
    write("proc/4711/status", "Uid:\t0\t1000\t0\t0\nCapEff:\t0000000000004000\nCapBnd:\t00ff\n");
    write("proc/4711/limits", "Max locked memory         65536    65536    bytes\n");
    write("proc/4711/cgroup", "0::/kubepods/pod0/" + kId + "\n");
    write("proc/4711/uid_map", "         0          0 4294967295\n");
    write("proc/4711/environ",
          std::string("PASSWORD=secret\0NCCL_IB_HCA==mlx5_0\0LD_LIBRARY_PATH=/opt/lib:x\0", 63));
    write("proc/4711/maps",
          "7f00-7f01 r-xp 0 08:01 5  /usr/lib/libibverbs.so.1\n7f02-7f03 r--p 0 00:00 0 [heap]\n"
          "7f04-7f05 r-xp 0 08:01 5  /usr/lib/libibverbs/libmlx5-rdmav34.so\n");
    write("proc/4711/mountinfo", "9 8 0:9 / /dev/shm rw,nosuid - tmpfs shm rw,size=65536k\n");
    write("proc/4711/net/dev", "Inter-| Receive\n face |bytes\n    lo: 0 0\n  eth0: 1 2\n");
    write(
        "proc/4711/net/fib_trie",
        "Local:\n  +-- 10.0.0.0/24 2 0 2\n     |-- 10.0.0.0\n        /24 link UNICAST\n"
        "     |-- 10.0.0.5\n        /32 host LOCAL\n     |-- 127.0.0.1\n        /32 host LOCAL\n");
    link("proc/4711/ns/net", "net:[2]");
    link("proc/1/ns/net", "net:[1]");
    link("proc/4711/fd/3", "/dev/infiniband/uverbs0");
    write("proc/12/stat", stat_line("containerd-shim", 1));
    write("proc/12/status", "Tgid:\t12\n");
    link("proc/12/cwd", "/run/bundles/sandbox");
    write("run/bundles/" + kId + "/config.json",
          R"({"annotations": {"io.kubernetes.cri.container-name": "train",
              "io.kubernetes.cri.sandbox-name": "job-0", "io.kubernetes.cri.sandbox-namespace": "ml"},
              "linux": {"resources": {"devices": [{"allow": false, "access": "rwm"},
              {"allow": true, "type": "c", "major": 231, "minor": 192, "access": "rw"}]}}})");
    fs::create_directories(root_.path() / "proc/4711/root");
  }

  static std::string stat_line(const std::string& name, int parent) {
    std::string text = "1 (" + name + ") S " + std::to_string(parent);
    for (int i = 0; i < 17; ++i) text += " 0";
    return text + " 900 0 0\n";
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_.path() / path).parent_path());
    std::ofstream(root_.path() / path) << text;
  }

  void link(const std::string& path, const std::string& target) const {
    fs::create_directories((root_.path() / path).parent_path());
    fs::create_symlink(target, root_.path() / path);
  }

  system::ContainerSource source() {
    host_ = host::DirectoryHost::open(root_.path()).value();
    return {*host_, "/proc", [this](const std::string& path) {
              return host::DirectoryHost::open_foreign(root_.path().string() + path);
            }};
  }

  system::Container read(const node::Node& node = {}) {
    auto container = system::read_container(source(), node, 4711);
    EXPECT_TRUE(container.has_value()) << container.error().message;
    return container ? *std::move(container) : system::Container();
  }

  TemporaryDirectory root_;
  std::unique_ptr<host::Host> host_;
};

TEST_F(ContainerTest, is_read_through_its_process) {
  const auto container = read();
  EXPECT_EQ(container.name, "train");
  EXPECT_EQ(container.process.value->memlock_soft_bytes, 65536U);
  EXPECT_EQ(container.process.value->uid, 1000U);
  EXPECT_EQ(container.network.value, "net:[2]");
  EXPECT_EQ(container.node_network.value, "net:[1]");
  EXPECT_THAT(*container.held.value, ElementsAre("/dev/infiniband/uverbs0"));
  EXPECT_THAT(*container.mapped.value,
              ElementsAre("/usr/lib/libibverbs.so.1", "/usr/lib/libibverbs/libmlx5-rdmav34.so"));
  EXPECT_THAT(*container.netdevs.value, ElementsAre("lo", "eth0"));
  EXPECT_THAT(*container.addresses.value, ElementsAre("0000:0000:0000:0000:0000:ffff:0a00:0005"));
  EXPECT_EQ(container.shm.value, "tmpfs rw,size=65536k");
  EXPECT_EQ(container.device_rules.value->size(), 2U);
}

TEST_F(ContainerTest, shows_how_its_libraries_fit) {
  write("proc/4711/root/usr/lib/libibverbs.so.1", std::string("\x7f"
                                                              "ELF\0lib%s-rdmav34.so\0",
                                                              22));
  write("proc/4711/root/opt/lib/libucp.so.0", "x");
  write("proc/4711/root/opt/lib/ucx/libuct_cma.so.0", "x");
  write("proc/4711/root/usr/lib/libucp.so.0", "x");
  write("proc/4711/root/usr/lib/ucx/libuct_ib.so.0", "x");
  write("sys/class/infiniband_verbs/uverbs0/abi_version", "6\n");
  const auto container = read();
  EXPECT_EQ(container.provider_suffix.value, "-rdmav34.so");
  EXPECT_TRUE(container.gdrdrv.absent());
  ASSERT_EQ(container.ucx.size(), 2U);
  EXPECT_EQ(container.ucx[0].path, "/opt/lib/libucp.so.0");
  EXPECT_EQ(container.ucx[0].modules, "/opt/lib/ucx");
  EXPECT_FALSE(container.ucx[0].has_verbs);
  EXPECT_FALSE(container.ucx[0].mapped);
  EXPECT_TRUE(container.ucx[1].has_verbs);
}

TEST_F(ContainerTest, modules_of_ucx_are_where_a_variable_says) {
  write("proc/4711/environ", std::string("UCX_MODULE_DIR=/opt/modules\0", 28));
  write("proc/4711/root/usr/lib/libucp.so.0", "x");
  write("proc/4711/root/opt/modules/libuct_ib.so.0", "x");
  const auto container = read();
  ASSERT_EQ(container.ucx.size(), 1U);
  EXPECT_EQ(container.ucx[0].modules, "/opt/modules");
  EXPECT_TRUE(container.ucx[0].has_verbs);
}

TEST(ProviderSuffix, is_the_first_whole_one) {
  EXPECT_EQ(system::provider_suffix_in("a-rdmav25.so\n"), "-rdmav25.so");
  EXPECT_EQ(system::provider_suffix_in("-rdmav.so -rdmavx -rdmav123456.so -rdmav34.so"),
            "-rdmav34.so");
  for (const auto* none : {"", "-rdmav", "-rdmav34", "-rdmav34.s", "libmlx5.so"}) {
    EXPECT_EQ(system::provider_suffix_in(none), std::nullopt) << none;
  }
}

TEST_F(ContainerTest, keeps_no_secret_of_the_environment) {
  EXPECT_THAT(*read().environment.value,
              ElementsAre("NCCL_IB_HCA==mlx5_0", "LD_LIBRARY_PATH=/opt/lib:x"));
}

TEST_F(ContainerTest, a_pod_is_found_by_its_name) {
  EXPECT_THAT(system::find_pod(source(), "ml", "job-0").value(), ElementsAre(4711));
  EXPECT_THAT(system::find_pod(source(), "ml", "job-1").error().message,
              HasSubstr("no running container of pod ml/job-1 among 1 container"));
}

TEST_F(ContainerTest, a_pod_whose_bundle_is_gone_is_not_said_to_be_absent) {
  fs::remove_all(root_.path() / "run");
  EXPECT_THAT(system::find_pod(source(), "ml", "job-0").error().message,
              HasSubstr("1 bundle could not be read"));
  EXPECT_EQ(read().device_rules.error, "its bundle was not found");
}

TEST_F(ContainerTest, libraries_are_those_that_the_loader_finds) {
  write("proc/4711/root/etc/ld.so.conf.d/ofed.conf", "# OFED\n/opt/ofed\nrelative\n");
  write("proc/4711/root/opt/ofed/libibverbs.so.1", "");
  write("proc/4711/root/opt/ofed/libibverbs/libmlx5-rdmav34.so", "");
  write("proc/4711/root/opt/ofed/libibverbs/readme", "");
  write("proc/4711/root/home/libnccl.so.2", "");
  const auto container = read();
  EXPECT_THAT(container.libraries.value->searched, ElementsAre("/opt/ofed"));
  EXPECT_THAT(container.libraries.value->found,
              ElementsAre("/opt/ofed/libibverbs.so.1", "/opt/ofed/libibverbs/libmlx5-rdmav34.so"));
}

TEST_F(ContainerTest, a_root_that_may_not_be_entered_makes_all_of_it_unknown) {
  auto source = this->source();
  source.open_root = [](const std::string& path) -> Result<std::unique_ptr<host::Host>> {
    return host::host_error(path, EACCES);
  };
  const auto container = system::read_container(source, {}, 4711).value();
  EXPECT_EQ(container.rdma_nodes.error, "EACCES");
  EXPECT_EQ(container.libraries.error, "EACCES");
}

TEST_F(ContainerTest, no_link_leads_out_of_its_root) {
  write("outside/libibverbs.so.1", "");
  link("proc/4711/root/usr/lib", "../../../../../outside");
  link("proc/4711/root/etc/ld.so.conf", (root_.path() / "outside/conf").string());
  write("outside/conf", "/opt\n");
  const auto container = read();
  EXPECT_THAT(container.libraries.value->found, IsEmpty());
  EXPECT_THAT(container.libraries.value->searched, IsEmpty());
}

TEST_F(ContainerTest, fifos_and_huge_files_do_not_stop_it) {
  fs::create_directories(root_.path() / "proc/4711/root/etc/ld.so.conf.d");
  ASSERT_EQ(0, ::mkfifo((root_ / "proc/4711/root/etc/ld.so.conf").c_str(), 0600));
  write("proc/4711/root/etc/ld.so.conf.d/a.conf", "/opt\n");
  fs::resize_file(root_.path() / "proc/4711/root/etc/ld.so.conf.d/a.conf", 1ULL << 40U);
  write("proc/4711/root/dev/infiniband/uverbs0", "not a device");
  fs::create_directory(root_.path() / "proc/4711/root/usr");
  ASSERT_EQ(0, ::mkfifo((root_ / "proc/4711/root/usr/lib").c_str(), 0600));
  const auto container = read();
  EXPECT_THAT(*container.rdma_nodes.value, IsEmpty());
  EXPECT_THAT(container.libraries.value->searched, IsEmpty());
}

TEST_F(ContainerTest, a_root_of_many_files_costs_little) {
  for (int n = 0; n < 2000; ++n) {
    write("proc/4711/root/etc/ld.so.conf.d/" + std::to_string(n) + ".conf",
          "/opt/" + std::to_string(n) + "\n");
    write("proc/4711/root/usr/lib/libibverbs/lib" + std::to_string(n) + "-rdmav34.so", "");
  }
  EXPECT_THAT(read().libraries.value->unreadable, ElementsAre("more than 64 folders"));
  fs::remove_all(root_.path() / "proc/4711/root/etc");
  EXPECT_EQ(read().libraries.value->found.size(), 1024U);
}

TEST_F(ContainerTest, its_gids_are_those_of_its_own_sysfs) {
  if (::geteuid() != 0) GTEST_SKIP() << "making a device node needs root";
  const std::string root = "proc/4711/root/";
  fs::create_directories(root_.path() / (root + "dev/infiniband"));
  if (::mknod((root_ / (root + "dev/infiniband/uverbs0")).c_str(), S_IFCHR | 0666U,
              (231U << 8U) | 192U) != 0) {
    GTEST_SKIP() << "no device node can be made here";
  }
  const auto port = root + "sys/class/infiniband/mlx5_0/ports/1/";
  write(port + "gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n");
  write(port + "gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0005\n");
  write(port + "gid_attrs/types/3", "RoCE v2\n");
  node::Node node;
  node::Nic nic;
  nic.name = "mlx5_0";
  nic.uverbs.push_back({"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0, true});
  node.nics.push_back(nic);
  const auto container = read(node);
  const auto& gids = *container.gids.at("mlx5_0/1").value;
  ASSERT_EQ(gids.size(), 1U);
  EXPECT_EQ(gids[0].index, 3U);
  EXPECT_EQ(gids[0].type, "RoCE v2");
}

TEST(DeviceRules, a_later_rule_wins) {
  const auto rules = system::parse_device_rules(
                         R"({"linux": {"resources": {"devices": [{"allow": false, "access": "rwm"},
              {"allow": true, "type": "c", "major": 231, "minor": -1, "access": "rw"},
              {"allow": false, "type": "c", "major": 231, "minor": 193, "access": "w"}]}}})")
                         .value();
  EXPECT_TRUE(system::may_open(rules, {'c', 231, 192, 0, 0, 0}));
  EXPECT_FALSE(system::may_open(rules, {'c', 231, 193, 0, 0, 0}));
  EXPECT_FALSE(system::may_open(rules, {'b', 231, 192, 0, 0, 0}));
  EXPECT_FALSE(system::may_open(rules, {'c', 1, 1, 0, 0, 0}));
  EXPECT_FALSE(system::parse_device_rules("{").has_value());
}

TEST(LocalAddresses, are_spelt_as_gids) {
  EXPECT_THAT(system::local_addresses("|-- 300.1.1.1\n/32 host LOCAL\n|-- 1.2.3\n/32 host LOCAL\n",
                                      "fe800000000000000000000000000001 02 40 20 80     eth0\n"
                                      "00000000000000000000000000000001 01 80 10 80       lo\nx\n"),
              ElementsAre("fe80:0000:0000:0000:0000:0000:0000:0001"));
}

}  // namespace
}  // namespace railhead::test
