// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "setup/apply.h"
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
    for (const auto* folder : {"sys/module", "etc", "var/lib"}) fs::create_directories(at(folder));
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
    if (name == used) return Error{ErrorCode::unavailable, "module " + name + ": in use"};
    fs::remove(tree_.at("sys/module/" + name));
    return {};
  }

  Status set_attribute(const std::string& path, const std::string& text) override {
    tree_.write(path.substr(1), text + "\n");
    return {};
  }

  Status restart_service(const std::string& service) override {
    restarted.push_back(service);
    if (on_restart) on_restart();
    return {};
  }

  std::string broken, used;
  std::vector<std::string> restarted;
  std::function<void()> on_restart;

 private:
  const NodeTree& tree_;
};

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
