// SPDX-License-Identifier: Apache-2.0
#include "kubelet/registrar.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/contains.h"
#include "base/hash.h"
#include "base/text.h"

namespace railhead::kubelet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// What a kubelet needs to see that the socket of the agent before has closed.
constexpr seconds kAfterLock{1};
/// A registration that the kubelet has accepted is followed by ListAndWatch at once.
constexpr seconds kUntilWatched{5};
/// Whether it was a registration that lasted: one that ends at once must not be repeated at once.
constexpr seconds kWatchedForGood{30};
/// A kubelet looks at its folder of sockets each second and takes ten to connect.
constexpr seconds kUntilFound{30};
/// A kubelet's socket is there shortly before anybody listens on it.
constexpr milliseconds kFirstRetry{100};
constexpr milliseconds kLongestRetry{10'000};
/// While the kubelet, or another agent, has something to do.
constexpr milliseconds kPendingTick{1'000};
/// Where all is quiet, and only an event that was not seen could be waiting.
constexpr milliseconds kIdleTick{10'000};
constexpr seconds kBetweenVerifications{30};
constexpr seconds kVerifyTimeout{5};
/// What a kubelet needs at most to count the devices of a list that it was sent.
constexpr seconds kUntilCounted{10};

}  // namespace

std::string_view to_string(RegistrationState state) {
  switch (state) {
    case RegistrationState::standing_by: return "standing-by";
    case RegistrationState::no_kubelet: return "no-kubelet";
    case RegistrationState::not_served: return "not-served";
    case RegistrationState::enrolling: return "enrolling";
    case RegistrationState::refused: return "refused";
    case RegistrationState::enrolled: break;
  }
  return "enrolled";
}

std::string socket_path(const std::string& folder, const std::string& resource) {
  std::string name = resource;
  std::ranges::replace(name, '/', '_');
  std::string path = folder + "/railhead-" + name + ".sock";
  if (path.size() <= kMaxSocketPath) return path;
  return folder + "/railhead-" + to_hex(fnv_1a(resource), 16) + ".sock";
}

/// One resource on its way to being enrolled.
class Registrar::Registration final {
 public:
  Registration(Registrar& owner, DevicePluginOptions options, Resource& decides,
               std::vector<Device> devices)
      : owner_(owner),
        options_(std::move(options)),
        decides_(decides),
        devices_(std::move(devices)),
        path_(socket_path(owner.options_.route == Route::enrol ? owner.options_.plugin_folder
                                                               : owner.options_.registry_folder,
                          options_.resource)) {
    status_.resource = options_.resource;
  }

  [[nodiscard]] const ResourceStatus& status() const { return status_; }

  void publish(std::vector<Device> devices) {
    devices_ = std::move(devices);
    if (plugin_) plugin_->publish(devices_);
    note_countable();
  }

  /// A kubelet that is asked at this time has to count the resource, and nothing has changed since.
  [[nodiscard]] bool was_countable(TimePoint when) const {
    return countable_since_ && when - *countable_since_ >= kUntilCounted;
  }

  /// Serves no more; the kubelet sees it at once, and the next tick() begins anew.
  void begin_end() {
    if (!plugin_) return;
    plugin_->begin_end();
    is_ending_ = true;
  }

  /// What it was served for has gone, or is another one.
  [[nodiscard]] bool is_outlived() const {
    return plugin_ && (owner_.kubelet() != kubelet_ || host::identity_of(path_) != own_);
  }

  void stand_by() {
    drop();
    become(RegistrationState::standing_by);
  }

  void cannot_serve(const std::string& why) {
    drop();
    become(RegistrationState::not_served, why);
  }

  void tick() {
    const auto kubelet = owner_.kubelet();
    if (owner_.options_.route == Route::enrol && !kubelet) {
      drop();
      become(RegistrationState::no_kubelet);
      return;
    }
    if (!plugin_ || is_ending_ || is_outlived()) {
      serve(kubelet);
    } else if (may_be_deaf_ && !is_watched_ && !is_asking_ && is_due()) {
      listen(kubelet);
    }
    if (!plugin_) return;
    if (is_watched_) {
      become(RegistrationState::enrolled);
    } else if (owner_.options_.route == Route::enrol) {
      enrol_if_due();
    }
  }

  /// How long nothing is due but what events tell.
  [[nodiscard]] milliseconds until_tick() const {
    if (is_watched_ || status_.state == RegistrationState::no_kubelet) return kIdleTick;
    if (is_asking_ || !plugin_ || owner_.options_.route == Route::found) return kPendingTick;
    const auto left = std::chrono::ceil<milliseconds>(next_try_ - owner_.links_.clock.now());
    return std::clamp(left, kFirstRetry, kPendingTick);
  }

  /// The kubelet's own account lacks the resource although it said yes.
  void deny() {
    if (status_.state != RegistrationState::enrolled) return;
    is_watched_ = false;
    become(RegistrationState::enrolling, "the kubelet does not count the resource any more");
    serve(owner_.kubelet());
  }

 private:
  [[nodiscard]] bool is_due() const { return owner_.links_.clock.now() >= next_try_; }

  void watched(bool is_now) {
    const auto now = owner_.links_.clock.now();
    is_watched_ = is_now;
    if (is_now) {
      watched_since_ = now;
      may_be_deaf_ = false;
      note_accepted();
      become(RegistrationState::enrolled);
    } else if (status_.state == RegistrationState::enrolled) {
      if (now - watched_since_ >= kWatchedForGood) retry_ = kFirstRetry;
      wait_longer(now);
      // Who is found by its socket is found again only where that is another one.
      may_be_deaf_ = owner_.options_.route == Route::found;
      become(RegistrationState::enrolling, "the kubelet does not watch any more");
    }
  }

  void wait_longer(TimePoint now) {
    next_try_ = now + retry_;
    retry_ = std::min(retry_ * 2, kLongestRetry);
  }

  void drop() {
    plugin_.reset();
    is_ending_ = false;
    is_watched_ = false;
    kubelet_.reset();
  }

  void serve(const std::optional<host::FileIdentity>& kubelet) {
    if (!listen(kubelet)) return;
    retry_ = kFirstRetry;
    become(RegistrationState::enrolling);
  }

  /// On a socket that is new.
  bool listen(const std::optional<host::FileIdentity>& kubelet) {
    drop();  // completely, before the path is bound again
    auto served = DevicePlugin::serve(
        path_, options_, owner_.links_.mailbox, decides_, [this](bool now) { watched(now); },
        [this](const std::string& why) { become(RegistrationState::refused, why); });
    if (!served) {
      become(RegistrationState::not_served, served.error().message);
      return false;
    }
    plugin_ = std::move(served).value();
    plugin_->publish(devices_);
    own_ = host::identity_of(path_);
    kubelet_ = kubelet;
    is_asking_ = false;
    may_be_deaf_ = owner_.options_.route == Route::found;
    next_try_ = owner_.links_.clock.now();
    if (may_be_deaf_) next_try_ += kUntilFound;
    return true;
  }

  void enrol_if_due() {
    if (is_asking_ || !is_due()) return;
    is_asking_ = true;
    is_accepted_ = false;
    plugin_->enrol(owner_.kubelet_socket(), [this](const Status& answer) { heard(answer); });
  }

  /// The kubelet watches before it answers, and may have gone before the answer is here.
  void note_accepted() {
    if (!is_accepted_) ++status_.enrolments;
    is_accepted_ = true;
  }

  void heard(const Status& answer) {
    is_asking_ = false;
    may_be_deaf_ = !is_watched_;
    const auto now = owner_.links_.clock.now();
    if (answer) {
      note_accepted();
      next_try_ = now + kUntilWatched;
      return;
    }
    if (!is_watched_) become(RegistrationState::refused, answer.error().message);
    wait_longer(now);
  }

  void become(RegistrationState state, std::string detail = "") {
    if (status_.state == state && status_.detail == detail && was_reported_) return;
    status_.state = state;
    status_.detail = std::move(detail);
    was_reported_ = true;
    note_countable();
    owner_.changed_(status_);
  }

  /// Kubelets leave out a resource without a healthy device.
  void note_countable() {
    const bool is_countable =
        status_.state == RegistrationState::enrolled &&
        std::ranges::any_of(devices_, [](const Device& d) { return d.healthy; });
    if (!is_countable) {
      countable_since_.reset();
    } else if (!countable_since_) {
      countable_since_ = owner_.links_.clock.now();
    }
  }

  Registrar& owner_;
  DevicePluginOptions options_;
  Resource& decides_;
  std::vector<Device> devices_;
  std::string path_;
  ResourceStatus status_;
  bool was_reported_ = false;
  std::optional<TimePoint> countable_since_;
  std::unique_ptr<DevicePlugin> plugin_;
  std::optional<host::FileIdentity> own_;
  std::optional<host::FileIdentity> kubelet_;  // the one we are served for
  bool is_ending_ = false;
  bool is_watched_ = false;
  bool is_asking_ = false;
  bool is_accepted_ = true;  // what we asked for last
  /// The kubelet was asked and does not watch: gRPC may have stopped to accept connections, which
  /// it does for good (1.51) where one came while there was no free descriptor.
  bool may_be_deaf_ = false;
  TimePoint watched_since_{};
  TimePoint next_try_{};
  milliseconds retry_ = kFirstRetry;
};

Registrar::Registrar(RegistrarOptions options, Links links, Changed changed)
    : options_(std::move(options)),
      links_(links),
      changed_(std::move(changed)) {}

/// The sockets close before the lock is free.
Registrar::~Registrar() {
  {
    const std::lock_guard lock(gate_->mutex);
    gate_->closed = true;
  }
  for (const auto& one : registrations_) one->begin_end();
  registrations_.clear();
}

void Registrar::offer(DevicePluginOptions options, Resource& resource,
                      std::vector<Device> devices) {
  withdraw({options.resource});
  registrations_.push_back(
      std::make_unique<Registration>(*this, std::move(options), resource, std::move(devices)));
}

void Registrar::withdraw(const std::vector<std::string>& resources) {
  const auto goes = [&](const auto& one) { return contains(resources, one->status().resource); };
  for (const auto& one : registrations_) {
    if (goes(one)) one->begin_end();
  }
  std::erase_if(registrations_, goes);
}

void Registrar::publish(const std::string& resource, const std::vector<Device>& devices) {
  for (const auto& one : registrations_) {
    if (one->status().resource == resource) one->publish(devices);
  }
}

std::optional<host::FileIdentity> Registrar::kubelet() const {
  return host::identity_of(kubelet_socket());
}

std::string Registrar::kubelet_socket() const {
  return options_.plugin_folder + "/kubelet.sock";
}

std::chrono::steady_clock::duration Registrar::since_lock() const {
  return links_.clock.now() - locked_at_;
}

/// In the plugin folder, which every agent of the node has in common; where there is none, in the
/// folder in which the kubelet finds sockets. The plugin watcher leaves alone what is no socket
/// (Kubernetes pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go, handleCreateEvent).
std::optional<std::string> Registrar::lock_path() const {
  const bool found = options_.route == Route::found;
  for (const auto& folder : {options_.plugin_folder, found ? options_.registry_folder : ""}) {
    if (host::identity_of(folder)) return folder + "/railhead.lock";
  }
  return std::nullopt;
}

Result<bool> Registrar::take_lock(const std::string& path) {
  if (lock_ && !lock_->is_at(path)) lock_.reset();
  if (!lock_) {
    is_locked_out_ = false;
    auto taken = TRY(host::FileLock::try_take(path));
    is_locked_out_ = !taken;
    if (!taken) return false;
    lock_ = std::move(taken);
    locked_at_ = links_.clock.now();
  }
  return since_lock() >= kAfterLock;
}

void Registrar::tick() {
  const auto path = lock_path();
  // An open file in a folder that was removed keeps the kernel from telling of it.
  if (!path) lock_.reset();
  const auto mine = path ? take_lock(*path) : Result<bool>(true);
  holds_ = !path || lock_.has_value();
  if (!mine) {
    for (const auto& one : registrations_) one->begin_end();
    for (const auto& one : registrations_) one->cannot_serve(mine.error().message);
    return;
  }
  if (!*mine) {
    if (!is_locked_out_) return;
    for (const auto& one : registrations_) one->begin_end();
    for (const auto& one : registrations_) one->stand_by();
    return;
  }
  for (const auto& one : registrations_) {
    if (one->is_outlived()) one->begin_end();
  }
  for (const auto& one : registrations_) one->tick();
  verify();
}

milliseconds Registrar::until_tick() const {
  if (is_locked_out_) return kPendingTick;
  auto wait = kIdleTick;
  const auto since = lock_ ? since_lock() : kAfterLock;
  if (since < kAfterLock) wait = std::chrono::ceil<milliseconds>(kAfterLock - since);
  for (const auto& one : registrations_) wait = std::min(wait, one->until_tick());
  return wait;
}

std::vector<std::string> Registrar::folders() const {
  const std::string& folder = options_.plugin_folder;
  std::vector<std::string> all{folder, folder.substr(0, folder.rfind('/'))};
  if (options_.route == Route::found) all.push_back(options_.registry_folder);
  return all;
}

/// Each resource for itself: one that is refused for good keeps nobody from looking after another.
/// What counts is what the kubelet had to know when it was asked.
void Registrar::verify() {
  const auto now = links_.clock.now();
  if (now - verified_at_ < kBetweenVerifications) return;
  const auto is_due = [now](const auto& one) { return one->was_countable(now); };
  if (std::ranges::none_of(registrations_, is_due)) return;
  verified_at_ = now;
  // The answer comes on the thread of whoever else asks; ours goes on from our mailbox.
  links_.pod_resources.allocatable(
      kVerifyTimeout, [this, gate = gate_, now](Result<std::vector<container::Holding>> counted) {
        if (!counted) return;  // no such interface, or not now: the open streams have to do
        const std::lock_guard lock(gate->mutex);
        if (gate->closed) return;
        links_.mailbox.post([this, gate, now, counted = std::move(counted).value()] {
          if (!gate->closed) compare(counted, now);
        });
      });
}

void Registrar::compare(const std::vector<container::Holding>& counted, TimePoint asked_at) {
  for (const auto& one : registrations_) {
    const bool is_counted = std::ranges::any_of(counted, [&](const container::Holding& known) {
      return known.resource == one->status().resource;
    });
    if (!is_counted && one->was_countable(asked_at)) one->deny();
  }
}

std::vector<ResourceStatus> Registrar::statuses() const {
  std::vector<ResourceStatus> all;
  for (const auto& one : registrations_) all.push_back(one->status());
  return all;
}

}  // namespace railhead::kubelet
