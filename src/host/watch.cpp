// SPDX-License-Identifier: Apache-2.0
#include "host/watch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "gpu/vendors.h"
#include "host/host_error.h"
#include "host/netlink_filter.h"
#include "host/netlink_socket.h"
#include "host/resolve.h"

namespace railhead::host {
namespace {

constexpr std::uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED;
constexpr std::uint32_t kAppears = IN_CREATE | IN_MOVED_TO;

/// Events wanted of a directory that is there: what comes and goes in it, and its own end.
constexpr std::uint32_t kComesAndGoes =
    kAppears | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;

/// A path that is missing is waited for in the nearest folder above it that is there: these events
/// may be the missing name.
constexpr std::uint32_t kOfAncestor = kAppears | IN_DELETE_SELF | IN_MOVE_SELF;

/// Directories may appear as fast as they are looked for; after this many the rescan has to do.
constexpr int kMaxArmings = 16;

/// Reads from one source before the others have their turn.
constexpr int kMaxReads = 256;

/// Group 1 is what the kernel sends; group 2 is udev's. Source: lib/kobject_uevent.c.
constexpr unsigned kKernelGroup = 1;

/// Room for the events of some thousand virtual functions that are made at once. The kernel uses it
/// only while they wait.
constexpr int kUeventBytes = 4 << 20;

UniqueFd open_uevents() {
  UniqueFd descriptor = open_netlink_group(NETLINK_KOBJECT_UEVENT, kKernelGroup);
  if (!descriptor) return {};
  leave_out_virtual_netdevs(descriptor.get());
  // Forcing needs CAP_NET_ADMIN; without it the machine's limit holds.
  const int size = kUeventBytes;
  for (const int option : {SO_RCVBUFFORCE, SO_RCVBUF}) {
    if (::setsockopt(descriptor.get(), SOL_SOCKET, option, &size, sizeof size) == 0) break;
  }
  return descriptor;
}

/// Takes datagrams that have arrived; where some were lost, anything may have happened.
template <typename Take>
void drain_netlink(int descriptor, MachineChanges& changes, Take take) {
  char buffer[16384];
  for (int reads = 0; descriptor >= 0 && reads < kMaxReads; ++reads) {
    const auto size = ::recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    const bool lost = size < 0 ? errno == ENOBUFS : static_cast<std::size_t>(size) > sizeof buffer;
    changes.everything = changes.everything || lost;
    if (lost) continue;
    if (size <= 0) return;
    changes.merge(take(std::string_view(buffer, static_cast<std::size_t>(size))));
  }
}

/// A sentence of what is not seen, and why.
std::string not_seen(std::string_view what, const std::string& source, int error) {
  if (error == ENOSPC) return std::string(what) + " (no room in fs.inotify.max_user_watches)";
  if (error == EMFILE && source == "inotify") {  // either: inotify_init(2)
    return std::string(what) +
           " (inotify: no room in fs.inotify.max_user_instances, or too many open files in this "
           "process)";
  }
  return std::string(what) + " (" + host_error(source, error).message + ")";
}

}  // namespace

WatchSources WatchSources::of_kernel() {
  return {.inotify = [] { return UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); },
          .uevents = open_uevents,
          .links = LinkNews::open_socket,
          .add_watch = ::inotify_add_watch};
}

Result<std::unique_ptr<Watch>> Watch::create(const std::string& root, WatchSources sources) {
  UniqueFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return host_error(root, errno);
  UniqueFd ready(::epoll_create1(EPOLL_CLOEXEC));
  if (!ready) return host_error("epoll", errno);
  return std::unique_ptr<Watch>(
      new Watch(std::move(directory), std::move(ready), std::move(sources)));
}

Result<std::unique_ptr<Watch>> Watch::open(const std::string& root) {
  auto watch = TRY(create(root, WatchSources::of_kernel()));
  if (!TRY(watch->is_live())) {
    watch->uevents_.open = {};
    watch->links_.open = {};
  }
  watch->expect_machine();
  return watch;
}

Result<std::unique_ptr<Watch>> Watch::open(const std::string& root,
                                           const std::vector<std::string>& directories) {
  auto sources = WatchSources::of_kernel();
  sources.uevents = {};
  sources.links = {};
  auto watch = TRY(create(root, std::move(sources)));
  watch->open_sources();
  if (!watch->inotify_.descriptor) return host_error("inotify", watch->inotify_.error);
  for (const auto& path : directories) watch->add(path);
  return watch;
}

Result<std::unique_ptr<Watch>> Watch::open_with(const std::string& root, WatchSources sources) {
  auto watch = TRY(create(root, std::move(sources)));
  watch->expect_machine();
  return watch;
}

Watch::Watch(UniqueFd root, UniqueFd ready, WatchSources sources)
    : root_(std::move(root)),
      ready_(std::move(ready)),
      add_watch_(std::move(sources.add_watch)),
      inotify_{std::move(sources.inotify)},
      touches_{},
      uevents_{std::move(sources.uevents)},
      links_{std::move(sources.links)} {}

void Watch::expect_machine() {
  touches_.open = inotify_.open;
  open_sources();
  want("/sys/class/infiniband", Kind::rdma);
  want("/sys/class/infiniband_verbs", Kind::nodes);
  want("/sys/class/infiniband_mad", Kind::nodes);
  want("/sys/bus/pci/devices", Kind::pci);
  want("/sys/class/net", Kind::netdevs);
  want("/dev/infiniband", Kind::nodes);
  want("/dev/infiniband", Kind::touches);
  for (const auto& row : gpu::kGpuRows) {
    for (const std::string_view folder : row.driver_folders) want(std::string(folder), Kind::gpus);
  }
  want("/etc/cdi", Kind::cdi);
  want("/var/run/cdi", Kind::cdi);
}

bool Watch::open_source(Source& source) {
  if (!source.open || source.descriptor) return false;
  errno = 0;
  UniqueFd descriptor = source.open();
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = descriptor.get();
  const auto is_waited_for = [&] {
    return &source == &touches_ ||
           ::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, descriptor.get(), &interest) == 0;
  };
  const bool opened = descriptor && is_waited_for();
  source.error = opened ? 0 : errno;
  if (opened) source.descriptor = std::move(descriptor);
  return opened;
}

bool Watch::open_sources() {
  const bool files = open_source(inotify_);
  const bool touches = open_source(touches_);
  const bool devices = open_source(uevents_);
  const bool links = open_source(links_);
  return files || touches || devices || links;
}

const Watch::Source& Watch::source_of(const Wanted& wanted) const {
  return wanted.kind == Kind::touches ? touches_ : inotify_;
}

UniqueFd Watch::open_directory(const std::string& path) const {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const std::string whole = "/" + path;
  int descriptor = open_in_root(root_.get(), whole, kFlags);
  const bool is_refused = descriptor < 0 && (errno == ENOSYS || errno == EPERM);
  if (is_refused) descriptor = walk_in_root(root_.get(), whole, kFlags);
  return UniqueFd(descriptor);
}

Result<bool> Watch::is_live() const {
  struct statfs facts {};

  const UniqueFd sys = open_directory("/sys");
  if (!sys && means_absent(errno)) return false;
  if (!sys || ::fstatfs(sys.get(), &facts) != 0) return host_error("/sys", errno);
  return facts.f_type == SYSFS_MAGIC;
}

void Watch::add(const std::string& path) {
  want(path, Kind::anything);
}

void Watch::want(const std::string& path, Kind kind) {
  const auto known = [&](const Wanted& wanted) {
    return wanted.path == path && wanted.kind == kind;
  };
  if (std::any_of(wanted_.begin(), wanted_.end(), known)) return;
  arm(wanted_.emplace_back(Wanted{path, kind}));
}

void Watch::arm(Wanted& wanted) {
  const int before = wanted.watch;
  for (int tries = 0; tries < kMaxArmings && !arm_once(wanted); ++tries) {
  }
  if (before < 0 || before == wanted.watch) return;
  const auto& source = source_of(wanted);
  const auto uses = [&](const Wanted& other) {
    return other.watch == before && &source_of(other) == &source;
  };
  if (std::none_of(wanted_.begin(), wanted_.end(), uses)) {
    (void)::inotify_rm_watch(source.descriptor.get(), before);
  }
}

bool Watch::arm_once(Wanted& wanted) {
  std::string path = wanted.path;
  wanted.missing.clear();
  UniqueFd directory = open_directory(path);
  while (!directory && !path.empty() && !means_shortage(errno)) {
    const std::size_t slash = path.rfind('/');
    wanted.missing = path.substr(slash + 1);
    path.resize(slash);
    directory = open_directory(path);
  }
  wanted.error = directory ? 0 : errno;
  wanted.watch = -1;
  const int inotify = source_of(wanted).descriptor.get();
  if (!directory || inotify < 0) return true;
  // By descriptor, since inotify itself would follow links out of the root.
  const std::string name = "/proc/self/fd/" + std::to_string(directory.get());
  const std::uint32_t events = wanted.missing.empty() ? events_of(wanted.kind) : kOfAncestor;
  wanted.watch = add_watch_(inotify, name.c_str(), events | IN_MASK_ADD);
  if (wanted.watch < 0) wanted.error = errno;
  if (wanted.missing.empty()) return true;
  if (open_directory(path + "/" + wanted.missing)) return false;
  if (means_shortage(errno)) {  // it may be there, and then the ancestor never tells of it
    wanted.error = errno;
    wanted.watch = -1;
  }
  return true;
}

/// Files are written in the directories of specs and settings. A device node is opened and closed
/// by every user of it, which is no change, and touched by who likes to: see touches().
std::uint32_t Watch::events_of(Kind kind) {
  switch (kind) {
    case Kind::cdi:
    case Kind::anything: return kComesAndGoes | IN_CLOSE_WRITE | IN_ATTRIB;
    case Kind::touches: return IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
    default: return kComesAndGoes;
  }
}

void Watch::add_entry(Kind kind, std::string_view name, MachineChanges& changes) {
  switch (kind) {
    case Kind::rdma: return changes.add_rdma(name);
    case Kind::nodes:
    case Kind::touches: return changes.add_node(name);
    case Kind::pci: return changes.add_pci(name);
    case Kind::netdevs: return changes.add_netdev(name);
    case Kind::cdi: changes.cdi = true; return;
    case Kind::anything: changes.everything = true; return;
    case Kind::gpus: break;
  }
  changes.gpus = true;
  if (is_pci_address(name)) changes.add_pci(name);  // beside the functions, a driver has settings
}

MachineChanges Watch::drain() {
  MachineChanges changes;
  changes.everything = std::exchange(regained_, false);
  std::array<epoll_event, 3> ready{};
  const int count = ::epoll_wait(ready_.get(), ready.data(), ready.size(), 0);
  for (int at = 0; at < count; ++at) {
    const int descriptor = ready[static_cast<std::size_t>(at)].data.fd;
    if (descriptor == inotify_.descriptor.get()) {
      drain_inotify(inotify_, changes);
    } else if (descriptor == uevents_.descriptor.get()) {
      drain_netlink(descriptor, changes, changes_of_uevent);
    } else {
      MachineChanges of_links;
      drain_netlink(descriptor, of_links,
                    [this](auto datagram) { return link_news_.take(datagram); });
      if (of_links.everything) link_news_.forget();
      changes.merge(of_links);
    }
  }
  return changes;
}

std::optional<int> Watch::touches() const {
  return touches_.descriptor ? std::optional(touches_.descriptor.get()) : std::nullopt;
}

MachineChanges Watch::touched() {
  MachineChanges changes;
  if (touches_.descriptor) drain_inotify(touches_, changes);
  return changes;
}

void Watch::drain_inotify(const Source& source, MachineChanges& changes) {
  alignas(inotify_event) char buffer[16384];
  for (int reads = 0; reads < kMaxReads; ++reads) {
    const auto size = ::read(source.descriptor.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      handle(*event, source, changes);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

void Watch::handle(const inotify_event& event, const Source& source, MachineChanges& changes) {
  const bool lost = (event.mask & IN_Q_OVERFLOW) != 0;
  const bool gone = (event.mask & kGone) != 0;
  const std::string_view name = event.len == 0 ? "" : event.name;
  changes.everything = changes.everything || lost;
  for (auto& wanted : wanted_) {
    if (&source_of(wanted) != &source || (!lost && wanted.watch != event.wd)) continue;
    const bool was_there = wanted.missing.empty();
    const bool appears = !was_there && (event.mask & kAppears) != 0 && name == wanted.missing;
    if (appears || (was_there && gone)) {
      (wanted.kind == Kind::cdi ? changes.cdi : changes.everything) = true;
    } else if (was_there && !name.empty() && (event.mask & events_of(wanted.kind)) != 0) {
      add_entry(wanted.kind, name, changes);
    }
    if (lost || appears || gone) arm(wanted);
  }
}

std::string Watch::blind() const {
  std::vector<std::string> all;
  if (inotify_.open && !inotify_.descriptor) {
    all.push_back(not_seen("events of files and device nodes", "inotify", inotify_.error));
  } else if (touches_.open && !touches_.descriptor) {
    all.push_back(not_seen("modes of device nodes", "inotify", touches_.error));
  }
  std::map<int, std::set<std::string>> paths;  // by errno
  for (const auto& wanted : wanted_) {
    if (source_of(wanted).descriptor && wanted.watch < 0) paths[wanted.error].insert(wanted.path);
  }
  for (const auto& [error, which] : paths) {
    all.push_back(not_seen("events in " + join(std::vector(which.begin(), which.end()), ", "),
                           "inotify", error));
  }
  if (uevents_.open && !uevents_.descriptor) {
    all.push_back(not_seen("events of devices", "uevents", uevents_.error));
  }
  if (links_.open && !links_.descriptor) {
    all.push_back(not_seen("events of links", "rtnetlink", links_.error));
  }
  return join(all, "; ");
}

bool Watch::retry() {
  bool gained = open_sources();
  for (auto& wanted : wanted_) {
    if (wanted.watch >= 0) continue;
    arm(wanted);
    gained = gained || wanted.watch >= 0;
  }
  regained_ = regained_ || gained;
  return gained;
}

}  // namespace railhead::host
