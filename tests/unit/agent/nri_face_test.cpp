// SPDX-License-Identifier: Apache-2.0
#include "agent/nri_face.h"

#include <gmock/gmock.h>

#include "agent/metric_list.h"
#include "host/clock.h"
#include "unit/agent/fixed_tables.h"
#include "unit/inject/container_builder.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::StartsWith;

std::string process(const std::string& pid, const std::string& name,
                    const std::string& capabilities) {
  const std::string folder = "/proc/" + pid;
  return file_entry(folder + "/comm", name + "\n") +
         file_entry(folder + "/status", "Name:\t" + name + "\nCapEff:\t" + capabilities + "\n") +
         file_entry(folder + "/limits",
                    "Max locked memory         65536                8388608"
                    "              bytes     \n");
}

constexpr const char* kAll = "000001ffffffffff";
constexpr const char* kNoResource = "000001fffeffffff";  // bit 24 is CAP_SYS_RESOURCE

class Ability : public testing::Test {
 protected:
  RuntimeAbility of(const std::string& entries, const std::string& name, std::optional<int> pid) {
    nri::RuntimePeer peer;
    peer.name = name;
    peer.version = "2.4.2";
    peer.pid = pid;
    const auto live = host_of(entries);
    return ability_of(peer, *live, "/proc", log_);
  }

  Log log_{LogLevel::error, LogFormat::text};
};

TEST_F(Ability, with_cap_sys_resource_every_limit_can_be_set) {
  const auto ability = of(process("42", "containerd", kAll), "containerd", 42);
  EXPECT_EQ(ability.memlock_ceiling, kUnlimited);
  EXPECT_EQ(ability.memlock_inherited, 65536U);
  EXPECT_TRUE(ability.rlimits);
}

TEST_F(Ability, without_it_the_hard_limit_is_the_ceiling) {
  EXPECT_EQ(of(process("42", "containerd", kNoResource), "containerd", 42).memlock_ceiling,
            8388608U);
}

TEST_F(Ability, a_runtime_without_pid_is_found_by_its_name) {
  const auto procs = process("7", "crio", kAll) + process("8", "containerd-shim", kNoResource);
  EXPECT_EQ(of(procs, "cri-o", std::nullopt).memlock_ceiling, kUnlimited);
}

TEST_F(Ability, two_of_a_name_or_none_are_unknown) {
  const auto two = process("7", "containerd", kAll) + process("8", "containerd", kNoResource);
  EXPECT_EQ(of(two, "containerd", std::nullopt).memlock_ceiling, std::nullopt);
  EXPECT_EQ(of(two, "cri-o", std::nullopt).memlock_ceiling, std::nullopt);
  EXPECT_EQ(of("", "containerd", std::nullopt).memlock_ceiling, std::nullopt);
}

TEST_F(Ability, a_process_that_is_gone_is_unknown) {
  EXPECT_EQ(of(process("7", "containerd", kAll), "containerd", 9).memlock_ceiling, std::nullopt);
}

class NriFaceTest : public testing::Test {
 protected:
  nri::CreateAnswer create(ContainerBuilder& container) {
    std::optional<nri::CreateAnswer> answer;
    face_.create(container.request(), [&](nri::CreateAnswer given) { answer = std::move(given); });
    EXPECT_TRUE(answer) << "the answer comes at once";
    return answer.value_or(nri::CreateAnswer{});
  }

  [[nodiscard]] double decisions(const std::string& outcome, std::string_view reason) const {
    return metrics_.value("railhead_nri_decisions_total",
                          {{"outcome", outcome}, {"reason", std::string(reason)}});
  }

  ManualClock clock_;
  Log log_{LogLevel::error, LogFormat::text};
  MetricRegistry metrics_{metric_list()};
  FixedTables machine_{machine("seed-8gpu-4nic")};
  std::unique_ptr<Host> live_ = host_of(process("42", "containerd", kAll));
  NriFace face_{machine_, *live_, "/proc", false, log_, metrics_};
};

TEST_F(NriFaceTest, a_container_with_gpus_is_adjusted_and_counted) {
  ContainerBuilder container;
  container.nvidia(4).nvidia(5);
  const auto answer = create(container);
  ASSERT_TRUE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(paths(*answer.adjustment),
            (std::vector<std::string>{"/dev/infiniband/uverbs2", "/dev/infiniband/rdma_cm"}));
  EXPECT_EQ(decisions("adjusted", reason::kGpus), 1);
  EXPECT_EQ(metrics_.value("railhead_nri_injected_nics_total", {{"nic", "mlx5_2"}}), 1);
}

TEST_F(NriFaceTest, a_container_without_gpus_is_left_alone) {
  ContainerBuilder container;
  const auto answer = create(container);
  EXPECT_FALSE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(decisions("untouched", reason::kNotRdma), 1);
}

TEST_F(NriFaceTest, required_that_is_not_met_is_refused) {
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  const auto answer = create(container);
  EXPECT_FALSE(answer.adjustment);
  EXPECT_THAT(answer.refusal.value_or(""), StartsWith("railhead: "));
  EXPECT_EQ(decisions("refused", reason::kNotRdma), 1);
}

TEST_F(NriFaceTest, gpus_of_the_environment_alone_wait_for_the_kubelets_word) {
  std::function<void(GpuClaim)> answer_claim;
  NriFace asking(
      machine_, *live_, "/proc", false, log_, metrics_,
      [&](const auto&, const auto&, auto, auto done) { answer_claim = std::move(done); });
  for (const auto claim : {GpuClaim::holds_none, GpuClaim::holds, GpuClaim::no_kubelet}) {
    ContainerBuilder container;
    container.env("NVIDIA_VISIBLE_DEVICES=0,1");
    std::optional<nri::CreateAnswer> answer;
    asking.create(container.request(), [&](nri::CreateAnswer given) { answer = std::move(given); });
    EXPECT_FALSE(answer);
    answer_claim(claim);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->adjustment.has_value(), claim != GpuClaim::holds_none);
  }
}

TEST_F(NriFaceTest, at_the_deadline_environment_alone_gives_nothing) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  const auto answer = face_.on_deadline(container.request());
  EXPECT_FALSE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(metrics_.value("railhead_nri_warnings_total",
                           {{"code", std::string(warn::kGpuClaimUnanswered)}}),
            1);
}

TEST_F(NriFaceTest, at_the_deadline_required_still_fails_closed) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0")
      .pod_annotation("rdma.railhead.io/container.main", "required");
  EXPECT_THAT(face_.on_deadline(container.request()).refusal.value_or(""),
              StartsWith("railhead: "));
}

TEST_F(NriFaceTest, at_the_deadline_gpus_that_need_no_word_get_their_nics) {
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_TRUE(face_.on_deadline(container.request()).adjustment);
}

TEST_F(NriFaceTest, existing_containers_without_their_devices_are_counted_anew_each_time) {
  ContainerBuilder lacking;
  lacking.nvidia(0);
  ContainerBuilder other;
  const std::string gauge = "railhead_nri_containers_missing_devices";
  face_.configured({"containerd", "2.4.2", "", {}, {}, 42});
  face_.existing(lacking.request());
  face_.existing(other.request());
  face_.synchronized(1, 2);
  EXPECT_EQ(metrics_.value(gauge), 1);
  face_.configured({"containerd", "2.4.2", "", {}, {}, 42});
  face_.synchronized(0, 0);
  EXPECT_EQ(metrics_.value(gauge), 0);
}

/// A face whose kubelet answers when the test says so.
class SynchronizedFace : public NriFaceTest {
 protected:
  using Claims = Result<std::function<GpuClaim(std::string_view, std::string_view)>>;

  /// A container that names a GPU in its environment, and nothing else.
  void begin() {
    ContainerBuilder named;
    named.env("NVIDIA_VISIBLE_DEVICES=0");
    asking_.configured({"containerd", "2.4.2", "", {}, {}, 42});
    asking_.existing(named.request());
    asking_.synchronized(1, 1);
  }

  [[nodiscard]] double lacking() const {
    return metrics_.value("railhead_nri_containers_missing_devices");
  }

  static Claims all(GpuClaim claim) {
    return std::function<GpuClaim(std::string_view, std::string_view)>(
        [claim](auto, auto) { return claim; });
  }

  std::vector<std::function<void(Claims)>> asked_;
  NriFace asking_{
      machine_, *live_,  "/proc",
      false,    log_,    metrics_,
      {},       nullptr, [this](auto, auto, auto done) { asked_.push_back(std::move(done)); }};
};

TEST_F(SynchronizedFace, asks_once_who_holds_the_gpus_that_environments_name) {
  begin();
  ASSERT_EQ(asked_.size(), 1U);
  asked_[0](all(GpuClaim::holds));
  EXPECT_EQ(lacking(), 1);
}

TEST_F(SynchronizedFace, who_holds_none_lacks_none) {
  begin();
  ASSERT_EQ(asked_.size(), 1U);
  asked_[0](all(GpuClaim::holds_none));
  EXPECT_EQ(lacking(), 0);
}

TEST_F(SynchronizedFace, without_an_answer_environments_are_trusted_and_the_log_says_so) {
  begin();
  ASSERT_EQ(asked_.size(), 1U);
  log_.set_level(LogLevel::info);
  testing::internal::CaptureStderr();
  asked_[0](Error{ErrorCode::timeout, "kubelet.sock: deadline exceeded"});
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lacking(), 1);
  EXPECT_NE(said.find("judgedWithoutTheKubelet=\"kubelet.sock"), std::string::npos) << said;
}

TEST_F(SynchronizedFace, an_answer_to_the_synchronize_before_is_ignored) {
  begin();
  begin();
  ASSERT_EQ(asked_.size(), 2U);
  asked_[0](all(GpuClaim::holds));
  EXPECT_EQ(lacking(), 0);
  asked_[1](all(GpuClaim::holds));
  EXPECT_EQ(lacking(), 1);
}

TEST_F(NriFaceTest, the_connected_runtime_is_the_only_one_shown) {
  face_.configured({"containerd", "1.7.24", "", {}, {}, 42});
  face_.configured({"containerd", "2.4.2", "", {}, {}, 42});
  const auto page = metrics_.expose();
  EXPECT_EQ(page.find("1.7.24"), std::string::npos);
  EXPECT_NE(page.find("version=\"2.4.2\""), std::string::npos);
}

TEST_F(NriFaceTest, every_disconnection_counts_also_one_that_is_no_news) {
  const Error why{ErrorCode::unavailable, "/run/nri.sock: connection refused"};
  for (int i = 0; i < 3; ++i) face_.disconnected(why, std::chrono::milliseconds(100));
  EXPECT_EQ(metrics_.value("railhead_nri_disconnects_total"), 3);
}

}  // namespace
}  // namespace railhead::test
