// SPDX-License-Identifier: Apache-2.0
#include "agent/machine.h"

#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "agent/metrics.h"
#include "host/directory_host.h"
#include "unit/host/temporary_directory.h"
#include "unit/manual_clock.h"
#include "unit/sysfs_tree.h"

namespace railhead::test {
namespace {

namespace fs = std::filesystem;

class MachineTest : public testing::Test {
 protected:
  using OpenWatch = std::function<Result<std::unique_ptr<host::Watch>>()>;
  using Open = std::function<Result<std::unique_ptr<host::Host>>()>;

  agent::Machine make(Open open, OpenWatch watch = {}, agent::MachineSettings settings = {}) {
    return {{std::move(open), std::move(watch)}, std::move(settings), {clock_, log_, metrics_}};
  }

  static agent::MachineSettings with(inject::InjectionPolicy policy) {
    return {{}, std::move(policy), {}};
  }

  /// A machine whose operator named a topology file: file_, or an error where that is absent.
  agent::Machine make_with_file() {
    const auto read = [this]() -> Result<std::optional<node::TextFile>> {
      if (!file_) return Error{ErrorCode::denied, "/etc/topo.xml: denied"};
      return file_;
    };
    return make(box(), {}, {{}, {}, read, "c.yaml:1:18: topology.file"});
  }

  /// A file that has all GPUs and NICs of seed-8gpu-4nic below one switch.
  static std::string one_switch() {
    std::string text =
        "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"ffff:ff:01.0\" class=\"0x060400\">";
    const node::Node node = machine("seed-8gpu-4nic");
    const auto add = [&](const node::PciAddress& address) {
      text += "<pci busid=\"" + address.str() + "\" class=\"" +
              (node.find_pci(address)->class_code >> 16 == 2 ? "0x020700" : "0x030200") + "\"/>";
    };
    for (const auto& gpu : node.gpus) add(gpu.pci);
    for (const auto& nic : node.nics) add(*nic.pci);
    return text + "</pci></cpu></system>";
  }

  [[nodiscard]] Open box() const {
    return [this]() -> Result<std::unique_ptr<host::Host>> {
      if (text_.empty()) return Error{ErrorCode::unavailable, "machine.node: gone"};
      return snapshot::SnapshotHost::parse(text_);
    };
  }

  [[nodiscard]] std::unique_ptr<host::Host> short_host(int questions) const {
    return std::make_unique<ShortHost>(snapshot::SnapshotHost::parse(text_).value(), EMFILE,
                                       questions);
  }

  std::string text_ = machine_text("seed-8gpu-4nic");
  std::optional<node::TextFile> file_ = node::TextFile{"/etc/topo.xml", one_switch()};
  test::ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
};

TEST_F(MachineTest, is_read_at_the_start_and_counted) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  EXPECT_EQ(machine.table()->node().nics.size(), 4U);
  EXPECT_EQ(metrics_.node_gpus.value(), 8);
  EXPECT_EQ(metrics_.node_nics.value("compute", "true"), 4);
  EXPECT_EQ(metrics_.nic_usable.value("mlx5_3"), 1);
  EXPECT_EQ(metrics_.node_reads.value("start"), 1);
}

TEST_F(MachineTest, an_unchanged_node_keeps_its_table) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table(), before);
  EXPECT_EQ(metrics_.node_reads.value("timer"), 1);
}

TEST_F(MachineTest, a_changed_node_makes_a_new_table_and_new_samples) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  text_ = machine_text("gpus-only");
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_NE(machine.table(), before);
  EXPECT_EQ(before->node().nics.size(), 4U);  // who decides just now keeps what it has
  EXPECT_EQ(metrics_.node_gpus.value(), 4);
  EXPECT_EQ(metrics_.expose().find("nic=\"mlx5_3\""), std::string::npos);
}

TEST_F(MachineTest, what_cannot_be_opened_is_an_error_and_keeps_the_last_table) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  text_.clear();
  const auto done = machine.read("timer");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "machine.node: gone");
  EXPECT_EQ(machine.table(), before);
}

/// One reading without a free descriptor would take every NIC away.
TEST_F(MachineTest, a_lack_of_descriptors_keeps_the_last_table_and_is_said_once) {
  int questions = -1;
  auto machine =
      make([&]() -> Result<std::unique_ptr<host::Host>> { return short_host(questions); });
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  testing::internal::CaptureStderr();
  for (questions = 0; questions < 100; questions += 9) {
    EXPECT_FALSE(machine.read("event"));
    EXPECT_TRUE(machine.is_failing());
    EXPECT_EQ(machine.table(), before);
  }
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_NE(said.find("too many open files"), std::string::npos) << said;
  EXPECT_EQ(metrics_.node_read_failures.value("event"), 12);
  questions = -1;
  text_ = machine_text("gpus-only");
  EXPECT_TRUE(machine.drain()) << "all of it is to be read";
  ASSERT_TRUE(machine.read("event"));
  EXPECT_FALSE(machine.is_failing());
  EXPECT_EQ(machine.table()->node().gpus.size(), 4U);
}

TEST_F(MachineTest, a_lack_of_descriptors_at_the_start_is_an_error) {
  auto machine = make([&]() -> Result<std::unique_ptr<host::Host>> { return short_host(0); });
  const auto done = machine.read("start");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("too many open files in this process"), std::string::npos);
  EXPECT_EQ(machine.table(), nullptr);
}

TEST_F(MachineTest, the_source_of_the_topology_is_a_metric) {
  auto machine = make_with_file();
  ASSERT_TRUE(machine.read("start"));
  EXPECT_EQ(machine.table()->topology().gpu_nic[0][3].relation, topology::Relation::pix);
  EXPECT_EQ(metrics_.topology_info.value("topology file", "high", "/etc/topo.xml"), 1);
}

TEST_F(MachineTest, an_unusable_topology_file_at_the_start_is_an_error) {
  file_.reset();
  const auto denied = make_with_file().read("start").error();
  EXPECT_EQ(denied.code, ErrorCode::usage);
  EXPECT_EQ(denied.message, "c.yaml:1:18: topology.file: /etc/topo.xml: denied");
  file_ = node::TextFile{"/etc/topo.xml", "<system>\n<cpu>\n"};
  const auto done = make_with_file().read("start");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
  EXPECT_EQ(done.error().message.find("c.yaml:1:18: topology.file: /etc/topo.xml:"), 0U)
      << done.error().message;
}

TEST_F(MachineTest, start_and_timer_read_the_topology_file_and_events_do_not) {
  int times = 0;
  auto machine = make(box(), {}, {{}, {}, [&]() -> Result<std::optional<node::TextFile>> {
                                    ++times;
                                    return file_;
                                  }});
  ASSERT_TRUE(machine.read("start"));
  EXPECT_EQ(times, 1);
  for (const auto* cause : {"event", "port", "unknown-gpu", "no-events"}) {
    ASSERT_TRUE(machine.read(cause));
    EXPECT_EQ(times, 1) << cause;
  }
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(times, 2);
}

TEST_F(MachineTest, an_edited_topology_file_counts_from_the_next_timers_reading) {
  auto machine = make_with_file();
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table(), before);
  file_->text = "<system version=\"1\"/>";
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table()->topology().source, topology::TopologySource::pci_tree);
  EXPECT_EQ(metrics_.expose().find("topology file"), std::string::npos);
}

TEST_F(MachineTest, a_bad_edit_keeps_the_old_topology_file_and_reading_goes_on) {
  auto machine = make_with_file();
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  file_->text = "<system";
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table(), before);
  file_.reset();
  text_ = machine_text("gpus-only");
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table()->node().gpus.size(), 4U);
  text_ = machine_text("seed-8gpu-4nic");
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table()->topology().origin, "/etc/topo.xml");
}

TEST_F(MachineTest, other_settings_count_at_once) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  inject::InjectionPolicy policy;
  policy.gpus = config::GpuPolicy::none;
  policy.pools = {pools::default_pool()};
  affinity::RoleOverride storage;
  storage.name_globs = "mlx5_3";
  storage.role = affinity::Role::storage;
  ASSERT_TRUE(machine.reconfigure({{{storage}, {}}, policy, [this] { return Result(file_); }}));
  EXPECT_EQ(machine.table()->policy().gpus, config::GpuPolicy::none);
  EXPECT_EQ(machine.table()->pools().pools.size(), 1U);
  EXPECT_EQ(machine.table()->deal().roles[3].role, affinity::Role::storage);
  EXPECT_EQ(machine.table()->topology().source, topology::TopologySource::topology_file);
  EXPECT_EQ(metrics_.node_nics.value("storage", "true"), 1);
}

TEST_F(MachineTest, settings_that_cannot_be_used_change_nothing) {
  auto machine = make(box());
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  inject::InjectionPolicy policy;
  policy.gpus = config::GpuPolicy::none;
  file_->text = "no XML";
  EXPECT_FALSE(machine.reconfigure({{}, policy, [this] { return Result(file_); }}));
  auto a = pools::default_pool();
  a.mode = pools::PoolMode::exclusive;
  auto b = a;
  b.name = "a.io/b";
  policy.pools = {a, b};
  const auto conflict = machine.reconfigure(with(policy));
  ASSERT_FALSE(conflict);
  EXPECT_NE(conflict.error().message.find("a.io/b"), std::string::npos);
  EXPECT_EQ(machine.table(), before);
  ASSERT_TRUE(machine.read("timer"));
  EXPECT_EQ(machine.table(), before);
}

TEST_F(MachineTest, a_device_that_appears_is_in_the_next_table) {
  std::string pattern = (fs::temp_directory_path() / "railhead-machine-XXXXXX").string();
  const fs::path root = mkdtemp(pattern.data());
  fs::create_directories(root / "sys/class/infiniband");
  auto machine = make([root] { return host::DirectoryHost::open(root); },
                      [root] { return host::Watch::open(root); });
  ASSERT_TRUE(machine.read("start"));
  EXPECT_TRUE(machine.events());
  EXPECT_TRUE(machine.table()->node().nics.empty());
  EXPECT_FALSE(machine.drain());
  fs::create_directories(root / "sys/class/infiniband/rxe0/ports/1");
  ASSERT_TRUE(machine.drain());
  ASSERT_TRUE(machine.read("event"));
  EXPECT_EQ(machine.table()->node().nics.size(), 1U);
  EXPECT_EQ(metrics_.node_reads.value("event"), 1);
  fs::remove_all(root);
}

/// A machine as a tree of files, whose sysfs makes no events of what happens deep in it.
class MachineOfFiles : public MachineTest {
 protected:
  MachineOfFiles() { port("1: DOWN"); }

  void port(const std::string& state) const {
    const auto folder = root_.path() / "sys/class/infiniband/rxe0/ports/1";
    fs::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  }

  agent::Machine made(OpenWatch watch) {
    return make([this] { return host::DirectoryHost::open(root_.path()); }, std::move(watch));
  }

  double read_by_port() { return metrics_.node_reads.value("port"); }

  TemporaryDirectory root_;
};

TEST_F(MachineOfFiles, is_read_again_when_a_port_changes_and_not_before) {
  auto machine = made([this] { return host::Watch::open(root_.path()); });
  ASSERT_TRUE(machine.read("start"));
  const auto state = [&] { return machine.table()->node().nics.at(0).ports.at(0).state; };
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(read_by_port(), 0);
  port("4: ACTIVE");
  EXPECT_EQ(state(), node::PortState::down) << "there is no event";
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(state(), node::PortState::active);
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(read_by_port(), 1);
  port("1: DOWN");
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(state(), node::PortState::down);
}

TEST_F(MachineOfFiles, looks_for_events_that_it_lacks_again) {
  bool full = true;
  auto machine = made([&] {
    auto sources = host::WatchSources::of_kernel();
    sources.uevents = sources.links = {};
    sources.add_watch = [&full](int inotify, const char* path, std::uint32_t events) {
      errno = ENOSPC;
      return full ? -1 : ::inotify_add_watch(inotify, path, events);
    };
    return host::Watch::open_with(root_.path(), std::move(sources));
  });
  EXPECT_TRUE(machine.is_blind());
  machine.look_for_events();
  EXPECT_TRUE(machine.is_blind());
  full = false;
  machine.look_for_events();
  EXPECT_FALSE(machine.is_blind());
}

TEST_F(MachineOfFiles, that_has_gone_while_its_ports_are_looked_at_is_one_error) {
  auto machine = make(
      [this]() -> Result<std::unique_ptr<host::Host>> {
        if (text_.empty()) return Error{ErrorCode::unavailable, "gone"};
        return host::DirectoryHost::open(root_.path());
      },
      [this] { return host::Watch::open(root_.path()); });
  ASSERT_TRUE(machine.read("start"));
  const auto before = machine.table();
  text_.clear();
  port("4: ACTIVE");
  EXPECT_EQ(machine.look_at_ports().error().message, "gone");
  EXPECT_EQ(machine.table(), before);
  EXPECT_TRUE(machine.look_at_ports()) << "said once";
  text_ = "there";
  ASSERT_TRUE(machine.read("timer"));
  port("1: DOWN");
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(read_by_port(), 1);
}

TEST_F(MachineOfFiles, of_one_piece_has_no_ports_to_look_at) {
  auto machine = made({});
  ASSERT_TRUE(machine.read("start"));
  port("4: ACTIVE");
  ASSERT_TRUE(machine.look_at_ports());
  EXPECT_EQ(read_by_port(), 0);
}

/// Two ConnectX functions in an exclusive pool, in the exclusive mode of RDMA namespaces.
class MachineWithPods : public MachineTest {
 protected:
  static constexpr const char* kFunction = "0000:18:00.0";

  /// The first function as the host sees it: with its device and netdev, or only its nodes.
  static std::string text(bool at_home, const std::string& netns = "N") {
    auto tree = second_function(netns);
    tree.pci(kFunction).verbs("uverbs0", "mlx5_0", "231:190");
    if (at_home) add_device(tree, "mlx5_0", "ens1");
    return "railhead-snapshot 1\n" + tree.entries();
  }

  static SysfsTree second_function(const std::string& netns = "N") {
    SysfsTree tree;
    tree.text("/sys/module/ib_core/parameters/netns_mode", netns);
    add_device(tree.pci("0000:19:00.0").verbs("uverbs1", "mlx5_1", "231:191"), "mlx5_1", "ens2");
    return tree;
  }

  static void add_device(SysfsTree& tree, const std::string& name, const std::string& netdev) {
    tree.rdma(name).netdev(netdev).text("net/" + netdev + "/flags", "0x1003");
    tree.text("infiniband/" + name + "/ports/1/state", "4: ACTIVE");
    tree.text("infiniband/" + name + "/ports/1/link_layer", "Ethernet");
  }

  /// The functions of the pool that takes netdevs ens* with an RDMA device.
  static std::vector<std::string> members(const inject::DecisionTable& table) {
    std::vector<std::string> ids;
    for (const auto& member : table.pools().pools.at(0).members) {
      EXPECT_EQ(member.state, pools::MemberState::ready) << member.reason;
      ids.push_back(table.pools().functions[member.function].id);
    }
    return ids;
  }

  static pools::PoolSpec by(pools::Fact fact, const std::string& value) {
    pools::PoolSpec spec = pools::default_pool();
    spec.mode = pools::PoolMode::exclusive;
    spec.include = {{{{fact, "key", {value}, pools::Match::glob, {}}}, true, false}};
    return spec;
  }

  agent::Machine make_with(pools::PoolSpec spec) {
    inject::InjectionPolicy policy;
    policy.pools = {std::move(spec)};
    return make(box(), {}, with(policy));
  }
};

TEST_F(MachineWithPods, keeps_a_function_in_its_pool_while_its_devices_are_in_a_pod) {
  text_ = text(true);
  auto machine = make_with(by(pools::Fact::netdev, "ens*"));
  ASSERT_TRUE(machine.read("start"));
  ASSERT_EQ(members(*machine.table()).size(), 2U);
  for (int i = 0; i < 3; ++i) {
    text_ = text(false);
    ASSERT_TRUE(machine.read("event"));
    EXPECT_EQ(members(*machine.table()).size(), 2U);
    EXPECT_EQ(machine.table()->node().nics[0].name, "mlx5_0");
    EXPECT_EQ(machine.table()->node().nics[0].ports.size(), 1U);
  }
  text_ = text(true);
  ASSERT_TRUE(machine.read("event"));
  EXPECT_FALSE(machine.table()->node().nics[0].elsewhere);
  EXPECT_EQ(members(*machine.table()).size(), 2U);
}

TEST_F(MachineWithPods, knows_a_device_in_a_pod_from_the_start_by_its_nodes) {
  text_ = text(false);
  auto machine = make_with(by(pools::Fact::pci_address, "0000:*"));
  ASSERT_TRUE(machine.read("start"));
  EXPECT_EQ(members(*machine.table()).size(), 2U);
  EXPECT_EQ(machine.table()->node().nics[0].uverbs.at(0).path, "/dev/infiniband/uverbs0");
}

TEST_F(MachineWithPods, loses_what_is_unplugged) {
  text_ = text(true);
  auto machine = make_with(by(pools::Fact::netdev, "ens*"));
  ASSERT_TRUE(machine.read("start"));
  text_ = "railhead-snapshot 1\n" + second_function().entries();
  ASSERT_TRUE(machine.read("event"));
  EXPECT_EQ(members(*machine.table()).size(), 1U);
}

}  // namespace
}  // namespace railhead::test
