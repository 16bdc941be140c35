// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/link_news.h"
#include "host/unique_fd.h"

struct inotify_event;

namespace railhead {

/// Tells that something may have changed. Of the machine: inotify on the directories where devices,
/// drivers and CDI specs come and go, and where the root shows a living sysfs (which makes no
/// inotify events for what the kernel does) kernel uevents and the links of network interfaces.
/// What it misses, a slow rescan finds.
class Watch {
 public:
  /// Fails where the root is not a directory or the kernel has no inotify instance left.
  static Result<std::unique_ptr<Watch>> open(const std::string& root);

  /// These directories alone (as by add()), and nothing of the kernel.
  static Result<std::unique_ptr<Watch>> open(const std::string& root,
                                             const std::vector<std::string>& directories);

  /// Also watches this directory (absolute, as on the machine; links stay inside the root). One
  /// that does not exist is waited for in its nearest existing ancestor, where nothing else counts.
  void add(const std::string& path);

  /// For an event loop: readable means that drain() has something to say.
  [[nodiscard]] std::vector<int> descriptors() const;

  /// Reads all that is pending without waiting; true if anything may have changed, lost events
  /// included. Nothing pending costs one read(2) a descriptor.
  bool drain();

 private:
  struct Wanted {
    std::string path;
    int watch = -1;       ///< inotify's number for the directory, or for the ancestor
    std::string missing;  ///< the name that the ancestor lacks; empty: the directory is there
  };

  Watch(UniqueFd root, UniqueFd inotify);
  [[nodiscard]] UniqueFd open_directory(const std::string& path) const;
  [[nodiscard]] bool is_live() const;
  void arm(Wanted& wanted);
  /// Arms in what exists of the path now; false if more of it has appeared meanwhile.
  bool arm_once(Wanted& wanted);
  bool drain_inotify();
  bool drain_uevents() const;
  bool drain_links();
  bool handle(const inotify_event& event);

  UniqueFd root_;
  UniqueFd inotify_;
  UniqueFd uevents_;  ///< none where there are none
  UniqueFd links_;    ///< the same
  LinkNews link_news_;
  std::vector<Wanted> wanted_;
};

/// Whether a kernel uevent ("add@/devices/…\0SUBSYSTEM=infiniband\0…") is about something the
/// reader reads. Virtual netdevs are not: each container's veth would be one.
/// Source: Linux lib/kobject_uevent.c.
bool is_relevant_uevent(std::string_view message);

}  // namespace railhead
