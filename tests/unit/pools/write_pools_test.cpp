// SPDX-License-Identifier: Apache-2.0
//
// That every file which another test parses makes the same pools in our words, specs_of() looks at.
#include "pools/write_pools.h"

#include <gmock/gmock.h>

#include "unit/pools/documented_machine.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// In our words, and what was left out.
struct Written {
  Texts left_out;
  std::string text;

  explicit Written(const std::string& file) {
    const auto parsed = parse_text(file);
    if (parsed) {
      text = written(parsed->specs, left_out);
    } else {
      ADD_FAILURE() << parsed.error().message;
    }
  }
};

TEST(WritePools, a_resource_of_each_plugin_in_our_words) {
  EXPECT_EQ(Written(shared(R"({"vendors": ["15b3"], "linkTypes": ["infiniband"]})")).text,
            R"(pools:
  - name: "rdma/hca"
    replaces: "k8s-rdma-shared-dev-plugin"
    slots: 10
    functions:
      - "pf"
      - "vf"
    include:
      - vendors:
          - "15b3"
        linkTypes:
          - "infiniband"
)");
  EXPECT_EQ(Written(sriov(R"({"pfNames": ["ens1f0#0,2-7"]})", R"(, "excludeTopology": true,
                          "additionalInfo": {"*": {"net": "a"}})"))
                .text,
            R"(pools:
  - name: "intel.com/nics"
    replaces: "sriov-network-device-plugin"
    mode: "exclusive"
    functions:
      - "pf"
      - "vf"
    include:
      - pfNames:
          - "ens1f0#0,2-7"
        isRdma: false
    excludeTopology: true
    additionalInfo:
      "*":
        net: "a"
)");
  EXPECT_EQ(Written("resourceCount: 7\n").text, R"(pools:
  - name: "rdma.io/hca"
    replaces: "k8s-rdma-device-plugin"
    slots: 7
    include:
      - roles:
          - "compute"
)");
}

TEST(WritePools, each_selector_of_the_sriov_plugin) {
  specs_of(sriov(R"([{}, {"isRdma": true}, {"needVhostNet": true, "isRdma": true},
      {"vendors": ["15b3"], "devices": ["101e"], "drivers": ["mlx5_core"], "linkTypes": ["ether"],
       "pciAddresses": ["0000:af:00.1"], "acpiIndexes": ["101"], "pKeys": ["0x8001"],
       "rootDevices": ["0000:86:00.0#1", "0000:87:00.0"], "ddpProfiles": ["GTPv1-C/U IPv4/IPv6"]},
      {"vdpaType": "vhost"}])"));
  specs_of(sriov(R"({"auxTypes": ["sf"]})", R"(, "deviceType": "auxNetDevice")"));
}

TEST(WritePools, pools_of_our_own_file_come_back) {
  specs_of(R"(pools:
  - {name: a.b/c, slotsPerNic: 2, include: {roles: compute, names: "mlx5_*"}, devices: [umad],
     exclude: [{numaNodes: 1}, {guids: "b8ce*"}]}
  - {name: a.b/d, mode: exclusive, functions: vf, include: {subnets: 10.0.0.0/8, minRateGbps: 100}}
)");
}

TEST(WritePools, what_is_no_machines_is_left_out_and_said) {
  const Written shouted(shared(R"({"vendors": ["15B3", "15b3"], "ifNames": ["ib*", "ib0"]})"));
  EXPECT_THAT(shouted.left_out,
              ElementsAre("file:1:17: rdma/hca: left out: vendors \"15B3\", which is no machine's",
                          "file:1:17: rdma/hca: left out: ifNames \"ib*\", which is no machine's"));
  const auto pools = specs_of(shouted.text);
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_THAT(pools.at(0).include.at(0).conditions.at(0).values, ElementsAre("15b3"));

  const Written one_of_two(sriov(R"([{"vendors": ["mellanox"]}, {"vendors": ["15b3"]}])"));
  EXPECT_THAT(one_of_two.left_out, ElementsAre(HasSubstr("mellanox"), HasSubstr("a selector by")));
  EXPECT_EQ(specs_of(one_of_two.text).at(0).include.size(), 1U);
}

TEST(WritePools, a_pool_that_gives_nothing_is_left_out_and_said) {
  const Written selects_nothing(sriov(R"({"rootDevices": ["eth0"]})"));
  EXPECT_THAT(selects_nothing.left_out, ElementsAre(HasSubstr("\"eth0\", which is no machine's"),
                                                    HasSubstr("a selector by rootDevices"),
                                                    HasSubstr("the pool, which selects nothing")));
  const Written no_slots("resourceCount: 0\n");
  EXPECT_THAT(no_slots.left_out, ElementsAre(HasSubstr("the pool, which has no slots")));
  for (const auto& text : {selects_nothing.text, no_slots.text}) {
    EXPECT_THAT(specs_of(text), IsEmpty()) << text;  // and not the default pool
  }
}

TEST(WritePools, a_replaced_plugins_ids_and_order_stay) {
  const auto slots =
      specs_of("pools: [{name: a.b/c, replaces: k8s-rdma-shared-dev-plugin, slots: 2}]");
  EXPECT_THAT(Pooled(documented_machine(), slots).device_ids(), ElementsAre("0", "1"));
  const std::string both = R"({name: a.b/1, mode: exclusive, REPLACES include: {names: "*"}},
                              {name: a.b/2, mode: exclusive, REPLACES include: {names: "*"}})";
  const auto conflicts = [&](const std::string& replaces) {
    auto text = "pools: [" + both + "]";
    for (auto at = text.find("REPLACES"); at != std::string::npos; at = text.find("REPLACES")) {
      text.replace(at, 8, replaces);
    }
    return Pooled(documented_machine(), specs_of(text)).table.conflicts;
  };
  EXPECT_FALSE(conflicts("").empty());
  EXPECT_THAT(conflicts("replaces: sriov-network-device-plugin,"), IsEmpty());
  EXPECT_THAT(error_of("pools: [{name: a.b/c, replaces: multus}]"),
              HasSubstr("\"multus\" is none of k8s-rdma-shared-dev-plugin, "));
}

TEST(WritePools, other_ids_are_another_pool) {
  const auto with = specs_of("pools: [{name: a.b/c, replaces: k8s-rdma-shared-dev-plugin}]");
  const auto without = specs_of("pools: [{name: a.b/c}]");
  EXPECT_FALSE(is_same_pool(with.at(0), without.at(0)));
  EXPECT_TRUE(is_same_pool(with.at(0), specs_of("\npools: [{name: a.b/c, replaces: "
                                                "k8s-rdma-shared-dev-plugin}]")
                                           .at(0)));
}

}  // namespace
}  // namespace railhead::test
