// SPDX-License-Identifier: Apache-2.0
#include "proof/pods.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "proof/count.h"
#include "proof/ledger.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kJob(64, 'a');
const std::string kOther(64, 'b');

usage::ProcessUse process(std::uint32_t id, const std::string& container,
                          std::uint64_t start = 100) {
  usage::ProcessUse use;
  use.id = use.process = id;
  use.start_ticks = start;
  if (!container.empty()) use.place = usage::ContainerPlace{container, "uid"};
  return use;
}

usage::QueuePair connected(std::uint32_t number, std::optional<std::uint32_t> thread,
                           std::optional<std::uint32_t> domain = 7) {
  usage::QueuePair pair;
  pair.owner.thread = thread;
  pair.number = number;
  pair.remote = number + 1000;
  pair.type = usage::QpType::rc;
  pair.state = usage::QpState::rts;
  pair.domain = domain;
  pair.send_psn = pair.receive_psn = 5;
  return pair;
}

class PodsTest : public testing::Test {
 protected:
  PodsTest() {
    usage_.rdma = usage::TableState::read;
    usage_.asked_ticks = 100'000;
    usage_.counted_ticks = 100'100;
    usage_.processes_known = true;
    usage_.sees_all_processes = true;
    auto& device = usage_.devices.emplace_back();
    device.device = {0, "mlx5_0"};
    device.queue_pairs.state = device.memory_regions.state = device.domains.state =
        device.contexts.state = usage::TableState::read;
    add(1000, kJob);
    node::Nic nic;
    nic.name = "mlx5_0";
    nic.driver = "mlx4_core";  // lists everything
    node_.nics.push_back(nic);
    node_.gpus.resize(8);
    proof::ContainerRecord record;
    record.container_id = kJob;
    record.pod_namespace = "ns";
    record.pod = "job";
    record.container = "main";
    record.gpus = {"GPU-0", "GPU-1"};
    record.job.nodes = 2;
    records_.push_back(record);
  }

  void add(std::uint32_t id, const std::string& container, std::uint64_t start = 100) {
    usage_.processes.by_id[id] = process(id, container, start);
    if (container.empty()) return;
    auto& use = usage_.containers[container];
    use.place = {container, "uid"};
    use.processes.push_back(id);
    use.started_ticks = start;
    use.network = usage::NetworkUse{true, 0, std::nullopt};
  }

  usage::RdmaDeviceUse& device() { return usage_.devices[0]; }

  std::vector<usage::QueuePair>& pairs() { return usage_.devices[0].queue_pairs.objects; }

  /// With memory, by a driver that may hide queue pairs; nothing has moved yet.
  void open_through_devx() {
    node_.nics[0].driver = "mlx5_core";
    device().contexts.objects = {{{1000, false}, 3}};
    device().memory_regions.objects = {{{1000, false}, 4096, 1, 7}};
    device().traffic.bytes = 0;
  }

  usage::ContainerUse& job() { return usage_.containers[kJob]; }

  proof::PodsView view(const usage::Usage* before = nullptr) {
    return proof::judge_pods(usage_, before, node_, records_, {300, false});
  }

  proof::PodLedger::Changes look(proof::PodLedger& ledger, const usage::Usage* before = nullptr,
                                 std::optional<double> seconds = std::nullopt) {
    auto seen = view(before);
    return ledger.update(seen, seconds);
  }

  /// The looks that an alarm takes, but the last.
  void suspect(proof::PodLedger& ledger) {
    for (unsigned i = 1; i < proof::PodLedger::kLooks; ++i) {
      EXPECT_THAT(look(ledger).fell_back, testing::IsEmpty());
    }
  }

  /// The only container.
  proof::PodUse pod(const usage::Usage* before = nullptr) {
    auto seen = view(before);
    EXPECT_EQ(seen.pods.size(), 1U);
    return seen.pods.empty() ? proof::PodUse() : seen.pods.front();
  }

  usage::Usage usage_;
  node::Node node_;
  std::vector<proof::ContainerRecord> records_;
};

TEST_F(PodsTest, a_connected_queue_pair_in_rts_is_rdma) {
  pairs() = {connected(17, 1000)};
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
  EXPECT_EQ(pod().why, "1 connected queue pair on mlx5_0");
}

TEST_F(PodsTest, a_looped_a_datagram_or_a_passive_queue_pair_proves_nothing) {
  auto looped = connected(17, 1000);
  looped.remote = 17;
  auto datagram = connected(18, 1000);
  datagram.type = usage::QpType::datagram;
  auto passive = connected(19, 1000);
  passive.state = usage::QpState::rtr;
  pairs() = {looped, datagram, passive};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_EQ(pod().total().queue_pairs, 3U);
  EXPECT_EQ(pod().total().ready, 2U);
  EXPECT_FALSE(pod().silent_fallback);
  auto unready = connected(20, 1000);
  unready.state = usage::QpState::init;
  pairs() = {unready};
  EXPECT_EQ(pod().verdict, proof::Verdict::idle);
}

TEST_F(PodsTest, equal_numbers_are_a_loop_only_with_equal_sequence_numbers) {
  auto pair = connected(17, 1000);
  pair.remote = 17;
  pair.send_psn = 6;
  pairs() = {pair};
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
  // irdma never changes the numbers that it was given, so these may be connected all the same.
  pairs()[0].send_psn = pairs()[0].receive_psn;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("1 queue pair whose own number is their peer's"));
  pairs()[0].send_psn.reset();
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, a_queue_pair_that_only_receives_is_rdma) {
  auto passive = connected(17, 1000);
  passive.state = usage::QpState::rtr;
  passive.send_psn = 0;
  pairs() = {passive};
  auto before = usage_;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  pairs()[0].receive_psn = 900;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  EXPECT_EQ(pod(&before).total().ready, 0U);
  EXPECT_EQ(pod(&before).total().moving, 1U);
  ASSERT_EQ(pod(&before).total().connected, 1U);
  EXPECT_EQ(pod(&before).devices["mlx5_0"].examples.size(), 1U);
}

/// As EFA shows an endpoint: ready as soon as it is made, without a peer.
usage::QueuePair open_ended(std::uint32_t number) {
  auto pair = connected(number, 1000);
  pair.type = usage::QpType::driver;
  pair.remote.reset();
  return pair;
}

TEST_F(PodsTest, a_drivers_queue_pair_without_a_peer_proves_nothing) {
  pairs() = {open_ended(17)};
  job().network->connections = 3;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("1 queue pair of a driver's own kind"));
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_TRUE(view().complete);
  pairs()[0].remote = 1017;
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
}

TEST_F(PodsTest, a_sole_users_traffic_proves_the_use_of_a_drivers_queue_pair) {
  pairs() = {open_ended(17)};
  device().traffic.bytes = 0;
  auto before = usage_;
  usage_.counted_ticks = 100'200;
  device().traffic.bytes = 2000;  // what keeps a fabric together
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  device().traffic.bytes = 100'000'000;
  before.devices[0].moved_for = kJob;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  EXPECT_EQ(pod(&before).rung, proof::Rung::sole_user);
  EXPECT_EQ(pod(&before).total().connected, 0U);
  EXPECT_EQ(
      pod(&before).why,
      "the only user of mlx5_0, whose ports move 100000000 bytes a second, in three looks in a "
      "row");
  usage_.processes.by_id[50] = process(50, "");
  pairs().push_back(connected(2, 50, 9));  // it may be the host's
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  auto ipoib = connected(3, std::nullopt);
  ipoib.owner.kernel = true;
  ipoib.type = usage::QpType::datagram;
  pairs().back() = ipoib;  // or IP over InfiniBand
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  pairs().back().owner.kernel_name = "ib_core";
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  pairs().back().owner.kernel_name = "mlx5_ib";  // mlx5's own, of every device
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  device().contexts.state = usage::TableState::unsupported;  // who else has it open?
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, packets_of_its_own_prove_the_use_of_a_drivers_queue_pair) {
  pairs() = {open_ended(17)};
  const auto before = usage_;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  pairs()[0].send_psn = 9;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
}

TEST_F(PodsTest, a_region_of_the_whole_address_space_is_in_no_sum) {
  constexpr auto kAll = ~std::uint64_t{0};
  device().memory_regions.objects = {
      {{1000, false}, kAll, 1, 7}, {{1000, false}, 4096, 2, 7}, {{1000, false}, kAll, 3, 7}};
  EXPECT_EQ(pod().total().registered_bytes, 4096U);
  EXPECT_EQ(pod().total().implicit_regions, 2U);
  EXPECT_EQ(pod().total().regions, 3U);
  EXPECT_EQ(pod().evidence.at(0).value,
            "mlx5_0: 3 memory regions, 4096 bytes and 2 of the whole address space (implicit "
            "on-demand paging)");
  device().memory_regions.objects = {{{1000, false}, kAll - 1, 1, 7}, {{1000, false}, 4096, 2, 7}};
  EXPECT_EQ(pod().total().registered_bytes, kAll);
}

TEST_F(PodsTest, the_context_tells_whose_an_object_is_whose_thread_ended) {
  device().domains.objects = {{{}, 7, 3}};
  device().contexts.objects = {{{1000, false}, 3}};
  pairs() = {connected(17, std::nullopt), connected(18, 999)};
  device().memory_regions.objects = {{{}, 4096, 1, 7}};
  EXPECT_EQ(pod().total().connected, 2U);
  EXPECT_EQ(pod().total().registered_bytes, 4096U);
}

TEST_F(PodsTest, without_contexts_another_object_of_a_domain_names_the_owner) {
  device().contexts.state = usage::TableState::unsupported;
  pairs() = {connected(17, std::nullopt), connected(18, 1000)};
  EXPECT_EQ(pod().total().connected, 2U);
}

TEST_F(PodsTest, a_process_younger_than_the_list_has_an_ended_ones_number) {
  add(1200, kOther, 100'001);
  pairs() = {connected(17, 1200)};
  const auto seen = view();
  EXPECT_EQ(seen.ownerless_queue_pairs, 1U);
  ASSERT_EQ(seen.pods.size(), 1U);
  EXPECT_EQ(seen.pods[0].verdict, proof::Verdict::unknown);
  EXPECT_THAT(seen.pods[0].why, HasSubstr("1 queue pair of mlx5_0 without an owner"));
  EXPECT_FALSE(seen.complete);
}

TEST_F(PodsTest, outside_the_nodes_pid_namespace_the_reason_names_host_pid) {
  usage_.sees_all_processes = false;
  pairs() = {connected(17, std::nullopt)};
  EXPECT_THAT(pod().why, HasSubstr("hostPID"));
}

TEST_F(PodsTest, no_container_in_sight_is_explained_by_another_pid_namespace) {
  usage_.containers.clear();
  usage_.processes.by_id.clear();
  EXPECT_TRUE(view().complete);
  usage_.sees_all_processes = false;
  EXPECT_FALSE(view().complete);
  ASSERT_EQ(view().warnings.size(), 1U);
  EXPECT_THAT(view().warnings[0], HasSubstr("hostPID"));
}

TEST_F(PodsTest, queue_pairs_of_the_kernel_and_of_the_host_are_nobodys) {
  auto kernel = connected(1, std::nullopt);
  kernel.owner.kernel = true;
  usage_.processes.by_id[50] = process(50, "");
  pairs() = {kernel, connected(2, 50, 9)};
  const auto seen = view();
  EXPECT_EQ(seen.kernel_queue_pairs, 1U);
  EXPECT_EQ(seen.host_queue_pairs, 1U);
  EXPECT_EQ(seen.pods[0].verdict, proof::Verdict::idle);
  EXPECT_TRUE(seen.complete);
}

TEST_F(PodsTest, connections_to_elsewhere_without_queue_pairs_are_tcp) {
  job().network->connections = 3;
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
  EXPECT_EQ(pod().why.substr(0, 53), "no queue pair, 3 TCP connections to elsewhere; a sile");
  EXPECT_EQ(pod().rung, proof::Rung::nothing);
}

TEST_F(PodsTest, what_keeps_a_container_off_rdma_is_in_the_reason) {
  records_[0].off_rdma = "NCCL_IB_DISABLE=\"1\" turns RDMA off";
  job().network->connections = 3;
  EXPECT_THAT(pod().why, HasSubstr("3 TCP connections to elsewhere; NCCL_IB_DISABLE=\"1\" turns"));
  EXPECT_THAT(pod().evidence, testing::Contains(proof::Evidence{
                                  "environment", "NCCL_IB_DISABLE=\"1\" turns RDMA off"}));
  pairs() = {connected(17, 1000)};
  EXPECT_EQ(pod().why, "1 connected queue pair on mlx5_0");
}

TEST_F(PodsTest, without_a_look_at_its_sockets_it_is_unknown) {
  job().network.reset();
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  job().network_problem = "/proc/1000/net/tcp: larger than our limit";
  EXPECT_THAT(pod().why, HasSubstr("cannot be seen: /proc/1000/net/tcp: larger than our limit"));
}

TEST_F(PodsTest, a_refusing_kernel_makes_it_unknown_with_the_reason) {
  usage_.devices.clear();
  usage_.rdma = usage::TableState::denied;
  usage_.rdma_why = "operation not permitted";
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("operation not permitted"));
}

TEST_F(PodsTest, a_device_that_cannot_be_listed_makes_all_but_rdma_unknown) {
  auto other = device();
  other.device = {1, "mlx5_1"};
  other.queue_pairs = {usage::TableState::interrupted, "interrupted", {}};
  usage_.devices.push_back(other);
  EXPECT_EQ(pod().verdict, proof::Verdict::idle);  // it has not opened it
  usage_.devices[1].contexts.objects = {{{1000, false}, 4}};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  pairs() = {connected(17, 1000)};
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
}

TEST_F(PodsTest, exclusive_rdma_namespaces_hide_what_was_moved) {
  node_.rdma_netns = node::RdmaNetns::exclusive;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("exclusive"));
}

TEST_F(PodsTest, a_node_without_netlink_and_without_nics_has_no_queue_pairs) {
  usage_.devices.clear();
  usage_.rdma = usage::TableState::gone;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  node_.nics.clear();
  EXPECT_EQ(pod().verdict, proof::Verdict::idle);
}

TEST_F(PodsTest, gpus_peers_age_and_no_queue_pair_make_a_silent_fallback) {
  job().network->connections = 1;
  EXPECT_TRUE(pod().silent_fallback);
  records_[0].gpus = {"GPU-0"};
  EXPECT_TRUE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("it holds 1 GPU of a node with RDMA NICs"));
  job().started_ticks = 90'000;
  EXPECT_FALSE(pod().silent_fallback);  // 101 s old
  job().started_ticks = 100;
  job().files.gpu_started_ticks = 90'000;  // it loaded its model until then
  EXPECT_FALSE(pod().silent_fallback);
  job().files.gpu_started_ticks = 200;
  records_[0].gpus.clear();
  records_[0].nics = {"mlx5_0"};
  EXPECT_FALSE(pod().silent_fallback);
}

TEST_F(PodsTest, ranks_on_other_nodes_are_peers_too) {
  records_[0].job = {};
  EXPECT_FALSE(pod().silent_fallback);
  records_[0].job.ranks = 2;  // as many as GPUs
  EXPECT_FALSE(pod().silent_fallback);
  records_[0].job.ranks = 16;
  EXPECT_TRUE(pod().silent_fallback);
  EXPECT_EQ(pod().verdict, proof::Verdict::idle);
  EXPECT_EQ(
      pod().why,
      "no queue pair and no TCP connection to elsewhere; a silent fallback: it holds 2 GPUs "
      "of a node with RDMA NICs and was given none of them; RDMA is due by 16 ranks on 2 GPUs");
}

TEST_F(PodsTest, nodes_are_not_compared_with_gpus) {
  records_[0].gpus = {"GPU-0", "GPU-1", "GPU-2", "GPU-3"};
  records_[0].job.nodes = 4;
  EXPECT_TRUE(pod().silent_fallback);
  records_[0].job = {1, 16};  // one container of a larger world
  EXPECT_TRUE(pod().silent_fallback);
}

TEST_F(PodsTest, a_job_of_one_node_has_no_peers_whatever_it_is_connected_to) {
  job().network->connections = 3;
  records_[0].job.nodes = 1;
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
  EXPECT_EQ(pod().evidence.back(), (proof::Evidence{"job", "1 node"}));
  records_[0].job = {std::nullopt, 2};
  EXPECT_FALSE(pod().silent_fallback);
}

TEST_F(PodsTest, a_model_server_that_states_no_job_is_no_fallback) {
  job().network->connections = 3;
  records_[0].job = {};
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("nothing says that it is part of a job on several nodes"));
}

TEST_F(PodsTest, a_worker_of_disaggregated_serving_on_tcp_is_a_fallback) {
  records_[0].gpus = {"GPU-0"};
  records_[0].job = {1, {}, ""};  // LWS_GROUP_SIZE=1
  job().job.asks = "--disaggregation-mode";
  EXPECT_EQ(pod().verdict, proof::Verdict::idle);
  EXPECT_FALSE(pod().silent_fallback);
  job().network->connections = 1;
  EXPECT_TRUE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("RDMA is due by --disaggregation-mode"));
}

TEST_F(PodsTest, a_slot_is_due_where_data_moves_over_tcp) {
  records_[0].job = {};
  records_[0].asked = "a slot of a pool";
  auto before = usage_;
  before.containers[kJob].network = usage::NetworkUse{true, 1, {}, {{{31, 1000, 1000}}}};
  usage_.counted_ticks = 100'200;
  const auto moved = [&](std::uint64_t bytes) {
    job().network = usage::NetworkUse{true, 1, {}, {{{31, 1000 + bytes, 1000}}}};
    return pod(&before);
  };
  EXPECT_FALSE(moved(10'000).silent_fallback);
  EXPECT_TRUE(moved(5'000'000).silent_fallback);
  EXPECT_EQ(moved(5'000'000).tcp_bytes_per_second, 5e6);
  records_[0].job.nodes = 1;
  EXPECT_FALSE(moved(5'000'000).silent_fallback);
}

TEST_F(PodsTest, bytes_of_tcp_are_those_of_connections_that_are_there) {
  auto before = usage_;
  before.containers[kJob].network =
      usage::NetworkUse{true, 2, {}, {{{31, 1000, 0}, {32, 5'000'000, 0}, {40, 10, {}}}}};
  usage_.counted_ticks = 100'300;  // two seconds
  job().network = usage::NetworkUse{true, 2, {}, {{{31, 3000, 0}, {33, 0, 500}, {40, 5, {}}}}};
  EXPECT_EQ(pod(&before).tcp_bytes_per_second, 1250.0);
  job().network->sockets.reset();
  EXPECT_EQ(pod(&before).tcp_bytes_per_second, std::nullopt);
}

TEST_F(PodsTest, memory_with_a_driver_that_hides_queue_pairs_is_unknown) {
  node_.nics[0].driver = "mlx5_core";
  device().contexts.objects = {{{1000, false}, 3}};
  job().network->connections = 3;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_EQ(pod().rung, proof::Rung::nothing);
  device().memory_regions.objects = {{{1000, false}, 4096, 1, 7}};
  job().files.devx = 2;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_EQ(pod().rung, proof::Rung::devx_objects);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("mlx5_0 is open with 1 memory region, and objects that are made "
                                   "through DEVX are in no list"));
  EXPECT_THAT(pod().evidence,
              testing::Contains(proof::Evidence{"proc fd", "2 files of mlx5 DEVX"}));
  node_.nics[0].driver = "mlx4_core";
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
  node_.nics[0].driver = "a_new_one";
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, a_sole_user_with_memory_and_traffic_is_rdma_without_a_pair) {
  open_through_devx();
  auto before = usage_;
  usage_.counted_ticks = 100'200;
  device().traffic.bytes = 100'000'000;
  before.devices[0].moved_for = kJob;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  EXPECT_EQ(pod(&before).rung, proof::Rung::sole_user);
  add(2000, kOther);
  device().contexts.objects.push_back({{2000, false}, 4});
  EXPECT_EQ(view(&before).pods.at(0).verdict, proof::Verdict::unknown);  // whose bytes are they?
}

TEST_F(PodsTest, what_moved_between_two_looks_alone_proves_nothing) {
  open_through_devx();
  std::optional<usage::Usage> before;
  const auto look_again = [&](std::uint64_t moved) {
    *usage_.counted_ticks += 100;
    *device().traffic.bytes += moved;
    const auto seen = view(before ? &*before : nullptr);
    auto now = usage_;
    proof::note_who_moved_alone(now, seen);
    proof::forget_what_is_not_compared(now);
    before = std::move(now);
    return seen.pods.at(0);
  };
  look_again(0);
  const auto once = look_again(100'000'000);
  EXPECT_EQ(once.verdict, proof::Verdict::unknown);
  EXPECT_EQ(once.rung, proof::Rung::sole_user);
  EXPECT_FALSE(once.silent_fallback);
  EXPECT_THAT(once.why,
              HasSubstr("it is the only user of mlx5_0, whose ports move 100000000 bytes a "
                        "second, in two looks alone: a program that began and ended "
                        "between them may have moved that"));
  EXPECT_EQ(look_again(0).rung, proof::Rung::devx_objects);
  EXPECT_EQ(look_again(100'000'000).verdict, proof::Verdict::unknown);
  EXPECT_EQ(look_again(100'000'000).verdict, proof::Verdict::rdma);
  records_[0].container_id = kOther;  // started again: another program
  usage_.containers.clear();
  add(1000, kOther);
  before->devices[0].users = {kOther};
  EXPECT_EQ(look_again(100'000'000).verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, what_the_kernel_moved_that_has_stopped_since_proves_nothing) {
  open_through_devx();
  auto before = usage_;
  auto nfs = connected(50, std::nullopt);
  nfs.owner.kernel = true;
  nfs.owner.kernel_name = "rpcrdma";
  before.devices[0].queue_pairs.objects = {nfs};
  usage_.counted_ticks = 100'200;
  device().traffic.bytes = 100'000'000;
  EXPECT_FALSE(pod(&before).total().moves_alone);
  proof::forget_what_is_not_compared(before);
  EXPECT_FALSE(pod(&before).total().moves_alone);
}

TEST_F(PodsTest, a_hiding_device_open_by_nobody_may_be_anyones) {
  node_.nics[0].driver = "mlx5_core";
  job().network->connections = 1;
  device().contexts.objects = {{{}, 3}};  // its thread has ended, as those of its other objects
  device().domains.objects = {{{}, 7, 3}};
  device().memory_regions.objects = {{{}, 4096, 1, 7}};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("1 context of mlx5_0 without an owner that can be seen; and "
                                   "objects that are made through DEVX"));
  device().contexts = {usage::TableState::unsupported, "", {}};  // an old kernel: memory tells
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("1 memory region of mlx5_0 without an owner"));
  node_.nics[0].driver = "mlx4_core";
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
}

TEST_F(PodsTest, what_another_moved_who_has_ended_since_proves_nothing) {
  open_through_devx();
  auto before = usage_;
  before.processes.by_id[2000] = process(2000, kOther);
  before.devices[0].contexts.objects.push_back({{2000, false}, 4});
  before.devices[0].moved_for = kJob;
  usage_.counted_ticks = 100'200;
  device().traffic.bytes = 100'000'000;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  EXPECT_EQ(pod(&before).total().bytes_per_second, 1e8);
  proof::forget_what_is_not_compared(before);
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
  auto alone = usage_;
  alone.counted_ticks = 100'100;
  alone.devices[0].traffic.bytes = 0;
  alone.devices[0].moved_for = kJob;
  proof::forget_what_is_not_compared(alone);
  EXPECT_EQ(pod(&alone).verdict, proof::Verdict::rdma);
  alone.devices[0].users = std::nullopt;  // nor does one whose contexts could not be listed
  EXPECT_EQ(pod(&alone).verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, a_reading_to_compare_with_says_the_same_of_traffic) {
  pairs() = {connected(17, 1000)};
  job().network = usage::NetworkUse{true, 1, {}, {{{31, 1000, 0}}}};
  auto before = usage_;
  usage_.counted_ticks = 100'200;
  pairs()[0].send_psn = 9;
  job().network = usage::NetworkUse{true, 1, {}, {{{31, 3000, 0}}}};
  const auto whole = pod(&before);
  proof::forget_what_is_not_compared(before);
  EXPECT_TRUE(before.processes.by_id.empty());
  const auto less = pod(&before);
  EXPECT_EQ(less.total().moving, 1U);
  EXPECT_EQ(less.tcp_bytes_per_second, 2000.0);
  EXPECT_EQ(less.devices, whole.devices);
}

TEST_F(PodsTest, a_list_left_out_concerns_only_who_has_the_device_open) {
  device().queue_pairs = {usage::TableState::left_out, "not asked for", {}};
  add(2000, kOther);
  job().network->connections = 1;
  device().contexts.objects = {{{2000, false}, 4}};
  auto seen = view();
  ASSERT_EQ(seen.pods.size(), 2U);
  const auto is_job = [](const auto& one) { return one.record.pod == "job"; };
  const auto fallen = std::ranges::find_if(seen.pods, is_job);
  const auto other = std::ranges::find_if_not(seen.pods, is_job);
  EXPECT_EQ(fallen->verdict, proof::Verdict::tcp);
  EXPECT_TRUE(fallen->silent_fallback);
  EXPECT_EQ(other->verdict, proof::Verdict::unknown);
  EXPECT_THAT(other->why, HasSubstr("queue pairs of mlx5_0: not asked for"));
  EXPECT_FALSE(seen.complete);
  device().contexts.objects.push_back({{}, 5});  // nobody knows whose
  seen = view();
  for (const auto& one : seen.pods) EXPECT_EQ(one.verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, without_the_list_domains_say_that_the_kernel_uses_it) {
  device().queue_pairs = {usage::TableState::left_out, "not asked for", {}};
  device().contexts.objects = {{{1000, false}, 3}};
  device().memory_regions.objects = {{{1000, false}, 4096, 1, 7}};
  device().domains.objects = {{{{}, true, "ib_core"}, 1, {}}, {{{}, true, "mlx5_ib"}, 2, {}}};
  device().traffic.bytes = 0;
  auto before = usage_;
  before.devices[0].moved_for = kJob;
  usage_.counted_ticks = 100'200;
  device().traffic.bytes = 100'000'000;
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::rdma);
  device().domains.objects.push_back({{{}, true, "ib_ipoib"}, 3, {}});
  EXPECT_EQ(pod(&before).verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, sockets_that_the_kernel_carries_by_rdma_are_no_fallback) {
  job().network->connections = 1;
  device().domains.objects = {{{{}, true, "smc"}, 9, {}}};  // queue pairs may not be asked for
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("SMC-R moves data of TCP sockets by mlx5_0"));
  device().domains.objects.clear();
  auto pair = connected(50, std::nullopt);
  pair.owner = {std::nullopt, true, "smc"};
  pairs() = {pair};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, nvlink_between_nodes_needs_no_queue_pair) {
  job().network->connections = 1;
  job().files.imex_channels = 1;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("a channel of IMEX"));
}

TEST_F(PodsTest, a_fabric_without_verbs_is_no_fallback) {
  job().network->connections = 1;
  job().files.other_fabrics = {"/dev/hfi1_0"};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("/dev/hfi1_0"));
}

TEST_F(PodsTest, files_that_nobody_looked_at_may_be_a_fabrics) {
  job().network->connections = 1;
  job().files.doubt = "/proc/1000/fd: permission denied";
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("not all of its open files were seen, and one may be of a "
                                   "fabric: /proc/1000/fd: permission denied"));
}

TEST_F(PodsTest, a_process_that_nobody_saw_may_be_its_own) {
  job().network->connections = 1;
  usage_.processes.doubt = "more than 32768 processes are in containers";
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_FALSE(pod().silent_fallback);
  EXPECT_THAT(pod().why, HasSubstr("one may be its own: more than 32768 processes"));
  EXPECT_FALSE(view().complete);
  pairs() = {connected(17, 1000)};
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
}

TEST_F(PodsTest, what_nobody_knows_of_a_container_is_said) {
  add(2000, kOther);
  usage_.containers[kOther].bundle_problem = "config.json: larger than our limit";
  const auto seen = view();
  EXPECT_EQ(seen.pods.size(), 1U);
  EXPECT_FALSE(seen.complete);
  EXPECT_THAT(seen.warnings,
              testing::ElementsAre("what was given to 1 container cannot be read: config.json: "
                                   "larger than our limit"));
  records_.push_back(records_[0]);
  records_.back().container_id = kOther;  // the runtime has told the agent
  EXPECT_TRUE(view().complete);
}

TEST_F(PodsTest, who_opened_a_device_that_hides_objects_has_to_be_seen) {
  job().network->connections = 1;
  node_.nics[0].driver = "mlx5_core";
  EXPECT_TRUE(pod().silent_fallback);
  device().contexts = {usage::TableState::denied, "operation not permitted", {}};
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(pod().why, HasSubstr("mlx5_0 may be open; contexts of mlx5_0: operation not "
                                   "permitted; and objects that are made through DEVX"));
  device().contexts.state = usage::TableState::unsupported;  // an old kernel: memory tells
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
  device().memory_regions.state = usage::TableState::failed;
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
  node_.nics[0].driver = "mlx4_core";
  EXPECT_EQ(pod().verdict, proof::Verdict::tcp);
}

TEST_F(PodsTest, a_log_that_chose_rdma_is_no_proof_and_no_fallback) {
  job().network->connections = 1;
  proof::ProofOptions options{300, false};
  options.logs = {{"ns/job", "RDMA (chosen): Using network IB"}};
  const auto chosen = proof::judge_pods(usage_, nullptr, node_, records_, options).pods.at(0);
  EXPECT_EQ(chosen.verdict, proof::Verdict::unknown);
  EXPECT_EQ(chosen.rung, proof::Rung::log);
  options.logs = {{"job", "TCP: Using network Socket"}};
  const auto tcp = proof::judge_pods(usage_, nullptr, node_, records_, options).pods.at(0);
  EXPECT_TRUE(tcp.silent_fallback);
  EXPECT_EQ(tcp.evidence.back(), (proof::Evidence{"log", "TCP: Using network Socket"}));
}

TEST_F(PodsTest, a_list_that_was_cut_keeps_the_proof_that_it_had) {
  device().contexts.objects = {{{1000, false}, 3}};
  device().queue_pairs = {usage::TableState::failed, "gave up", {connected(17, 1000)}};
  EXPECT_EQ(pod().verdict, proof::Verdict::rdma);
  device().queue_pairs.objects.clear();
  EXPECT_EQ(pod().verdict, proof::Verdict::unknown);
}

TEST_F(PodsTest, pods_that_the_operator_ignores_are_judged_and_no_fallback) {
  job().network->connections = 1;
  const auto ignoring = [&](std::string pattern) {
    return proof::judge_pods(usage_, nullptr, node_, records_, {300, false, {std::move(pattern)}})
        .pods[0];
  };
  EXPECT_FALSE(ignoring("ns/j*").silent_fallback);
  EXPECT_TRUE(ignoring("ns/j*").ignored);
  EXPECT_EQ(ignoring("ns/j*").verdict, proof::Verdict::tcp);
  EXPECT_THAT(ignoring("ns/j*").why, HasSubstr("; pods.ignore names it, else a silent fallback"));
  EXPECT_TRUE(ignoring("other/*").silent_fallback);
  EXPECT_FALSE(ignoring("other/*").ignored);
}

TEST_F(PodsTest, no_fallback_without_rdma_nics_or_beside_rdma_in_the_pod) {
  job().network->connections = 1;
  add(2000, kOther);
  auto sidecar = records_[0];
  sidecar.container_id = kOther;
  sidecar.container = "sidecar";
  records_.push_back(sidecar);
  pairs() = {connected(17, 2000)};
  for (const auto& one : view().pods) EXPECT_FALSE(one.silent_fallback);
  pairs().clear();
  node_.nics.clear();
  for (const auto& one : view().pods) EXPECT_FALSE(one.silent_fallback);
}

TEST_F(PodsTest, sequence_numbers_that_move_and_counters_are_traffic_now) {
  pairs() = {connected(17, 1000), connected(18, 1000)};
  device().traffic.bytes = 1000;
  auto before = usage_;
  usage_.counted_ticks = 100'300;
  device().traffic.bytes = 5000;
  pairs()[0].send_psn = 9;
  const auto total = pod(&before).total();
  EXPECT_EQ(total.moving, 1U);
  EXPECT_EQ(total.bytes_per_second, 2000.0);
  EXPECT_TRUE(total.sole_user);
  EXPECT_EQ(pod().total().moving, std::nullopt);
  device().traffic.bytes = 10;  // reset
  EXPECT_EQ(pod(&before).total().bytes_per_second, std::nullopt);
}

TEST_F(PodsTest, a_device_that_others_use_has_shared_traffic) {
  add(2000, kOther);
  pairs() = {connected(17, 1000), connected(18, 2000, 8)};
  for (const auto& one : view().pods) EXPECT_FALSE(one.total().sole_user);
}

TEST_F(PodsTest, unrelated_containers_are_left_out_unless_asked_for) {
  add(2000, kOther);
  EXPECT_EQ(view().pods.size(), 1U);
  EXPECT_EQ(proof::judge_pods(usage_, nullptr, node_, records_, {300, true}).pods.size(), 2U);
}

TEST_F(PodsTest, totals_never_fall_when_processes_end_or_containers_restart) {
  proof::PodLedger ledger;
  pairs() = {connected(17, 1000), connected(18, 1000)};
  look(ledger);
  const proof::PodKey key{"ns", "job", "main"};
  EXPECT_EQ(ledger.find(key)->queue_pairs, 2U);
  auto before = usage_;
  pairs().clear();  // its process ended
  usage_.counted_ticks = 100'300;
  look(ledger, &before, 2.0);
  EXPECT_EQ(ledger.find(key)->queue_pairs, 2U);
  before = usage_;
  usage_.containers.clear();
  usage_.processes.by_id.clear();
  add(3000, kOther);
  records_[0].container_id = kOther;
  pairs() = {connected(17, 3000, 9)};  // the same number again
  look(ledger, &before, 2.0);
  EXPECT_EQ(ledger.find(key)->queue_pairs, 3U);
  EXPECT_EQ(ledger.find(key)->seconds[static_cast<std::size_t>(proof::Verdict::rdma)], 2.0);
}

TEST_F(PodsTest, a_reading_without_a_list_makes_no_queue_pair_new_nor_quiet) {
  pairs() = {connected(17, 1000), connected(18, 1000)};
  auto good = usage_;
  auto failed = usage_;
  failed.devices[0].queue_pairs = {usage::TableState::interrupted, "interrupted", {}};
  EXPECT_EQ(pod(&failed).total().moving, std::nullopt);
  EXPECT_EQ(pod(&failed).why, "2 connected queue pairs on mlx5_0");
  proof::carry_over(failed, usage::Usage(good));
  EXPECT_EQ(pod(&failed).total().appeared, 0U);
  EXPECT_EQ(pod(&failed).total().moving, 0U);
  failed.devices.clear();
  failed.rdma = usage::TableState::denied;
  auto gone = failed;
  gone.rdma = usage::TableState::gone;
  proof::carry_over(failed, usage::Usage(good));
  EXPECT_EQ(pod(&failed).total().appeared, 0U);
  proof::carry_over(gone, usage::Usage(good));  // its driver was unloaded: numbers begin again
  EXPECT_EQ(pod(&gone).total().appeared, 2U);
}

TEST_F(PodsTest, quiet_is_said_only_where_all_devices_could_be_compared) {
  auto other = device();
  other.device = {1, "mlx5_1"};
  other.queue_pairs.objects = {connected(30, 1000)};
  usage_.devices.push_back(other);
  pairs() = {connected(17, 1000)};
  auto before = usage_;
  EXPECT_EQ(pod(&before).total().moving, 0U);
  before.devices[1].queue_pairs = {usage::TableState::interrupted, "interrupted", {}};
  EXPECT_EQ(pod(&before).total().moving, std::nullopt);
}

TEST_F(PodsTest, a_number_that_is_used_again_by_another_is_a_new_queue_pair) {
  pairs() = {connected(17, 1000)};
  const auto before = usage_;
  EXPECT_EQ(pod(&before).total().appeared, 0U);
  pairs()[0].domain = 8;
  EXPECT_EQ(pod(&before).total().appeared, 1U);
  pairs()[0].domain = 7;
  pairs()[0].owner.thread.reset();  // its thread ended: the same
  device().contexts.objects = {{{1000, false}, 3}};
  device().domains.objects = {{{}, 7, 3}};
  EXPECT_EQ(pod(&before).total().appeared, 0U);
}

TEST_F(PodsTest, a_fallback_is_told_once_and_again_after_it_went_away) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  EXPECT_EQ(look(ledger).fell_back.size(), 1U);
  EXPECT_THAT(look(ledger).fell_back, IsEmpty());
  pairs() = {connected(17, 1000)};
  EXPECT_EQ(look(ledger).recovered.size(), 1U);
  pairs().clear();
  suspect(ledger);
  EXPECT_EQ(look(ledger).fell_back.size(), 1U);
}

TEST_F(PodsTest, two_looks_and_one_between_that_finds_none_are_no_alarm) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  job().network.reset();
  look(ledger);
  job().network = usage::NetworkUse{true, 1, std::nullopt};
  suspect(ledger);
  auto seen = view();
  EXPECT_TRUE(seen.pods[0].silent_fallback);
  ledger.update(seen, {});
  EXPECT_EQ(seen.pods[0].suspicious_looks, 3U);
  EXPECT_TRUE(seen.pods[0].silent_fallback);
}

TEST_F(PodsTest, grace_counts_from_the_first_connection_that_was_seen) {
  proof::PodLedger ledger(300);
  records_[0].job = {};
  records_[0].job.asks = "--disaggregation-mode";
  for (int i = 0; i < 5; ++i) look(ledger, nullptr, 100);
  job().network->connections = 1;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(look(ledger, nullptr, 100).fell_back, IsEmpty());
  EXPECT_EQ(look(ledger, nullptr, 100).fell_back.size(), 1U);
}

TEST_F(PodsTest, a_fallback_is_gone_when_two_readings_lack_its_container) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  look(ledger);
  const auto there = usage_;
  usage_.containers.clear();
  EXPECT_THAT(look(ledger).gone, IsEmpty());
  const auto gone = look(ledger).gone;
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].record.pod, "job");
  EXPECT_TRUE(gone[0].silent_fallback);
  EXPECT_THAT(look(ledger).gone, IsEmpty());
  usage_ = there;
  suspect(ledger);
  EXPECT_EQ(look(ledger).fell_back.size(), 1U);
}

TEST_F(PodsTest, a_reading_without_processes_says_nothing_of_any_container) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  EXPECT_EQ(look(ledger).fell_back.size(), 1U);
  const auto there = usage_;
  usage_.containers.clear();
  usage_.processes_known = false;
  for (unsigned i = 0; i < 2 * proof::PodLedger::kPatience; ++i) {
    const auto changes = look(ledger);
    EXPECT_THAT(changes.gone, IsEmpty());
    EXPECT_THAT(changes.forgotten, IsEmpty());
  }
  usage_ = there;
  EXPECT_THAT(look(ledger).fell_back, IsEmpty()) << "it is the same";
}

TEST_F(PodsTest, a_fallback_is_gone_when_its_container_was_started_again) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  look(ledger);
  usage_.containers.clear();
  usage_.processes.by_id.clear();
  add(3000, kOther);
  records_[0].container_id = kOther;
  const auto changes = look(ledger);
  EXPECT_EQ(changes.gone.size(), 1U);
  EXPECT_THAT(changes.recovered, IsEmpty());
}

TEST_F(PodsTest, a_fallback_that_is_unknown_for_a_while_has_not_recovered) {
  proof::PodLedger ledger;
  job().network->connections = 1;
  suspect(ledger);
  look(ledger);
  const auto network = job().network;
  job().network.reset();
  ASSERT_EQ(pod().verdict, proof::Verdict::unknown);
  EXPECT_THAT(look(ledger).recovered, IsEmpty());
  job().network = network;
  EXPECT_THAT(look(ledger).fell_back, IsEmpty());
}

TEST_F(PodsTest, a_fallback_that_is_idle_between_phases_has_not_recovered) {
  proof::PodLedger ledger;
  records_[0].job = {};
  records_[0].job.asks = "--disaggregation-mode";  // no fallback while it is idle
  const auto with = [&](unsigned connections) {
    job().network->connections = connections;
    return look(ledger);
  };
  for (unsigned i = 0; i < proof::PodLedger::kLooks; ++i) with(1);
  for (unsigned i = 1; i < proof::PodLedger::kCalm; ++i) EXPECT_THAT(with(0).recovered, IsEmpty());
  EXPECT_THAT(with(1).fell_back, IsEmpty());
  for (unsigned i = 1; i < proof::PodLedger::kCalm; ++i) EXPECT_THAT(with(0).recovered, IsEmpty());
  EXPECT_EQ(with(0).recovered.size(), 1U);
}

TEST_F(PodsTest, a_container_is_forgotten_after_a_while) {
  proof::PodLedger ledger;
  look(ledger);
  usage_.containers.clear();
  for (unsigned i = 1; i < proof::PodLedger::kPatience; ++i) {
    EXPECT_THAT(look(ledger).forgotten, IsEmpty());
  }
  EXPECT_EQ(look(ledger).forgotten.size(), 1U);
  EXPECT_EQ(ledger.find({"ns", "job", "main"}), nullptr);
}

}  // namespace
}  // namespace railhead::test
