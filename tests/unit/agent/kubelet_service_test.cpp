// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_service.h"

#include <gmock/gmock.h>

#include <atomic>

#include "agent/metrics.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

/// For several threads.
class SharedClock final : public host::Clock {
 public:
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds_));
  }

  std::chrono::system_clock::time_point calendar() override { return {}; }

  void wait(std::chrono::milliseconds /*time*/) override {}

  void set(int seconds) { seconds_ = seconds; }

 private:
  std::atomic<int> seconds_{1000};
};

TEST(KubeletService, that_does_not_look_around_any_more_is_not_ready) {
  boost::asio::io_context loop;
  loop::MailLoop mail{std::move(loop::Mailbox::open()).value(), loop};
  const TemporaryDirectory folder;
  SharedClock clock;
  agent::Log log{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics;
  agent::TableFeed tables;
  agent::RuntimeLink runtime{""};
  kubelet::PodResources pod_resources{folder / "kubelet.sock", mail.box()};
  agent::KubeletOptions options;
  options.registrar.plugin_folder = folder / "device-plugins";
  agent::KubeletService service({loop, mail.box(), clock, log, metrics}, options,
                                {tables, runtime, pod_resources});
  EXPECT_FALSE(service.readiness().ready) << "it is starting";
  ASSERT_TRUE(service.start());
  while (!service.readiness().ready) std::this_thread::yield();
  clock.set(1059);
  EXPECT_TRUE(service.readiness().ready);
  clock.set(1060);
  EXPECT_FALSE(service.readiness().ready);
  EXPECT_THAT(service.readiness().text, HasSubstr("held up for 60 s"));
  tables.close();
  EXPECT_TRUE(service.stop(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace railhead::test
