// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace railhead {

/// Tells that the machine may have changed: inotify on the directories where devices, drivers and
/// CDI specs come and go, and on the live machine ("/") kernel uevents as well (sysfs itself makes
/// no inotify events for what the kernel does). What it misses, a slow rescan finds.
class Watch {
 public:
  /// The error says which kernel facility was refused.
  static Result<std::unique_ptr<Watch>> open(const std::string& root);

  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Also watches this directory (absolute, as on the machine). One that does not exist is watched
  /// through its nearest existing ancestor until it appears.
  void add(const std::string& path);

  /// For an event loop: readable means that drain() has something to say.
  [[nodiscard]] std::vector<int> descriptors() const;

  /// Reads all that is pending without waiting; true if anything may have changed, lost events
  /// included. Nothing pending costs one read(2) a descriptor.
  bool drain();

 private:
  struct Wanted {
    std::string path;
    int descriptor = -1;  ///< inotify's; of the path itself or of an ancestor
    bool exact = false;
  };

  Watch(std::string root, int inotify, int uevents);
  void arm(Wanted& wanted) const;
  bool drain_inotify();
  bool drain_uevents() const;

  std::string root_;
  int inotify_;
  int uevents_;  ///< -1 where there are none
  std::vector<Wanted> wanted_;
};

/// Whether a kernel uevent ("add@/devices/…\0SUBSYSTEM=infiniband\0…") is about something the
/// reader reads. Source: Linux lib/kobject_uevent.c.
bool is_relevant_uevent(std::string_view message);

}  // namespace railhead
