// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/changes.h"
#include "host/link_news.h"
#include "host/unique_fd.h"

struct inotify_event;

namespace railhead::host {

/// What a Watch gets its events from. Each function that opens gives no descriptor, and errno,
/// where it cannot; a source that is not to be expected is an empty function.
struct WatchSources {
  std::function<UniqueFd()> inotify;
  std::function<UniqueFd()> uevents;
  std::function<UniqueFd()> links;
  /// As inotify_add_watch(2).
  std::function<int(int inotify, const char* path, std::uint32_t events)> add_watch;

  /// Those of the kernel that we run on.
  static WatchSources of_kernel();
};

/// Tells what may have changed. Of the machine: inotify on the directories where devices, drivers
/// and CDI specs come and go, and where the root shows a living sysfs (which makes no inotify
/// events for what the kernel does) kernel uevents and the links of network interfaces. A source
/// that cannot be had leaves the others at work: blind() says so, retry() tries again. What a watch
/// misses, a slow rescan finds.
class Watch {
 public:
  /// The whole machine. Fails where the root is not a directory, where it cannot be found out
  /// whether its sysfs lives, or without a single descriptor.
  static Result<std::unique_ptr<Watch>> open(const std::string& root);

  /// These directories alone (as by add()), and nothing of the kernel.
  static Result<std::unique_ptr<Watch>> open(const std::string& root,
                                             const std::vector<std::string>& directories);

  /// The whole machine, with these sources.
  static Result<std::unique_ptr<Watch>> open_with(const std::string& root, WatchSources sources);

  /// Also watches this directory (absolute, as on the machine; links stay inside the root). One
  /// that does not exist is waited for in its nearest existing ancestor, where nothing else counts.
  /// What happens in it is `everything`.
  void add(const std::string& path);

  /// For an event loop: readable means that drain() has something to say. It stays the same when
  /// sources come and go.
  [[nodiscard]] int descriptor() const { return ready_.get(); }

  /// Reads what is pending without waiting; lost events are `everything`. Nothing pending costs
  /// one system call. After very many events some may be left; the descriptor is readable then.
  MachineChanges drain();

  /// Readable while device nodes were touched: their mode, owner or times may be others. Every user
  /// of a node can touch it, so that this is not in descriptor(): who waits for it looks first, and
  /// not at every touch. Absent where it cannot be had; retry() tries again.
  [[nodiscard]] std::optional<int> touches() const;

  /// The nodes that were touched since the last time; `everything`: any may have been.
  MachineChanges touched();

  /// In words what is not seen now, such as "events of devices (uevents: Too many open files)"; ""
  /// where all is.
  [[nodiscard]] std::string blind() const;

  /// Tries again what blind() names. True where some of it is seen from now on: what happened
  /// meanwhile is not known, so that drain() says `everything`.
  bool retry();

 private:
  enum class Kind : std::uint8_t { rdma, nodes, touches, pci, gpus, netdevs, cdi, anything };

  struct Wanted {
    std::string path;
    Kind kind = Kind::anything;
    int watch = -1;         ///< inotify's number for the directory, or for the ancestor
    int error = 0;          ///< errno, while there is no number
    std::string missing{};  ///< the name that the ancestor lacks; empty: the directory is there
  };

  /// One that is a descriptor of its own.
  struct Source {
    std::function<UniqueFd()> open;
    UniqueFd descriptor{};
    int error = 0;  ///< errno, while there is no descriptor
  };

  Watch(UniqueFd root, UniqueFd ready, WatchSources sources);
  static Result<std::unique_ptr<Watch>> create(const std::string& root, WatchSources sources);
  [[nodiscard]] UniqueFd open_directory(const std::string& path) const;
  [[nodiscard]] Result<bool> is_live() const;
  void expect_machine();
  void want(const std::string& path, Kind kind);
  /// True where it is there now and was not.
  bool open_source(Source& source);
  /// That of the events of a directory.
  [[nodiscard]] const Source& source_of(const Wanted& wanted) const;
  bool open_sources();
  void arm(Wanted& wanted);
  /// Arms in what exists of the path now; false if more of it has appeared meanwhile.
  bool arm_once(Wanted& wanted);
  void drain_inotify(const Source& source, MachineChanges& changes);
  void handle(const inotify_event& event, const Source& source, MachineChanges& changes);
  static std::uint32_t events_of(Kind kind);
  static void add_entry(Kind kind, std::string_view name, MachineChanges& changes);

  UniqueFd root_;
  UniqueFd ready_;  ///< an epoll instance of all sources but touches_
  std::function<int(int, const char*, std::uint32_t)> add_watch_;
  Source inotify_;
  Source touches_;  ///< another inotify
  Source uevents_;
  Source links_;
  LinkNews link_news_;
  std::vector<Wanted> wanted_;
  bool regained_ = false;  ///< by retry(), and not said yet
};

}  // namespace railhead::host
