// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_error.h"
#include "node/node.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"
#include "unit/source_dir.h"

namespace railhead::test {

/// A host with the entries of a snapshot, without its first line.
inline std::unique_ptr<host::Host> host_of(const std::string& entries) {
  auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n" + entries);
  if (!host) {
    ADD_FAILURE() << host.error().message;
    return std::move(snapshot::SnapshotHost::parse("railhead-snapshot 1\n")).value();
  }
  return std::move(host).value();
}

/// A host that is out of something: from the n-th question on it has only this errno for an answer.
class ShortHost final : public EmptyHost {
 public:
  ShortHost(std::unique_ptr<host::Host> host, int error, int questions)
      : host_(std::move(host)),
        error_(error),
        left_(questions) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return answer(&host::Host::read, path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return answer(&host::Host::readlink, path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return answer(&host::Host::list, path);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return answer(&host::Host::device, path);
  }

  Result<std::optional<std::string>> devlink_info(const std::string& address) override {
    return answer(&host::Host::devlink_info, address);
  }

 private:
  template <typename Answer>
  Answer answer(Answer (host::Host::*question)(const std::string&), const std::string& about) {
    if (left_ == 0) return host::host_error(about, error_);
    --left_;
    return (host_.get()->*question)(about);
  }

  std::unique_ptr<host::Host> host_;
  int error_;
  int left_;
};

inline node::Node node_of(const std::string& entries) {
  return node::read_node(*host_of(entries));
}

/// The names of all machines in the box, sorted.
inline std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/tests/nodes")) {
    if (file.path().extension() == ".node") names.push_back(file.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The text of a machine in the box, tests/nodes/<name>.node.
inline std::string machine_text(std::string_view name) {
  const std::string path = source_dir() + "/tests/nodes/" + std::string(name) + ".node";
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline node::Node machine(std::string_view name) {
  auto host = snapshot::SnapshotHost::parse(machine_text(name));
  if (!host) {
    ADD_FAILURE() << name << ": " << host.error().message;
    return {};
  }
  return node::read_node(**host);
}

/// A `f` entry: content of any bytes.
inline std::string file_entry(const std::string& path, const std::string& content) {
  return "f " + path + " " + std::to_string(content.size()) + "\n" + content + "\n";
}

}  // namespace railhead::test
