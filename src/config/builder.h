// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "config/config.h"

namespace railhead::config {

/// Collects what each source says, lowest first, and checks every value where it stands.
class ConfigBuilder {
 public:
  /// A file that people write, or a Kubernetes manifest that holds such files.
  Status add_file(const ConfigFile& file);
  Status add_environment(const std::map<std::string, std::string>& environment);
  Status set(SettingRow row, std::string text, Origin origin, std::string where);

  Config finish() && { return std::move(config_); }

 private:
  enum class Manifests : bool { refused, read };
  Status add_text(const ConfigFile& file, Manifests manifests);
  Status add_manifest(const ConfigFile& file, const data::Value& root);
  Status add_our_file(const std::string& name, const data::Value& root);
  Status add_section(const std::string& name, const std::string& path, const data::Value& section);
  /// The entries of `list`, which is roles or expect.
  static Result<std::vector<NicRule>> nic_rules(const std::string& name, const std::string& list,
                                                const data::Value& value);
  Status add_shared_plugin_file(const std::string& name, data::Value root);
  Status add_k8s_rdma_device_plugin_file(const std::string& name, const data::Value& root);

  /// The variables of k8s-rdma-device-plugin; one that is empty is not there.
  Status add_rdma_variables(const std::map<std::string, std::string>& environment);

  Config config_;
};

}  // namespace railhead::config
