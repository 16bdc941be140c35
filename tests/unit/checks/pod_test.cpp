// SPDX-License-Identifier: Apache-2.0
//
// A container that is well on a machine that is well, and one fault at a time.
#include <gmock/gmock.h>

#include "unit/checks/page.h"
#include "unit/checks/patient.h"
#include "unit/link_builder.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kUnlimited = host::ProcessFacts::kUnlimited;
constexpr const char* kAddress = "0000:0000:0000:0000:0000:ffff:0a00:0005";

struct Container : system::Container {
  proof::PodUse use;
};

/// GPU 1 and mlx5_3, which is next to it, of a DGX H100, with all that RDMA needs.
Container well() {
  Container container;
  container.name = "train";
  container.id = "abc";
  container.root = "/proc/4711/root";
  container.process = {"/proc/4711", host::ProcessFacts{0, kUnlimited, kUnlimited, 0, 0}};
  container.uid_map = {"/proc/4711/uid_map", "0 0 4294967295"};
  container.network = {"/proc/4711/ns/net", "net:[2]"};
  container.node_network = {"/proc/1/ns/net", "net:[1]"};
  container.environment = {"/proc/4711/environ", std::vector<std::string>{"NCCL_IB_HCA==mlx5_3"}};
  container.device_rules = {
      "config.json",
      std::vector<system::DeviceRule>{{false, 'a', {}, {}, "rwm"}, {true, 'c', 231, {}, "rw"}}};
  container.held = {"/proc/4711/fd", std::vector<std::string>()};
  container.mapped = {"/proc/4711/maps", std::vector<std::string>()};
  container.rdma_nodes = {
      "/proc/4711/root/dev/infiniband",
      std::vector<system::ContainerNode>{{"/dev/infiniband/uverbs3", {'c', 231, 195, 0666, 0, 0}},
                                         {"/dev/infiniband/rdma_cm", {'c', 10, 121, 0666, 0, 0}}}};
  container.gpu_nodes = {"/proc/4711/root/dev", std::vector<system::ContainerNode>{
                                                    {"/dev/nvidia1", {'c', 195, 1, 0666, 0, 0}}}};
  container.libraries = {
      container.root,
      system::Libraries{{"/usr/lib"},
                        {"/usr/lib/libibverbs.so.1", "/usr/lib/libibverbs/libmlx5-rdmav34.so"},
                        {}}};
  container.provider_suffix = {"/proc/4711/root/usr/lib/libibverbs.so.1", "-rdmav34.so"};
  container.abi["mlx5_3"] = {"/sys/class/infiniband_verbs/uverbs3/abi_version", "1"};
  container.gdrdrv = {"/proc/4711/root/dev/gdrdrv"};
  container.netdevs = {"/proc/4711/net/dev", std::vector<std::string>{"lo", "eth0"}};
  container.addresses = {"/proc/4711/net/fib_trie", std::vector<std::string>{kAddress}};
  container.shm = {"/proc/4711/mountinfo /dev/shm", "tmpfs rw,size=33554432k"};
  container.use.record.container_id = container.id;
  container.use.verdict = proof::Verdict::rdma;
  container.use.why = "8 queue pairs in RTS";
  return container;
}

/// On a machine whose driver has no parameters for IBGDA, unless it says them itself.
std::vector<checks::Finding> examine(Container container, Patient patient = healthy(),
                                     bool plain = true) {
  if (plain) patient.text("/proc/driver/nvidia/params", "EnableStreamMemOPs: 0");
  snapshot::SnapshotHost host(patient.snapshot());
  checks::MoreFacts more;
  more.uses = {container.use};
  more.containers.push_back(std::move(container));
  const auto node = node::read_node(host);
  auto system =
      system::read_system(host, node, checks::parts_of(checks::all_checks(checks::Scope::pod)));
  const checks::Machine machine(node, std::move(system), {}, std::move(more));
  return checks::run_checks(machine, checks::all_checks(checks::Scope::pod));
}

TEST(Pod, that_is_well_has_no_complaint) {
  const auto findings = examine(well());
  EXPECT_THAT(complaints(findings), IsEmpty());
  for (const auto& one : findings) {
    EXPECT_FALSE(one.evidence.empty() && one.state != checks::State::skip) << one.id;
  }
}

/// NIC 0 of a machine with RoCE, with the GID of the container's address.
Container on_roce(std::vector<node::Gid> gids) {
  auto container = well();
  container.environment.value->clear();
  container.gpu_nodes.value->clear();
  container.rdma_nodes.value->front().node.minor = 192;
  container.gids["mlx5_0/1"] = {"/proc/4711/root/sys/class/infiniband/mlx5_0/ports/1/gids",
                                std::move(gids)};
  return container;
}

constexpr const char* kRoce = "hgx-h100-roce";

Container well_on_roce() {
  return on_roce({{3, kAddress, "RoCE v2", {}}});
}

/// GPU 0 and mlx5_ib0 of a virtual machine whose front-end NIC, mlx5_an0, can do RDMA as well.
Container well_on_azure() {
  auto container = well();
  container.network.value = "net:[1]";
  container.environment.value = {{"NCCL_IB_HCA==mlx5_ib0"}};
  container.gpu_nodes.value = {{"/dev/nvidia0", {'c', 195, 0, 0666, 0, 0}}};
  container.rdma_nodes.value->front() = {"/dev/infiniband/uverbs0", {'c', 231, 192, 0666, 0, 0}};
  container.ucx = {{"/usr/lib/libucp.so.0", true, "/usr/lib/ucx", true}};
  container.abi.clear();
  container.abi["mlx5_ib0"] = {"/sys/class/infiniband_verbs/uverbs0/abi_version", "1"};
  container.abi["mlx5_an0"] = {"/sys/class/infiniband_verbs/uverbs8/abi_version", "1"};
  return container;
}

void give_front_end_nic(Container& container) {
  container.rdma_nodes.value->push_back(
      {"/dev/infiniband/uverbs8", {'c', 231, 200, 0666, 0, 0}});  // mlx5_an0
}

constexpr const char* kAzure = "azure-nd-h100-v5";

struct PodFault {
  const char* name;
  void (*make)(Container& container);
  std::vector<std::string> expected;
  Container (*before)() = well;
  const char* machine = "dgx-h100";
};

const std::vector<PodFault>& pod_faults() {
  static const std::vector<PodFault> kFaults = {
      {"no RDMA device",
       [](Container& c) { c.rdma_nodes.value->clear(); },
       {"WARN pod.devices train"}},
      {"a stale node",
       [](Container& c) { c.rdma_nodes.value->front().node.major = 511; },
       {"FAIL pod.devices train/uverbs3"}},
      {"umad under the name of uverbs (E06)",
       [](Container& c) { c.rdma_nodes.value->front().node.minor = 3; },
       {"FAIL pod.devices train/uverbs3"}},
      {"no rdma_cm",
       [](Container& c) { c.rdma_nodes.value->pop_back(); },
       {"WARN pod.devices train/rdma_cm"}},
      {"a root that may not be entered",
       [](Container& c) {
         c.rdma_nodes = {"/proc/4711/root", {}, "EACCES"};
       },
       {"UNKNOWN pod.devices train"}},
      {"a hostPath that grants nothing (N03)",
       [](Container& c) { c.device_rules.value->pop_back(); },
       {"FAIL pod.device-access train/uverbs3"}},
      {"no bundle",
       [](Container& c) {
         c.device_rules = {"config.json", {}, "not found"};
       },
       {"UNKNOWN pod.device-access train/uverbs3", "UNKNOWN pod.privileged train"}},
      {"umad for a tenant (E11)",
       [](Container& c) {
         c.rdma_nodes.value->push_back({"/dev/infiniband/umad3", {'c', 231, 3, 0600, 0, 0}});
       },
       {"WARN pod.management-nodes train"}},
      {"privileged",
       [](Container& c) {
         c.device_rules.value->push_back({true, 'a', {}, {}, "rwm"});
       },
       {"WARN pod.privileged train"}},
      {"a memory lock of 8 MiB",
       [](Container& c) { c.process.value->memlock_soft_bytes = 8388608; },
       {"FAIL pod.memlock train"}},
      {"a memory lock of 8 GiB",
       [](Container& c) { c.process.value->memlock_soft_bytes = 8ULL << 30U; },
       {"WARN pod.memlock train"}},
      {"IPC_LOCK in a user namespace (E10)",
       [](Container& c) {
         c.process.value->memlock_soft_bytes = 65536;
         c.process.value->cap_effective = 1ULL << 14U;
         c.uid_map.value = "0 100000 65536";
       },
       {"FAIL pod.memlock train"}},
      {"no provider",
       [](Container& c) { c.libraries.value->found.pop_back(); },
       {"FAIL pod.libraries train/mlx5"}},
      {"no libibverbs",
       [](Container& c) { c.libraries.value->found.clear(); },
       {"WARN pod.libraries train/mlx5"}},
      {"a folder of libraries that cannot be read",
       [](Container& c) {
         c.libraries.value->found.clear();
         c.libraries.value->unreadable = {"/opt: EIO"};
       },
       {"UNKNOWN pod.libraries train/mlx5"}},
      {"a provider of another release",
       [](Container& c) { c.provider_suffix.value = "-rdmav25.so"; },
       {"FAIL pod.library-abi train/mlx5"}},
      {"a kernel interface that rdma-core does not know",
       [](Container& c) { c.abi["mlx5_3"].value = "6"; },
       {"UNKNOWN pod.library-abi train/mlx5_3"}},
      {"a library that cannot be read",
       [](Container& c) {
         c.provider_suffix = {c.provider_suffix.path, {}, "EACCES"};
       },
       {"UNKNOWN pod.library-abi train/mlx5"}},
      {"UCX without verbs",
       [](Container& c) {
         c.ucx = {{"/usr/lib/libucp.so.0", true, "/usr/lib/ucx"}};
       },
       {"WARN pod.ucx train/usr/lib/libucp.so.0"}},
      {"modules of UCX that cannot be read",
       [](Container& c) {
         c.ucx = {{"/usr/lib/libucp.so.0", true, "/usr/lib/ucx", false, "EACCES"}};
       },
       {"UNKNOWN pod.ucx train/usr/lib/libucp.so.0"}},
      {"GDRCopy's library without its device",
       [](Container& c) { c.libraries.value->found.emplace_back("/usr/lib/libgdrapi.so.2"); },
       {"WARN pod.gdrcopy train"}},
      {"GDRCopy's device that no rule allows",
       [](Container& c) {
         c.libraries.value->found.emplace_back("/usr/lib/libgdrapi.so.2");
         c.gdrdrv.value = host::DeviceNode{'c', 240, 0, 0666, 0, 0};
       },
       {"FAIL pod.gdrcopy train"}},
      {"IBGDA without its parameters",
       [](Container& c) { c.mapped.value = {{"/opt/lib/nvshmem_transport_ibgda.so.3"}}; },
       {"WARN pod.ibgda train"}},
      {"a NIC by name that it has not",
       [](Container& c) { c.environment.value = {{"NCCL_IB_HCA=mlx5_0"}}; },
       {"FAIL pod.environment train/NCCL_IB_HCA"}},
      {"InfiniBand is off",
       [](Container& c) { c.environment.value = {{"NCCL_IB_DISABLE=1"}}; },
       {"FAIL pod.environment train/NCCL_IB_DISABLE"}},
      {"a legacy number",
       [](Container& c) { c.environment.value = {{"NCCL_NET_GDR_LEVEL=5"}}; },
       {"WARN pod.environment train/NCCL_NET_GDR_LEVEL"}},
      {"an interface that it has not",
       [](Container& c) { c.environment.value = {{"NCCL_SOCKET_IFNAME=net1"}}; },
       {"FAIL pod.environment train/NCCL_SOCKET_IFNAME"}},
      {"the beginning of two names",
       [](Container& c) {
         c.rdma_nodes.value->front().node.minor = 193;  // mlx5_1
         c.rdma_nodes.value->push_back(
             {"/dev/infiniband/uverbs10", {'c', 231, 202, 0666, 0, 0}});  // mlx5_10
         c.gpu_nodes.value->clear();
         c.environment.value = {{"NCCL_IB_HCA=mlx5_1"}};
       },
       {"WARN pod.environment train/NCCL_IB_HCA"}},
      {"an environment that is hidden",
       [](Container& c) {
         c.environment = {"/proc/4711/environ", {}, "EACCES"};
       },
       {"UNKNOWN pod.environment train", "UNKNOWN pod.front-end-nic train"}},
      {"little shared memory",
       [](Container& c) { c.shm.value = "tmpfs rw,size=65536k"; },
       {"WARN pod.shm train"}},
      {"a NIC of another GPU",
       [](Container& c) { c.rdma_nodes.value->front().node.minor = 192; },
       {"FAIL pod.environment train/NCCL_IB_HCA", "WARN pod.affinity train/0000:43:00.0"}},
      {"a silent fallback",
       [](Container& c) {
         c.use.verdict = proof::Verdict::tcp;
         c.use.silent_fallback = true;
       },
       {"FAIL pod.transport train"}},
      {"TCP, and nobody says that it is to be RDMA",
       [](Container& c) { c.use.verdict = proof::Verdict::tcp; },
       {"WARN pod.transport train"}},
      {"queue pairs that cannot be seen",
       [](Container& c) { c.use.verdict = proof::Verdict::unknown; },
       {"UNKNOWN pod.transport train"}},
      {"no GID of an address of its network",
       [](Container& c) { c.gids["mlx5_0/1"].value->clear(); },
       {"FAIL pod.gid train/mlx5_0/1"},
       well_on_roce,
       kRoce},
      {"a link-local GID alone",
       [](Container& c) {
         constexpr const char* kLocal = "fe80:0000:0000:0000:0000:0000:0000:0001";
         c.gids["mlx5_0/1"].value = {{{3, kLocal, "RoCE v2", {}}}};
         c.addresses.value->emplace_back(kLocal);
       },
       {"WARN pod.gid train/mlx5_0/1"},
       well_on_roce,
       kRoce},
      {"a network namespace that is hidden",
       [](Container& c) {
         c.network = {"/proc/4711/ns/net", {}, "EACCES"};
       },
       {"UNKNOWN pod.gid train"},
       well_on_roce,
       kRoce},
      {"UCX would take the front-end NIC",
       give_front_end_nic,
       {"WARN pod.front-end-nic train/UCX_NET_DEVICES"},
       well_on_azure,
       kAzure},
      {"UCX_NET_DEVICES names the NIC as new releases read it",
       [](Container& c) { c.environment.value = {{"UCX_NET_DEVICES=mlx5_3"}}; },
       {"UNKNOWN pod.environment train/UCX_NET_DEVICES"}},
      {"NCCL would take the front-end NIC",
       [](Container& c) {
         give_front_end_nic(c);
         c.environment.value = {{"UCX_NET_DEVICES=mlx5_ib0:1"}};
       },
       {"WARN pod.front-end-nic train/NCCL_IB_HCA"},
       well_on_azure,
       kAzure},
  };
  return kFaults;
}

class BrokenPod : public testing::TestWithParam<std::size_t> {};

TEST_P(BrokenPod, is_noticed_by_these_checks_alone) {
  const auto& fault = pod_faults()[GetParam()];
  const testing::ScopedTrace trace(__FILE__, __LINE__, fault.name);
  auto container = fault.before();
  const auto patient = healthy(fault.machine);
  EXPECT_THAT(complaints(examine(container, patient)), IsEmpty());
  fault.make(container);
  EXPECT_THAT(complaints(examine(std::move(container), patient)),
              testing::UnorderedElementsAreArray(fault.expected));
}

TEST(Pod, says_of_each_broken_container_what_the_page_has) {
  std::string page;
  for (const auto& fault : pod_faults()) {
    auto container = fault.before();
    fault.make(container);
    const auto findings = examine(std::move(container), healthy(fault.machine));
    page += (page.empty() ? "# " : "\n# ") + std::string(fault.name) + " (" + fault.machine +
            ")\n" + described(complaints(findings), findings);
  }
  expect_page("broken_containers.txt", page);
}

INSTANTIATE_TEST_SUITE_P(Faults, BrokenPod, testing::Range<std::size_t>(0, pod_faults().size()));

TEST(Pod, ipc_lock_of_root_is_enough) {
  auto container = well();
  container.process.value->memlock_soft_bytes = 65536;
  container.process.value->cap_effective = 1ULL << 14U;
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
  container.uid_map = {"/proc/4711/uid_map", {}, "EACCES"};
  EXPECT_THAT(complaints(examine(container)), ElementsAre("UNKNOWN pod.memlock train"));
}

TEST(Pod, ipc_lock_that_is_not_effective_is_named) {
  auto container = well();
  container.process.value->memlock_soft_bytes = 65536;
  container.process.value->uid = 1000;
  container.process.value->cap_bounding = 1ULL << 14U;
  const auto finding = finding_of(examine(container), "pod.memlock", "train");
  EXPECT_EQ(finding.observed, "65536, IPC_LOCK is granted and not effective (uid 1000)");
  EXPECT_THAT(finding.remedy, HasSubstr("not the kubelet"));
}

TEST(Pod, what_it_has_open_it_may_open) {
  auto container = well();
  container.device_rules.value->pop_back();
  container.held.value = {{"/dev/infiniband/uverbs3"}};
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
}

TEST(Pod, who_has_a_device_open_has_libraries_that_fit) {
  auto container = well();
  container.provider_suffix.value = "-rdmav25.so";
  container.abi["mlx5_3"].value = "6";
  container.held.value = {{"/dev/infiniband/uverbs3"}};
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
}

TEST(Pod, ucx_that_has_taken_its_verbs_has_them) {
  auto container = well();
  container.ucx = {{"/usr/lib/libucp.so.0", true, "/usr/lib/ucx"}};
  container.mapped.value = {{"/opt/ucx/libuct_ib.so.0"}};
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
}

TEST(Pod, ibgda_has_three_ways) {
  auto container = well();
  container.environment.value->emplace_back("NVSHMEM_IB_ENABLE_IBGDA=1");
  EXPECT_THAT(complaints(examine(container)), ElementsAre("WARN pod.ibgda train"));
  auto by_cpu = container;
  by_cpu.environment.value->emplace_back("NVSHMEM_IBGDA_NIC_HANDLER=cpu");
  EXPECT_THAT(complaints(examine(by_cpu)), IsEmpty());
  auto by_gdrcopy = container;
  by_gdrcopy.gdrdrv.value = host::DeviceNode{'c', 240, 0, 0666, 0, 0};
  EXPECT_THAT(complaints(examine(by_gdrcopy)), IsEmpty());
  container.environment.value->back() = "NVSHMEM_IB_ENABLE_IBGDA=0";
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
}

TEST(Pod, ibgda_goes_by_the_parameters_of_the_driver) {
  auto container = well();
  container.environment.value->emplace_back("NVSHMEM_IB_ENABLE_IBGDA=true");
  auto patient = healthy();
  const auto state = [&](const std::string& parameters) {
    auto with = patient;
    with.text("/proc/driver/nvidia/params", parameters);
    return finding_of(examine(container, with, false), "pod.ibgda", "train").state;
  };
  EXPECT_EQ(state("EnableStreamMemOPs: 1\nRegistryDwords: \"PeerMappingOverride=1;\""),
            checks::State::pass);
  EXPECT_EQ(state("EnableStreamMemOPs: 1\nRegistryDwords: \"\""), checks::State::warn);
}

/// NIC 0 of a machine with RoCE, whose priority 3 pauses.
TEST(Pod, a_traffic_class_is_to_be_one_that_pauses) {
  auto patient = healthy("hgx-h100-roce");
  patient.dcb("enp26s0np0", flow_answer(0x08, {{24, 3}, {26, 3}}));
  const auto with = [&](const char* variable) {
    auto container = well();
    container.environment.value = {{variable}};
    container.gpu_nodes.value->clear();
    container.rdma_nodes.value->front().node.minor = 192;
    container.network.value = "net:[1]";
    return complaints(examine(std::move(container), patient));
  };
  EXPECT_THAT(with("NCCL_IB_TC=106"), IsEmpty());
  EXPECT_THAT(with("NCCL_IB_TC=96"), IsEmpty());
  EXPECT_THAT(with("NCCL_IB_TC=41"), ElementsAre("WARN pod.environment train/NCCL_IB_TC"));
}

TEST(Pod, libraries_that_a_process_has_mapped_are_there) {
  auto container = well();
  container.libraries.value->found.clear();
  container.mapped.value = {{"/opt/conda/lib/libibverbs/libmlx5-rdmav34.so"}};
  EXPECT_THAT(complaints(examine(container)), IsEmpty());
}

TEST(Pod, a_gid_of_its_own_address_is_needed_for_roce) {
  const auto gid = [](const char* value) {
    return std::vector<node::Gid>{{3, value, "RoCE v2", {}}};
  };
  const auto with = [&](Container container) {
    return complaints(examine(std::move(container), healthy(kRoce)));
  };
  EXPECT_THAT(with(on_roce(gid(kAddress))), IsEmpty());
  EXPECT_THAT(with(on_roce({})), ElementsAre("FAIL pod.gid train/mlx5_0/1"));
  EXPECT_THAT(with(on_roce(gid("0000:0000:0000:0000:0000:ffff:0a00:0063"))),
              ElementsAre("FAIL pod.gid train/mlx5_0/1"));
  auto link_local = on_roce(gid("fe80:0000:0000:0000:0000:0000:0000:0001"));
  link_local.addresses.value->push_back("fe80:0000:0000:0000:0000:0000:0000:0001");
  EXPECT_THAT(with(std::move(link_local)), ElementsAre("WARN pod.gid train/mlx5_0/1"));
}

TEST(Pod, on_the_network_of_the_node_has_its_gids) {
  auto container = on_roce({});
  container.network.value = "net:[1]";
  EXPECT_THAT(complaints(examine(container, healthy(kRoce))), IsEmpty());
  container.network = {"/proc/4711/ns/net", {}, "EACCES"};
  EXPECT_THAT(complaints(examine(container, healthy(kRoce))), ElementsAre("UNKNOWN pod.gid train"));
}

/// UCX takes every NIC that it can open, and of these the one that is nearest to its GPU: workers
/// of some GPUs die with ibv_query_gid: Invalid argument.
TEST(Pod, a_front_end_nic_that_ucx_would_take_is_named) {
  auto container = well_on_azure();
  give_front_end_nic(container);
  const auto finding =
      finding_of(examine(container, healthy(kAzure)), "pod.front-end-nic", "train/UCX_NET_DEVICES");
  EXPECT_EQ(finding.observed, "uses mlx5_an0:1, too");
  EXPECT_EQ(finding.expected, "mlx5_ib0:1 alone");
  EXPECT_THAT(finding.remedy, testing::StartsWith("UCX_NET_DEVICES=mlx5_ib0:1;"));
}

TEST(Pod, a_front_end_nic_that_nobody_would_take_is_no_complaint) {
  auto named = well_on_azure();
  give_front_end_nic(named);
  named.environment.value->emplace_back("UCX_NET_DEVICES=mlx5_ib0:1");
  EXPECT_THAT(complaints(examine(named, healthy(kAzure))), IsEmpty());
  auto without_ucx = well_on_azure();
  give_front_end_nic(without_ucx);
  without_ucx.ucx.clear();
  EXPECT_THAT(complaints(examine(without_ucx, healthy(kAzure))), IsEmpty());
}

/// Each word of a rule that is a complaint is one that a fault above brings about.
TEST(Pod, every_complaint_of_every_check_has_a_fault_above) {
  const std::string another_machine = "UNKNOWN pod.affinity";  // below
  for (const auto* check : checks::all_checks(checks::Scope::pod)) {
    for (const auto* state : {"FAIL", "WARN", "UNKNOWN"}) {
      const auto said = std::string(state) + " " + std::string(check->id);
      if (check->rule.find(state) == std::string_view::npos || said == another_machine) continue;
      const auto shown = std::ranges::any_of(pod_faults(), [&](const PodFault& fault) {
        return std::ranges::any_of(fault.expected,
                                   [&](const auto& line) { return line.starts_with(said + " "); });
      });
      EXPECT_TRUE(shown) << said;
    }
  }
}

}  // namespace
}  // namespace railhead::test
