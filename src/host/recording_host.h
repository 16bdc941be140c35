// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "host/host.h"
#include "host/snapshot.h"

namespace railhead {

/// Passes every access on and keeps what was answered, so that a snapshot made of it gives the same
/// answers to the same questions: contents, links on the way, directories, device nodes, failures.
/// What is absent leaves nothing behind; a name that was listed and never looked at stays a name.
class RecordingHost : public Host {
 public:
  explicit RecordingHost(Host& inner)
      : inner_(inner) {}

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<DeviceNode>> device(const std::string& path) override;

  [[nodiscard]] Snapshot recorded() const;

 private:
  enum class LastLink { follow, keep };

  /// Where the access really goes, with the links met on the way recorded; absent when that cannot
  /// be found out (a loop, a link that may not be read).
  std::optional<std::string> canonical(const std::string& path, LastLink last_link);
  const std::optional<std::string>& link_at(const std::string& path);
  void keep(const std::string& path, SnapshotEntry entry);
  void keep_failure(const std::string& path, const Error& error);

  Host& inner_;
  Snapshot snapshot_;
  std::map<std::string, std::optional<std::string>> links_;  ///< what is known of each prefix
};

}  // namespace railhead
