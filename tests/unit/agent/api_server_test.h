// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/context.h"
#include "host/unique_fd.h"
#include "kube/access.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/kube/https_server.h"

namespace railhead::test {

/// What a service of the agent needs, and an API server whose answers a test chooses.
class ApiServerTest : public testing::Test {
 protected:
  using Answer = std::function<Reply(const std::string& request)>;

  /// `usual` is asked where the test has chosen no answer.
  explicit ApiServerTest(Answer usual)
      : usual_(std::move(usual)),
        server_(certificate_, [this](const std::string& request) { return answer(request); }) {
    write("ca.crt", authority_.pem());
    write("token", "t0");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  /// Of a pod that has a service account.
  [[nodiscard]] kube::AccessSource access() const {
    kube::AccessSource source;
    source.environment = {{"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
                          {"KUBERNETES_SERVICE_PORT", server_.port()}};
    source.service_account = folder_.path().string();
    return source;
  }

  agent::Context context() { return {loop_, mail_.box(), clock_, log_, metrics_}; }

  bool until(const std::function<bool()>& so) {
    for (int i = 0; i < 2000 && !so(); ++i) loop_.run_for(std::chrono::milliseconds(5));
    return so();
  }

  [[nodiscard]] std::vector<std::string> verbs() const {
    std::vector<std::string> verbs;
    for (const auto& one : server_.requests()) verbs.push_back(one.substr(0, one.find(' ')));
    return verbs;
  }

  std::string said() {
    log_.flush();
    return file_text(folder_ / "log");
  }

  std::mutex mutex_;         ///< of what the server's thread looks at
  std::vector<Reply> next_;  ///< one for each request
  Answer usual_;
  TemporaryDirectory folder_;
  Certificate authority_{""};
  Certificate certificate_{"IP:127.0.0.1", &authority_};
  HttpsServer server_;
  host::UniqueFd log_file_{
      ::open((folder_ / "log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_APPEND, 0600)};
  boost::asio::io_context loop_{1};
  loop::MailLoop mail_{std::move(loop::Mailbox::open()).value(), loop_};
  host::SystemClock clock_;
  agent::Log log_{config::LogLevel::info, config::LogFormat::text, log_file_.get()};
  agent::Metrics metrics_;

 private:
  Reply answer(const std::string& request) {
    const std::lock_guard lock(mutex_);
    if (next_.empty()) return usual_(request);
    auto reply = next_.front();
    next_.erase(next_.begin());
    return reply;
  }
};

}  // namespace railhead::test
