// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "host/dcb_netlink.h"
#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot_host.h"
#include "unit/devlink_builder.h"
#include "unit/link_builder.h"

namespace railhead::host {
namespace {

/// A host whose kernel gives this answer to every question.
class OneAnswer final : public test::DevlinkHost {
 public:
  explicit OneAnswer(Result<std::optional<std::string>> answer)
      : DevlinkHost({}),
        answer_(std::move(answer)) {}

  Result<std::optional<std::string>> link_settings(const std::string&, LinkPart) override {
    return answer_;
  }

 private:
  Result<std::optional<std::string>> answer_;
};

Result<std::optional<std::string>> replayed(Result<std::optional<std::string>> answer) {
  OneAnswer kernel(std::move(answer));
  snapshot::RecordingHost recorder(kernel);
  (void)recorder.link_settings("eth0", LinkPart::dcb);
  const auto text = snapshot::format_snapshot(snapshot::redact(recorder.recorded()).snapshot);
  return snapshot::SnapshotHost::parse(text).value()->link_settings("eth0", LinkPart::dcb);
}

TEST(LinkSettings, a_snapshot_gives_the_recorded_answer) {
  const auto kept = kept_of_dcb(test::flow_answer(0x08, {{26, 3}}));
  EXPECT_EQ(replayed(std::optional(kept)).value(), kept);
  EXPECT_EQ(replayed(std::optional<std::string>()).value(), std::nullopt);
  const auto failure = replayed(Error{ErrorCode::denied, "/x: operation not permitted"});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().message, "/.netlink/dcb/eth0: operation not permitted");
}

}  // namespace
}  // namespace railhead::host
