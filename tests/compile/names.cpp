// SPDX-License-Identifier: Apache-2.0
//
// Compiled by CMakeLists.txt with one of the macros, each of which has to keep it from compiling,
// and without any.
#include "agent/metrics.h"
#include "config/config.h"
#include "host/host.h"

namespace railhead {

#ifdef WRONG_SETTING
constexpr config::SettingRow kSetting = "nri.enable";
#else
constexpr config::SettingRow kSetting = "nri.enabled";
#endif

void count(agent::Metrics& metrics) {
#if defined(WRONG_LABEL_VALUE)
  metrics.config_reloads.add("load");
#elif defined(WRONG_LABEL)
  metrics.config_reloads.add("loaded", "again");
#else
  metrics.config_reloads.add("loaded");
#endif
}

#ifdef WRONG_SHAPE
bool set(config::Settings& settings) {
  return settings.nri.enabled == "true";
}
#endif

/// A host that passes questions on, and forgets one where the macro is set.
class Decorator final : public host::Host {
 public:
  explicit Decorator(Host& inner)
      : inner_(inner) {}

  Result<std::optional<std::string>> read(const std::string& path) override {
    return inner_.read(path);
  }

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return inner_.readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return inner_.list(path);
  }

  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override {
    return inner_.walk_links(path, limit, take);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string& path) override {
    return inner_.device(path);
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    return inner_.rdma(dump);
  }

#ifndef WRONG_DECORATOR
  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(
      const std::string& link) override {
    return inner_.tcp_sockets(link);
  }
#endif

  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override {
    return inner_.devlink_info(pci_address);
  }

  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   host::LinkPart part) override {
    return inner_.link_settings(netdev, part);
  }

 private:
  Host& inner_;
};

void look_through(host::Host& inner) {
  const Decorator decorator(inner);
}

}  // namespace railhead
