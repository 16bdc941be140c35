// SPDX-License-Identifier: Apache-2.0
#include "nri/request_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nri/api.h"
#include "runtime_bytes.h"

namespace railhead::nri {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string full_container() {
  return peer::container(
      "c1", "p1",
      peer::text(8, "NVIDIA_VISIBLE_DEVICES=void") + peer::entry(5, "label", "not ours") +
          peer::entry(6, "allocation.railhead.io/rdma.io/hca", "0000:18:00.0") +
          peer::text(9, peer::text(1, "/data") + peer::text(2, "bind") + peer::text(3, "/srv") +
                            peer::text(4, "rbind") + peer::text(4, "rw")) +
          peer::text(9, peer::text(1, "/etc/hosts") + peer::text(4, "ro")) +
          peer::text(11, peer::text(1, peer::text(1, "network")) +
                             peer::text(2, peer::text(1, "/dev/nvidia0") + peer::text(2, "c") +
                                               peer::number(3, 195) + peer::number(4, 0) +
                                               peer::text(5, peer::number(1, 0666)))) +
          peer::text(13, peer::text(1, "RLIMIT_MEMLOCK") + peer::number(2, 65536) +
                             peer::number(3, 1024)) +
          peer::number(14, 1'700'000'000) + peer::text(20, peer::text(1, "nvidia.com/gpu=0")) +
          peer::text(99, "a field of the future"));
}

TEST(RequestView, reads_every_part_of_a_pod_and_a_container) {
  const std::string bytes = peer::text(1, peer::pod("p1", "job")) + peer::text(2, full_container());
  container::Request request;
  ASSERT_TRUE(read_create_request(bytes, request));
  EXPECT_EQ(request.pod_name, "job");
  EXPECT_EQ(request.pod_namespace, "default");
  EXPECT_EQ(request.pod_uid, "uid-job");
  EXPECT_EQ(request.runtime_handler, "nvidia");
  EXPECT_THAT(request.pod_annotations, ElementsAre(Pair("rdma.railhead.io/pod", "required")));
  EXPECT_THAT(request.pod_namespaces, ElementsAre("network", "ipc"));
  EXPECT_THAT(request.container_namespaces, ElementsAre("network"));
  EXPECT_EQ(request.id, "c1");
  EXPECT_EQ(request.name, "main");
  EXPECT_THAT(request.annotations,
              ElementsAre(Pair("allocation.railhead.io/rdma.io/hca", "0000:18:00.0")));
  EXPECT_THAT(request.env, ElementsAre("PATH=/bin", "NVIDIA_VISIBLE_DEVICES=void"));
  EXPECT_THAT(request.cdi_devices, ElementsAre("nvidia.com/gpu=0"));
}

TEST(RequestView, reads_mounts_devices_and_limits) {
  container::Request request;
  const std::string bytes = full_container();
  ASSERT_TRUE(read_container(bytes, request));
  ASSERT_EQ(request.mounts.size(), 2U);
  EXPECT_EQ(request.mounts[0].destination, "/data");
  EXPECT_EQ(request.mounts[0].type, "bind");
  EXPECT_EQ(request.mounts[0].source, "/srv");
  EXPECT_TRUE(request.mounts[0].read_write);
  EXPECT_FALSE(request.mounts[1].read_write);
  ASSERT_EQ(request.devices.size(), 1U);
  EXPECT_EQ(request.devices[0].path, "/dev/nvidia0");
  EXPECT_EQ(request.devices[0].type, 'c');
  EXPECT_EQ(request.devices[0].major, 195);
  EXPECT_EQ(request.devices[0].minor, 0);
  ASSERT_EQ(request.rlimits.size(), 1U);
  EXPECT_EQ(request.rlimits[0].type, "RLIMIT_MEMLOCK");
  EXPECT_EQ(request.rlimits[0].hard, 65536U);
  EXPECT_EQ(request.rlimits[0].soft, 1024U);
}

TEST(RequestView, nothing_of_the_request_before_stays) {
  const std::string first = peer::text(2, full_container());
  container::Request request;
  ASSERT_TRUE(read_create_request(first, request));
  ASSERT_TRUE(read_create_request("", request));
  EXPECT_EQ(request.id, "");
  EXPECT_TRUE(request.env.empty() && request.mounts.empty() && request.devices.empty() &&
              request.rlimits.empty() && request.cdi_devices.empty() &&
              request.annotations.empty() && request.container_namespaces.empty());
}

TEST(RequestView, a_device_whose_type_is_not_said_is_no_character_device) {
  container::Request request;
  ASSERT_TRUE(read_container(peer::text(11, peer::text(2, peer::text(1, "/d"))), request));
  EXPECT_EQ(request.devices.at(0).type, '\0');
}

TEST(RequestView, a_message_cut_anywhere_is_never_read_beyond_its_end) {
  const std::string whole = peer::text(1, peer::pod("p1", "job")) + peer::text(2, full_container());
  const std::size_t pod_end = peer::text(1, peer::pod("p1", "job")).size();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<long>(size));
    container::Request request;
    const auto read = read_create_request({exact.data(), exact.size()}, request);
    EXPECT_EQ(static_cast<bool>(read), size == pod_end) << size;
  }
}

TEST(RequestView, damage_inside_any_part_is_malformed) {
  const std::string bad("\x0a\x09x", 3);
  for (const unsigned field : {6U, 9U, 11U, 13U, 20U}) {
    container::Request request;
    EXPECT_FALSE(read_container(peer::text(field, bad), request)) << field;
  }
  container::Request request;
  EXPECT_FALSE(read_container(peer::text(11, peer::text(1, bad)), request));
  EXPECT_FALSE(read_container(peer::text(11, peer::text(2, bad)), request));
  EXPECT_FALSE(read_pod(peer::text(6, bad), request));
  EXPECT_FALSE(read_pod(peer::text(8, peer::text(5, bad)), request));
}

TEST(RequestView, a_field_of_another_type_is_skipped) {
  container::Request request;
  const std::string bytes = peer::number(8, 7) + peer::number(1, 7) + peer::text(4, "x");
  ASSERT_TRUE(read_container(bytes, request));
  EXPECT_TRUE(request.env.empty());
  EXPECT_EQ(request.id, "");
}

TEST(RequestView, agrees_with_the_generated_reader) {
  const std::string bytes = peer::text(1, peer::pod("p1", "job")) + peer::text(2, full_container());
  api::CreateContainerRequest generated;
  ASSERT_TRUE(generated.ParseFromString(bytes));
  container::Request request;
  ASSERT_TRUE(read_create_request(bytes, request));
  EXPECT_EQ(request.pod_uid, generated.pod().uid());
  EXPECT_EQ(request.pod_namespace, generated.pod().namespace_());
  EXPECT_EQ(request.runtime_handler, generated.pod().runtime_handler());
  ASSERT_EQ(request.pod_annotations.size(), generated.pod().annotations().size());
  EXPECT_EQ(request.pod_namespaces.at(1), generated.pod().linux().namespaces(1).type());
  EXPECT_EQ(request.name, generated.container().name());
  EXPECT_EQ(request.env.at(1), generated.container().env(1));
  EXPECT_EQ(request.devices.at(0).path, generated.container().linux().devices(0).path());
  EXPECT_EQ(request.rlimits.at(0).hard, generated.container().rlimits(0).hard());
  EXPECT_EQ(request.cdi_devices.at(0), generated.container().cdi_devices(0).name());
}

TEST(RequestView, finds_the_ids_that_tie_a_container_to_its_pod) {
  const std::string pod = peer::pod("p1", "job");
  const std::string container = peer::container("c1", "p1");
  EXPECT_EQ(read_pod_id(pod).value(), "p1");
  EXPECT_EQ(read_container_pod_id(container).value(), "p1");
  EXPECT_EQ(read_pod_id("").value(), "");
  EXPECT_FALSE(read_pod_id("\x0a\x09x"));
}

}  // namespace
}  // namespace railhead::nri
