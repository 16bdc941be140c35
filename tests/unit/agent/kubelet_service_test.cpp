// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_service.h"

#include <gmock/gmock.h>

#include <thread>

#include "agent/metrics.h"
#include "loop/mail_loop.h"
#include "unit/host/temporary_directory.h"
#include "unit/stepped_clock.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

TEST(KubeletService, that_does_not_look_around_any_more_is_not_ready) {
  boost::asio::io_context loop;
  loop::MailLoop mail{std::move(loop::Mailbox::open()).value(), loop};
  const TemporaryDirectory folder;
  SteppedClock clock;
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
  clock.advance(std::chrono::seconds(59));
  EXPECT_TRUE(service.readiness().ready);
  clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(service.readiness().ready);
  EXPECT_THAT(service.readiness().text, HasSubstr("held up for 60 s"));
  tables.close();
  EXPECT_TRUE(service.stop(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace railhead::test
