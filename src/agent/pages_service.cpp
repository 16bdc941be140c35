// SPDX-License-Identifier: Apache-2.0
#include "agent/pages_service.h"

#include <utility>

namespace railhead {

PagesService::PagesService(Context context, std::string address,
                           const std::vector<std::unique_ptr<Service>>& services,
                           std::function<std::string()> pods_page)
    : context_(context),
      address_(std::move(address)),
      services_(services),
      pods_page_(std::move(pods_page)) {}

PagesService::~PagesService() = default;

Status PagesService::start() {
  server_ = TRY(HttpServer::listen(context_.loop, address_,
                                   [this](std::string_view target) { return page(target); }));
  context_.log.write(LogLevel::info, "listening", {{"address", server_->address()}});
  return {};
}

bool PagesService::stop(std::chrono::milliseconds /*patience*/) {
  if (server_) server_->stop();
  return true;
}

HttpAnswer PagesService::page(std::string_view target) const {
  if (target == "/healthz") return {200, "ok\n"};
  if (target == "/readyz") return readiness_page();
  if (target == "/metrics") {
    for (const auto& service : services_) service->publish();
    return {200, context_.metrics.expose(), "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (target == "/pods") {
    auto document = pods_page_();
    if (!document.empty()) return {200, std::move(document), "application/json"};
  }
  return {404, "pages: /metrics /healthz /readyz /pods\n"};
}

HttpAnswer PagesService::readiness_page() const {
  bool ready = true;
  std::string text;
  for (const auto& service : services_) {
    const auto one = service->readiness();
    ready = ready && one.ready;
    if (!one.text.empty()) text += one.text + "\n";
  }
  return {ready ? 200U : 503U, std::move(text)};
}

}  // namespace railhead
