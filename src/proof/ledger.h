// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proof/pods.h"

namespace railhead::proof {

/// A container of a pod, whichever incarnation; one without a name goes by its id.
struct PodKey {
  std::string pod_namespace;
  std::string pod;
  std::string container;

  friend auto operator<=>(const PodKey&, const PodKey&) = default;
};

PodKey key_of(const ContainerRecord& record);

/// What a container has done since it was first seen. Nothing in it ever decreases: neither when
/// processes end nor when the container is started again.
struct PodTotals {
  std::uint64_t queue_pairs = 0;    ///< that were seen to appear
  double traffic_bytes = 0;         ///< through devices that nobody else used meanwhile
  double tcp_bytes = 0;             ///< both ways, of connections to elsewhere
  std::array<double, 4> seconds{};  ///< in each Verdict
};

/// Keeps the totals over readings.
class PodLedger {
 public:
  /// A container is forgotten, totals and all, when this many readings in a row lack it.
  static constexpr unsigned kPatience = 20;
  /// So many looks in a row must find a fallback before it is one.
  static constexpr unsigned kLooks = 3;
  /// One that fell back is gone when so many lack it: a single reading may miss one.
  static constexpr unsigned kGone = 2;
  /// One that fell back and does not use RDMA has recovered when so many readings in a row find no
  /// fallback: a job closes its connections between two phases, too.
  static constexpr unsigned kCalm = 4;

  /// What a reading changed.
  struct Changes {
    std::vector<std::size_t> fell_back;  ///< indices of view.pods that were no fallback before
    /// Indices of those that were one; who cannot be judged for a while has not recovered.
    std::vector<std::size_t> recovered;
    std::vector<PodUse> gone;  ///< fallbacks that ended with their container, as last seen
    std::vector<PodKey> forgotten;
  };

  /// A fallback on TCP is none before so many seconds after its first connection was seen.
  explicit PodLedger(double grace_seconds = 0)
      : grace_seconds_(grace_seconds) {}

  /// A reading that saw no containers at all counts for nothing. `seconds` since the reading
  /// before; absent for the first. What one look suspects is a `silent_fallback` of the view only
  /// where enough looks did.
  Changes update(PodsView& view, std::optional<double> seconds);

  [[nodiscard]] const PodTotals* find(const PodKey& key) const;

 private:
  struct Entry {
    PodTotals totals;
    std::optional<PodUse> fallback;  ///< as last seen, while it is one
    unsigned missing = 0;
    unsigned calm = 0;                      ///< readings in a row without the fallback
    unsigned suspicious = 0;                ///< readings in a row with it
    std::string container_id;               ///< that the next is of
    std::optional<double> since_connected;  ///< seconds since a TCP connection was first seen
  };

  /// Whether enough looks found it, this one included.
  bool is_proved(Entry& entry, const PodUse& pod, double elapsed) const;
  static void follow(Entry& entry, const PodUse& pod, std::size_t index, Changes& changes);

  double grace_seconds_;

  std::map<PodKey, Entry> entries_;
};

}  // namespace railhead::proof
