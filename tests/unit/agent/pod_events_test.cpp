// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_events.h"

#include <gmock/gmock.h>

#include "inject/codes.h"
#include "unit/manual_clock.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PodEventsTest : public testing::Test {
 protected:
  std::vector<kube::Event> noted() {
    std::vector<kube::Event> all;
    while (auto one = outbox_.take([](const kube::Event&) { return true; })) {
      all.push_back(*std::move(one));
    }
    return all;
  }

  std::vector<std::string> reasons(std::vector<container::Remark> remarks) {
    inject::Decision decision;
    decision.outcome = inject::Outcome::adjusted;
    decision.remarks = std::move(remarks);
    events_.decided(kContainer, decision);
    std::vector<std::string> reasons;
    for (const auto& one : noted()) {
      if (one.about.kind == "Pod") reasons.push_back(one.reason);
    }
    return reasons;
  }

  const container::Identity kContainer{"train", "job-0", "1b4e28ba", "c0ffee", "main"};
  ManualClock clock_;
  agent::Metrics metrics_;
  agent::EventOutbox outbox_{metrics_, clock_};
  agent::PodEvents events_{outbox_, "gpu-a"};
};

TEST_F(PodEventsTest, a_refusal_is_told_of_the_pod_and_in_short_of_the_node) {
  inject::Decision decision;
  decision.outcome = inject::Outcome::refused;
  decision.message = "railhead: rdma is required, and port 1 of mlx5_0 is DOWN";
  events_.decided(kContainer, decision);
  const auto all = noted();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].about, (kube::EventObject{"Pod", "train", "job-0", "1b4e28ba"}));
  EXPECT_EQ(all[0].reason, "RdmaRequiredNotMet");
  EXPECT_EQ(all[0].message, "container main: " + decision.message);
  EXPECT_EQ(all[1].about, (kube::EventObject{"Node", "", "gpu-a", "gpu-a"}));
  EXPECT_THAT(all[1].message, HasSubstr("pod train/job-0"));
  EXPECT_THAT(all[1].message, Not(HasSubstr("mlx5_0")));
}

TEST_F(PodEventsTest, remarks_of_one_reason_are_one_event) {
  EXPECT_THAT(reasons({{std::string(inject::warn::kAnnotationRefused), "a"},
                       {std::string(inject::warn::kEnvironment), "NCCL_IB_HCA"},
                       {std::string(inject::warn::kAnnotationMalformed), "b"}}),
              ElementsAre("RdmaEnvironmentContradicts", "RdmaRequestRefused"));
}

TEST_F(PodEventsTest, what_the_operator_has_to_mend_is_none) {
  EXPECT_THAT(reasons({{std::string(inject::warn::kStandIn), "a"},
                       {std::string(inject::warn::kNicSlow), "b"}}),
              IsEmpty());
}

TEST_F(PodEventsTest, a_container_without_a_pod_is_told_of_to_nobody) {
  inject::Decision decision;
  decision.outcome = inject::Outcome::refused;
  events_.decided({}, decision);
  EXPECT_THAT(noted(), IsEmpty());
}

}  // namespace
}  // namespace railhead::test
