// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "host/host_error.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"
#include "unit/netlink_builder.h"
#include "unit/source_dir.h"
#include "usage/usage.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;

std::string two_pods() {
  std::ostringstream text;
  text << std::ifstream(source_dir() + "/tests/pods/two-pods.node").rdbuf();
  return text.str();
}

usage::Usage usage_of(const std::string& text) {
  const auto host = snapshot::SnapshotHost::parse(text).value();
  return usage::read_usage(*host);
}

TEST(ReadUsage, objects_processes_and_containers_of_a_machine) {
  const auto usage = usage_of(two_pods());
  EXPECT_EQ(usage.rdma, usage::TableState::read);
  EXPECT_EQ(usage.sees_all_processes, true);
  EXPECT_EQ(usage.asked_ticks, 100000U);
  ASSERT_EQ(usage.devices.size(), 2U);
  EXPECT_EQ(usage.devices[0].queue_pairs.objects.size(), 7U);
  EXPECT_EQ(usage.devices[0].memory_regions.objects.size(), 2U);
  EXPECT_EQ(usage.devices[0].connections.objects.size(), 1U);
  ASSERT_EQ(usage.containers.size(), 3U);
  const auto& job = usage.containers.at(std::string(64, 'a'));
  EXPECT_THAT(job.processes, ElementsAre(1000, 1001));
  EXPECT_EQ(job.started_ticks, 2000U);
  ASSERT_TRUE(job.bundle);
  EXPECT_EQ(job.bundle->pod, "a-0");
  EXPECT_EQ(usage.processes.by_id.at(1005).process, 1001U);
}

TEST(ReadUsage, the_bundle_of_crio_is_found_through_conmon) {
  const auto usage = usage_of(two_pods());
  const auto& fallen = usage.containers.at(std::string(64, 'c'));
  ASSERT_TRUE(fallen.bundle) << fallen.bundle_problem;
  EXPECT_EQ(fallen.bundle->pod, "a-1");
  ASSERT_TRUE(fallen.network);
  EXPECT_EQ(fallen.network->bytes, 3000U);
}

/// The machine with another answer for the queue pairs of its first device.
usage::Usage usage_with_queue_pairs(const std::string& entry) {
  auto text = two_pods();
  const auto at = text.find("t /.netlink/rdma/10.0/0000 ");
  text.replace(at, text.find('\n', at) - at, entry);
  return usage_of(text);
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += to_hex(byte, 2);
  return text;
}

TEST(ReadUsage, a_list_that_ends_with_an_error_keeps_what_it_had) {
  const auto entry = u32(21, 17) + u32(22, 99) + u8(26, 2) + u8(27, 3);
  const auto list = rdma_message(
      10, u32(1, 0) + text_attribute(2, "mlx5_0") + attribute(19, attribute(20, entry)));
  const auto usage = usage_with_queue_pairs("t /.netlink/rdma/10.0/0000 " +
                                            hex(list + message(3, netlink_status(EINVAL))));
  const auto& pairs = usage.devices[0].queue_pairs;
  EXPECT_EQ(pairs.state, usage::TableState::failed);
  EXPECT_EQ(pairs.why, "the kernel gave up in the middle of its list (EINVAL)");
  EXPECT_EQ(pairs.objects.size(), 1U);
}

TEST(ReadUsage, a_list_that_exceeds_a_limit_of_ours_says_so) {
  const auto why = [](int error_number) {
    const auto entry = u32(21, 17) + u32(22, 99) + u8(26, 2) + u8(27, 3);
    const auto list = rdma_message(10, u32(1, 0) + attribute(19, attribute(20, entry)));
    return usage_with_queue_pairs("t /.netlink/rdma/10.0/0000 " +
                                  hex(list + message(3, netlink_status(error_number))))
        .devices[0]
        .queue_pairs.why;
  };
  EXPECT_EQ(why(EFBIG), "it has more of them than are read");
  EXPECT_EQ(why(ETIMEDOUT), "the kernel takes too long to list them");
}

/// Two devices, each with so many queue pairs and memory regions of 60 objects a message.
class ManyObjects final : public EmptyHost {
 public:
  Result<std::optional<std::string>> rdma(const host::RdmaDump& dump) override {
    if (dump.command == 1) {
      return std::optional(rdma_message(1, u32(1, 0) + text_attribute(2, "mlx5_0")) +
                           rdma_message(1, u32(1, 1) + text_attribute(2, "mlx5_1")));
    }
    std::string answer;
    for (std::size_t i = 0; i < 40'000 / 60; ++i) answer += messages_of(dump.command);
    return std::optional(std::move(answer));
  }

 private:
  static std::string messages_of(unsigned command) {
    std::string entries;
    for (int i = 0; i < 60; ++i) {
      entries += command == 10 ? attribute(20, u32(21, 17)) : attribute(41, u64(45, 4096));
    }
    return rdma_message(command, u32(1, 0) + attribute(command == 10 ? 19 : 40, entries));
  }
};

TEST(ReadUsage, so_many_objects_of_all_devices_are_kept_and_no_more) {
  ManyObjects host;
  const auto usage = usage::read_usage(host);
  ASSERT_EQ(usage.devices.size(), 2U);
  EXPECT_EQ(usage.devices[0].queue_pairs.objects.size(), 39'960U);
  EXPECT_EQ(usage.devices[0].queue_pairs.state, usage::TableState::read);
  const auto& cut = usage.devices[1].queue_pairs;
  EXPECT_EQ(cut.objects.size(), 65'536U - 39'960U);
  EXPECT_EQ(cut.state, usage::TableState::failed);
  EXPECT_EQ(cut.why, "there are more of them on this node than are kept");
  EXPECT_EQ(usage.devices[0].memory_regions.objects.size(), 32'768U);
  EXPECT_EQ(usage.devices[1].memory_regions.objects.size(), 0U);
  EXPECT_LE(usage.devices[0].memory_regions.objects.capacity(), 32'768U);
}

TEST(ReadUsage, a_device_that_lists_something_else_is_not_gone) {
  auto text = two_pods();
  const auto at = text.find("t /.netlink/rdma/10.0/0000 ");
  text.erase(at, text.find('\n', at) + 1 - at);
  const auto usage = usage_of(text);
  EXPECT_EQ(usage.devices[0].queue_pairs.state, usage::TableState::failed);
  EXPECT_EQ(usage.devices[0].queue_pairs.why, "the kernel lists none of them (EINVAL)");
}

/// A process of a pod whose containers share a process namespace; "" for one of the host.
std::string process(unsigned id, unsigned parent, const std::string& name,
                    const std::string& container) {
  const auto folder = "t /proc/" + std::to_string(id);
  const std::string pod =
      "0::/kubepods.slice/kubepods-pod11111111_1111_1111_1111_111111111111.slice/";
  const auto place = container.empty() ? "0::/system.slice/containerd.service"
                                       : pod + "cri-containerd-" + container + ".scope";
  return folder + "/cgroup " + place + "\n" + folder + "/stat " + std::to_string(id) + " (" + name +
         ") S " + std::to_string(parent) +
         std::string(" 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 2000") + " 0 0\n" + folder +
         "/status Tgid: " + std::to_string(id) + "\n";
}

const std::string kMain(64, 'a');
const std::string kPause(64, 'f');

std::string spec(const std::string& container) {
  return "t /run/containerd/io.containerd.runtime.v2.task/k8s.io/" + container +
         R"(/config.json {"annotations":{"io.kubernetes.cri.sandbox-name":"shared"}})" + "\n";
}

std::string shim(unsigned id, const std::string& of_container) {
  return process(id, 1, "containerd-shim", "") + "l /proc/" + std::to_string(id) +
         "/cwd -> /run/containerd/io.containerd.runtime.v2.task/k8s.io/" + of_container + "\n";
}

TEST(ReadUsage, an_orphan_adopted_by_the_pause_container_leads_to_its_own) {
  const auto usage =
      usage_of("railhead-snapshot 1\n" + shim(50, kPause) + process(60, 50, "pause", kPause) +
               process(70, 60, "worker", kMain) + spec(kMain));
  const auto& main = usage.containers.at(kMain);
  ASSERT_TRUE(main.bundle) << main.bundle_problem;
  EXPECT_EQ(main.bundle->pod, "shared");
}

TEST(ReadUsage, where_the_first_process_leads_nowhere_the_others_are_asked) {
  const auto usage =
      usage_of("railhead-snapshot 1\n" + shim(50, kMain) + process(60, 2, "orphan", kMain) +
               process(2, 1, "init", "") + process(70, 50, "worker", kMain) + spec(kMain));
  const auto& main = usage.containers.at(kMain);
  EXPECT_THAT(main.processes, ElementsAre(60, 70));
  ASSERT_TRUE(main.bundle) << main.bundle_problem;
}

TEST(ReadUsage, a_machine_without_rdma_netlink_says_so) {
  const auto usage = usage_of("railhead-snapshot 1\nt /proc/uptime 1.00 1.00\n");
  EXPECT_EQ(usage.rdma, usage::TableState::gone);
  EXPECT_EQ(usage.rdma_why, "this machine has no RDMA netlink");
  EXPECT_TRUE(usage.processes_known);
}

TEST(ReadUsage, each_failure_of_the_kernel_has_a_name) {
  const auto state = [](const std::string& error) {
    return usage_of("railhead-snapshot 1\nd /proc\ne /.netlink/rdma/1 " + error + "\n").rdma;
  };
  EXPECT_EQ(state("EPERM"), usage::TableState::denied);
  EXPECT_EQ(state("EOPNOTSUPP"), usage::TableState::unsupported);
  EXPECT_EQ(state("EINTR"), usage::TableState::interrupted);
  EXPECT_EQ(state("ETIMEDOUT"), usage::TableState::failed);
  EXPECT_EQ(state("EFBIG"), usage::TableState::failed);
}

/// Of mlx5_0, with these files more.
std::optional<std::uint64_t> traffic_with(std::string files) {
  // Below the folder that the class has a link to.
  const std::string_view in_class = "/sys/class/infiniband/mlx5_0/";
  const auto text = two_pods();
  const std::string_view way = "\nl /sys/class/infiniband/mlx5_0 -> ../../";
  const auto link = text.find(way) + way.size();
  const auto folder = "/sys/" + text.substr(link, text.find('\n', link) - link) + "/";
  for (auto at = files.find(in_class); at != std::string::npos; at = files.find(in_class)) {
    files.replace(at, in_class.size(), folder);
  }
  return usage_of(text + files).devices[0].traffic.bytes;
}

TEST(ReadUsage, efa_counts_bytes_by_names_of_its_own) {
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  const std::string own =
      "t " + port + "hw_counters/rx_bytes 1000\nt " + port + "hw_counters/tx_bytes 50\n";
  EXPECT_EQ(traffic_with(own), 1050U);
  EXPECT_EQ(traffic_with(own + "t " + port + "counters/port_rcv_data 1\nt " + port +
                         "counters/port_xmit_data 2\n"),
            12U);
}

TEST(ReadUsage, counters_that_cannot_all_be_read_are_no_sum) {
  const std::string ports = "/sys/class/infiniband/mlx5_0/ports/";
  const auto port = [&](const std::string& number, const std::string& words) {
    return "t " + ports + number + "/counters/port_rcv_data " + words + "\nt " + ports + number +
           "/counters/port_xmit_data 1\n";
  };
  EXPECT_EQ(traffic_with(port("1", "5") + port("2", "7")), 56U);
  EXPECT_EQ(traffic_with(port("1", "5") + port("2", "many")), std::nullopt);
  EXPECT_EQ(traffic_with(port("1", "5") + "e " + ports + "2/counters/port_rcv_data EIO\n"),
            std::nullopt);
  EXPECT_EQ(traffic_with(port("1", "5") + "t " + ports + "2/counters/port_rcv_data 7\n"),
            std::nullopt);
}

TEST(ReadUsage, arguments_are_read_up_to_a_limit) {
  const auto expects = [](std::size_t processes) {
    std::string text = "railhead-snapshot 1\n" + shim(50, kMain);
    const std::string names(1'000'000, 'x');
    for (std::size_t i = 0; i < processes; ++i) {
      const auto id = 60 + static_cast<unsigned>(i);
      const auto arguments =
          i + 1 == processes ? std::string("a\0--disaggregation-mode\0decode\0", 31) : names;
      text += process(id, 50, "a", kMain) + "f /proc/" + std::to_string(id) + "/cmdline " +
              std::to_string(arguments.size()) + "\n" + arguments + "\n";
    }
    return usage_of(text).containers.at(kMain).job.asks;
  };
  EXPECT_NE(expects(4), "");
  EXPECT_EQ(expects(6), "");
}

TEST(ReadUsage, a_kernel_without_contexts_still_tells_of_queue_pairs) {
  auto text = two_pods();
  for (auto at = text.find("t /.netlink/rdma/22."); at != std::string::npos;
       at = text.find("t /.netlink/rdma/22.")) {
    const auto device = text.substr(at + 20, 1);
    text.replace(at, text.find('\n', at) - at, "e /.netlink/rdma/22." + device + " EOPNOTSUPP");
  }
  const auto usage = usage_of(text);
  EXPECT_EQ(usage.devices[0].contexts.state, usage::TableState::unsupported);
  EXPECT_EQ(usage.devices[0].queue_pairs.objects.size(), 7U);
}

}  // namespace
}  // namespace railhead::test
