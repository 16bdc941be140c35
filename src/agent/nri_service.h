// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/context.h"
#include "agent/gpu_claims.h"
#include "agent/machine_tables.h"
#include "agent/nri_face.h"
#include "agent/runtime_files.h"
#include "agent/runtime_link.h"
#include "agent/service.h"
#include "host/host.h"
#include "loop/hosted.h"
#include "nri/session.h"

namespace railhead {

struct NriOptions {
  nri::SessionOptions session;
  std::string proc_dir;              ///< the host's procfs
  std::string pod_resources_socket;  ///< the kubelet's
  std::vector<std::string> gpu_resources;
};

/// The runtime's service: answers for each container what is added to it.
///
/// A hook that finds the machine changed and not read yet waits for the reading, a quarter of the
/// runtime's deadline at most, and then decides by the last one.
class NriService final : public Service, private nri::Handler {
 public:
  struct Links {
    MachineTables& machine;
    TableFeed& tables;
    RuntimeLink& runtime;
    ContainerBook& book;
  };

  NriService(Context context, NriOptions options, Links links);
  ~NriService() override;

  Status start() override;
  void reconfigure(const Config& config) override;

  [[nodiscard]] Readiness readiness() const override { return links_.runtime.readiness(); }

  void publish() override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  void configured(const nri::RuntimePeer& peer) override;
  void existing(const ContainerRequest& container) override;
  void synchronized(std::size_t pods, std::size_t containers) override;
  void create(const ContainerRequest& request,
              std::function<void(nri::CreateAnswer)> done) override;
  nri::CreateAnswer on_deadline(const ContainerRequest& request) override;
  void disconnected(const Error& why, std::chrono::milliseconds retry_in) override;
  void note_stale(const ContainerRequest& request);

  Context context_;
  NriOptions options_;
  Links links_;
  std::unique_ptr<Host> live_;
  std::optional<GpuClaims> claims_;
  std::optional<NriFace> decisions_;
  std::unique_ptr<Hosted<RuntimeFiles>> files_;
  std::optional<nri::Session> session_;
  std::chrono::milliseconds patience_{500};
};

}  // namespace railhead
