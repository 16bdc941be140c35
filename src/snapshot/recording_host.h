// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/host.h"
#include "snapshot/snapshot.h"

namespace railhead::snapshot {

/// Passes every access on and keeps what was answered, so that a snapshot made of it gives the same
/// answers to the same questions: links on the way, directories, device nodes, failures, and of
/// contents what their readers said that they need. A file that was read without a word of that
/// stays a name, and so does one that was listed and never looked at. What is absent leaves nothing
/// behind.
class RecordingHost : public host::Host {
 public:
  explicit RecordingHost(host::Host& inner)
      : inner_(inner) {}

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> read_keeping(const std::string& path,
                                                  host::Keep need) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list_keeping(const std::string& path,
                                                               host::KeepName keep) override;
  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override;
  Result<std::optional<host::DeviceNode>> device(const std::string& path) override;
  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override;
  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(const std::string& link) override;
  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override;
  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   host::LinkPart part) override;

  [[nodiscard]] Snapshot recorded() const&;
  [[nodiscard]] Snapshot recorded() &&;

  /// The path by which a file was asked for first, by that at which it is, where they differ: a
  /// link does not change what a file has.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> asked() const;

 private:
  enum class LastLink { follow, keep };

  /// The snapshot with the directories that its paths need, and without files of no use.
  [[nodiscard]] Snapshot finished(Snapshot snapshot) const;
  /// Where the access really goes, with the links met on the way recorded; absent where that cannot
  /// be found out: a loop, or a directory that may not be searched.
  std::optional<std::string> canonical(const std::string& path, LastLink last_link);
  /// Where the link at `path` leads; absent where it is none. `is_last`: nothing follows it.
  std::optional<std::string> link_at(const std::string& path, bool is_last);
  bool may_search(const std::string& directory);

  /// What a reader needs of a file, beside what others need of it.
  void keep_of(const std::string& path, const std::string& asked, const std::string& content,
               host::Keep need);
  /// What was answered for a path.
  void keep(const std::string& path, SnapshotEntry entry);
  /// An answer of the kernel's netlink, in pieces below `folder`.
  void keep_answer(const std::string& folder, const Result<std::optional<std::string>>& answer);
  /// What an answer says of another path, unless more is known of that already.
  void imply(const std::string& path, SnapshotEntry entry);
  template <typename T, typename KeepValue>
  void note(const std::optional<std::string>& real, const Result<std::optional<T>>& answer,
            KeepValue keep_value);

  host::Host& inner_;
  Snapshot snapshot_;
  std::map<std::string, std::optional<std::string>> links_;  ///< what is known of prefixes
  std::map<std::string, bool> searchable_;

  /// How a file was read.
  struct Read {
    std::string asked;  ///< the path by which it was first, if that is another
    /// What each reader needs of it, in the order in which they came; of a single one the text
    /// stands in the entry alone.
    std::vector<std::pair<host::Keep, std::string>> needs;
  };

  std::map<std::string_view, Read> reads_;  ///< by the keys of the entries
  std::set<std::string> nothing_;           ///< files that have nothing that a reader needs
  std::set<std::string> ways_;              ///< directories that ".." left: without them no way

  // What the last canonical() found:
  std::vector<std::string> passed_;     ///< directories that ".." left
  std::optional<std::string> blocked_;  ///< the directory that may not be searched
};

}  // namespace railhead::snapshot
