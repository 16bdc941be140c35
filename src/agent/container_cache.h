// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proof/pods.h"

namespace railhead::agent {

/// The records of containers that the runtime showed the agent, for those whose bundles it cannot
/// read. For any thread.
class ContainerCache {
 public:
  /// More is no node: the kubelet's default is 110 pods. What does not fit is left out.
  static constexpr std::size_t kMaxContainers = 4096;
  /// What they take together. Ids and names are some 300 bytes, and up to 5 kB where somebody wants
  /// them to be.
  static constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

  /// `is_checked`: the GPUs are what the kubelet says, or none where it did not say. That goes
  /// before what the bundle claims.
  void note(const proof::ContainerRecord& record, bool is_checked = false);

  /// Adds those of this reading that are not named yet. Those that are named get the GPUs that were
  /// checked (a container can name what it was denied), and a slot that their bundle does not show.
  /// Containers that the reading lacks are forgotten, unless they were noted since the last one.
  void complete(std::vector<proof::ContainerRecord>& records, const usage::Usage& usage);

  /// "namespace/pod/container" of those that hold one of these NICs, by NIC and sorted. Some may
  /// have ended since the last reading.
  std::map<std::string, std::vector<std::string>> holders_of(const std::set<std::string>& nics);

 private:
  /// A record in one piece of memory, which copies share: thousands are kept in a process of a few
  /// MiB, and as members of a ContainerRecord they take more than twice as much.
  struct Entry {
    Entry(const proof::ContainerRecord& record, bool is_checked);

    [[nodiscard]] std::string_view id() const;
    [[nodiscard]] proof::ContainerRecord unpacked() const;
    [[nodiscard]] bool has_nics() const;

    /// Of memory.
    [[nodiscard]] std::size_t size() const { return sizeof *this + length; }

    std::shared_ptr<const char[]> bytes;  ///< Head, the job's size where there is one, texts
    std::uint32_t length = 0;
    bool is_checked = false;
    bool fresh = true;  ///< noted since the last reading
  };

  using Entries = std::vector<Entry>;  ///< sorted by their ids

  /// All that were noted. Those that the reading lacks are forgotten, unless they are fresh. The
  /// lock is held for this pass alone: who notes a container has the next one to answer.
  Entries take_stock(const usage::Usage& usage);

  /// The first that is not before this id.
  template <typename SomeEntries>
  static auto place_of(SomeEntries& entries, std::string_view id) {
    return std::ranges::lower_bound(entries, id, {}, &Entry::id);
  }

  std::mutex mutex_;
  Entries entries_;
  std::size_t bytes_ = 0;  ///< of all of them
};

}  // namespace railhead::agent
