// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_process.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

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
  inject::RuntimeAbility of(const std::string& entries, const std::string& name,
                            std::optional<int> pid) {
    nri::RuntimePeer peer;
    peer.name = name;
    peer.version = "2.4.2";
    peer.pid = pid;
    const auto live = host_of(entries);
    return agent::ability_of(peer, agent::read_runtime(peer, *live, "/proc"));
  }
};

TEST_F(Ability, with_cap_sys_resource_every_limit_can_be_set) {
  const auto ability = of(process("42", "containerd", kAll), "containerd", 42);
  EXPECT_EQ(ability.memlock_ceiling, container::kUnlimited);
  EXPECT_EQ(ability.memlock_inherited, 65536U);
  EXPECT_TRUE(ability.rlimits);
}

TEST_F(Ability, without_it_the_hard_limit_is_the_ceiling) {
  EXPECT_EQ(of(process("42", "containerd", kNoResource), "containerd", 42).memlock_ceiling,
            8388608U);
}

TEST_F(Ability, a_runtime_without_pid_is_found_by_its_name) {
  const auto procs = process("7", "crio", kAll) + process("8", "containerd-shim", kNoResource);
  EXPECT_EQ(of(procs, "cri-o", std::nullopt).memlock_ceiling, container::kUnlimited);
}

TEST_F(Ability, of_two_of_a_name_the_lowest_limits_count) {
  const auto two = process("7", "containerd", kAll) + process("8", "containerd", kNoResource);
  EXPECT_EQ(of(two, "containerd", std::nullopt).memlock_ceiling, 8388608U);
  EXPECT_FALSE(of(two, "containerd", std::nullopt).memlock_in_doubt);
}

TEST_F(Ability, a_process_of_that_name_in_a_pod_is_not_the_runtime) {
  const auto real = process("7", "containerd", kNoResource);
  const auto forged = process("8", "containerd", kAll) +
                      file_entry("/proc/8/cgroup", "0::/kubepods.slice/kubepods-besteffort\n");
  EXPECT_EQ(of(real + forged, "containerd", std::nullopt).memlock_ceiling, 8388608U);
  const auto nested = file_entry("/proc/8/comm", "containerd\n") +
                      file_entry("/proc/8/status", "NSpid:\t8\t1\nCapEff:\t0000000000000000\n");
  const auto able = process("7", "containerd", kAll);
  EXPECT_EQ(of(able + nested, "containerd", std::nullopt).memlock_ceiling, container::kUnlimited);
}

TEST_F(Ability, nor_is_a_users_where_root_has_one) {
  const auto procs =
      file_entry("/proc/7/comm", "containerd\n") +
      file_entry("/proc/7/status", "Uid:\t0\t0\t0\t0\nCapEff:\t" + std::string(kAll) + "\n") +
      file_entry("/proc/8/comm", "containerd\n") +
      file_entry("/proc/8/status", "Uid:\t1000\t0\t0\t0\nCapEff:\t0\n");
  EXPECT_EQ(of(procs, "containerd", std::nullopt).memlock_ceiling, container::kUnlimited);
}

TEST_F(Ability, a_runtime_outside_this_namespace_is_taken_for_able) {
  const auto ability = of(process("7", "runc", kAll), "cri-o", std::nullopt);
  EXPECT_EQ(ability.memlock_ceiling, std::nullopt);
  EXPECT_FALSE(ability.memlock_in_doubt);
}

TEST_F(Ability, a_process_that_is_gone_or_shows_nothing_is_in_doubt) {
  EXPECT_TRUE(of(process("7", "containerd", kAll), "containerd", 9).memlock_in_doubt);
  const auto mute = file_entry("/proc/7/status", "Name:\tcontainerd\n");
  EXPECT_TRUE(of(mute, "containerd", 7).memlock_in_doubt);
  EXPECT_TRUE(agent::ability_of({}, agent::RuntimeProcess{}).memlock_in_doubt) << "not read yet";
}

}  // namespace
}  // namespace railhead::test
