// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"
#include "snapshot/snapshot.h"

namespace railhead::snapshot {

/// A recorded machine. Symbolic links work as in a kernel: followed in every component, relative to
/// the directory they are in, at most 40 of them; above that ELOOP (unavailable). An unreadable
/// directory that is denied (EACCES, EPERM) denies what is not recorded below it.
class SnapshotHost final : public host::Host {
 public:
  /// The host of a snapshot text; fails as parse_snapshot does.
  static Result<std::unique_ptr<host::Host>> parse(std::string_view text);

  /// `snapshot` has to respect the rules for keys; entries below something that is not a directory
  /// are out of reach.
  explicit SnapshotHost(Snapshot snapshot);

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override;
  Result<std::optional<host::DeviceNode>> device(const std::string& path) override;
  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override;
  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(const std::string& link) override;
  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override;
  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   host::LinkPart part) override;

 private:
  /// A place in the tree; without an entry it is a directory that only its children imply.
  struct Place {
    const SnapshotEntry* entry = nullptr;
    const Place* parent = nullptr;
    std::map<std::string_view, Place*> children;
  };
  enum class LastLink : std::uint8_t { follow, keep };

  /// The place of a path that starts at another; made where it is not there yet.
  Place* below(Place* place, std::string_view path);
  /// An answer of the kernel's netlink, from its pieces below `folder`.
  Result<std::optional<std::string>> answer_at(const std::string& folder);
  /// Where `path` leads; nullptr where it leads nowhere.
  Result<const Place*> resolve(const std::string& path, LastLink last_link) const;

  Snapshot snapshot_;
  std::deque<Place> places_;  ///< the root first; flat, so that no depth can exhaust the stack
};

}  // namespace railhead::snapshot
