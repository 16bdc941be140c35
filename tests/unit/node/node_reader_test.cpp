// SPDX-License-Identifier: Apache-2.0
#include "node/node_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "host/host_error.h"
#include "snapshot/snapshot.h"
#include "unit/host/empty_host.h"
#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

/// Counts the accesses to each path on their way to a snapshot, whose entries a test may change.
class CountingHost final : public test::EmptyHost {
 public:
  explicit CountingHost(snapshot::Snapshot snapshot)
      : entries(std::move(snapshot)) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return now(path).read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return now(path).readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return now(path).list(path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return now(path).device(path);
  }

  Result<std::optional<std::string>> devlink_info(const std::string& address) override {
    return now(host::devlink_path(address)).devlink_info(address);
  }

  /// Of the reading that was begun last.
  void begin() {
    asked.clear();
    host_ = std::make_unique<snapshot::SnapshotHost>(entries);
  }

  snapshot::Snapshot entries;
  std::vector<std::string> asked;

 private:
  host::Host& now(const std::string& path) {
    asked.push_back(path);
    return *host_;
  }

  std::unique_ptr<host::Host> host_;
};

snapshot::Snapshot snapshot_of(std::string_view machine) {
  return snapshot::parse_snapshot(test::machine_text(machine)).value();
}

/// A machine, changed in one way, and what its events say of that.
struct Change {
  std::string what;
  snapshot::Snapshot after;
  host::MachineChanges events;
};

class Changer {
 public:
  Changer(snapshot::Snapshot before, unsigned seed)
      : before_(std::move(before)),
        random_(seed) {}

  /// One of each kind that this machine has room for.
  std::vector<Change> all() {
    std::vector<Change> changes;
    for (const auto make :
         {&Changer::port_down, &Changer::device_gone, &Changer::node_renumbered,
          &Changer::netdev_renamed, &Changer::netdev_down, &Changer::function_gone,
          &Changer::driver_gone, &Changer::other_gpu, &Changer::spec_written}) {
      Change change{.what = {}, .after = before_, .events = {}};
      if ((this->*make)(change)) changes.push_back(std::move(change));
    }
    return changes;
  }

 private:
  using Entries = decltype(snapshot::Snapshot::entries);

  std::optional<std::string> any(const std::vector<std::string>& paths) {
    if (paths.empty()) return std::nullopt;
    return paths[random_() % paths.size()];
  }

  /// Paths that a pattern matches.
  [[nodiscard]] std::vector<std::string> like(
      const std::function<bool(const std::string&)>& is) const {
    std::vector<std::string> paths;
    for (const auto& [path, entry] : before_.entries) {
      if (is(path)) paths.push_back(path);
    }
    return paths;
  }

  [[nodiscard]] std::vector<std::string> in(const std::string& folder) const {
    return like([&](const std::string& path) {
      return path.starts_with(folder + "/") &&
             path.find('/', folder.size() + 1) == std::string::npos;
    });
  }

  /// Where a class or bus link leads.
  [[nodiscard]] std::string target(const std::string& link) const {
    const auto* found = std::get_if<snapshot::SnapshotLink>(&before_.entries.at(link));
    return found != nullptr ? host::join_link(link, found->target) : link;
  }

  static void put(snapshot::Snapshot& snapshot, const std::string& path, const std::string& text) {
    snapshot.entries.insert_or_assign(path, snapshot::SnapshotFile{text + "\n"});
  }

  /// Everything at or below a path, and the links that lead there.
  static std::vector<std::string> remove(snapshot::Snapshot& snapshot, const std::string& path) {
    std::vector<std::string> gone;
    std::erase_if(snapshot.entries, [&](const auto& entry) {
      const auto* link = std::get_if<snapshot::SnapshotLink>(&entry.second);
      const auto leads = link != nullptr ? host::join_link(entry.first, link->target) : entry.first;
      const bool inside =
          (leads + "/").starts_with(path + "/") || (entry.first + "/").starts_with(path + "/");
      if (inside) gone.push_back(entry.first);
      return inside;
    });
    return gone;
  }

  /// As events would: by the folder that a name was in.
  static void name(const std::vector<std::string>& gone, host::MachineChanges& events) {
    for (const auto& path : gone) {
      if (path.starts_with("/sys/class/infiniband/")) events.add_rdma(host::base_name(path));
      if (path.starts_with("/sys/class/infiniband_")) events.add_node(host::base_name(path));
      if (path.starts_with("/sys/class/net/")) events.add_netdev(host::base_name(path));
      if (path.starts_with("/sys/bus/pci/devices/")) events.add_pci(host::base_name(path));
      if (path.starts_with("/sys/bus/pci/drivers/nvidia/")) events.gpus = true;
      if (path.starts_with("/sys/class/drm/")) events.gpus = true;
    }
  }

  bool port_down(Change& change) {
    const auto device = any(in("/sys/class/infiniband"));
    if (!device) return false;
    change.what = host::base_name(*device) + " is down";
    for (const auto* port : {"/ports/1", "/ports/2"}) {
      const auto path = target(*device) + port;
      if (!before_.entries.contains(path + "/state")) continue;
      put(change.after, path + "/state", "1: DOWN");
      put(change.after, path + "/phys_state", "3: Disabled");
    }
    change.events.add_rdma(host::base_name(*device));
    return true;
  }

  bool device_gone(Change& change) {
    const auto device = any(in("/sys/class/infiniband"));
    if (!device) return false;
    change.what = host::base_name(*device) + " is gone";
    change.events.add_rdma(host::base_name(*device));
    for (const auto* folder : {"/sys/class/infiniband_verbs", "/sys/class/infiniband_mad"}) {
      for (const auto& node : in(folder)) {
        const auto path = target(node);
        const auto text = before_.entries.find(path + "/ibdev");
        if (text == before_.entries.end()) continue;
        const auto* file = std::get_if<snapshot::SnapshotFile>(&text->second);
        if (file == nullptr || file->content != host::base_name(*device) + "\n") continue;
        remove(change.after, path);
        change.after.entries.erase(node);
        change.events.add_node(host::base_name(node));
      }
    }
    remove(change.after, target(*device));
    return true;
  }

  bool node_renumbered(Change& change) {
    const auto node = any(in("/sys/class/infiniband_verbs"));
    if (!node || !before_.entries.contains(target(*node) + "/dev")) return false;
    change.what = host::base_name(*node) + " is renumbered";
    put(change.after, target(*node) + "/dev", "231:77");
    change.events.add_node(host::base_name(*node));
    return true;
  }

  bool netdev_renamed(Change& change) {
    const auto netdev = any(in("/sys/class/net"));
    if (!netdev) return false;
    const auto from = target(*netdev);
    const auto to = from.substr(0, from.rfind('/')) + "/renamed";
    change.what = host::base_name(*netdev) + " is renamed";
    for (const auto& path : remove(change.after, from)) {
      auto entry = before_.entries.at(path);
      if (path == *netdev) {
        change.after.entries.emplace(
            "/sys/class/net/renamed",
            from == path ? entry : snapshot::SnapshotEntry(snapshot::SnapshotLink{to}));
      } else if (path.starts_with(from + "/")) {
        change.after.entries.emplace(to + path.substr(from.size()), std::move(entry));
      }
    }
    change.events.add_netdev(host::base_name(*netdev));
    change.events.add_netdev("renamed");
    return true;
  }

  bool netdev_down(Change& change) {
    const auto netdev = any(in("/sys/class/net"));
    if (!netdev) return false;
    change.what = host::base_name(*netdev) + " is down";
    put(change.after, target(*netdev) + "/operstate", "down");
    put(change.after, target(*netdev) + "/flags", "0x1002");
    change.events.add_netdev(host::base_name(*netdev));
    return true;
  }

  /// A virtual function where there is one; its physical function has one less.
  bool function_gone(Change& change) {
    auto virtual_ones = like([](const std::string& path) { return path.ends_with("/physfn"); });
    for (auto& path : virtual_ones) path = path.substr(0, path.rfind('/'));
    std::vector<std::string> functions;
    for (const auto& link : in("/sys/bus/pci/devices")) functions.push_back(target(link));
    const auto function = any(virtual_ones.empty() ? functions : virtual_ones);
    if (!function) return false;
    change.what = host::base_name(*function) + " is gone";
    if (!virtual_ones.empty()) {
      const auto physical = target(*function + "/physfn");
      put(change.after, physical + "/sriov_numvfs", "0");
    }
    name(remove(change.after, *function), change.events);
    return true;
  }

  bool driver_gone(Change& change) {
    const auto link = any(in("/sys/bus/pci/devices"));
    if (!link) return false;
    const auto path = target(*link);
    const auto at = change.after.entries.find(path + "/uevent");
    auto* uevent = at != change.after.entries.end()
                       ? std::get_if<snapshot::SnapshotFile>(&at->second)
                       : nullptr;
    if (uevent == nullptr || !uevent->content.starts_with("DRIVER=")) return false;
    change.what = host::base_name(path) + " has no driver";
    uevent->content.erase(0, uevent->content.find('\n') + 1);
    change.after.entries.erase(path + "/driver");
    change.events.add_pci(host::base_name(path));
    return true;
  }

  bool other_gpu(Change& change) {
    const auto information = any(like([](const std::string& path) {
      return path.starts_with("/proc/driver/nvidia/gpus/") && path.ends_with("/information");
    }));
    if (!information) return false;
    const auto folder = information->substr(0, information->rfind('/'));
    change.what = host::base_name(folder) + " is another GPU";
    put(change.after, *information, "GPU UUID: GPU-other\nDevice Minor: 77");
    change.events.add_pci(host::base_name(folder));
    return true;
  }

  bool spec_written(Change& change) {
    change.what = "a spec is written";
    put(change.after, "/etc/cdi/other.yaml", "kind: other.com/gpu");
    change.events.cdi = true;
    return true;
  }

  snapshot::Snapshot before_;
  std::mt19937 random_;
};

class ReadAgain : public testing::TestWithParam<std::string> {};

TEST_P(ReadAgain, gives_what_a_whole_reading_gives_after_any_change) {
  const auto before = snapshot_of(GetParam());
  snapshot::SnapshotHost host(before);
  const Node expected_before = read_node(host);
  NodeReader reader;
  EXPECT_EQ(reader.read(host).value(), expected_before);
  unsigned seed = 1;
  for (const char c : GetParam()) seed = seed * 31 + static_cast<unsigned char>(c);
  for (auto& change : Changer(before, seed).all()) {
    snapshot::SnapshotHost changed(std::move(change.after));
    const Node expected = read_node(changed);
    EXPECT_TRUE(reader.read_again(changed, change.events).value() == expected) << change.what;
    EXPECT_TRUE(reader.read_again(changed, {}).value() == expected)
        << change.what << ", nothing else";
    EXPECT_TRUE(reader.read_again(host, change.events).value() == expected_before)
        << change.what << ", and comes back";
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ReadAgain, testing::ValuesIn(test::machine_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
                           return name;
                         });

/// One machine that is read again and again.
class NodeReaderTest : public testing::Test {
 protected:
  Node read() {
    host_.begin();
    return reader_.read(host_).value();
  }

  Node read_again(const host::MachineChanges& changes) {
    host_.begin();
    return reader_.read_again(host_, changes).value();
  }

  void put(const std::string& path, const std::string& text) {
    host_.entries.entries.insert_or_assign(path, snapshot::SnapshotFile{text});
  }

  [[nodiscard]] std::vector<std::string> asked_below(const std::string& folder) const {
    std::vector<std::string> paths;
    for (const auto& path : host_.asked) {
      if (path.find(folder) != std::string::npos) paths.push_back(path);
    }
    return paths;
  }

  CountingHost host_{snapshot_of("dgx-h100")};
  NodeReader reader_;
};

TEST_F(NodeReaderTest, a_port_that_is_named_is_read_and_no_other) {
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& nic : read().nics) found.insert(nic.name);
    return found;
  }();
  ASSERT_GT(names.size(), 4U);
  host::MachineChanges changes;
  changes.add_rdma(*names.begin());
  read_again(changes);
  EXPECT_THAT(asked_below("/infiniband/" + *names.begin() + "/ports/1/state"), Not(IsEmpty()));
  EXPECT_THAT(asked_below("/infiniband/" + *names.rbegin() + "/ports"), IsEmpty());
  EXPECT_THAT(asked_below("/uevent"), IsEmpty());
  EXPECT_THAT(asked_below("/information"), IsEmpty());
}

TEST_F(NodeReaderTest, what_the_nvidia_driver_says_is_read_once) {
  const auto gpus = read().gpus;
  EXPECT_EQ(asked_below("/information").size(), gpus.size());
  EXPECT_EQ(read().gpus, gpus);
  EXPECT_THAT(asked_below("/information"), IsEmpty());
}

TEST_F(NodeReaderTest, a_gpu_that_is_named_is_asked_again) {
  const auto address = read().gpus.at(0).pci.str();
  host::MachineChanges changes;
  changes.add_pci(address);
  read_again(changes);
  EXPECT_THAT(asked_below("/information"),
              testing::ElementsAre("/proc/driver/nvidia/gpus/" + address + "/information"));
}

TEST_F(NodeReaderTest, everything_asks_all_gpus_again) {
  const auto gpus = read().gpus;
  host::MachineChanges changes;
  changes.everything = true;
  read_again(changes);
  EXPECT_EQ(asked_below("/information").size(), gpus.size());
}

TEST_F(NodeReaderTest, a_gpu_without_a_driver_in_between_is_asked_again) {
  const auto with = host_.entries;
  const auto gpus = read().gpus;
  std::erase_if(host_.entries.entries, [](const auto& entry) {
    return entry.first.find("/nvidia/") != std::string::npos;
  });
  read();
  host_.entries = with;
  EXPECT_EQ(read().gpus, gpus);
  EXPECT_EQ(asked_below("/information").size(), gpus.size());
}

TEST_F(NodeReaderTest, a_uuid_of_question_marks_is_asked_for_until_it_is_known) {
  const auto address = read().gpus.at(0).pci.str();
  const auto path = "/proc/driver/nvidia/gpus/" + address + "/information";
  host::MachineChanges changes;
  changes.add_pci(address);
  put(path, "GPU UUID: GPU-" + std::string(8, '?') + "\nDevice Minor: 0\n");
  EXPECT_EQ(read_again(changes).gpus.at(0).uuid, std::nullopt);
  put(path, "GPU UUID: GPU-known\nDevice Minor: 0\n");
  EXPECT_EQ(read().gpus.at(0).uuid, "GPU-known");
  read();
  EXPECT_THAT(asked_below(path), IsEmpty());
}

TEST_F(NodeReaderTest, capabilities_of_a_function_are_read_once_under_one_driver) {
  const auto first = read();
  EXPECT_THAT(asked_below("/max_link_speed"), Not(IsEmpty()));
  EXPECT_EQ(read(), first);
  EXPECT_THAT(asked_below("/max_link_speed"), IsEmpty());
  EXPECT_THAT(asked_below("/acpi_index"), IsEmpty());
  EXPECT_THAT(asked_below("/current_link_speed"), Not(IsEmpty()));
}

TEST_F(NodeReaderTest, nothing_that_changed_costs_only_lists_of_names) {
  const auto first = read();
  EXPECT_EQ(read_again({}), first);
  EXPECT_LT(host_.asked.size(), 40U);
}

/// A port with so many virtual functions that a driver of virtual machines holds, as Linux shows
/// it.
snapshot::Snapshot port_with_vfs(unsigned count) {
  test::SysfsTree tree;
  tree.pci("0000:18:00.0").rdma("mlx5_0");
  tree.text("/sys/devices/pci0000:15/0000:18:00.0/sriov_totalvfs", "64");
  tree.text("/sys/devices/pci0000:15/0000:18:00.0/sriov_numvfs", std::to_string(count));
  tree.text("/sys/devices/pci0000:15/0000:18:00.0/sriov_offset", "8");
  tree.text("/sys/devices/pci0000:15/0000:18:00.0/sriov_stride", "1");
  for (unsigned at = 0; at < count; ++at) {
    const auto address = PciAddress{0, 0x18, static_cast<std::uint8_t>(1 + at / 8),
                                    static_cast<std::uint8_t>(at % 8)}
                             .str();
    tree.pci(address, "vfio-pci").vf_of("0000:18:00.0");
    tree.link("driver", "/sys/bus/pci/drivers/vfio-pci");
    tree.link("/sys/bus/pci/drivers/vfio-pci/" + address, "/sys/devices/pci0000:15/" + address);
    tree.link("iommu_group", "/sys/kernel/iommu_groups/" + std::to_string(at));
    tree.add("d /sys/kernel/iommu_groups/" + std::to_string(at) + "\n");
    tree.link("/sys/class/vfio/" + std::to_string(at),
              "/sys/devices/virtual/vfio/" + std::to_string(at));
    tree.add("d /sys/devices/virtual/vfio/" + std::to_string(at) + "\n");
  }
  return snapshot::parse_snapshot("railhead-snapshot 1\n" + tree.entries()).value();
}

/// How often a host is asked for a whole machine, and below a folder.
struct Questions {
  std::size_t all = 0;
  std::size_t of_functions = 0;
};

Questions questions_of(snapshot::Snapshot machine) {
  CountingHost host(std::move(machine));
  host.begin();
  EXPECT_TRUE(NodeReader().read(host));
  const auto of_functions = std::ranges::count_if(
      host.asked, [](const std::string& path) { return path.starts_with("/sys/devices/pci"); });
  return {host.asked.size(), static_cast<std::size_t>(of_functions)};
}

// Questions are the same on every machine, and nearly all of the time that a reading takes. Where
// one of these bounds is exceeded, either something is read twice or the bound is to be raised on
// purpose.

TEST(NodeReaderQuestions, a_further_vf_is_asked_for_its_iommu_group_alone) {
  const auto few = questions_of(port_with_vfs(8));
  const auto many = questions_of(port_with_vfs(48));
  EXPECT_EQ(many.of_functions - few.of_functions, 40U);
  // And the node of the group: its link, its number, and itself.
  EXPECT_EQ(many.all - few.all, 4U * 40U);
}

TEST(NodeReaderQuestions, a_whole_machine_is_asked_no_more_than_this) {
  EXPECT_LE(questions_of(snapshot_of("dgx-h100")).all, 1207U);
  EXPECT_LE(questions_of(snapshot_of("vfs-on-one-socket")).all, 1169U);
}

/// A machine that we could not look at has not changed.
TEST(NodeReader, fails_where_we_lack_a_descriptor_or_memory) {
  const auto box = [] {
    return snapshot::SnapshotHost::parse(test::machine_text("seed-8gpu-4nic")).value();
  };
  const Node whole = read_node(*box());
  for (const int error : {EMFILE, ENFILE}) {
    for (const int questions : {0, 1, 7, 50, 100}) {
      test::ShortHost without(box(), error, questions);
      NodeReader reader;
      const auto first = reader.read(without);
      ASSERT_FALSE(first) << questions;
      EXPECT_EQ(host::errno_of(first.error()), error);
      EXPECT_EQ(reader.read(*box()).value(), whole);
      test::ShortHost later(box(), error, questions);
      EXPECT_FALSE(reader.read(later));
      host::MachineChanges gpus;
      gpus.gpus = true;
      EXPECT_EQ(reader.read_again(*box(), gpus).value(), whole) << "as a whole";
    }
  }
}

TEST(NodeReader, enomem_of_an_attribute_is_a_problem_and_of_a_list_a_failure) {
  const std::string device = "t /sys/class/infiniband/a/node_type 1: CA\n";
  NodeReader reader;
  const auto host = test::host_of(device + "e /sys/class/infiniband/a/node_guid ENOMEM\n");
  const auto node = reader.read(*host);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->nics.size(), 1U);
  EXPECT_EQ(node->problems.size(), 1U);
  EXPECT_FALSE(reader.read(*test::host_of("e /sys/class/infiniband ENOMEM\n")));
}

}  // namespace
}  // namespace railhead::node
