// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "setup/apply.h"
#include "setup/pci_control.h"
#include "unit/host/temporary_directory.h"

namespace railhead::setup::test {

namespace fs = std::filesystem;

/// A node as a tree of files, with a kernel 6.1.0-test that has ib_umad, which needs ib_core, and
/// rdma_ucm.
class NodeTree {
 public:
  NodeTree() {
    write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    write("lib/modules/6.1.0-test/modules.dep",
          "kernel/ib_core.ko:\nkernel/ib-umad.ko.xz: kernel/ib_core.ko\n"
          "kernel/rdma_ucm.ko: kernel/ib-umad.ko.xz kernel/ib_core.ko\n");
    write("lib/modules/6.1.0-test/modules.builtin", "kernel/ib_uverbs.ko\n");
    for (const auto* folder : {"sys/module", "etc", "var/lib", "run/systemd/system"})
      fs::create_directories(at(folder));
  }

  [[nodiscard]] fs::path at(const std::string& path) const { return directory_.path() / path; }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
  }

  [[nodiscard]] std::string read(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(at(path)).rdbuf();
    return text.str();
  }

  void service(const std::string& name) const {
    write("usr/lib/systemd/system/" + name + ".service", "[Service]\nExecStart=/bin/true\n");
  }

  /// A network function of mlx5_core with SR-IOV: "0000:3b:00.0", netdev ens8f0, RDMA device
  /// mlx5_0.
  void physical_function(unsigned total_vfs = 8) const {
    function("0000:3b:00.0", "ens8f0", "mlx5_0", "101d", "0c42:a103:0012:3456");
    write(path_of("0000:3b:00.0") + "sriov_totalvfs", std::to_string(total_vfs) + "\n");
    write(path_of("0000:3b:00.0") + "sriov_numvfs", "0\n");
  }

  static std::string path_of(const std::string& address) {
    return "sys/bus/pci/devices/" + address + "/";
  }

  void function(const std::string& address, const std::string& netdev, const std::string& rdma,
                const std::string& device, const std::string& guid) const {
    const std::string path = path_of(address);
    write(path + "vendor", "0x15b3\n");
    write(path + "device", "0x" + device + "\n");
    write(path + "class", "0x020000\n");
    write(path + "driver_override", "(null)\n");
    write(path + "net/" + netdev + "/mtu", "1500\n");
    write(path + "net/" + netdev + "/address", "0c:42:a1:00:00:01\n");
    write(path + "infiniband/" + rdma + "/node_guid", guid + "\n");
    write(path + "infiniband/" + rdma + "/ports/1/link_layer", "Ethernet\n");
    fs::create_directories(at("sys/bus/pci/drivers/mlx5_core"));
    fs::create_directories(at("sys/class/net"));
    fs::create_directory_symlink("../../drivers/mlx5_core", at(path + "driver"));
    fs::create_directory_symlink("../../bus/pci/devices/" + address + "/net/" + netdev,
                                 at("sys/class/net/" + netdev));
  }

  /// Each file with its bytes and mode, and each folder.
  [[nodiscard]] std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
      const auto name = entry.path().lexically_relative(directory_.path()).string();
      const auto mode = std::to_string(static_cast<int>(entry.status().permissions()));
      found[name] = mode + (entry.is_regular_file() ? "\n" + read(name) : "");
    }
    return found;
  }

  /// As if a kernel ran on it.
  [[nodiscard]] Machine machine(bool is_live = true) const {
    auto machine = Machine::open(directory_.path().string()).value();
    machine.is_live = is_live;
    return machine;
  }

 private:
  railhead::test::TemporaryDirectory directory_;
};

/// What a kernel would do to the tree.
class TreeKernel : public Kernel {
 public:
  explicit TreeKernel(const NodeTree& tree)
      : tree_(tree) {}

  Status load_module(const std::string& name) override {
    if (name == broken) return Error{ErrorCode::unavailable, "module " + name + ": broken"};
    fs::create_directory(tree_.at("sys/module/" + name));
    return {};
  }

  Status unload_module(const std::string& name) override {
    if (name == used) return Error{ErrorCode::unavailable, "in use"};
    fs::remove(tree_.at("sys/module/" + name));
    return {};
  }

  Status set_attribute(const std::string& path, const std::string& text) override {
    tree_.write(path.substr(1), text + "\n");
    return {};
  }

  Status set_functions(const std::string& address, unsigned count) override {
    const std::string physical = NodeTree::path_of(address);
    for (unsigned i = 0; fs::exists(tree_.at(physical + "virtfn" + std::to_string(i))); ++i) {
      fs::remove(tree_.at(physical + "virtfn" + std::to_string(i)));
      fs::remove_all(tree_.at("sys/bus/pci/devices/" + virtual_function(i)));
      fs::remove(tree_.at("sys/class/net/ens8f0v" + std::to_string(i)));
    }
    tree_.write(physical + "sriov_numvfs", "0\n");
    pass("none");
    for (unsigned i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      tree_.function(virtual_function(i), "ens8f0v" + number, "mlx5_" + std::to_string(i + 1),
                     "101e", "0000:0000:0000:0000");
      fs::create_directory_symlink("../" + virtual_function(i),
                                   tree_.at(physical + "virtfn" + number));
      fs::create_directory_symlink("../" + address,
                                   tree_.at(NodeTree::path_of(virtual_function(i)) + "physfn"));
    }
    tree_.write(physical + "sriov_numvfs", std::to_string(count) + "\n");
    return {};
  }

  static std::string virtual_function(unsigned number) {
    return "0000:3b:01." + std::to_string(number);
  }

  Status set_identity(const std::string& address) override {
    bind(address, "");
    pass("unbound");
    bind(address, "mlx5_core");
    const std::string rdma = "mlx5_" + std::to_string(address.back() - '0' + 1);
    tree_.write(NodeTree::path_of(address) + "infiniband/" + rdma + "/node_guid",
                "0e42:a103:0012:345" + std::string(1, address.back()) + "\n");
    return {};
  }

  Status restart_service(const std::string& service) override {
    restarted.push_back(service);
    if (on_restart) on_restart();
    return {};
  }

  Status start_unit(const std::string& unit) override {
    started.push_back(unit);
    tree_.write("proc/1/mountinfo", "30 1 0:30 / /mnt/ai-data rw - autofs systemd-1 rw\n");
    return {};
  }

  Status stop_unit(const std::string& unit) override {
    stopped.push_back(unit);
    fs::remove_all(tree_.at("proc/1"));
    return {};
  }

  Status set_pci_field(const std::string& subject, const std::string& value) override {
    const auto machine = tree_.machine();
    const auto write = TRY(pci_write(*machine.host, subject, value));
    const std::string bytes{static_cast<char>(write.value & 0xff),
                            static_cast<char>(write.value >> 8)};
    return machine.tree->write_at(write.path, write.offset, bytes);
  }

  Status set_link(const std::string& subject, const std::string& value) override {
    links.emplace_back(subject, value);
    if (on_link) on_link(subject, value);
    return {};
  }

  Status set_driver(const std::string& address, const std::string& driver) override {
    tree_.write(NodeTree::path_of(address) + "driver_override",
                driver == "vfio-pci" ? "vfio-pci\n" : "(null)\n");
    pass("override");
    const auto link = tree_.at(NodeTree::path_of(address) + "driver");
    if (fs::is_symlink(link) && fs::read_symlink(link).filename() == driver) return {};
    bind(address, "");
    pass("unbound");
    bind(address, driver);
    return {};
  }

  std::vector<std::pair<std::string, std::string>> links;
  std::function<void(const std::string& subject, const std::string& value)> on_link;
  /// Called at each state between, which whoever ends the program there leaves.
  std::function<void(const std::string& state)> on_pass;
  std::string broken, used;
  std::vector<std::string> started, stopped;
  std::vector<std::string> restarted;
  std::function<void()> on_restart;

 private:
  void pass(const std::string& state) const {
    if (on_pass) on_pass(state);
  }

  void bind(const std::string& address, const std::string& driver) const {
    const auto link = tree_.at(NodeTree::path_of(address) + "driver");
    fs::remove(link);
    if (driver.empty()) return;
    fs::create_directories(tree_.at("sys/bus/pci/drivers/" + driver));
    fs::create_directory_symlink("../../drivers/" + driver, link);
  }

  const NodeTree& tree_;
};

inline const StepObserver kSilent = [](const Step&) {};

inline Wanted wanted(const std::string& text) {
  return parse_wanted("test", text).value();
}

inline const Step& step_of(const Plan& plan, const std::string& id) {
  for (const auto& step : plan) {
    if (step.id == id) return step;
  }
  throw std::runtime_error("no step " + id);
}

/// "modules.loaded/ib_umad todo" of each.
inline std::vector<std::string> states(const Plan& plan) {
  std::vector<std::string> found;
  for (const auto& step : plan) found.push_back(step.id + " " + std::string(to_string(step.state)));
  return found;
}

}  // namespace railhead::setup::test
