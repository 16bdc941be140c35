// SPDX-License-Identifier: Apache-2.0
#include "proof/count.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proof/drivers.h"
#include "proof/owners.h"

namespace railhead::proof {
namespace {

const usage::RdmaDeviceUse* same_device(const usage::Usage* usage,
                                        const usage::RdmaDevice& device) {
  if (usage == nullptr) return nullptr;
  for (const auto& other : usage->devices) {
    if (other.device == device) return &other;
  }
  return nullptr;
}

bool moved(const usage::QueuePair& before, const usage::QueuePair& now) {
  return (before.send_psn && now.send_psn && *before.send_psn != *now.send_psn) ||
         (before.receive_psn && now.receive_psn && *before.receive_psn != *now.receive_psn);
}

/// Numbers are used again; the next owner's has another protection domain or another maker. (The
/// thread that made one may have ended meanwhile.)
bool is_same(const usage::QueuePair& before, const usage::QueuePair& now) {
  const bool same_maker =
      !before.owner.thread || !now.owner.thread || before.owner.thread == now.owner.thread;
  return same_maker && before.domain == now.domain;
}

/// Leads to itself. The number alone does not tell: nodes that are alike give out the same numbers,
/// so 17 is connected to 17 of another node. What one that is looped sends is what it receives.
bool is_looped(const usage::QueuePair& pair) {
  if (pair.remote != pair.number) return false;
  return !pair.send_psn || !pair.receive_psn || *pair.send_psn == *pair.receive_psn;
}

/// The passive side of one-way writes, as perftest's server, never leaves RTR: it need not send.
bool only_receives(const usage::QueuePair& pair) {
  return pair.state == usage::QpState::rtr &&
         (pair.type == usage::QpType::rc || pair.type == usage::QpType::uc);
}

/// Queue pairs of a driver's own kind have no peer: EFA's SRD is ready as soon as it is made, and
/// an initiator of mlx5's DC sends to whom each request names. So their state does not prove use.
bool names_no_peer(const usage::QueuePair& pair) {
  return pair.type == usage::QpType::driver && pair.state == usage::QpState::rts &&
         pair.remote.value_or(0) == 0;
}

/// Management, for which mlx5 also has UD pairs in the core's name
/// (drivers/infiniband/hw/mlx5/gsi.c), and what a driver makes for itself.
bool is_the_cores(const usage::QueuePair& pair) {
  return pair.type == usage::QpType::management || is_of_every_device(pair.owner.kernel_name);
}

bool is_listed(usage::TableState state) {
  return state == usage::TableState::read;
}

/// Sequence numbers that can be compared.
bool shows_moves(const usage::QueuePair& before, const usage::QueuePair& now) {
  return (before.send_psn && now.send_psn) || (before.receive_psn && now.receive_psn);
}

/// The length of a region that is a process's whole address space (implicit on-demand paging).
/// Source: Linux drivers/infiniband/hw/mlx5/mr.c, start 0 and length U64_MAX.
constexpr std::uint64_t kWholeSpace = ~std::uint64_t{0};

/// Less is what a subnet manager and a performance manager may cause on an idle port.
constexpr double kUseBytesPerSecond = 10'000;

constexpr std::size_t kExamples = 4;

/// Container ids; "" for anyone else but the kernel.
using Users = std::set<std::string>;

Users users_of(const usage::RdmaDeviceUse& device, const Owners& owners) {
  Users users;
  const auto add = [&](const Owner& owner) {
    if (owner.kind != Owner::Kind::kernel) users.insert(owner.container);
  };
  for (const auto& pair : device.queue_pairs.objects) add(owners.of(pair.owner, pair.domain));
  for (const auto& region : device.memory_regions.objects) {
    add(owners.of(region.owner, region.domain));
  }
  for (const auto& context : device.contexts.objects) add(owners.of_context(context));
  return users;
}

/// IP over InfiniBand, NFS over RDMA… Where queue pairs are not listed, the kernel's protection
/// domains say who has some.
bool kernel_uses(const usage::RdmaDeviceUse& device) {
  const auto& pairs = device.queue_pairs;
  if (is_listed(pairs.state)) {
    return std::ranges::any_of(pairs.objects, [](const usage::QueuePair& pair) {
      return pair.owner.kernel && !is_the_cores(pair);
    });
  }
  const auto& domains = device.domains;
  return !is_listed(domains.state) ||  // for all that is known
         std::ranges::any_of(domains.objects, [](const auto& domain) {
           return domain.owner.kernel && !is_of_every_device(domain.owner.kernel_name);
         });
}

/// Of a reading that another is compared with: "" also where not all contexts were listed, or the
/// kernel used it.
Users users_before(const usage::RdmaDeviceUse& device, const usage::Usage& usage) {
  if (device.users) return *device.users;
  auto users = users_of(device, Owners(device, usage));
  if (!is_listed(device.contexts.state) || kernel_uses(device)) users.insert("");
  return users;
}

class DeviceCount {
 public:
  DeviceCount(const usage::RdmaDeviceUse& device, const usage::Usage& now,
              const usage::Usage* before, Counted& counted)
      : device_(device),
        now_(now),
        owners_(device, now),
        before_(same_device(before, device.device)),
        counted_(counted),
        users_(users_of(device, owners_)),
        kernel_uses_it_(kernel_uses(device)) {
    if (before_ != nullptr) users_before_ = users_before(*before_, *before);
    if (before_ != nullptr && before_->queue_pairs.state == usage::TableState::read) {
      for (const auto& pair : before_->queue_pairs.objects) earlier_.emplace(pair.number, &pair);
    }
  }

  void count(std::optional<double> seconds) {
    for (const auto& pair : device_.queue_pairs.objects) count_pair(pair);
    for (const auto& region : device_.memory_regions.objects) {
      const auto owner = owners_.of(region.owner, region.domain);
      if (owner.kind == Owner::Kind::unknown) ++counted_.unowned[device_.device.name].regions;
      if (auto* share = share_of(owner)) {
        ++share->regions;
        if (region.bytes == kWholeSpace) {
          ++share->implicit_regions;
        } else {
          share->registered_bytes = saturating_sum(share->registered_bytes, region.bytes);
        }
      }
    }
    for (const auto& context : device_.contexts.objects) {
      const auto owner = owners_.of_context(context);
      if (owner.kind == Owner::Kind::unknown) ++counted_.unowned[device_.device.name].contexts;
      if (auto* share = share_of(owner)) ++share->contexts;
    }
    for (const auto& connection : device_.connections.objects) {
      if (auto* share = share_of(owners_.of(connection.owner, {}))) ++share->connection_ids;
    }
    for (const auto& id : touched_) finish(id, seconds);
  }

 private:
  /// "pid 4711 lqpn 17 RTS mlx5_0/1"
  [[nodiscard]] std::string describe(const usage::QueuePair& pair) const {
    std::string text;
    if (pair.owner.thread) text = "pid " + std::to_string(process_of(*pair.owner.thread)) + " ";
    text += "lqpn " + std::to_string(pair.number) + " ";
    if (pair.remote) text += "rqpn " + std::to_string(*pair.remote) + " ";
    text += std::string(to_string(pair.type)) + " " + std::string(to_string(pair.state)) + " " +
            device_.device.name;
    if (pair.port) text += "/" + std::to_string(*pair.port);
    return text;
  }

  [[nodiscard]] std::uint32_t process_of(std::uint32_t thread) const {
    const auto found = now_.processes.by_id.find(thread);
    return found == now_.processes.by_id.end() ? thread : found->second.process;
  }

  DeviceShare* share_of(const Owner& owner) {
    if (owner.kind != Owner::Kind::container) return nullptr;
    touched_.insert(owner.container);
    return &counted_.by_container[owner.container][device_.device.name];
  }

  void count_pair(const usage::QueuePair& pair) {
    const auto owner = owners_.of(pair.owner, pair.domain);
    if (owner.kind == Owner::Kind::kernel) {
      ++counted_.kernel;
      return;
    }
    auto* share = share_of(owner);
    if (share == nullptr) {
      ++(owner.kind == Owner::Kind::host ? counted_.host : counted_.ownerless);
      if (owner.kind != Owner::Kind::host) ++counted_.unowned[device_.device.name].queue_pairs;
      return;
    }
    ++share->queue_pairs;
    if (pair.state == usage::QpState::rts) ++share->ready;
    const auto earlier = earlier_.find(pair.number);
    const bool is_new = earlier == earlier_.end() || !is_same(*earlier->second, pair);
    if (is_new) ++share->appeared;
    const bool moves = !is_new && moved(*earlier->second, pair);
    const bool receives = moves && only_receives(pair);
    if (is_connected(pair) || receives || (moves && names_no_peer(pair))) {
      ++share->connected;
    } else {
      count_unproved(pair, *share);
    }
    if (share->examples.size() < kExamples && (pair.state == usage::QpState::rts || receives)) {
      share->examples.push_back(describe(pair));
    }
    if (!is_new && shows_moves(*earlier->second, pair)) {
      share->moving = share->moving.value_or(0) + (moves ? 1 : 0);
    }
  }

  /// Those that may carry data to another node, and are not proved to.
  static void count_unproved(const usage::QueuePair& pair, DeviceShare& share) {
    if (names_no_peer(pair)) ++share.unproved;
    if (only_receives(pair)) ++share.passive;
    if (pair.state != usage::QpState::rts) return;
    if (pair.type == usage::QpType::datagram) ++share.datagrams;
    if (pair.type == usage::QpType::rc || pair.type == usage::QpType::uc) ++share.looped;
  }

  void finish(const std::string& container, std::optional<double> seconds) {
    auto& share = counted_.by_container[container][device_.device.name];
    share.sole_user = users_.size() <= 1;
    if (before_ == nullptr) return;
    const auto& was = before_->traffic;
    const auto& is = device_.traffic;
    share.bytes_per_second = rate(was.bytes, is.bytes, seconds);
    share.packets_per_second = rate(was.packets, is.packets, seconds);
    const bool all_seen =
        is_listed(device_.contexts.state) && !kernel_uses_it_ && users_before_ == Users{container};
    const bool has_something = share.regions > 0 || share.queue_pairs > 0;
    share.moves_alone = share.sole_user && all_seen && has_something &&
                        share.bytes_per_second.value_or(0) >= kUseBytesPerSecond;
    share.proved_by_traffic = share.moves_alone && before_->moved_for == container;
  }

  const usage::RdmaDeviceUse& device_;
  const usage::Usage& now_;
  Owners owners_;
  const usage::RdmaDeviceUse* before_;
  Counted& counted_;
  std::map<std::uint32_t, const usage::QueuePair*> earlier_;
  Users users_;
  Users users_before_;  ///< of the reading before: whoever ended since may have moved the counters
  std::set<std::string> touched_;
  bool kernel_uses_it_;
};

}  // namespace

bool is_connected(const usage::QueuePair& pair) {
  if (pair.state != usage::QpState::rts) return false;
  switch (pair.type) {
    case usage::QpType::rc:
    case usage::QpType::uc: return !is_looped(pair);
    case usage::QpType::xrc: return true;
    case usage::QpType::driver: return !names_no_peer(pair);
    default: return false;
  }
}

std::optional<double> rate(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now,
                           std::optional<double> seconds) {
  if (!before || !now || !seconds || *now < *before) return std::nullopt;
  return static_cast<double>(*now - *before) / *seconds;
}

std::optional<double> seconds_between(const usage::Usage* before, const usage::Usage& now) {
  if (before == nullptr || !before->counted_ticks || !now.counted_ticks) return std::nullopt;
  if (*now.counted_ticks <= *before->counted_ticks) return std::nullopt;
  return static_cast<double>(*now.counted_ticks - *before->counted_ticks) / 100.0;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > ~b ? ~std::uint64_t{0} : a + b;
}

void carry_over(usage::Usage& now, usage::Usage&& before) {
  const bool list_failed =
      now.rdma != usage::TableState::read && now.rdma != usage::TableState::gone;
  for (auto& device : before.devices) {
    if (device.queue_pairs.state != usage::TableState::read) continue;
    const auto same = std::ranges::find_if(now.devices, [&](const usage::RdmaDeviceUse& other) {
      return other.device == device.device;
    });
    if (same != now.devices.end()) {
      const auto state = same->queue_pairs.state;
      if (state == usage::TableState::read || state == usage::TableState::gone) continue;
      same->queue_pairs = std::move(device.queue_pairs);
    } else if (list_failed) {
      usage::RdmaDeviceUse kept;
      kept.device = device.device;
      kept.queue_pairs = std::move(device.queue_pairs);
      now.devices.push_back(std::move(kept));
    }
  }
}

void note_who_moved_alone(usage::Usage& usage, const PodsView& view) {
  for (auto& device : usage.devices) {
    for (const auto& pod : view.pods) {
      const auto share = pod.devices.find(device.device.name);
      if (share == pod.devices.end() || !share->second.moves_alone) continue;
      device.moved_for = pod.record.container_id;
    }
  }
}

void forget_what_is_not_compared(usage::Usage& usage) {
  for (auto& device : usage.devices) device.users = users_before(device, usage);
  usage.processes = {};
  for (auto& device : usage.devices) {
    device.queue_pairs.objects.shrink_to_fit();
    device.memory_regions = {};
    device.domains = {};
    device.contexts = {};
    device.connections = {};
  }
  for (auto& [id, container] : usage.containers) {
    usage::ContainerUse kept;
    kept.network = std::move(container.network);
    container = std::move(kept);
  }
}

Counted count_objects(const usage::Usage& now, const usage::Usage* before) {
  Counted counted;
  const auto seconds = seconds_between(before, now);
  for (const auto& device : now.devices) DeviceCount(device, now, before, counted).count(seconds);
  return counted;
}

}  // namespace railhead::proof
