// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "data/value.h"

namespace railhead::config {

/// Who said a value. Later ones win.
enum class Origin : std::uint8_t { fallback, file, rdma_environment, environment, flag };
std::string_view to_string(Origin origin);  ///< "default", "file", …

/// A configuration file as read: its name for messages, and its text.
struct ConfigFile {
  std::string name;
  std::string text;

  friend bool operator==(const ConfigFile&, const ConfigFile&) = default;
};

/// Everything that can say something about settings.
struct ConfigSources {
  std::vector<ConfigFile> files;  ///< later files win
  std::map<std::string, std::string> environment;
  std::map<SettingRow, std::string> flags;
};

/// An entry of `roles:` or `expect:` in the file, the operator's word on NICs: as written, read
/// where NICs are known. What is not there is ""; a selector that is not there matches all.
struct NicRule {
  struct Text {
    std::string text;
    std::string where;  ///< "config.yaml:12:11"

    /// The same word, wherever it stands.
    friend bool operator==(const Text& a, const Text& b) { return a.text == b.text; }
  };

  Text name;        ///< shell patterns of RDMA device names, commas between
  Text pci;         ///< PCI address
  Text device;      ///< PCI ids, "15b3:1021" or "15b3:*"
  Text link_layer;  ///< "InfiniBand", "Ethernet"
  Text netdev;      ///< shell pattern of its netdevs
  Text role;        ///< of `roles:`
  Text port;        ///< this and the following: of `expect:`
  Text unused;      ///< "true"
  Text one_up;      ///< "true"
  Text rate_gbps;
  Text entry;  ///< no text, only where the entry begins

  friend bool operator==(const NicRule&, const NicRule&) = default;
};

/// Something that describes pools, as read: `pools:` of one of our files, another plugin's file, or
/// that plugin's variables. What it means is known to src/pools.
struct PoolSource {
  enum class Shape : std::uint8_t {
    ours,              ///< the value of `pools:`
    shared_plugin,     ///< the file of k8s-rdma-shared-dev-plugin: `configList`
    sriov_plugin,      ///< the file of sriov-network-device-plugin: `resourceList`
    flat_file,         ///< the file of k8s-rdma-device-plugin
    rdma_environment,  ///< its RDMA_* variables as keys and texts
  };

  Shape shape = Shape::ours;
  std::string name;  ///< of the file, for messages; "environment"
  data::Value value;
};

/// The effective configuration; each value knows who said it and where. At first every default is
/// in force.
class Config {
 public:
  Config();

  struct Entry {
    std::string text;
    Origin origin = Origin::fallback;
    std::string where;  ///< "config.yaml:3:5", "RAILHEAD_GPUS", "--gpus"; "" for a default
  };

  [[nodiscard]] const Settings& settings() const { return settings_; }

  /// The same value as it was said, and by whom.
  [[nodiscard]] const Entry& entry(SettingRow row) const { return entries_[row.index()]; }

  [[nodiscard]] const std::vector<NicRule>& roles() const { return roles_; }

  [[nodiscard]] const std::vector<NicRule>& expect() const { return expect_; }

  /// In the order of the files, the environment last.
  [[nodiscard]] const std::vector<PoolSource>& pool_sources() const { return pool_sources_; }

  /// Unknown keys of other plugins' files, and values that were overruled in a surprising way.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// Takes this setting as another configuration has it.
  void keep(SettingRow row, const Config& other);

 private:
  friend class ConfigBuilder;

  Status take(SettingRow row, Entry entry);

  Settings settings_;
  std::array<Entry, std::size(kSettings)> entries_;
  std::vector<NicRule> roles_;
  std::vector<NicRule> expect_;
  std::vector<PoolSource> pool_sources_;
  std::vector<std::string> warnings_;
};

/// Flag > RAILHEAD_* > RDMA_* > files > default. Files are recognised by their shape: ours,
/// `configList` of k8s-rdma-shared-dev-plugin, `resourceList` of sriov-network-device-plugin, or
/// the flat keys of k8s-rdma-device-plugin. An unknown key in ours is an error with file, line and
/// column; in theirs a warning. Nothing is half applied: any error and there is no Config.
Result<Config> make_config(const ConfigSources& sources);

/// What a running agent can make of a configuration that was read again.
struct Reload {
  Config config;  ///< to use from now on; what cannot change live keeps its old value
  std::vector<std::string> changed;  ///< settings that take effect, "roles", "expect"
  std::vector<std::string> restart;  ///< settings that wait for a restart, each with its place
  bool concerns_machine = false;     ///< something that takes effect changes the machine's table
};

/// Pools are compared where their meaning is known.
Reload reload_of(const Config& running, Config fresh);

}  // namespace railhead::config
