// SPDX-License-Identifier: Apache-2.0
#include "host/watch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/host_error.h"
#include "host/resolve.h"

namespace railhead {
namespace {

constexpr std::array kDirectories = {
    "/sys/class/infiniband", "/sys/class/infiniband_verbs", "/sys/class/infiniband_mad",
    "/sys/bus/pci/devices",  "/sys/bus/pci/drivers/nvidia", "/sys/class/net",
    "/dev/infiniband",       "/proc/driver/nvidia/gpus",    "/etc/cdi",
    "/var/run/cdi",
};

constexpr std::uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED;
constexpr std::uint32_t kAppears = IN_CREATE | IN_MOVED_TO;

/// Of a directory that is there: what comes, goes, changes its mode, or has been written.
constexpr std::uint32_t kOfDirectory = kAppears | IN_DELETE | IN_MOVED_FROM | IN_CLOSE_WRITE |
                                       IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

/// Of an ancestor: what could be the missing name.
constexpr std::uint32_t kOfAncestor = kAppears | IN_DELETE_SELF | IN_MOVE_SELF;

/// Directories may appear as fast as they are looked for; after this many the rescan has to do.
constexpr int kMaxArmings = 16;

/// Group 1 is what the kernel sends; group 2 is udev's. Source: lib/kobject_uevent.c.
constexpr unsigned kKernelGroup = 1;

UniqueFd open_uevents() {
  UniqueFd descriptor(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!descriptor) return {};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kKernelGroup;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(descriptor.get(), generic, sizeof address) != 0) return {};
  return descriptor;
}

/// Takes all datagrams that have arrived; true where one of them counts, or some were lost.
template <typename Counts>
bool drain_netlink(int descriptor, Counts counts) {
  if (descriptor < 0) return false;
  char buffer[16384];
  bool changed = false;
  for (;;) {
    const auto size = ::recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == ENOBUFS) {
      changed = true;  // events were lost: anything may have happened
      continue;
    }
    if (size <= 0) return changed;
    changed = counts(std::string_view(buffer, static_cast<std::size_t>(size))) || changed;
  }
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::open(const std::string& root) {
  auto watch = TRY(open(root, {kDirectories.begin(), kDirectories.end()}));
  if (watch->is_live()) {
    watch->uevents_ = open_uevents();
    watch->links_ = LinkNews::open_socket();
  }
  return watch;
}

Result<std::unique_ptr<Watch>> Watch::open(const std::string& root,
                                           const std::vector<std::string>& directories) {
  UniqueFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return host_error(root, errno);
  UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return host_error("inotify", errno);
  std::unique_ptr<Watch> watch(new Watch(std::move(directory), std::move(inotify)));
  for (const auto& path : directories) watch->add(path);
  return watch;
}

Watch::Watch(UniqueFd root, UniqueFd inotify)
    : root_(std::move(root)),
      inotify_(std::move(inotify)) {}

UniqueFd Watch::open_directory(const std::string& path) const {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const std::string whole = "/" + path;
  int descriptor = open_in_root(root_.get(), whole, kFlags);
  const bool is_refused = descriptor < 0 && (errno == ENOSYS || errno == EPERM);
  if (is_refused) descriptor = walk_in_root(root_.get(), whole, kFlags);
  return UniqueFd(descriptor);
}

bool Watch::is_live() const {
  struct statfs facts {};

  const UniqueFd sys = open_directory("/sys");
  return sys && ::fstatfs(sys.get(), &facts) == 0 && facts.f_type == SYSFS_MAGIC;
}

void Watch::add(const std::string& path) {
  const auto known = [&](const Wanted& wanted) { return wanted.path == path; };
  if (std::any_of(wanted_.begin(), wanted_.end(), known)) return;
  arm(wanted_.emplace_back(Wanted{path, -1, {}}));
}

void Watch::arm(Wanted& wanted) {
  const int before = wanted.watch;
  for (int tries = 0; tries < kMaxArmings && !arm_once(wanted); ++tries) {
  }
  if (before < 0 || before == wanted.watch) return;
  const auto uses = [before](const Wanted& other) { return other.watch == before; };
  if (std::none_of(wanted_.begin(), wanted_.end(), uses)) {
    (void)::inotify_rm_watch(inotify_.get(), before);
  }
}

bool Watch::arm_once(Wanted& wanted) {
  std::string path = wanted.path;
  wanted.missing.clear();
  UniqueFd directory = open_directory(path);
  while (!directory && !path.empty()) {
    const std::size_t slash = path.rfind('/');
    wanted.missing = path.substr(slash + 1);
    path.resize(slash);
    directory = open_directory(path);
  }
  // By descriptor, since inotify itself would follow links out of the root.
  const std::string name = "/proc/self/fd/" + std::to_string(directory.get());
  const std::uint32_t events = wanted.missing.empty() ? kOfDirectory : kOfAncestor;
  wanted.watch = ::inotify_add_watch(inotify_.get(), name.c_str(), events | IN_MASK_ADD);
  return wanted.missing.empty() || !open_directory(path + "/" + wanted.missing);
}

std::vector<int> Watch::descriptors() const {
  std::vector<int> all{inotify_.get()};
  for (const auto* other : {&uevents_, &links_}) {
    if (*other) all.push_back(other->get());
  }
  return all;
}

bool Watch::drain() {
  const bool files = drain_inotify();
  const bool kernel = drain_uevents();
  const bool links = drain_links();
  return files || kernel || links;
}

bool Watch::drain_inotify() {
  alignas(inotify_event) char buffer[16384];
  bool changed = false;
  for (;;) {
    const auto size = ::read(inotify_.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return changed;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      changed = handle(*event) || changed;
      at += sizeof(inotify_event) + event->len;
    }
  }
}

bool Watch::handle(const inotify_event& event) {
  const bool lost = (event.mask & IN_Q_OVERFLOW) != 0;
  const std::string_view name = event.len == 0 ? "" : event.name;
  bool changed = lost;
  for (auto& wanted : wanted_) {
    if (!lost && wanted.watch != event.wd) continue;
    const bool was_there = wanted.missing.empty();
    const bool appears = !was_there && (event.mask & kAppears) != 0 && name == wanted.missing;
    changed = changed || was_there || appears;
    if (lost || appears || (event.mask & kGone) != 0) arm(wanted);
  }
  return changed;
}

bool Watch::drain_uevents() const {
  return drain_netlink(uevents_.get(), [](auto datagram) { return is_relevant_uevent(datagram); });
}

bool Watch::drain_links() {
  return drain_netlink(links_.get(), [this](auto datagram) { return link_news_.take(datagram); });
}

}  // namespace railhead
