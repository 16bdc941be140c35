// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/hand_out_files.h"
#include "agent/pool_resource.h"
#include "agent/service.h"
#include "kubelet/registrar.h"
#include "loop/watch_loop.h"

namespace railhead::agent {

/// How pools are published.
struct KubeletOptions {
  /// Its plugin folder may be empty: plugin_folder() finds it.
  kubelet::RegistrarOptions registrar;
  /// The plugin folder of a kubelet that keeps it below its root folder; "": not asked for.
  std::string folder_under_root;
  config::HandOut hand_out = config::HandOut::nri;
  HandOutFolders folders;
};

/// The plugin folder as configured, else that under the kubelet's root folder if a kubelet serves
/// there, else the kubelet's constant. Looks at files.
std::string plugin_folder(const KubeletOptions& options);

/// Publishes the pools: each is a resource of the kubelet, kept known and up to date. A pool that
/// the configuration takes away is published with zero devices and then withdrawn. Lives on the
/// kubelet thread: it touches the kubelet's folders, and files of allocations.
class PoolPublisher {
 public:
  struct Links {
    TableFeed& tables;
    RuntimeLink& runtime;
    kubelet::PodResources& pod_resources;
  };

  PoolPublisher(Context context, KubeletOptions options, Links links);
  ~PoolPublisher();

  void start();
  /// Withdraws everything; the kubelet sees the sockets close. Idempotent.
  void stop();

  /// Publishes the pools if the machine or the configuration has changed. Cheap where they have
  /// not.
  void look();

  /// Ready: everything is enrolled, or another agent holds the registration, or there is no kubelet
  /// (a node's first agent may be there before its kubelet).
  [[nodiscard]] Readiness readiness() const;

  /// Calls `changed` whenever readiness() may say something else.
  void on_change(std::function<void()> changed) { readiness_changed_ = std::move(changed); }

 private:
  /// A pool that the kubelet knows of.
  struct Offer {
    std::unique_ptr<PoolResource> resource;
    /// When its pool is no more: the kubelet has had time to read that there are no devices.
    std::optional<std::chrono::steady_clock::time_point> ends_at;
  };

  void watch_folders();
  void publish_news();
  /// Offers what is new in the table, and lets go what is not in it any more.
  void follow(const pools::PoolTable& pools);
  void offer(std::size_t pool);
  void log_pool(std::size_t pool, std::size_t devices);
  void note_remarks(const pools::Pool& pool);
  void end_what_is_due();
  void forget_metrics(const std::string& name);
  void schedule_tick();
  void tick();
  void changed(const kubelet::ResourceStatus& status);
  [[nodiscard]] std::string why_empty(std::size_t pool) const;

  Context context_;
  KubeletOptions options_;
  Links links_;
  std::function<void()> readiness_changed_;
  boost::asio::steady_timer timer_;
  HandOutFiles files_;
  std::vector<Offer> offers_;
  std::map<std::string, LogFields> logged_;                  ///< by resource
  std::map<std::string, std::vector<std::string>> remarks_;  ///< as last logged, by resource
  std::unique_ptr<kubelet::Registrar> registrar_;            ///< its end uses the offers
  std::optional<loop::WatchLoop> folders_;
  std::shared_ptr<const inject::DecisionTable> published_;
  std::shared_ptr<const inject::DecisionTable> with_files_;  ///< what the files say
};

}  // namespace railhead::agent
