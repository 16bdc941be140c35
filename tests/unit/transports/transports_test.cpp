// SPDX-License-Identifier: Apache-2.0
#include "transports/transports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::transports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Seed 002's machine, where GPUs 4 and 5 have mlx5_2.
std::vector<KnownNic> four_nics(LinkKind link = LinkKind::infiniband) {
  std::vector<KnownNic> nics;
  for (const char* name : {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}) {
    nics.push_back({.name = name, .given = false, .ports = {{.number = 1, .link = link}}});
  }
  nics[2].given = true;
  return nics;
}

struct Row {
  std::vector<std::string_view> environment;
  std::vector<std::string> texts;  ///< what each contradiction has in it, in order
  bool nothing_left = false;       ///< of the last one
};

void expect_rows(const std::vector<Row>& rows, const std::vector<KnownNic>* nics) {
  for (const Row& row : rows) {
    const auto reading = read_environment(row.environment, nics);
    const auto& found = reading.contradictions;
    ASSERT_EQ(found.size(), row.texts.size())
        << row.environment.back() << (found.empty() ? "" : ": " + found.front().text);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_THAT(found[i].text, HasSubstr(row.texts[i]));
    EXPECT_EQ(!found.empty() && found.back().nothing_left, row.nothing_left)
        << row.environment.back();
  }
}

const LibraryUse& use(const Reading& reading, Library library) {
  return reading.libraries[static_cast<std::size_t>(library)];
}

TEST(Transports, an_environment_without_their_variables_says_nothing) {
  const auto nics = four_nics();
  const auto reading = read_environment({"PATH=/bin", "NCCL_DEBUG=INFO"}, &nics);
  EXPECT_THAT(reading.contradictions, IsEmpty());
  EXPECT_EQ(reading.obstacle(), nullptr);
}

TEST(Transports, what_names_a_given_nic_is_no_contradiction) {
  const auto nics = four_nics();
  expect_rows(
      {
          {{"NCCL_IB_HCA=mlx5_2"}, {}},
          {{"NCCL_IB_HCA=="}, {}},
          {{"NCCL_IB_HCA="}, {}},
          {{"NCCL_IB_HCA=mlx5"}, {}},
          {{"NCCL_IB_HCA=^mlx5_0"}, {}},
          {{"NCCL_IB_HCA==mlx5_2:1,mlx5_2:2"}, {}},
          {{"UCX_NET_DEVICES=mlx5_2:1,eth0"}, {}},
          {{"UCX_NET_DEVICES=all"}, {}},
          {{"UCX_TLS=rc,cuda_copy"}, {}},
          {{"NVSHMEM_HCA_LIST=mlx5_2:1"}, {}},
          {{"NVSHMEM_HCA_LIST=^mlx5_0"}, {}},
          {{"NVSHMEM_HCA_PE_MAPPING=mlx5_2:1:2"}, {}},
      },
      &nics);
}

TEST(Transports, what_names_no_given_nic_leaves_nothing) {
  const auto nics = four_nics();
  const std::string names = "names no usable port of the container's NICs (mlx5_2:1)";
  const std::string leaves = "leaves out every usable port of the container's NICs (mlx5_2:1)";
  expect_rows(
      {
          {{"NCCL_IB_HCA=mlx5_0"},
           {"NCCL_IB_HCA=\"mlx5_0\" " + names + ", and NCCL takes TCP"},
           true},
          {{"NCCL_IB_HCA==mlx5"}, {names}, true},
          {{"NCCL_IB_HCA=mlx5_2:2"}, {names}, true},
          {{"NCCL_IB_HCA=eth0"}, {names}, true},
          {{"NCCL_IB_HCA=^mlx5_2"}, {leaves}, true},
          {{"NCCL_IB_HCA=^mlx5"}, {leaves}, true},
          {{"NCCL_IB_HCA=^"}, {"leaves out every NIC, and NCCL takes TCP"}, true},
          {{"UCX_NET_DEVICES=mlx5_0:1"}, {names + ", and UCX goes without RDMA"}, true},
          {{"UCX_NET_DEVICES=eth0"}, {names}, true},
          {{"UCX_NET_DEVICES=^mlx5_2"}, {leaves}, true},
          {{"NVSHMEM_HCA_LIST=mlx5_0"}, {names + ", and NVSHMEM goes without RDMA"}, true},
          {{"NVSHMEM_HCA_PE_MAPPING=mlx5_0:1:8"}, {"NVSHMEM_HCA_PE_MAPPING"}, true},
      },
      &nics);
}

TEST(Transports, what_releases_of_ucx_read_differently_is_not_claimed) {
  const auto nics = four_nics();
  const auto read = [&](std::string_view value) { return read_environment({value}, &nics); };
  const std::string begin = "means, of the ports that the container has, ";
  const auto bare = read("UCX_NET_DEVICES=mlx5_2");
  EXPECT_THAT(bare.by_release,
              HasSubstr(begin + "before UCX 1.21 none, in 1.21 mlx5_2:1, since 1.22 mlx5_2:1"));
  EXPECT_THAT(bare.contradictions, IsEmpty());
  EXPECT_FALSE(use(bare, Library::ucx).known);
  EXPECT_THAT(use(bare, Library::ucx).ports, IsEmpty());
  EXPECT_THAT(read("UCX_NET_DEVICES=^mlx5_[0-3]").by_release,
              HasSubstr(begin + "before UCX 1.21 none, in 1.21 mlx5_2:1, since 1.22 none"));
  EXPECT_THAT(read("UCX_NET_DEVICES=^mlx5_[0-3]").contradictions, IsEmpty());
  EXPECT_THAT(read("UCX_NET_DEVICES=mlx5_[0-3]:1").by_release,
              HasSubstr(begin + "before UCX 1.21 none, in 1.21 none, since 1.22 mlx5_2:1"));
  for (const auto* value : {"UCX_NET_DEVICES=mlx5_0", "UCX_NET_DEVICES=^mlx5_2",
                            "UCX_NET_DEVICES=mlx5_2:1,mlx5_0", "UCX_NET_DEVICES=all"}) {
    EXPECT_EQ(read(value).by_release, "") << value;
  }
  EXPECT_EQ(read_environment({"UCX_NET_DEVICES=mlx5_2"}, nullptr).by_release, "");
}

TEST(Transports, what_is_named_beside_given_nics_is_told) {
  const auto nics = four_nics();
  expect_rows(
      {
          {{"NCCL_IB_HCA==mlx5_0,mlx5_2,mlx5_9"},
           {"names mlx5_0, mlx5_9, which the container is not given"}},
          {{"UCX_NET_DEVICES=mlx5_2:1,mlx5_0:1,mlx5_9:1,eth0"},
           {"names mlx5_0:1, mlx5_9:1, which the container is not given"}},
          {{"UCX_NET_DEVICES=mlx5_2:1,mlx5_0"}, {"names mlx5_0, which"}},
          {{"NVSHMEM_HCA_LIST=mlx5_2,mlx5_3:1"}, {"names mlx5_3:1, which"}},
          {{"NCCL_IB_HCA=^mlx5_0,mlx5_9"}, {}},
      },
      &nics);
}

TEST(Transports, what_is_named_and_not_given_is_wanted) {
  const auto wanted = [](std::string_view variable, const std::vector<KnownNic>& nics) {
    std::vector<std::size_t> out;
    for (const Wanted& one : read_environment({variable}, &nics).wanted) {
      EXPECT_EQ(one.variable, variable.substr(0, variable.find('=')));
      out.push_back(one.nic);
    }
    return out;
  };
  auto nics = four_nics();
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_0", nics), ElementsAre(0));
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_3,mlx5_2,mlx5_0:1", nics), ElementsAre(3, 0));
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_0:1,mlx5_0:2", nics), ElementsAre(0));
  EXPECT_THAT(wanted("UCX_NET_DEVICES=mlx5_[0-2]:1", nics), IsEmpty()) << "mlx5_2 is of these";
  EXPECT_THAT(wanted("UCX_NET_DEVICES=mlx5_[0-1]:1", nics), ElementsAre(0, 1));
  EXPECT_THAT(wanted("NVSHMEM_HCA_LIST=mlx5_1:1", nics), ElementsAre(1));
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5", nics), IsEmpty()) << "it names what is given";
  EXPECT_THAT(wanted("NCCL_IB_HCA=^mlx5_2", nics), IsEmpty());
  nics[3].name = "mlx5_10";
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_1", nics), ElementsAre(1)) << "the one of that name";
  std::swap(nics[1], nics[3]);
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_1", nics), ElementsAre(3)) << "wherever it is";
  nics[3].name = "mlx5_11";
  EXPECT_THAT(wanted("NCCL_IB_HCA=mlx5_1", nics), ElementsAre(1, 3));
}

TEST(Transports, ports_that_are_not_usable_blame_no_list) {
  auto nics = four_nics();
  nics[2].ports[0].usable = false;
  expect_rows({{{"NCCL_IB_HCA=mlx5_0"}, {}}, {{"NCCL_IB_HCA=mlx5_2"}, {}}}, &nics);
  nics[3].given = true;
  expect_rows({{{"NCCL_IB_HCA=mlx5_2"}, {"NICs (mlx5_3:1)"}, true}}, &nics);
}

TEST(Transports, nccl_is_kept_off_rdma_by_a_switch) {
  const auto nics = four_nics();
  const std::string off = "turns RDMA off, and NCCL takes TCP: leave it out";
  expect_rows(
      {
          {{"NCCL_IB_DISABLE=1"}, {"NCCL_IB_DISABLE=\"1\" " + off}, true},
          {{"NCCL_IB_DISABLE=-1"}, {off}, true},
          {{"NCCL_IB_DISABLE= 0x10"}, {off}, true},
          {{"NCCL_IB_DISABLE=1yes"}, {off}, true},
          {{"NCCL_IB_DISABLE=0"}, {}},
          {{"NCCL_IB_DISABLE="}, {}},
          {{"NCCL_IB_DISABLE=true"}, {}},
          {{"NCCL_IB_DISABLE=08"}, {}},
          {{"NCCL_IB_DISABLE=99999999999999999999"}, {}},
          {{"NCCL_IB_DISABLE=1", "NCCL_IB_DISABLE=0"}, {}},
          {{"NCCL_NET=Socket"}, {"NCCL_NET=\"Socket\" leaves RDMA out"}, true},
          {{"NCCL_NET=SOCKET", "NCCL_IB_DISABLE=1"}, {"leaves RDMA out", off}, true},
          {{"NCCL_NET=IB"}, {}},
          {{"NCCL_NET=ib", "NCCL_IB_DISABLE=1"}, {off}, true},
          {{"NCCL_NET_PLUGIN=none", "NCCL_IB_DISABLE=1"}, {off}, true},
          {{"NCCL_NET_PLUGIN=none"}, {}},
      },
      &nics);
  const auto reading = read_environment({"NCCL_NET=Socket", "NCCL_IB_DISABLE=1"}, &nics);
  EXPECT_EQ(use(reading, Library::nccl).off_by, "NCCL_NET");
  EXPECT_THAT(use(reading, Library::nccl).ports, IsEmpty());
  EXPECT_THAT(use(reading, Library::ucx).ports, ElementsAre("mlx5_2:1"));
}

TEST(Transports, nothing_is_said_of_what_a_plugin_of_nccl_decides) {
  const auto nics = four_nics();
  for (const char* plugin : {"NCCL_NET=AWS Libfabric", "NCCL_NET=gIB", "NCCL_NET_PLUGIN=ucx"}) {
    expect_rows({{{"NCCL_IB_DISABLE=1", "NCCL_IB_HCA=mlx5_0", plugin}, {}}}, &nics);
    EXPECT_FALSE(use(read_environment({plugin}, &nics), Library::nccl).known) << plugin;
  }
  expect_rows({{{"NCCL_NET=IB", "NCCL_NET_PLUGIN=ucx", "NCCL_IB_DISABLE=1"}, {"IB_DISABLE"}, true}},
              &nics);
}

TEST(Transports, efa_needs_its_plugin) {
  const auto nics = four_nics(LinkKind::efa);
  expect_rows({{{"NCCL_IB_DISABLE=1"}, {}},
               {{"NCCL_IB_HCA=mlx5_0"}, {}},
               {{"NCCL_NET=Socket"}, {"leaves RDMA out"}, true},
               {{"NCCL_NET_PLUGIN=None"}, {"the plugin that EFA needs, and NCCL takes TCP"}, true}},
              &nics);
}

TEST(Transports, ucx_needs_a_transport_over_rdma) {
  const auto nics = four_nics();
  expect_rows({{{"UCX_TLS=tcp,self"},
                {"UCX_TLS=\"tcp,self\" has no transport over RDMA (ib, rc, dc, ud), and UCX goes "
                 "without RDMA"},
                true},
               {{"UCX_TLS=^tcp"}, {}},
               {{"UCX_TLS="}, {}}},
              &nics);
}

TEST(Transports, nvshmem_reads_its_lists_only_for_its_own_transports) {
  const auto nics = four_nics();
  const std::string_view list = "NVSHMEM_HCA_LIST=mlx5_0";
  expect_rows(
      {{{"NVSHMEM_REMOTE_TRANSPORT=none"}, {"turns RDMA off, and NVSHMEM"}, true},
       {{"NVSHMEM_REMOTE_TRANSPORT=None", "NVSHMEM_IB_ENABLE_IBGDA=1"}, {}},
       {{"NVSHMEM_REMOTE_TRANSPORT=none", "NVSHMEM_IB_ENABLE_IBGDA="}, {}},
       {{"NVSHMEM_REMOTE_TRANSPORT=none", "NVSHMEM_IB_ENABLE_IBGDA=no"}, {"off"}, true},
       {{"NVSHMEM_REMOTE_TRANSPORT=libfabric", list}, {}},
       {{"NVSHMEM_REMOTE_TRANSPORT=ucx", list}, {}},
       {{"NVSHMEM_REMOTE_TRANSPORT=ucx", "NVSHMEM_IB_ENABLE_IBGDA=true", list}, {"HCA"}, true},
       {{"NVSHMEM_REMOTE_TRANSPORT=IBRC", list}, {"HCA"}, true},
       {{"NVSHMEM_REMOTE_TRANSPORT=ibdevx", list}, {"HCA"}, true},
       {{"NVSHMEM_HCA_LIST=mlx5_2", "NVSHMEM_HCA_PE_MAPPING=mlx5_0:1:1"}, {}},
       {{"NVSHMEM_HCA_LIST=^", "NVSHMEM_HCA_PE_MAPPING=mlx5_0:1:1"}, {"MAPPING"}, true}},
      &nics);
}

TEST(Transports, a_gid_index_has_to_be_one_of_a_roce_port) {
  auto nics = four_nics(LinkKind::ethernet);
  expect_rows({{{"NCCL_IB_GID_INDEX=3"}, {}},
               {{"NCCL_IB_GID_INDEX=255"}, {}},
               {{"NCCL_IB_GID_INDEX=256"},
                {"is a GID that mlx5_2:1 does not have, and no connection"},
                true},
               {{"NVSHMEM_IB_GID_INDEX=256"}, {"NVSHMEM_IB_GID_INDEX=\"256\""}, true}},
              &nics);
  nics[2].ports[0].gids = {0, 1, 3};
  expect_rows({{{"NCCL_IB_GID_INDEX=3"}, {}},
               {{"NCCL_IB_GID_INDEX=0x3"}, {}},
               {{"NCCL_IB_GID_INDEX=-1"}, {}},
               {{"NCCL_IB_GID_INDEX="}, {}},
               {{"NCCL_IB_GID_INDEX=2"}, {"leave it out"}, true},
               {{"NVSHMEM_IB_GID_INDEX=4"}, {"leave it out"}, true}},
              &nics);
  nics[3].given = true;
  expect_rows({{{"NCCL_IB_GID_INDEX=2"}, {"is a GID that mlx5_2:1 does not have"}, false}}, &nics);
  nics[2].ports[0].link = LinkKind::infiniband;
  expect_rows({{{"NCCL_IB_GID_INDEX=2"}, {}}}, &nics);
}

TEST(Transports, without_nics_only_what_fits_no_nic_is_said) {
  expect_rows({{{"NCCL_IB_HCA=mlx5_0"}, {}},
               {{"UCX_NET_DEVICES=eth0"}, {}},
               {{"NCCL_IB_GID_INDEX=999"}, {}},
               {{"NCCL_IB_HCA=^"}, {"leaves out every NIC"}, true},
               {{"NCCL_IB_DISABLE=1"}, {"turns RDMA off"}, true},
               {{"UCX_TLS=tcp"}, {"has no transport"}, true}},
              nullptr);
}

TEST(Transports, an_obstacle_is_what_leaves_a_library_nothing) {
  const auto nics = four_nics();
  const auto obstacle = [&](const std::vector<std::string_view>& environment) {
    const auto reading = read_environment(environment, &nics);
    const auto* found = reading.obstacle();
    return found == nullptr ? std::string() : std::string(found->variable);
  };
  EXPECT_EQ(obstacle({"NCCL_IB_HCA=mlx5_0"}), "NCCL_IB_HCA");
  EXPECT_EQ(obstacle({"NCCL_IB_HCA=mlx5_0,mlx5_2"}), "");
  EXPECT_EQ(read_environment({"NCCL_IB_HCA=mlx5_0,mlx5_2"}, &nics).off_rdma(), "");
  EXPECT_EQ(obstacle({"UCX_TLS=tcp"}), "UCX_TLS");
  EXPECT_EQ(obstacle({"UCX_TLS=tcp", "NCCL_IB_HCA=mlx5_2"}), "") << "MPI over TCP beside NCCL";
  EXPECT_EQ(obstacle({"NCCL_IB_DISABLE=1", "UCX_NET_DEVICES=mlx5_2:1"}), "");
  EXPECT_EQ(obstacle({"UCX_TLS=tcp", "UCX_NET_DEVICES=mlx5_2:1"}), "UCX_TLS");
  EXPECT_EQ(obstacle({"UCX_TLS=tcp", "NCCL_IB_HCA="}), "UCX_TLS") << "names nothing";
  EXPECT_EQ(obstacle({"UCX_TLS=tcp", "NCCL_IB_HCA=^mlx5_0"}), "UCX_TLS");
  EXPECT_EQ(obstacle({"NCCL_IB_DISABLE=1", "NCCL_IB_HCA=mlx5_2"}), "NCCL_IB_DISABLE");
}

TEST(Transports, the_ports_in_use_are_those_that_the_lists_leave) {
  auto nics = four_nics();
  nics[3].given = true;
  nics[3].ports.push_back({.number = 2, .link = LinkKind::infiniband});
  const auto reading =
      read_environment({"NCCL_IB_HCA=^mlx5_3:1", "NVSHMEM_HCA_LIST=mlx5_3"}, &nics);
  EXPECT_THAT(use(reading, Library::nccl).ports, ElementsAre("mlx5_2:1", "mlx5_3:2"));
  EXPECT_THAT(use(reading, Library::ucx).ports, ElementsAre("mlx5_2:1", "mlx5_3:1", "mlx5_3:2"));
  EXPECT_THAT(use(reading, Library::nvshmem).ports, ElementsAre("mlx5_3:1", "mlx5_3:2"));
}

TEST(Transports, a_text_shows_control_characters_and_stays_short) {
  const auto nics = four_nics();
  const std::string value =
      "NCCL_IB_HCA=\x1b[31m" + std::string(5000, 'x') + "," + std::string(4000, 'y') + ",mlx5_2";
  const auto reading = read_environment({value}, &nics);
  ASSERT_EQ(reading.contradictions.size(), 1U);
  EXPECT_EQ(reading.contradictions[0].text.find('\x1b'), std::string::npos);
  EXPECT_LT(reading.contradictions[0].text.size(), 400U);
}

}  // namespace
}  // namespace railhead::transports
