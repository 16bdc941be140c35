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

/// The evidence of a machine that nobody looked at: "roce.gid /sys/…".
std::set<std::string> made_up(const Patient& patient) {
  snapshot::SnapshotHost inner(patient.snapshot());
  AskedHost host(inner);
  auto node = node::read_node(host);
  auto system = system::read_system(host, node, checks::parts_of(checks::all_checks()));
  const checks::Machine machine(std::move(node), std::move(system), {});
  std::set<std::string> found;
  for (const auto& finding : checks::run_checks(machine, checks::all_checks())) {
    for (const auto& [path, value, error] : finding.evidence) {
      if (!path.starts_with('/')) continue;  // a setting of the configuration
      // The driver stands in two files of a function, and the second VF of a card is not asked for
      // the first.
      const bool in_link =
          path.ends_with("/uevent") && host.was_asked(path.substr(0, path.size() - 6) + "driver");
      if (!in_link && !host.was_asked(path)) found.insert(std::string(finding.id) + " " + path);
    }
  }
  return found;
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

}  // namespace
}  // namespace railhead::test
