// SPDX-License-Identifier: Apache-2.0
#include "usage/bundle.h"
#include "container/job_size.h"

#include <gtest/gtest.h>

namespace railhead::test {
namespace {

constexpr const char* kSpec = R"({"ociVersion":"1.1.0",
 "annotations":{"io.kubernetes.cri.sandbox-namespace":"ns","io.kubernetes.cri.sandbox-name":"pod",
   "io.kubernetes.cri.container-name":"main","io.kubernetes.cri.sandbox-uid":"u"},
 "process":{"env":["SECRET=hunter2","NVIDIA_VISIBLE_DEVICES=GPU-1","WORLD_SIZE=4","PET_NNODES=16"]},
 "mounts":[{"destination":"/sys","type":"sysfs","source":"sysfs","options":["rw"]},
   {"destination":"/data","source":"/secret"}],
 "linux":{"namespaces":[{"type":"network","path":"/x"}],
   "devices":[{"path":"/dev/infiniband/uverbs0","type":"c","major":231,"minor":192},
              {"path":"/dev/null","type":"c","major":1,"minor":3}]}})";

TEST(Bundle, names_devices_and_gpus_are_read) {
  const auto bundle = usage::parse_bundle(kSpec).value();
  EXPECT_EQ(bundle.pod_namespace, "ns");
  EXPECT_EQ(bundle.pod, "pod");
  EXPECT_EQ(bundle.pod_uid, "u");
  EXPECT_EQ(bundle.container, "main");
  EXPECT_FALSE(bundle.sandbox);
  ASSERT_EQ(bundle.devices.size(), 1U);
  EXPECT_EQ(bundle.devices[0], (usage::BundleDevice{"/dev/infiniband/uverbs0", 'c', 231, 192}));
  ASSERT_EQ(bundle.mounts.size(), 1U);
  EXPECT_TRUE(bundle.mounts[0].read_write);
  EXPECT_TRUE(usage::names_gpus(bundle));
  EXPECT_EQ(bundle.env.size(), 3U);
}

TEST(Bundle, what_a_snapshot_keeps_says_the_same_and_no_secret) {
  const auto text = usage::shortened_bundle(kSpec);
  EXPECT_EQ(usage::parse_bundle(text).value(), usage::parse_bundle(kSpec).value());
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(text.find("/secret"), std::string::npos);
  EXPECT_FALSE(usage::parse_bundle(usage::shortened_bundle("no json")));
  EXPECT_FALSE(usage::parse_bundle(usage::shortened_bundle("[]")));
}

TEST(Bundle, of_a_job_a_snapshot_keeps_numbers_and_no_address) {
  const std::string spec =
      R"({"process":{"env":["VLLM_NIXL_SIDE_CHANNEL_HOST=10.98.76.54","WORLD_SIZE=16",
      "NNODES=node17.corp","PET_NNODES=1:4","RANK=0","VLLM_NIXL_SIDE_CHANNEL_PORT="]}})";
  const auto bundle = usage::parse_bundle(usage::shortened_bundle(spec)).value();
  EXPECT_EQ(bundle.env,
            (std::vector<std::string>{"VLLM_NIXL_SIDE_CHANNEL_HOST=?", "WORLD_SIZE=16", "NNODES=?",
                                      "PET_NNODES=?", "RANK=?", "VLLM_NIXL_SIDE_CHANNEL_PORT="}));
  const auto size_of = [](const std::string& text) {
    const auto all = usage::parse_bundle(text).value();
    return container::job_size({all.env.begin(), all.env.end()});
  };
  EXPECT_EQ(size_of(usage::shortened_bundle(spec)), size_of(spec));
}

TEST(Bundle, a_mask_of_level_zero_is_kept_with_what_its_numbers_mean) {
  const auto bundle =
      usage::parse_bundle(R"({"process":{"env":["ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE",
      "ZE_AFFINITY_MASK=1","ZE_ENABLE_PCI_ID_DEVICE_ORDER=1","ZE_OTHER=1"]},
      "linux":{"devices":[{"path":"/dev/dri/renderD128","type":"c","major":226,"minor":128}]}})")
          .value();
  EXPECT_EQ(bundle.env.size(), 3U);
  EXPECT_EQ(bundle.devices.size(), 1U);
  EXPECT_TRUE(usage::names_gpus(bundle));
}

TEST(Bundle, choices_of_nics_and_transports_are_kept) {
  const std::string spec =
      R"({"process":{"env":["NCCL_IB_HCA=mlx5_0","UCX_TLS=tcp","NCCL_DEBUG=INFO"]}})";
  const auto bundle = usage::parse_bundle(usage::shortened_bundle(spec)).value();
  EXPECT_EQ(bundle.env, (std::vector<std::string>{"NCCL_IB_HCA=mlx5_0", "UCX_TLS=tcp"}));
}

TEST(Bundle, a_pod_does_not_say_how_much_is_kept_of_it) {
  std::string variables = R"("NCCL_IB_HCA=mlx5_0")";
  for (int i = 0; i < 5000; ++i) variables += R"(,"UCX_TLS=tcp")";
  const auto many = usage::parse_bundle(R"({"process":{"env":[)" + variables + "]}}").value();
  EXPECT_EQ(many.env.size(), 256U);
  EXPECT_EQ(many.env.front(), "NCCL_IB_HCA=mlx5_0");

  const std::string long_value(60'000, 'x');
  const auto large = usage::parse_bundle(R"({"annotations":{"rdma.railhead.io/pod":")" +
                                         long_value + R"("},"process":{"env":["NCCL_IB_HCA=)" +
                                         long_value + R"(","UCX_TLS=tcp"]}})")
                         .value();
  EXPECT_EQ(large.annotations.size(), 1U);
  EXPECT_EQ(large.env, std::vector<std::string>{"UCX_TLS=tcp"});
}

TEST(Bundle, the_pause_container_is_a_sandbox_with_either_runtime) {
  EXPECT_TRUE(
      usage::parse_bundle(R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox"}})")
          .value()
          .sandbox);
  EXPECT_TRUE(
      usage::parse_bundle(R"({"annotations":{"io.kubernetes.cri-o.ContainerType":"sandbox"}})")
          .value()
          .sandbox);
}

TEST(Bundle, values_of_other_kinds_are_empty_and_other_documents_fail) {
  EXPECT_EQ(usage::parse_bundle(R"({"annotations":[1],"process":7,"mounts":{"a":1},"linux":null})")
                .value(),
            usage::Bundle());
  EXPECT_FALSE(usage::parse_bundle("[]"));
  EXPECT_FALSE(usage::parse_bundle("{"));
}

TEST(Bundle, no_gpu_is_named_by_void_none_or_nothing) {
  for (const auto* value : {"void", "none", ""}) {
    usage::Bundle bundle;
    bundle.env = {std::string("NVIDIA_VISIBLE_DEVICES=") + value};
    EXPECT_FALSE(usage::names_gpus(bundle)) << value;
  }
}

}  // namespace
}  // namespace railhead::test
