// SPDX-License-Identifier: Apache-2.0
// What the kubelet reads when it calls Allocate: the way from a pool to the message.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include "agent/metrics.h"
#include "agent/pool_resource.h"
#include "deviceplugin.grpc.pb.h"
#include "unit/host/temporary_directory.h"
#include "unit/inject/pool_specs.h"
#include "unit/kubelet/loop.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class AllocateAnswer : public testing::Test {
 protected:
  static inject::InjectionPolicy policy() {
    inject::InjectionPolicy policy;
    policy.pools = {test::exclusive_pool("example.com/nic", {"*"})};
    return policy;
  }

  AllocateAnswer() {
    tables_.publish(std::make_shared<const inject::DecisionTable>(
        test::machine("seed-8gpu-4nic"), affinity::OperatorRules(), policy()));
  }

  v1beta1::ContainerAllocateResponse answer(config::HandOut hand_out,
                                            const std::vector<std::string>& ids) {
    v1beta1::AllocateResponse response;
    const auto status = ask(hand_out, ids, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.container_responses_size() == 1 ? response.container_responses(0)
                                                    : v1beta1::ContainerAllocateResponse();
  }

  grpc::Status ask(config::HandOut hand_out, const std::vector<std::string>& ids,
                   v1beta1::AllocateResponse& response) {
    HandOutFiles files(folders_, hand_out, log_);
    kubelet::test::Loop loop;
    boost::asio::io_context unused;
    const Context there{unused, loop.box(), clock_, log_, metrics_};
    PoolResource resource(there, "example.com/nic", hand_out, {files, tables_, runtime_});
    std::unique_ptr<kubelet::DevicePlugin> plugin;
    loop.run([&] {
      plugin = std::move(kubelet::DevicePlugin::serve(
                             socket_, {"example.com/nic"}, loop.box(), resource, [](bool) {},
                             [](const auto&) {}))
                   .value();
    });
    const auto stub = v1beta1::DevicePlugin::NewStub(
        grpc::CreateChannel("unix:" + socket_, grpc::InsecureChannelCredentials()));
    v1beta1::AllocateRequest request;
    auto& container = *request.add_container_requests();
    for (const auto& id : ids) container.add_devices_ids(id);
    grpc::ClientContext context;
    const auto status = stub->Allocate(&context, request, &response);
    loop.run([&] { plugin.reset(); });
    return status;
  }

  std::string address(std::size_t nic) { return tables_.latest()->node().nics[nic].pci->str(); }

  test::TemporaryDirectory folder_;
  std::string socket_ = folder_ / "railhead.sock";
  HandOutFolders folders_{folder_ / "cdi", folder_ / "devinfo"};
  test::ManualClock clock_;
  Log log_{config::LogLevel::error, config::LogFormat::text};
  Metrics metrics_;
  TableFeed tables_;
  RuntimeLink runtime_{""};
};

TEST_F(AllocateAnswer, device_specs_are_each_allocated_node_once_to_read_and_write) {
  const auto given = answer(config::HandOut::device_specs, {address(2), address(0)});
  std::vector<std::string> wanted{"/dev/infiniband/rdma_cm"};
  for (const auto nic : {0U, 2U}) {
    wanted.push_back(tables_.latest()->node().nics[nic].uverbs.front().path);
  }
  std::vector<std::string> paths;
  for (const auto& device : given.devices()) {
    EXPECT_EQ(device.host_path(), device.container_path());
    EXPECT_EQ(device.permissions(), "rw");
    paths.push_back(device.host_path());
  }
  EXPECT_THAT(paths, UnorderedElementsAreArray(wanted));
  EXPECT_THAT(given.annotations(), IsEmpty());
  EXPECT_THAT(given.cdi_devices(), IsEmpty());
  EXPECT_THAT(given.mounts(), IsEmpty());
}

TEST_F(AllocateAnswer, cdi_names_stand_in_the_kubelets_own_field_and_nowhere_else) {
  const auto given = answer(config::HandOut::cdi, {address(1)});
  ASSERT_EQ(given.cdi_devices_size(), 1);
  const std::string name = "example.com:nic:" + address(1);
  EXPECT_EQ(given.cdi_devices(0).name(), "railhead.io/resource=" + name);
  EXPECT_THAT(given.devices(), IsEmpty());
  EXPECT_THAT(given.annotations(), IsEmpty());
  EXPECT_THAT(test::file_text(folders_.cdi + "/railhead.io-resource-example.com_nic.json"),
              HasSubstr("\"" + name + "\""));
}

TEST_F(AllocateAnswer, the_allocation_is_an_annotation_where_nri_adds_the_nodes) {
  const auto given = answer(config::HandOut::nri, {address(1)});
  EXPECT_THAT(given.annotations(),
              ElementsAre(::testing::Pair("allocation.railhead.io/example.com/nic", address(1))));
  EXPECT_THAT(given.devices(), IsEmpty());
  EXPECT_THAT(given.cdi_devices(), IsEmpty());
}

TEST_F(AllocateAnswer, a_file_that_cannot_be_written_is_what_the_pods_status_says) {
  std::ofstream(folder_ / "cdi") << "a file, no folder";
  v1beta1::AllocateResponse response;
  const auto status = ask(config::HandOut::cdi, {address(1)}, response);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(
      status.error_message(),
      HasSubstr("railhead: the CDI spec cannot be written (devicePlugin.cdiDir): " + folders_.cdi));
}

TEST_F(AllocateAnswer, a_start_waits_for_the_node_of_a_vfio_group) {
  const auto publish = [this](node::Node node) {
    tables_.publish(std::make_shared<const inject::DecisionTable>(
        test::vfio_with(test::driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node))));
  };
  publish(test::vfio_node());
  HandOutFiles files(folders_, config::HandOut::nri, log_);
  kubelet::test::Loop loop;
  boost::asio::io_context unused;
  PoolResource resource({unused, loop.box(), clock_, log_, metrics_}, "intel.com/dpdk",
                        config::HandOut::nri, {files, tables_, runtime_});
  EXPECT_TRUE(resource.pre_start({"0000:11:01.1"}));
  auto node = test::vfio_node();
  node.function_devices.pop_back();
  publish(std::move(node));
  const auto waits = resource.pre_start({"0000:11:01.1"});
  ASSERT_FALSE(waits);
  EXPECT_EQ(waits.error().message,
            "/dev/vfio/27, which intel.com/dpdk hands out, is not on this node");
}

}  // namespace
}  // namespace railhead::agent
