// SPDX-License-Identifier: Apache-2.0
#include "agent/container_hooks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "agent/metrics.h"
#include "proof/container_records.h"
#include "unit/agent/fixed_tables.h"
#include "unit/inject/container_builder.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A runtime whose process may do everything, or is not read yet.
class FakeRuntime : public agent::RuntimeReader {
 public:
  void read(const nri::RuntimePeer& /*peer*/, std::chrono::milliseconds /*patience*/,
            std::function<void(const std::optional<agent::RuntimeProcess>&)> answered) override {
    done = std::move(answered);
    if (at_once) answer();
  }

  void take_long() { done(std::nullopt); }

  void answer() {
    agent::RuntimeProcess process;
    process.in_doubt = false;
    process.cap_effective = ~std::uint64_t{0};
    done(process);
  }

  bool at_once = true;
  std::function<void(const std::optional<agent::RuntimeProcess>&)> done;
};

/// With the timeouts of its defaults: two seconds for a request.
nri::RuntimePeer containerd(const std::string& version) {
  nri::RuntimePeer peer;
  peer.name = "containerd";
  peer.version = version;
  peer.pid = 42;
  return peer;
}

/// A kubelet that answers when the test says so.
class FakeKubelet : public agent::KubeletAnswers {
 public:
  std::optional<inject::KubeletAnswer> known(const container::Request& /*request*/,
                                             const inject::DecisionTable& /*table*/) override {
    return kept;
  }

  void ask(const container::Request& /*request*/,
           std::shared_ptr<const inject::DecisionTable> /*table*/,
           std::chrono::milliseconds timeout,
           std::function<void(inject::KubeletAnswer)> done) override {
    asked.push_back(std::move(done));
    patience = timeout;
  }

  void ask_all(std::chrono::milliseconds /*timeout*/,
               std::function<void(Result<std::vector<container::PodHoldings>>)> done) override {
    asked_all.push_back(std::move(done));
  }

  void expect(const container::Request& pod, std::chrono::milliseconds timeout) override {
    expected.emplace_back(pod.pod_uid);
    patience = timeout;
  }

  void forget(std::string_view pod_uid) override { forgotten.emplace_back(pod_uid); }

  std::optional<inject::KubeletAnswer> kept;  ///< what is known without a question
  std::vector<std::string> expected;
  std::vector<std::string> forgotten;
  std::vector<std::function<void(inject::KubeletAnswer)>> asked;
  std::chrono::milliseconds patience{};  ///< of the last question
  std::vector<std::function<void(Result<std::vector<container::PodHoldings>>)>> asked_all;
};

class ContainerHooksTest : public testing::Test {
 protected:
  nri::CreateAnswer create(ContainerBuilder& container) {
    std::optional<nri::CreateAnswer> answer;
    hooks_.create(container.request(), [&](nri::CreateAnswer given) { answer = std::move(given); });
    EXPECT_TRUE(answer) << "the answer comes at once";
    return answer.value_or(nri::CreateAnswer{});
  }

  [[nodiscard]] double decisions(const std::string& outcome, std::string_view reason) const {
    return metrics_.nri_decisions.value(agent::label::Outcome(outcome),
                                        agent::label::Reason(reason));
  }

  test::ManualClock clock_;
  agent::Log log_{config::LogLevel::error, config::LogFormat::text};
  agent::Metrics metrics_;
  FixedTables machine_{machine("seed-8gpu-4nic")};
  agent::RuntimeLink link_{"/run/nri.sock"};
  FakeRuntime runtime_;
  FakeKubelet kubelet_;
  agent::ContainerCache containers_;
  agent::ContainerHooks hooks_{{machine_, runtime_, link_, log_, metrics_, clock_}};
  agent::ContainerHooks asking_{
      {machine_, runtime_, link_, log_, metrics_, clock_, &kubelet_, &containers_}};
};

TEST_F(ContainerHooksTest, a_container_with_gpus_is_adjusted_and_counted) {
  ContainerBuilder container;
  container.nvidia(4).nvidia(5);
  const auto answer = create(container);
  ASSERT_TRUE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(paths(*answer.adjustment),
            (std::vector<std::string>{"/dev/infiniband/uverbs2", "/dev/infiniband/rdma_cm"}));
  EXPECT_EQ(decisions("adjusted", inject::reason::kGpus), 1);
  EXPECT_EQ(metrics_.nri_injected_nics.value("mlx5_2"), 1);
}

TEST_F(ContainerHooksTest, the_topology_file_is_given_once_the_runtime_can_see_it) {
  inject::InjectionPolicy policy;
  policy.topology_file = "/run/railhead/nccl-topology.xml";
  FixedTables azure(machine("azure-nd-a100-v4"), policy);
  agent::ContainerHooks hooks({azure, runtime_, link_, log_, metrics_, clock_});
  const auto mounts = [&] {
    ContainerBuilder container;
    container.nvidia(0);
    std::size_t count = 0;
    hooks.create(container.request(), [&](const nri::CreateAnswer& answer) {
      count = answer.adjustment.value_or(container::Adjustment()).mounts.size();
    });
    return count;
  };
  EXPECT_EQ(mounts(), 0U);
  hooks.set_topology_provided(azure.table());
  EXPECT_EQ(mounts(), 1U);
  FixedTables newer(machine("azure-nd-a100-v4"), policy);
  hooks.set_topology_provided(newer.table());
  EXPECT_EQ(mounts(), 1U) << "another table with the same file";
  hooks.set_topology_provided(nullptr);
  EXPECT_EQ(mounts(), 0U);
}

TEST_F(ContainerHooksTest, a_container_without_gpus_is_left_alone) {
  ContainerBuilder container;
  const auto answer = create(container);
  EXPECT_FALSE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(decisions("untouched", inject::reason::kNotRdma), 1);
}

TEST_F(ContainerHooksTest, required_that_is_not_met_is_refused) {
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  const auto answer = create(container);
  EXPECT_FALSE(answer.adjustment);
  EXPECT_THAT(answer.refusal.value_or(""), StartsWith("railhead: "));
  EXPECT_EQ(decisions("refused", inject::reason::kNotRdma), 1);
}

TEST_F(ContainerHooksTest, required_that_is_not_met_is_an_event) {
  agent::EventOutbox outbox(metrics_, clock_);
  agent::PodEvents events(outbox, "gpu-a");
  agent::ContainerHooks hooks(
      {machine_, runtime_, link_, log_, metrics_, clock_, nullptr, nullptr, &events});
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  bool answered = false;
  hooks.create(container.request(),
               [&](const nri::CreateAnswer& given) { answered = given.refusal.has_value(); });
  ASSERT_TRUE(answered);
  const auto event = outbox.take([](const kube::Event&) { return true; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->reason, "RdmaRequiredNotMet");
  EXPECT_EQ(event->about.kind, "Pod");
}

TEST_F(ContainerHooksTest, gpus_of_the_environment_alone_wait_for_the_kubelets_answer) {
  const auto uuid = *machine_.table()->node().gpus[0].uuid;
  for (const auto& said :
       {holds({}), holds({{"nvidia.com/gpu", {uuid}}}), inject::KubeletAnswer{}}) {
    ContainerBuilder container;
    container.env("NVIDIA_VISIBLE_DEVICES=0,1");
    std::optional<nri::CreateAnswer> answer;
    asking_.create(container.request(),
                   [&](nri::CreateAnswer given) { answer = std::move(given); });
    EXPECT_FALSE(answer);
    kubelet_.asked.back()(said);
    ASSERT_TRUE(answer);
    const bool denied =
        said.state == inject::KubeletAnswer::State::answered && said.devices.empty();
    EXPECT_EQ(answer->adjustment.has_value(), !denied);
  }
}

TEST_F(ContainerHooksTest, a_pod_is_asked_for_when_its_sandbox_runs) {
  ContainerBuilder pod;
  pod.request().pod_uid = "uid-1";
  asking_.sandbox_runs(pod.request());
  EXPECT_EQ(kubelet_.expected, std::vector<std::string>{"uid-1"});
  EXPECT_EQ(kubelet_.patience, std::chrono::milliseconds(1000));
  hooks_.sandbox_runs(pod.request());  // of an agent that asks nobody
}

TEST_F(ContainerHooksTest, what_is_known_of_the_kubelet_is_not_asked_for) {
  const auto uuid = *machine_.table()->node().gpus[0].uuid;
  auto kept = holds({{"nvidia.com/gpu", {uuid}}});
  kept.is_kept = true;
  for (const auto& known : {inject::KubeletAnswer{}, kept}) {
    kubelet_.kept = known;
    ContainerBuilder container;
    container.env("NVIDIA_VISIBLE_DEVICES=0");
    std::optional<nri::CreateAnswer> answer;
    asking_.create(container.request(),
                   [&](nri::CreateAnswer given) { answer = std::move(given); });
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->adjustment);
    EXPECT_TRUE(kubelet_.asked.empty());
  }
  ContainerBuilder other;
  other.env("NVIDIA_VISIBLE_DEVICES=0,1");
  asking_.create(other.request(), [](const nri::CreateAnswer&) {});
  EXPECT_EQ(kubelet_.asked.size(), 1U) << "it names more than was kept";
  EXPECT_EQ(kubelet_.forgotten.size(), 1U);
}

// The kubelet may have given the container more since (agent/pod_answers.h).
TEST_F(ContainerHooksTest, a_kept_answer_that_has_less_than_named_is_asked_anew) {
  const auto& gpus = machine_.table()->node().gpus;
  const std::string unknown = "GPU-99999999-0000-0000-0000-000000000000";

  struct Case {
    std::string names;
    std::vector<std::string> kept;
    bool anew;
  };

  for (const auto& [names, kept, anew] : std::vector<Case>{
           {"0", {}, true},                                  // it holds none
           {"0,1", {*gpus[0].uuid}, true},                   // it holds one of two
           {"0," + unknown, {*gpus[0].uuid}, true},          // nobody knows the other
           {"0,1", {*gpus[0].uuid, *gpus[1].uuid}, false},   // they agree
           {"0", {*gpus[0].uuid, *gpus[1].uuid}, false}}) {  // the container wants less
    kubelet_.asked.clear();
    kubelet_.forgotten.clear();
    ContainerBuilder container;
    container.request().pod_uid = "uid-1";
    container.env("NVIDIA_VISIBLE_DEVICES=" + names);
    container.pod_annotation("rdma.railhead.io/pod", "required");
    std::optional<nri::CreateAnswer> answer;
    asking_.create(container.request(),
                   [&](nri::CreateAnswer given) { answer = std::move(given); });
    auto said = holds({});
    if (!kept.empty()) said = holds({{"nvidia.com/gpu", kept}});
    said.is_kept = true;
    kubelet_.asked.at(0)(said);
    EXPECT_EQ(answer.has_value(), !anew) << names;
    EXPECT_EQ(kubelet_.asked.size(), anew ? 2U : 1U) << names;
    EXPECT_EQ(kubelet_.forgotten.size(), anew ? 1U : 0U) << names;
    if (!anew) continue;
    kubelet_.asked.at(1)(holds({{"nvidia.com/gpu", {*gpus[0].uuid}}}));
    if (!answer) answer = asking_.on_deadline(container.request());  // looks for what is unknown
    EXPECT_FALSE(answer->refusal) << "what the newer answer gives is given: " << names;
    EXPECT_TRUE(answer->adjustment) << names;
  }
}

TEST_F(ContainerHooksTest, a_claim_that_comes_after_the_deadline_is_not_told_again) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  int answers = 0;
  asking_.create(container.request(), [&](const nri::CreateAnswer&) { ++answers; });
  log_.set_level(config::LogLevel::info);
  testing::internal::CaptureStderr();
  (void)asking_.on_deadline(container.request());
  kubelet_.asked.back()(inject::KubeletAnswer{});
  log_.flush();
  const auto said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_EQ(decisions("untouched", inject::reason::kGpuUnresolved), 1);
  EXPECT_EQ(decisions("adjusted", inject::reason::kGpus), 0);
  EXPECT_EQ(answers, 0) << "it was answered by on_deadline";
}

TEST_F(ContainerHooksTest, who_was_denied_gpus_is_not_booked_with_them) {
  const auto table = machine_.table();
  const std::string id(64, 'd');
  ContainerBuilder container;
  container.request().id = id;
  container.env("NVIDIA_VISIBLE_DEVICES=0,1");
  asking_.create(container.request(), [](const nri::CreateAnswer&) {});
  kubelet_.asked.back()(holds({}));
  usage::Usage usage;
  usage.containers[id].bundle.emplace().env = {"NVIDIA_VISIBLE_DEVICES=0,1"};
  auto records = proof::records_of(usage, *table);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].gpus.size(), 2U) << "its bundle alone says so";
  containers_.complete(records, usage);
  EXPECT_TRUE(records[0].gpus.empty());
}

TEST_F(ContainerHooksTest, who_has_also_an_unknown_gpu_is_booked_with_the_known_one) {
  const std::string id(64, 'f');
  const auto known = *machine_.table()->node().gpus[0].uuid;
  const std::string unknown = "GPU-99999999-0000-0000-0000-000000000000";
  ContainerBuilder container;
  container.request().id = id;
  container.env("NVIDIA_VISIBLE_DEVICES=0,1,2,3");
  asking_.create(container.request(), [](const nri::CreateAnswer&) {});
  kubelet_.asked.back()(holds({{"nvidia.com/gpu", {known, unknown}}}));
  (void)asking_.on_deadline(container.request());
  usage::Usage usage;
  usage.containers[id].bundle.emplace().env = {"NVIDIA_VISIBLE_DEVICES=0,1,2,3"};
  auto records = proof::records_of(usage, *machine_.table());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].gpus.size(), 4U) << "its bundle alone says so";
  containers_.complete(records, usage);
  EXPECT_EQ(records[0].gpus, std::vector<std::string>{known});
}

TEST_F(ContainerHooksTest, who_was_not_believed_is_not_booked_with_gpus) {
  const std::string id(64, 'e');
  ContainerBuilder container;
  container.request().id = id;
  container.env("NVIDIA_VISIBLE_DEVICES=0,1");
  asking_.create(container.request(), [](const nri::CreateAnswer&) {});
  kubelet_.asked.back()({inject::KubeletAnswer::State::unanswered, {}, false});
  usage::Usage usage;
  usage.containers[id].bundle.emplace().env = {"NVIDIA_VISIBLE_DEVICES=0,1"};
  auto records = proof::records_of(usage, *machine_.table());
  containers_.complete(records, usage);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].gpus.empty());
}

TEST_F(ContainerHooksTest, a_kubelet_that_has_answered_counts_at_the_deadline) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0,1");
  std::optional<nri::CreateAnswer> answer;
  asking_.create(container.request(), [&](nri::CreateAnswer given) { answer = std::move(given); });
  const auto known = *machine_.table()->node().gpus[0].uuid;
  const std::string unknown = "GPU-99999999-0000-0000-0000-000000000000";
  kubelet_.asked.back()(holds({{"nvidia.com/gpu", {known, unknown}}}));
  EXPECT_FALSE(answer) << "it waits for a GPU that nobody knows";
  EXPECT_TRUE(asking_.on_deadline(container.request()).adjustment);
  EXPECT_EQ(kubelet_.asked.size(), 1U);
}

TEST_F(ContainerHooksTest, the_kubelet_is_asked_for_half_of_the_runtimes_time_at_most) {
  auto peer = containerd("2.4.2");
  peer.request_timeout = std::chrono::milliseconds(4000);
  asking_.configured(peer);
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  asking_.create(container.request(), [](const nri::CreateAnswer&) {});
  EXPECT_EQ(kubelet_.patience, std::chrono::milliseconds(2000));
}

TEST_F(ContainerHooksTest, without_a_kubelet_nobody_says_that_it_was_silent) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  EXPECT_TRUE(hooks_.on_deadline(container.request()).adjustment);
  EXPECT_EQ(metrics_.nri_warnings.value(agent::label::Code(inject::warn::kGpuClaimUnanswered)), 0);
}

TEST_F(ContainerHooksTest, existing_containers_are_booked) {
  const std::string id(64, 'f');
  ContainerBuilder container;
  container.request().id = id;
  container.nvidia(0);
  asking_.configured(containerd("2.4.2"));
  asking_.existing(container.request());
  usage::Usage usage;
  usage.containers[id];
  std::vector<proof::ContainerRecord> records;
  containers_.complete(records, usage);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].gpus.size(), 1U);
}

/// A hook whose answer may come later.
class WaitingHook : public ContainerHooksTest {
 protected:
  void ask(ContainerBuilder& container) {
    hooks_.create(container.request(), [this](nri::CreateAnswer given) { answer_ = given; });
  }

  [[nodiscard]] double stale() const { return metrics_.nri_stale_decisions.value(); }

  std::optional<nri::CreateAnswer> answer_;
  ContainerBuilder container_;
};

TEST_F(WaitingHook, waits_until_the_machine_is_read) {
  machine_.behind = true;
  container_.nvidia(0);
  ask(container_);
  EXPECT_FALSE(answer_);
  machine_.waiting.at(0)(true);
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->adjustment);
  EXPECT_EQ(stale(), 0);
}

TEST_F(WaitingHook, waits_a_quarter_of_the_runtimes_time_at_most) {
  auto peer = containerd("2.4.2");
  peer.request_timeout = std::chrono::milliseconds(4000);
  hooks_.configured(peer);
  machine_.behind = true;
  container_.nvidia(0);
  ask(container_);
  EXPECT_EQ(machine_.patience, std::chrono::milliseconds(1000));
}

TEST_F(WaitingHook, to_which_no_machine_matters_does_not_wait_for_one) {
  machine_.behind = machine_.stale = true;
  container_.env("NAME=value").annotation("example.com/note", "x");
  ask(container_);
  ASSERT_TRUE(answer_);
  EXPECT_FALSE(answer_->adjustment);
  EXPECT_EQ(stale(), 0);
}

TEST_F(WaitingHook, waits_for_whatever_a_machine_could_have) {
  machine_.behind = true;
  std::vector<ContainerBuilder> containers(9);
  containers[0].cdi("example.com/gpu=0");
  containers[1].device("/dev/dri/renderD128", 226, 128);
  containers[2].env("NVIDIA_VISIBLE_DEVICES=all");
  containers[3].pod_annotation("nics.railhead.io/container.main", "mlx5_9");
  containers[5].env("NVIDIA_VISIBLE_DEVICES=3");
  containers[4].annotation("allocation.railhead.io/rdma.io/unknown", "0000:18:00.0");
  containers[6].annotation("cdi.k8s.io/plugin", "example.com/gpu=0");
  containers[7].env("NVIDIA_VISIBLE_DEVICES=example.com/gpu=0");
  containers[8].mount("/var/run/nvidia-container-devices/cdi/example.com/gpu/0", "/dev/null");
  for (auto& container : containers) {
    ask(container);
    EXPECT_FALSE(answer_) << &container - containers.data();
    answer_.reset();
  }
}

TEST_F(WaitingHook, decides_by_the_last_table_when_the_reading_takes_too_long) {
  machine_.behind = true;
  container_.nvidia(0);
  ask(container_);
  machine_.waiting.at(0)(false);
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->adjustment);
  EXPECT_EQ(stale(), 1);
}

TEST_F(WaitingHook, that_was_answered_at_its_deadline_is_not_decided_again) {
  machine_.behind = true;
  container_.nvidia(0);
  ask(container_);
  EXPECT_TRUE(hooks_.on_deadline(container_.request()).adjustment);
  machine_.waiting.at(0)(true);
  EXPECT_FALSE(answer_);
  EXPECT_EQ(decisions("adjusted", inject::reason::kGpus), 1);
}

TEST_F(WaitingHook, every_decision_by_an_old_table_is_said_and_counted) {
  machine_.stale = true;
  container_.nvidia(0);
  for (int i = 0; i < 3; ++i) ask(container_);
  EXPECT_EQ(stale(), 3);
}

TEST_F(WaitingHook, looks_for_no_gpu_while_the_machine_hangs) {
  machine_.stale = true;
  container_.cdi("nvidia.com/gpu=GPU-99999999-0000-0000-0000-000000000000");
  ask(container_);
  EXPECT_TRUE(answer_);
  EXPECT_EQ(machine_.looks, 0);
}

TEST_F(WaitingHook, looks_for_an_unknown_gpu_after_an_event_too) {
  machine_.behind = true;  // and ever again
  container_.cdi("nvidia.com/gpu=GPU-99999999-0000-0000-0000-000000000000");
  ask(container_);
  machine_.waiting.at(0)(true);
  EXPECT_FALSE(answer_);
  EXPECT_EQ(machine_.looks, 1);
  machine_.waiting.at(1)(true);
  EXPECT_TRUE(answer_);
}

TEST_F(WaitingHook, of_a_connection_that_has_ended_is_not_decided) {
  machine_.behind = true;
  container_.nvidia(0);
  ask(container_);
  hooks_.disconnected({ErrorCode::unavailable, "gone"}, std::chrono::milliseconds(100));
  machine_.waiting.at(0)(true);
  EXPECT_FALSE(answer_);
  EXPECT_EQ(decisions("adjusted", inject::reason::kGpus), 0);
}

TEST_F(WaitingHook, looks_once_for_a_gpu_that_nobody_knows) {
  container_.cdi("nvidia.com/gpu=GPU-99999999-0000-0000-0000-000000000000");
  ask(container_);
  EXPECT_FALSE(answer_);
  EXPECT_EQ(machine_.looks, 1);
  machine_.waiting.at(0)(true);
  EXPECT_TRUE(answer_);
  answer_.reset();
  ask(container_);
  EXPECT_TRUE(answer_) << "it was looked for";
  EXPECT_EQ(machine_.looks, 1);
}

/// A runtime whose process is read when the test says so.
class UnknownRuntime : public WaitingHook {
 protected:
  UnknownRuntime() {
    runtime_.at_once = false;
    connect();
    container_.nvidia(0);
  }

  void connect() { hooks_.configured({"containerd", "2.4.2", "", {}, {}, std::nullopt}); }
};

TEST_F(UnknownRuntime, a_hook_waits_until_it_is_known_what_the_runtime_may_do) {
  ask(container_);
  EXPECT_FALSE(answer_);
  runtime_.answer();
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->adjustment->memlock_bytes);
}

TEST_F(UnknownRuntime, where_reading_is_slow_devices_come_and_memlock_stays) {
  ask(container_);
  runtime_.take_long();
  ASSERT_TRUE(answer_);
  EXPECT_FALSE(answer_->adjustment->devices.empty());
  EXPECT_FALSE(answer_->adjustment->memlock_bytes);
  EXPECT_FALSE(create(container_).adjustment->memlock_bytes) << "nobody waits again";
  runtime_.answer();
  EXPECT_TRUE(create(container_).adjustment->memlock_bytes);
}

TEST_F(UnknownRuntime, limits_of_the_same_runtime_count_until_they_are_read_again) {
  runtime_.answer();
  connect();
  ask(container_);
  runtime_.take_long();
  ASSERT_TRUE(answer_);
  EXPECT_TRUE(answer_->adjustment->memlock_bytes);
}

TEST_F(UnknownRuntime, the_limits_of_another_runtime_do_not) {
  runtime_.answer();
  hooks_.configured({"containerd", "2.4.3", "", {}, {}, std::nullopt});
  ask(container_);
  runtime_.take_long();
  ASSERT_TRUE(answer_);
  EXPECT_FALSE(answer_->adjustment->memlock_bytes);
}

TEST_F(UnknownRuntime, a_hook_that_waited_in_vain_waits_for_nothing_else) {
  machine_.behind = true;
  container_.cdi("nvidia.com/gpu=GPU-99999999-0000-0000-0000-000000000000");
  ask(container_);
  runtime_.take_long();
  EXPECT_TRUE(answer_);
  EXPECT_EQ(machine_.looks, 0);
  EXPECT_EQ(stale(), 1) << "the machine has changed";
}

TEST_F(UnknownRuntime, a_reading_for_the_connection_before_is_not_of_this_one) {
  ask(container_);
  const auto before = runtime_.done;
  connect();
  before(agent::RuntimeProcess{});
  EXPECT_FALSE(answer_);
}

TEST_F(UnknownRuntime, at_the_deadline_the_log_names_what_was_not_waited_for) {
  ask(container_);
  log_.set_level(config::LogLevel::info);
  testing::internal::CaptureStderr();
  const auto answer = hooks_.on_deadline(container_.request());
  log_.flush();
  EXPECT_FALSE(answer.adjustment->memlock_bytes);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("without=\"the limits of the runtime\""));
  runtime_.answer();
  EXPECT_FALSE(answer_) << "it was answered";
}

TEST_F(ContainerHooksTest, at_the_deadline_environment_alone_gives_nothing) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  const auto answer = asking_.on_deadline(container.request());
  EXPECT_FALSE(answer.adjustment);
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(metrics_.nri_warnings.value(agent::label::Code(inject::warn::kGpuClaimUnanswered)), 1);
}

TEST_F(ContainerHooksTest, at_the_deadline_required_of_the_whole_pod_fails_closed_too) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0").pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_THAT(asking_.on_deadline(container.request()).refusal.value_or(""),
              StartsWith("railhead: "));
}

TEST_F(ContainerHooksTest, at_the_deadline_required_still_fails_closed) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0")
      .pod_annotation("rdma.railhead.io/container.main", "required");
  EXPECT_THAT(asking_.on_deadline(container.request()).refusal.value_or(""),
              StartsWith("railhead: "));
}

TEST_F(ContainerHooksTest, at_the_deadline_gpus_that_need_no_word_get_their_nics) {
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_TRUE(hooks_.on_deadline(container.request()).adjustment);
}

TEST_F(ContainerHooksTest, containers_without_their_devices_are_counted_anew_each_time) {
  ContainerBuilder lacking;
  lacking.nvidia(0);
  ContainerBuilder other;
  const auto& gauge = metrics_.nri_containers_missing_devices;
  hooks_.configured(containerd("2.4.2"));
  hooks_.existing(lacking.request());
  hooks_.existing(other.request());
  hooks_.synchronized({1, 2});
  EXPECT_EQ(gauge.value(), 1);
  hooks_.configured(containerd("2.4.2"));
  hooks_.synchronized({0, 0});
  EXPECT_EQ(gauge.value(), 0);
}

TEST_F(ContainerHooksTest, one_table_serves_a_whole_synchronize) {
  ContainerBuilder lacking;
  lacking.nvidia(0);
  ContainerBuilder named;  // waits for the kubelet until the end
  named.env("NVIDIA_VISIBLE_DEVICES=0");
  asking_.configured(containerd("2.4.2"));
  machine_.asked = 0;
  for (int i = 0; i < 100; ++i) {
    asking_.existing(lacking.request());
    asking_.existing(named.request());
  }
  asking_.synchronized({1, 200});
  ASSERT_EQ(kubelet_.asked_all.size(), 1U);
  kubelet_.asked_all[0](std::vector<container::PodHoldings>());
  EXPECT_EQ(machine_.asked, 1);
  EXPECT_EQ(metrics_.nri_containers_missing_devices.value(), 100);
}

/// A clock on which each look takes as long as a slow container.
class SlowClock final : public test::ManualClock {
 public:
  std::chrono::steady_clock::time_point now() override {
    advance(std::chrono::milliseconds(20));
    return ManualClock::now();
  }
};

TEST_F(ContainerHooksTest, a_synchronize_takes_a_quarter_of_the_deadline_at_most) {
  SlowClock clock;
  agent::ContainerHooks hooks({machine_, runtime_, link_, log_, metrics_, clock});
  ContainerBuilder lacking;
  lacking.nvidia(0);
  hooks.configured(containerd("2.4.2"));
  for (int i = 0; i < 100; ++i) hooks.existing(lacking.request());
  hooks.synchronized({1, 100});
  EXPECT_EQ(metrics_.nri_containers_missing_devices.value(), 25);
}

class SynchronizedContainers : public ContainerHooksTest {
 protected:
  /// A container that names a GPU in its environment, and nothing else.
  void begin() {
    ContainerBuilder named;
    named.env("NVIDIA_VISIBLE_DEVICES=0");
    named.request().id = kId;
    asking_.configured(containerd("2.4.2"));
    asking_.existing(named.request());
    asking_.synchronized({1, 1});
  }

  [[nodiscard]] double lacking() const { return metrics_.nri_containers_missing_devices.value(); }

  /// Of the container, as the book has it.
  std::size_t gpus() {
    usage::Usage usage;
    usage.containers[kId];
    std::vector<proof::ContainerRecord> records;
    containers_.complete(records, usage);
    return records.empty() ? 0 : records[0].gpus.size();
  }

  static std::vector<container::PodHoldings> all(std::vector<container::Holding> devices) {
    return {{"default", "pod", {{"main", std::move(devices)}}}};
  }

  static constexpr const char* kId = "c1";
  const std::vector<container::Holding> gpu_{{"nvidia.com/gpu", {"0"}}};
};

TEST_F(SynchronizedContainers, asks_once_who_holds_the_gpus_that_environments_name) {
  begin();
  ASSERT_EQ(kubelet_.asked_all.size(), 1U);
  kubelet_.asked_all[0](all(gpu_));
  EXPECT_EQ(lacking(), 1);
}

TEST_F(SynchronizedContainers, who_holds_none_lacks_none) {
  begin();
  ASSERT_EQ(kubelet_.asked_all.size(), 1U);
  kubelet_.asked_all[0](all({}));
  EXPECT_EQ(lacking(), 0);
}

TEST_F(SynchronizedContainers, without_a_kubelet_environments_count) {
  begin();
  kubelet_.asked_all.at(0)(Error{ErrorCode::unavailable, "kubelet.sock: nobody"});
  EXPECT_EQ(lacking(), 1);
  EXPECT_EQ(gpus(), 1U);
  EXPECT_EQ(kubelet_.asked_all.size(), 1U);
}

TEST_F(SynchronizedContainers, for_whom_no_kubelet_ever_answers_are_told_of_again) {
  begin();
  log_.set_level(config::LogLevel::info);
  kubelet_.asked_all.at(0)(Error{ErrorCode::timeout, "kubelet.sock: breaks off"});
  log_.flush();
  testing::internal::CaptureStderr();
  kubelet_.asked_all.at(1)(Error{ErrorCode::timeout, "kubelet.sock: the kubelet has gone"});
  log_.flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("notJudged=1"), HasSubstr("the kubelet has gone")));
  EXPECT_EQ(kubelet_.asked_all.size(), 2U);
}

TEST_F(SynchronizedContainers, wait_for_a_silent_kubelet_and_are_asked_for_again) {
  begin();
  log_.set_level(config::LogLevel::info);
  testing::internal::CaptureStderr();
  kubelet_.asked_all.at(0)(Error{ErrorCode::timeout, "kubelet.sock: deadline exceeded"});
  log_.flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("notJudged=1"), HasSubstr("noAnswer=\"kubelet.sock")));
  EXPECT_EQ(lacking(), 0);
  EXPECT_EQ(gpus(), 0U) << "whoever wrote the environment may have none";

  testing::internal::CaptureStderr();
  kubelet_.asked_all.at(1)(all(gpu_));
  log_.flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("withoutDevices=1"), Not(HasSubstr("notJudged"))));
  EXPECT_EQ(lacking(), 1);
  EXPECT_EQ(gpus(), 1U);
}

TEST_F(SynchronizedContainers, are_asked_for_twice_at_most) {
  begin();
  for (const std::size_t question : {0U, 1U}) {
    kubelet_.asked_all.at(question)(Error{ErrorCode::timeout, "kubelet.sock: deadline exceeded"});
  }
  EXPECT_EQ(kubelet_.asked_all.size(), 2U);
  EXPECT_EQ(lacking(), 0);
}

TEST_F(SynchronizedContainers, that_are_too_many_are_not_judged_by_environments) {
  const std::string large = "X=" + std::string(std::size_t{1} << 20U, 'x');
  asking_.configured(containerd("2.4.2"));
  for (int i = 0; i < 6; ++i) {
    ContainerBuilder named;
    named.env("NVIDIA_VISIBLE_DEVICES=0").env(large);
    asking_.existing(named.request());
  }
  asking_.synchronized({1, 6});
  kubelet_.asked_all.at(0)(all(gpu_));
  EXPECT_EQ(lacking(), 4);
}

TEST_F(SynchronizedContainers, an_answer_to_the_synchronize_before_is_ignored) {
  begin();
  begin();
  ASSERT_EQ(kubelet_.asked_all.size(), 2U);
  kubelet_.asked_all[0](all(gpu_));
  EXPECT_EQ(lacking(), 0);
  kubelet_.asked_all[1](all(gpu_));
  EXPECT_EQ(lacking(), 1);
}

TEST_F(ContainerHooksTest, the_connected_runtime_is_the_only_one_shown) {
  hooks_.configured(containerd("1.7.24"));
  hooks_.configured(containerd("2.4.2"));
  const auto page = metrics_.expose();
  EXPECT_EQ(page.find("1.7.24"), std::string::npos);
  EXPECT_NE(page.find("version=\"2.4.2\""), std::string::npos);
}

TEST_F(ContainerHooksTest, every_disconnection_counts_also_one_that_is_no_news) {
  const Error why{ErrorCode::unavailable, "/run/nri.sock: connection refused"};
  for (int i = 0; i < 3; ++i) hooks_.disconnected(why, std::chrono::milliseconds(100));
  EXPECT_EQ(metrics_.nri_disconnects.value(), 3);
}

}  // namespace
}  // namespace railhead::test
