// SPDX-License-Identifier: Apache-2.0
#include "host/watch.h"

#include <linux/netlink.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace railhead {
namespace {

constexpr std::array kDirectories = {
    "/sys/class/infiniband", "/sys/class/infiniband_verbs", "/sys/class/infiniband_mad",
    "/sys/bus/pci/devices",  "/sys/bus/pci/drivers/nvidia", "/sys/class/net",
    "/dev/infiniband",       "/proc/driver/nvidia/gpus",    "/etc/cdi",
    "/var/run/cdi",
};

constexpr std::array<std::string_view, 7> kSubsystems = {
    "infiniband", "infiniband_verbs", "infiniband_mad", "pci", "net", "drm", "misc"};

constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

/// Group 1 is what the kernel sends; group 2 is udev's. Source: lib/kobject_uevent.c.
constexpr unsigned kKernelGroup = 1;

int open_uevents() {
  const int descriptor =
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
  if (descriptor < 0) return -1;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kKernelGroup;
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

}  // namespace

bool is_relevant_uevent(std::string_view message) {
  for (const auto field : split(message, '\0')) {
    constexpr std::string_view kKey = "SUBSYSTEM=";
    if (!field.starts_with(kKey)) continue;
    const auto name = field.substr(kKey.size());
    return std::find(kSubsystems.begin(), kSubsystems.end(), name) != kSubsystems.end();
  }
  return false;
}

Result<std::unique_ptr<Watch>> Watch::open(const std::string& root) {
  const int inotify = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (inotify < 0)
    return Error{ErrorCode::unavailable, std::string("inotify: ") + std::strerror(errno)};
  auto watch = std::unique_ptr<Watch>(new Watch(root, inotify, root == "/" ? open_uevents() : -1));
  for (const auto* path : kDirectories) watch->add(path);
  return watch;
}

Watch::Watch(std::string root, int inotify, int uevents)
    : root_(std::move(root)),
      inotify_(inotify),
      uevents_(uevents) {
  if (root_.ends_with('/')) root_.pop_back();
}

Watch::~Watch() {
  ::close(inotify_);
  if (uevents_ >= 0) ::close(uevents_);
}

void Watch::add(const std::string& path) {
  const auto known = [&](const Wanted& wanted) { return wanted.path == path; };
  if (std::any_of(wanted_.begin(), wanted_.end(), known)) return;
  arm(wanted_.emplace_back(Wanted{path, -1, false}));
}

void Watch::arm(Wanted& wanted) const {
  std::string path = wanted.path;
  for (;;) {
    wanted.descriptor = ::inotify_add_watch(inotify_, (root_ + path).c_str(), kEvents | IN_ONLYDIR);
    wanted.exact = wanted.descriptor >= 0 && path == wanted.path;
    if (wanted.descriptor >= 0 || path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

std::vector<int> Watch::descriptors() const {
  if (uevents_ < 0) return {inotify_};
  return {inotify_, uevents_};
}

bool Watch::drain() {
  const bool files = drain_inotify();
  const bool kernel = drain_uevents();
  return files || kernel;
}

bool Watch::drain_inotify() {
  alignas(inotify_event) char buffer[16384];
  bool changed = false;
  bool gone = false;
  for (;;) {
    const auto size = ::read(inotify_, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    changed = true;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      if ((event->mask & (IN_IGNORED | IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF)) != 0)
        gone = true;
      at += sizeof(inotify_event) + event->len;
    }
  }
  if (!changed) return false;
  for (auto& wanted : wanted_) {
    if (gone || !wanted.exact) arm(wanted);
  }
  return true;
}

bool Watch::drain_uevents() const {
  if (uevents_ < 0) return false;
  char buffer[8192];
  bool changed = false;
  for (;;) {
    const auto size = ::recv(uevents_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == ENOBUFS) {
      changed = true;  // events were lost: anything may have happened
      continue;
    }
    if (size <= 0) return changed;
    changed = changed || is_relevant_uevent({buffer, static_cast<std::size_t>(size)});
  }
}

}  // namespace railhead
