// SPDX-License-Identifier: Apache-2.0
//
// Evidence names what was looked at: each path of each finding was asked for, under this name or
// another of the same file.
#include <gmock/gmock.h>

#include <deque>
#include <set>

#include "host/resolve.h"
#include "unit/checks/patients.h"
#include "unit/host/empty_host.h"

namespace railhead::test {
namespace {

/// Passes every question on, and keeps the paths that were asked for and the folders that were
/// listed.
class AskedHost final : public EmptyHost {
 public:
  explicit AskedHost(host::Host& inner)
      : inner_(inner) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    note(path);
    return inner_.read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    note(path);
    return inner_.readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    note(path);
    listed_.insert(real(path));
    return inner_.list(path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    note(path);
    return inner_.device(path);
  }

  Result<std::optional<std::string>> devlink_info(const std::string& address) override {
    note(host::devlink_path(address));
    return inner_.devlink_info(address);
  }

  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   host::LinkPart part) override {
    note(host::link_settings_path(netdev, part));
    return inner_.link_settings(netdev, part);
  }

  /// Asked for; or looked for in its folder, which is all that there is to do for a name that is
  /// not there; or a folder of which something was asked.
  [[nodiscard]] bool was_asked(std::string path) {
    if (path.ends_with('/')) path.pop_back();
    const auto where = real(path);
    const auto parent = where.substr(0, where.rfind('/'));
    const auto below = asked_.lower_bound(where + "/");
    return asked_.contains(where) || listed_.contains(parent) ||
           (below != asked_.end() && below->starts_with(where + "/"));
  }

 private:
  void note(const std::string& path) { asked_.insert(real(path)); }

  /// Where a path leads, with each link on the way followed.
  std::string real(const std::string& path) {
    std::deque<std::string> todo;
    host::push_front(todo, path);
    std::string at;
    for (int links = 0; !todo.empty();) {
      const auto name = todo.front();
      todo.pop_front();
      if (name == ".") continue;
      if (name == "..") {
        at.resize(at.empty() ? 0 : at.rfind('/'));
        continue;
      }
      const auto target = inner_.readlink(at + "/" + name);
      const bool is_link = target && *target && ++links < host::kMaxLinks;
      if (!is_link) {
        at += "/" + name;
        continue;
      }
      if ((*target)->starts_with('/')) at.clear();
      host::push_front(todo, **target);
    }
    return at;
  }

  host::Host& inner_;
  std::set<std::string> asked_;
  std::set<std::string> listed_;
};

/// A folder of a machine as the root of one.
class FolderHost final : public EmptyHost {
 public:
  FolderHost(host::Host& machine, std::string folder)
      : machine_(machine),
        folder_(std::move(folder)) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return machine_.read(folder_ + path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return machine_.readlink(folder_ + path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return machine_.list(folder_ + path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return machine_.device(folder_ + path);
  }

 private:
  host::Host& machine_;
  const std::string folder_;
};

/// The evidence that nobody looked at: "roce.gid /sys/…".
std::set<std::string> made_up(AskedHost& host, const std::vector<checks::Finding>& findings) {
  std::set<std::string> found;
  for (const auto& finding : findings) {
    for (const auto& one : finding.evidence) {
      if (!one.path.starts_with('/')) continue;                  // a setting of the configuration
      const auto path = one.path.substr(0, one.path.find(' '));  // a line of the file
      // The driver stands in two files of a function, and the second VF of a card is not asked for
      // the first.
      const bool in_link =
          path.ends_with("/uevent") && host.was_asked(path.substr(0, path.size() - 6) + "driver");
      if (!in_link && !host.was_asked(path)) found.insert(std::string(finding.id) + " " + path);
    }
  }
  return found;
}

std::set<std::string> made_up(const Patient& patient) {
  snapshot::SnapshotHost inner(patient.snapshot());
  AskedHost host(inner);
  auto node = node::read_node(host);
  auto system = system::read_system(host, node, checks::parts_of(checks::all_checks()));
  const checks::Machine machine(std::move(node), std::move(system), {});
  return made_up(host, checks::run_checks(machine, checks::all_checks()));
}

/// The same of the checks of a container, whose process is 4711.
std::set<std::string> made_up_of_container(const Patient& patient) {
  snapshot::SnapshotHost inner(patient.snapshot());
  AskedHost host(inner);
  auto node = node::read_node(host);
  const auto& all = checks::all_checks(checks::Scope::pod);
  auto system = system::read_system(host, node, checks::parts_of(all));
  const system::ContainerSource source{
      host, "/proc", [&](const std::string& root) -> Result<std::unique_ptr<host::Host>> {
        return std::unique_ptr<host::Host>(std::make_unique<FolderHost>(host, root));
      }};
  auto container = system::read_container(source, node, 4711);
  if (!container) return {};  // no such process
  checks::MoreFacts more;
  more.containers.push_back(*std::move(container));
  const checks::Machine machine(std::move(node), std::move(system), {}, std::move(more));
  return made_up(host, checks::run_checks(machine, all));
}

constexpr const char* kProcess = "/proc/4711/";
constexpr const char* kBundle = "/run/bundles/";

/// A machine with a container that has GPU 1 and mlx5_3, and all that is read of one.
Patient with_container() {
  auto patient = healthy();
  const auto at = [](const std::string& file) { return kProcess + file; };
  const std::string id(64, 'a');
  std::string zeros;
  for (int i = 0; i < 17; ++i) zeros += " 0";
  patient.text(at("stat"), "1 (train) S 12" + zeros + " 900 0 0");
  patient.text("/proc/12/stat", "1 (containerd-shim) S 1" + zeros + " 900 0 0");
  patient.text("/proc/12/status", "Tgid:\t12").link("/proc/12/cwd", "/run/bundles/sandbox");
  patient.text(at("status"), "Uid:\t0\t1000\t0\t0\nCapEff:\t0000000000004000\nCapBnd:\t00ff");
  patient.text(at("limits"), "Max locked memory         65536    65536    bytes");
  patient.text(at("cgroup"), "0::/kubepods/pod0/" + id);
  patient.text(at("uid_map"), "         0          0 4294967295");
  patient.bytes(at("environ"), std::string("NCCL_IB_HCA==mlx5_3\0UCX_NET_DEVICES=mlx5_3:1\0", 45));
  patient.text(at("maps"), "7f00-7f01 r-xp 0 08:01 5  /usr/lib/libibverbs.so.1");
  patient.text(at("mountinfo"), "9 8 0:9 / /dev/shm rw,nosuid - tmpfs shm rw,size=65536k");
  patient.text(at("net/dev"), "Inter-| Receive\n face |bytes\n    lo: 0 0\n  eth0: 1 2");
  patient.text(at("net/fib_trie"), "Local:\n     |-- 10.0.0.5\n        /32 host LOCAL");
  patient.link(at("ns/net"), "net:[2]").link("/proc/1/ns/net", "net:[1]");
  patient.link(at("fd/3"), "/dev/infiniband/uverbs3");
  patient.device(at("root/dev/infiniband/uverbs3"), {'c', 231, 195, 0666, 0, 0});
  patient.device(at("root/dev/infiniband/rdma_cm"), {'c', 10, 121, 0666, 0, 0});
  patient.device(at("root/dev/nvidia1"), {'c', 195, 1, 0666, 0, 0});
  patient.device(at("root/dev/gdrdrv"), {'c', 240, 0, 0666, 0, 0});
  patient.text(at("root/usr/lib/libibverbs.so.1"), "lib%s-rdmav34.so");
  patient.text(at("root/usr/lib/libibverbs/libmlx5-rdmav34.so"), "x");
  patient.text(at("root/usr/lib/libucp.so.0"), "x");
  patient.text(at("root/usr/lib/ucx/libuct_ib.so.0"), "x");
  patient.text(at("root/sys/class/infiniband/mlx5_3/ports/1/gids/0"),
               "fe80:0000:0000:0000:a288:c203:000a:4928");
  patient.text("/sys/class/infiniband_verbs/uverbs3/abi_version", "1");
  patient.text(kBundle + id + "/config.json",
               R"({"annotations": {"io.kubernetes.cri.container-name": "train"}, "linux":
                  {"resources": {"devices": [{"allow": false, "access": "rwm"}, {"allow": true,
                  "type": "c", "major": 231, "minor": 195, "access": "rw"}]}}})");
  return patient;
}

TEST(DoctorEvidence, was_looked_at_on_every_machine_of_the_box) {
  for (const auto& name : machine_names()) {
    EXPECT_THAT(made_up(Patient::of(name)), testing::IsEmpty()) << name;
  }
}

TEST(DoctorEvidence, was_looked_at_on_machines_with_all_that_the_doctor_reads) {
  EXPECT_THAT(made_up(healthy()), testing::IsEmpty());
  EXPECT_THAT(made_up(roce_with_ecn()), testing::IsEmpty());
  EXPECT_THAT(made_up(rails_in_one_subnet()), testing::IsEmpty());
  EXPECT_THAT(made_up(with_vfs()), testing::IsEmpty());
  EXPECT_THAT(made_up(lustre()), testing::IsEmpty());
  EXPECT_THAT(made_up(told_vm()), testing::IsEmpty());
  EXPECT_THAT(made_up(efa()), testing::IsEmpty());
}

TEST(DoctorEvidence, was_looked_at_in_containers_whatever_cannot_be_read) {
  const auto whole = with_container();
  EXPECT_THAT(made_up_of_container(whole), testing::IsEmpty());
  for (const auto& path : whole.paths("")) {
    if (!path.starts_with(kProcess) && !path.starts_with(kBundle)) continue;
    auto without = whole;
    EXPECT_THAT(made_up_of_container(without.drop(path)), testing::IsEmpty()) << path;
    auto unread = whole;
    EXPECT_THAT(made_up_of_container(unread.unreadable(path, "EACCES")), testing::IsEmpty())
        << path;
  }
}

}  // namespace
}  // namespace railhead::test
