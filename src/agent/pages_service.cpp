// SPDX-License-Identifier: Apache-2.0
#include "agent/pages_service.h"

#include <utility>

#include "base/text.h"
#include "host/input_file.h"
#include "metrics/bearer.h"

namespace railhead::agent {
namespace {

constexpr std::size_t kMaxTokenBytes = 4096;

/// "" where no file is named, or it cannot be used: then nobody gets /pods over TCP.
std::string read_token(const std::string& path, Log& log) {
  if (path.empty()) return "";
  const auto text = host::read_file_at_once(path, kMaxTokenBytes);
  std::string token(text ? trim(*text) : "");
  if (token.empty()) {
    log.write(config::LogLevel::warn, "no token for /pods",
              {{"why", text ? path + ": is empty" : text.error().message}});
  }
  return token;
}

}  // namespace

PagesService::PagesService(Context context, PagesOptions options,
                           const std::vector<std::unique_ptr<Service>>& services,
                           const Documents& documents)
    : context_(context),
      options_(std::move(options)),
      services_(services),
      documents_(documents) {}

PagesService::~PagesService() = default;

Status PagesService::start() {
  files_ = TRY(loop::LoopThread::start("pages"));
  metrics::HttpOptions http;
  http.address = options_.address;
  http.socket = options_.socket;
  http.report = [this](const metrics::HttpNews& news) { log_news(news); };
  http.files = &files_->mailbox();
  http.mail = &context_.mailbox;
  server_ = std::make_unique<metrics::HttpServer>(
      context_.loop, std::move(http),
      [this](const metrics::HttpRequest& request) { return page(request); });
  files_->mailbox().post([this, path = options_.token_file, &home = context_.mailbox] {
    home.post([this, token = read_token(path, context_.log)] { token_ = token; });
  });
  return {};
}

void PagesService::log_news(const metrics::HttpNews& news) const {
  auto& log = context_.log;
  switch (news.kind) {
    case metrics::HttpNews::Kind::listening:
      return log.write(config::LogLevel::info, "listening", {{"address", news.address}});
    case metrics::HttpNews::Kind::not_listening:
      return log.write(config::LogLevel::warn, "not listening, trying again",
                       {{"address", news.address}, {"why", news.why}});
    case metrics::HttpNews::Kind::pausing:
      return log.write(config::LogLevel::warn, "accepting no connections for a while",
                       {{"address", news.address}, {"why", news.why}});
  }
}

bool PagesService::stop(std::chrono::milliseconds patience) {
  if (server_) server_->stop();
  const bool ended = !files_ || files_->end(patience);
  server_.reset();
  return ended;
}

metrics::HttpAnswer PagesService::page(const metrics::HttpRequest& request) const {
  if (request.target == "/healthz") return {200, "ok\n"};
  if (request.target == "/readyz") return readiness_page();
  if (request.target == "/metrics") {
    for (const auto& service : services_) service->publish();
    return {200, context_.metrics.expose(), "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (request.target == "/pods") {
    return document_page(request, documents_.pods,
                         "nobody has looked who uses RDMA yet, or nobody does "
                         "(pods.sampleSeconds)\n");
  }
  if (request.target == "/doctor") {
    return document_page(request, documents_.doctor,
                         "the checks have not been made yet, or nobody makes them "
                         "(doctor.everySeconds)\n");
  }
  return {404, "pages: /metrics /healthz /readyz /pods /doctor\n"};
}

metrics::HttpAnswer PagesService::document_page(const metrics::HttpRequest& request,
                                                const loop::Shared<std::string>& document,
                                                const char* none) const {
  if (!metrics::may_read_pods(request, token_)) {
    return {403, std::string(request.target) +
                     " is served on the Unix socket (metrics.socket), and here only with the "
                     "bearer token of metrics.tokenFile\n"};
  }
  auto text = document.get();
  if (text.empty()) return {404, none};
  return {200, std::move(text), "application/json"};
}

/// Pages that are served nowhere reach nobody: what is said here is read on the other place.
Readiness PagesService::readiness() const {
  Readiness now;
  for (const auto& place : server_->places()) {
    if (place.problem.empty()) continue;
    if (!now.text.empty()) now.text += "\n";
    now.text += "pages: not served on " + place.address + ": " + place.problem;
  }
  return now;
}

void PagesService::publish() {
  context_.metrics.log_lines_dropped.set(context_.log.dropped());
  for (const auto& place : server_->places()) {
    context_.metrics.http_listening.set(place.problem.empty() ? 1 : 0, label::Place(place.kind));
  }
}

metrics::HttpAnswer PagesService::readiness_page() const {
  bool ready = true;
  std::string text;
  for (const auto& service : services_) {
    const auto one = service->readiness();
    ready = ready && one.ready;
    if (!one.text.empty()) text += one.text + "\n";
  }
  return {ready ? 200U : 503U, std::move(text)};
}

}  // namespace railhead::agent
