// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/context.h"
#include "agent/service.h"
#include "metrics/http_server.h"

namespace railhead {

/// The pages of the agent: /metrics, /healthz, /readyz and /pods.
class PagesService final : public Service {
 public:
  /// `services` are asked for their readiness and their metrics; more may be added to the list
  /// while it runs. `pods_page` gives the Pods document; "" where there is none.
  PagesService(Context context, std::string address,
               const std::vector<std::unique_ptr<Service>>& services,
               std::function<std::string()> pods_page);
  ~PagesService() override;

  Status start() override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  [[nodiscard]] HttpAnswer page(std::string_view target) const;
  /// 200 where every service that is on does what it is for.
  [[nodiscard]] HttpAnswer readiness_page() const;

  Context context_;
  std::string address_;
  const std::vector<std::unique_ptr<Service>>& services_;
  std::function<std::string()> pods_page_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace railhead
