// SPDX-License-Identifier: Apache-2.0
#include "pools/prefer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace railhead::pools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

/// A pool as prefer() needs it: functions with slots.
struct Offered {
  std::vector<PoolDevice> devices;
  std::vector<NetFunction> functions;

  /// A PF; on bus 0 it is a soft device.
  void nic(const std::string& name, int numa, std::uint8_t bus, std::vector<std::uint8_t> bridges,
           unsigned slots = 1) {
    NetFunction function;
    function.id = name;
    if (bus != 0) function.pci = node::PciAddress{0, bus, 0, 0};
    place(function, numa, bridges);
    for (unsigned slot = 0; slot < slots; ++slot) {
      const auto id = slots == 1 ? name : name + "-" + std::to_string(slot);
      devices.push_back({id, functions.size(), {numa}, functions.size()});
    }
    functions.push_back(function);
  }

  /// VFs "<name>.0"… of a PF that is not in the pool itself.
  void vfs(const std::string& name, int numa, std::uint8_t bus, std::vector<std::uint8_t> bridges,
           unsigned count) {
    for (unsigned n = 0; n < count; ++n) {
      NetFunction function;
      function.kind = FunctionKind::virtual_;
      function.id = name + "." + std::to_string(n);
      function.pci = node::PciAddress{0, bus, 1, static_cast<std::uint8_t>(n)};
      function.parent = node::PciAddress{0, bus, 0, 0};
      place(function, numa, bridges);
      devices.push_back({function.id, functions.size(), {numa}, functions.size()});
      functions.push_back(function);
    }
  }

  [[nodiscard]] std::vector<std::string> prefer(const Wish& wish) const {
    return railhead::pools::prefer(devices, functions, wish);
  }

 private:
  static void place(NetFunction& function, int numa, const std::vector<std::uint8_t>& bridges) {
    function.numa_node = numa;
    function.root = "pci0000:" + std::to_string(numa);
    for (const auto bus : bridges) function.bridges.push_back(node::PciAddress{0, bus, 31, 0});
  }
};

/// Four NICs with two slots each: a and b on NUMA node 0, c and d on node 1.
Offered two_sockets() {
  Offered offered;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    const int numa = name < 'c' ? 0 : 1;
    offered.nic({name}, numa, static_cast<std::uint8_t>(name), {}, 2);
  }
  return offered;
}

/// Eight VFs each of four PFs on one socket: a and b below one switch, c and d below another.
Offered two_switches() {
  Offered offered;
  offered.vfs("a", 0, 10, {1, 2}, 8);
  offered.vfs("c", 0, 20, {3, 4}, 8);
  offered.vfs("b", 0, 11, {1, 5}, 8);
  offered.vfs("d", 0, 21, {3, 6}, 8);
  return offered;
}

std::vector<std::string> ids_of(const Offered& offered) {
  std::vector<std::string> ids;
  for (const auto& device : offered.devices) ids.push_back(device.id);
  return ids;
}

TEST(Prefer, a_containers_slots_lie_on_different_nics_of_a_numa_node) {
  const auto offered = two_sockets();
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 2}), ElementsAre("a-0", "b-0"));
}

TEST(Prefer, a_second_slot_of_a_nic_comes_after_the_first_of_every_other) {
  const auto offered = two_sockets();
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 5}),
              ElementsAre("a-0", "b-0", "c-0", "d-0", "a-1"));
}

TEST(Prefer, what_must_be_included_comes_first_and_says_which_node) {
  const auto offered = two_sockets();
  EXPECT_THAT(offered.prefer({ids_of(offered), {"d-1"}, 2}), ElementsAre("d-1", "c-0"));
}

TEST(Prefer, the_nic_with_the_fewest_slots_taken_is_next) {
  EXPECT_THAT(two_sockets().prefer({{"a-1", "c-0", "c-1", "d-1"}, {}, 1}), ElementsAre("c-0"));
}

TEST(Prefer, a_containers_virtual_functions_are_of_different_cards) {
  Offered offered;
  offered.vfs("a", 0, 10, {1}, 4);
  offered.vfs("b", 0, 11, {2}, 4);
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 2}), ElementsAre("a.0", "b.0"));
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 5}),
              ElementsAre("a.0", "b.0", "a.1", "b.1", "a.2"));
}

TEST(Prefer, virtual_functions_come_from_the_card_with_fewest_in_use) {
  Offered offered;
  offered.vfs("a", 0, 10, {1}, 4);
  offered.vfs("b", 0, 11, {2}, 4);
  EXPECT_THAT(offered.prefer({{"a.1", "a.2", "a.3", "b.0", "b.1", "b.2", "b.3"}, {}, 1}),
              ElementsAre("b.0"));
}

TEST(Prefer, each_containers_devices_are_below_a_switch_of_their_own) {
  const auto offered = two_switches();
  auto free = ids_of(offered);
  std::vector<std::vector<std::string>> pods;
  for (int pod = 0; pod < 3; ++pod) {
    pods.push_back(offered.prefer({free, {}, 2}));
    std::erase_if(free, [&](const std::string& id) {
      return std::ranges::find(pods.back(), id) != pods.back().end();
    });
  }
  EXPECT_THAT(pods, ElementsAre(ElementsAre("a.0", "b.0"), ElementsAre("c.0", "d.0"),
                                ElementsAre("a.1", "b.1")));
}

TEST(Prefer, what_must_be_included_says_which_switch) {
  const auto offered = two_switches();
  EXPECT_THAT(offered.prefer({ids_of(offered), {"d.3"}, 2}), ElementsAre("d.3", "c.0"));
}

TEST(Prefer, a_beginning_that_leads_to_another_socket_is_not_taken) {
  Offered offered;
  offered.nic("a", 0, 10, {1});
  offered.nic("b", 1, 20, {2});
  offered.nic("c", 1, 21, {3});
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 2}), ElementsAre("b", "c"));
}

TEST(Prefer, soft_devices_are_links_of_their_own) {
  Offered offered;
  offered.nic("rxe0", 0, 0, {}, 2);
  offered.nic("rxe1", 0, 0, {}, 2);
  EXPECT_THAT(offered.prefer({ids_of(offered), {}, 2}), ElementsAre("rxe0-0", "rxe1-0"));
}

TEST(Prefer, every_answer_has_the_right_number_whatever_the_order) {
  const auto offered = two_switches();
  const auto all = ids_of(offered);
  std::minstd_rand random(5);
  for (int round = 0; round < 200; ++round) {
    Wish wish{all, {}, random() % 40};
    std::shuffle(wish.available.begin(), wish.available.end(), random);
    wish.available.resize(random() % (all.size() + 1));
    const auto must = random() % 4;
    for (std::size_t i = 0; i < std::min<std::size_t>(must, wish.available.size()); ++i) {
      wish.must_include.push_back(wish.available[i]);
    }
    auto chosen = offered.prefer(wish);
    EXPECT_EQ(chosen.size(),
              std::max(wish.must_include.size(), std::min(wish.size, wish.available.size())));
    EXPECT_THAT(chosen, IsSupersetOf(wish.must_include));
    EXPECT_THAT(wish.available, IsSupersetOf(chosen));
    std::shuffle(wish.available.begin(), wish.available.end(), random);
    EXPECT_EQ(offered.prefer(wish), chosen);
  }
}

TEST(Prefer, ids_that_the_pool_does_not_know_come_last) {
  EXPECT_THAT(two_sockets().prefer({{"0-old", "b-1"}, {}, 2}), ElementsAre("b-1", "0-old"));
}

TEST(Prefer, there_may_be_fewer_than_asked_for) {
  EXPECT_THAT(two_sockets().prefer({{"b-1"}, {}, 3}), ElementsAre("b-1"));
  EXPECT_THAT(two_sockets().prefer({{}, {}, 3}), IsEmpty());
}

TEST(Prefer, slots_that_are_no_nic_are_taken_in_order) {
  const std::vector<PoolDevice> slots{
      {"rdma-0", {}, {}, {}}, {"rdma-1", {}, {}, {}}, {"rdma-2", {}, {}, {}}};
  EXPECT_THAT(prefer(slots, {}, {{"rdma-2", "rdma-1"}, {}, 1}), ElementsAre("rdma-1"));
}

/// A shared pool of identical slots.
Pool fungible_pool(PoolFlavour flavour, unsigned slots) {
  Pool pool;
  pool.spec.origin.flavour = flavour;
  pool.spec.slots = slots;
  pool.members = {{}};
  return pool;
}

/// What a wish is answered where the pool says `prefer: pack`.
std::vector<std::string> packed(const Offered& offered, Wish wish) {
  wish.how = PoolPreference::pack;
  return offered.prefer(wish);
}

TEST(Prefer, packed_devices_are_of_one_link) {
  const auto offered = two_switches();
  EXPECT_THAT(packed(offered, {ids_of(offered), {}, 3}), ElementsAre("a.0", "a.1", "a.2"));
  EXPECT_THAT(packed(offered, {ids_of(offered), {"c.5"}, 3}), ElementsAre("c.5", "c.0", "c.1"));
}

TEST(Prefer, packed_devices_fill_the_link_that_has_just_room_for_them) {
  const auto offered = two_switches();
  const std::vector<std::string> left{"a.0", "a.1", "a.2", "a.3", "b.6", "b.7", "c.4"};
  EXPECT_THAT(packed(offered, {left, {}, 1}), ElementsAre("c.4"));
  EXPECT_THAT(packed(offered, {left, {}, 2}), ElementsAre("b.6", "b.7"));
  EXPECT_THAT(packed(offered, {left, {}, 3}), ElementsAre("a.0", "a.1", "a.2"));
  EXPECT_THAT(packed(offered, {left, {}, 5}), ElementsAre("a.0", "a.1", "a.2", "a.3", "b.6"));
}

TEST(Prefer, identical_slots_are_taken_as_they_are_offered) {
  const auto pool = fungible_pool(PoolFlavour::shared_plugin, 12);
  EXPECT_THAT(prefer(pool, {}, {{"11", "10", "9", "2"}, {"10"}, 3}), ElementsAre("10", "11", "9"));
  EXPECT_THAT(prefer(pool, {}, {{"12", "07", "3", "3"}, {}, 2}), ElementsAre("3", "12"));
  EXPECT_THAT(prefer(pool, {}, {{"1"}, {"5", "5"}, 9}), ElementsAre("5", "1"));
  EXPECT_THAT(prefer(pool, {}, {{"1"}, {"5"}, 0}), ElementsAre("5"));
}

TEST(Prefer, the_slots_of_a_pool_are_those_of_its_devices) {
  Offered offered;
  offered.nic("a", 0, 10, {1}, 2);
  offered.nic("b", 0, 11, {2}, 2);
  Pool pool;
  pool.spec.slots_per_nic = 2;
  pool.members = {{0, 0, MemberState::ready, ""}, {1, 0, MemberState::ready, ""}};
  EXPECT_THAT(prefer(pool, offered.functions, {ids_of(offered), {}, 3}),
              ElementsAre("a-0", "b-0", "a-1"));
}

TEST(Prefer, an_id_that_must_be_included_twice_is_chosen_once) {
  EXPECT_THAT(two_sockets().prefer({{}, {"a-1", "a-1", "old", "old"}, 2}),
              ElementsAre("a-1", "old"));
}

}  // namespace
}  // namespace railhead::pools
