// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "agent/container_hooks.h"
#include "agent/context.h"
#include "agent/gpu_claims.h"
#include "agent/machine_tables.h"
#include "agent/runtime_files.h"
#include "agent/runtime_link.h"
#include "agent/runtime_watcher.h"
#include "agent/service.h"
#include "kubelet/pod_resources.h"
#include "loop/hosted.h"
#include "nri/session.h"

namespace railhead::agent {

struct NriOptions {
  nri::SessionOptions session;
  std::string proc_dir;  ///< the host's procfs
};

/// The runtime's service: the session, the hooks that answer it, and what they need of the kubelet
/// and of files.
class NriService final : public Service, private RuntimeReader {
 public:
  struct Links {
    MachineTables& machine;
    TableFeed& tables;
    RuntimeLink& runtime;
    ContainerCache* containers;  ///< null: nobody reads it
    kubelet::PodResources& pod_resources;
    PodEvents* events;  ///< null: none are posted
  };

  NriService(Context context, NriOptions options, Links links);
  ~NriService() override;

  [[nodiscard]] std::string_view name() const override { return "nri"; }

  Status start() override;

  [[nodiscard]] Readiness readiness() const override { return links_.runtime.readiness(); }

  void publish() override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  struct Question;
  using ReadDone = std::function<void(const std::optional<RuntimeProcess>&)>;

  void read(const nri::RuntimePeer& peer, std::chrono::milliseconds patience,
            ReadDone done) override;
  void provide_file(const std::shared_ptr<Question>& question, std::optional<int> pid);
  void tell(const std::shared_ptr<Question>& question);

  Context context_;
  NriOptions options_;
  Links links_;
  GpuClaims kubelet_;
  ContainerHooks hooks_;
  std::unique_ptr<loop::Hosted<RuntimeFiles>> files_;
  std::unique_ptr<loop::Hosted<RuntimeWatcher>> watcher_;
  std::shared_ptr<Question> question_;  ///< of the connection that there is
  boost::asio::steady_timer patience_;
  nri::Session session_;
};

}  // namespace railhead::agent
