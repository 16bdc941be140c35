// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/context.h"
#include "agent/service.h"
#include "loop/loop_thread.h"
#include "loop/shared.h"
#include "metrics/http_server.h"

namespace railhead::agent {

struct PagesOptions {
  std::optional<metrics::HttpAddress> address;
  std::string socket;      ///< path of the Unix socket; "": none
  std::string token_file;  ///< of the bearer token for /pods and /doctor over TCP; "": nobody
};

/// The documents that other services make, for their pages; "" where there is none yet.
struct Documents {
  loop::Shared<std::string> pods;    ///< kind Pods
  loop::Shared<std::string> doctor;  ///< kind DoctorReport
};

/// The pages of the agent: /metrics, /healthz, /readyz, /pods and /doctor.
class PagesService final : public Service {
 public:
  /// `services` are asked for their readiness and their metrics; more may be added to the list
  /// while it runs.
  PagesService(Context context, PagesOptions options,
               const std::vector<std::unique_ptr<Service>>& services, const Documents& documents);
  ~PagesService() override;

  [[nodiscard]] std::string_view name() const override { return "pages"; }

  Status start() override;
  [[nodiscard]] Readiness readiness() const override;
  void publish() override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  [[nodiscard]] metrics::HttpAnswer page(const metrics::HttpRequest& request) const;
  /// 200 where every service that is on does what it is for.
  [[nodiscard]] metrics::HttpAnswer readiness_page() const;
  /// A document that names what only some may know; `none` says why there is none yet.
  [[nodiscard]] metrics::HttpAnswer document_page(const metrics::HttpRequest& request,
                                                  const loop::Shared<std::string>& document,
                                                  const char* none) const;
  void log_news(const metrics::HttpNews& news) const;

  Context context_;
  PagesOptions options_;
  const std::vector<std::unique_ptr<Service>>& services_;
  const Documents& documents_;
  std::string token_;  ///< "" until it has been read
  std::unique_ptr<loop::LoopThread>
      files_;  ///< where the socket's folder and the token's file may hang
  std::unique_ptr<metrics::HttpServer> server_;
};

}  // namespace railhead::agent
