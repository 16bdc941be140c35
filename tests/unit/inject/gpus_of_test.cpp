// SPDX-License-Identifier: Apache-2.0
#include "inject/gpus_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/gpu_ids.h"
#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::codes;
using test::ContainerBuilder;
using test::text_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char* const kUuid4 = "GPU-00000000-0000-0000-0000-100000000004";

class GpusOf : public ::testing::Test {
 protected:
  container::GpuFacts held(ContainerBuilder& container, bool privileged = false,
                           const KubeletAnswer& word = {}) {
    return gpus_of(container.request(), table_, privileged, word);
  }

  container::GpuFacts with_env(const std::string& value, const KubeletAnswer& word = {}) {
    ContainerBuilder container;
    container.env("NVIDIA_VISIBLE_DEVICES=" + value);
    return held(container, false, word);
  }

  container::GpuFacts with_cdi(const std::string& name) {
    ContainerBuilder container;
    container.cdi(name);
    return held(container);
  }

  static KubeletAnswer gpu(const std::string& id) {
    return test::holds({{"nvidia.com/gpu", {id}}});
  }

  std::string uuid(std::size_t gpu) { return *table_.node().gpus[gpu].uuid; }

  static node::Node node() {
    node::Node node = test::seed_node();
    // Kernel minors are not nvidia-smi's indices: here they run the other way.
    for (unsigned i = 0; i < 8; ++i) node.gpus[i].minor = 7 - i;
    node.cdi = {{"/var/run/cdi/nvidia.yaml",
                 "kind: nvidia.com/gpu\ndevices:\n"
                 "- name: MIG-11111111-0000-0000-0000-000000000000\n  containerEdits:\n"
                 "    deviceNodes: [{path: /dev/nvidia2}, {path: /dev/nvidia-caps/nvidia-cap12}]\n"
                 "- name: slot3\n  containerEdits:\n    deviceNodes: [{path: /dev/nvidia3}]\n"}};
    return node;
  }

  DecisionTable table_ = test::table_of(node());
};

TEST_F(GpusOf, device_nodes_are_known_by_kernel_minor_not_index) {
  ContainerBuilder container;
  container.nvidia(0).nvidia(1).device("/dev/nvidiactl", 195, 255);
  container.device("/dev/nvidia-modeset", 195, 254).device("/dev/nvidia-uvm", 510, 0);
  const auto gpus = held(container);
  EXPECT_THAT(gpus.indices, ElementsAre(6, 7));
  EXPECT_EQ(gpus.source, container::GpuSource::device_nodes);
  EXPECT_THAT(gpus.remarks, IsEmpty());
}

TEST_F(GpusOf, control_nodes_alone_are_no_gpu) {
  ContainerBuilder container;
  container.device("/dev/nvidiactl", 195, 255).device("/dev/nvidia-uvm", 510, 0);
  EXPECT_THAT(held(container).indices, IsEmpty());
}

TEST_F(GpusOf, a_block_device_of_the_same_numbers_is_no_gpu) {
  ContainerBuilder container;
  container.nvidia(0);
  container.request().devices[0].type = 'b';
  EXPECT_THAT(held(container).indices, IsEmpty());
}

TEST_F(GpusOf, nodes_of_a_privileged_container_are_no_allocation) {
  ContainerBuilder container;
  for (int i = 0; i < 8; ++i) container.nvidia(i);
  EXPECT_THAT(held(container, true).indices, IsEmpty());
  container.env("NVIDIA_VISIBLE_DEVICES=3");
  EXPECT_THAT(held(container, true).indices, ElementsAre(3));
}

TEST_F(GpusOf, a_minor_without_a_gpu_is_reported) {
  ContainerBuilder container;
  container.nvidia(77);
  const auto gpus = held(container);
  EXPECT_THAT(gpus.indices, IsEmpty());
  EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-unresolved"));
}

TEST_F(GpusOf, amd_gpus_are_known_by_render_and_card_nodes_but_not_by_kfd) {
  node::Node node = test::seed_node();
  node.gpus[2].vendor = gpu::GpuVendor::amd;
  node.gpus[2].drm_render = 130;
  node.gpus[3].vendor = gpu::GpuVendor::amd;
  node.gpus[3].drm_card = 4;
  node.gpus[0].drm_card = 0;  // NVIDIA's: said by /dev/nvidia0
  const auto table = test::table_of(node);
  ContainerBuilder container;
  container.device("/dev/kfd", 511, 0);
  EXPECT_THAT(gpus_of(container.request(), table, false, {}).indices, IsEmpty());
  container.device("/dev/dri/renderD130", 226, 130).device("/dev/dri/card4", 226, 4);
  container.device("/dev/dri/card0", 226, 0);
  EXPECT_THAT(gpus_of(container.request(), table, false, {}).indices, ElementsAre(2, 3));
}

/// Four of the GPUs are Intel's, cards 1 to 4: 0, 1, 2 and 3 of the node.
class IntelGpus : public ::testing::Test {
 protected:
  static node::Node node() {
    node::Node node = test::seed_node();
    for (unsigned i = 0; i < 4; ++i) {
      node.gpus[i].vendor = gpu::GpuVendor::intel;
      node.gpus[i].drm_card = 1 + i;
      node.gpus[i].drm_render = 128 + i;
    }
    node.cdi = {{"/var/run/cdi/intel.yaml",
                 "kind: intel.com/gpu\ndevices:\n- name: card3\n  containerEdits:\n"
                 "    deviceNodes: [{path: /dev/dri/card3}, {path: /dev/dri/renderD130}]\n"}};
    return node;
  }

  static ContainerBuilder& with_gpus(ContainerBuilder& container, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      container.device("/dev/dri/card" + std::to_string(1 + i), 226, 1 + i);
      container.device("/dev/dri/renderD" + std::to_string(128 + i), 226, 128 + i);
    }
    return container;
  }

  container::GpuFacts masked(const std::vector<std::string>& env, unsigned count = 3) {
    ContainerBuilder container;
    for (const auto& variable : env) container.env(variable);
    return gpus_of(with_gpus(container, count).request(), table_, false, {});
  }

  DecisionTable table_ = test::table_of(node());
};

const char* const kComposite = "ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE";
const char* const kPciOrder = "ZE_ENABLE_PCI_ID_DEVICE_ORDER=1";

TEST_F(IntelGpus, are_known_by_card_and_render_nodes) {
  const auto gpus = masked({});
  EXPECT_THAT(gpus.indices, ElementsAre(0, 1, 2));
  EXPECT_EQ(gpus.source, container::GpuSource::device_nodes);
  EXPECT_THAT(gpus.remarks, IsEmpty());
}

TEST_F(IntelGpus, are_known_by_cdi_names_through_their_spec) {
  ContainerBuilder container;
  container.cdi("intel.com/gpu=card3");
  EXPECT_THAT(gpus_of(container.request(), table_, false, {}).indices, ElementsAre(2));
  container.cdi("intel.com/gpu=0000-19-00-0-0xe223");
  EXPECT_THAT(gpus_of(container.request(), table_, false, {}).unresolved,
              ElementsAre("intel.com/gpu=0000-19-00-0-0xe223"));
}

TEST_F(IntelGpus, are_known_by_the_cards_that_the_kubelet_has) {
  const auto gpus = gpus_in({{"gpu.intel.com/xe", {"card2-0", "card4-1"}}}, table_);
  EXPECT_TRUE(gpus.holds);
  EXPECT_THAT(gpus.evidence.gpus, ElementsAre(1, 3));
  EXPECT_TRUE(gpus.evidence.complete());
}

TEST_F(IntelGpus, are_not_held_by_who_monitors_them) {
  EXPECT_FALSE(gpus_in({{"gpu.intel.com/xe_monitoring", {"all"}}}, table_).holds);
}

TEST_F(IntelGpus, alone_are_not_named_by_a_mask) {
  EXPECT_FALSE(masked({"ZE_AFFINITY_MASK=0", kComposite, kPciOrder}, 0).named);
}

TEST_F(IntelGpus, a_mask_of_whole_gpus_in_pci_order_narrows) {
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK=1", kComposite, kPciOrder}).indices, ElementsAre(1));
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK=2.1, 0.0,0", kComposite, kPciOrder}).indices,
              ElementsAre(0, 2));
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK=1", kComposite, kPciOrder}).remarks, IsEmpty());
}

TEST_F(IntelGpus, a_mask_whose_numbers_cannot_be_told_narrows_nothing) {
  const std::vector<std::vector<std::string>> unknown = {
      {"ZE_AFFINITY_MASK=1"},
      {"ZE_AFFINITY_MASK=1", kComposite},
      {"ZE_AFFINITY_MASK=1", kPciOrder},
      {"ZE_AFFINITY_MASK=1", kPciOrder, "ZE_FLAT_DEVICE_HIERARCHY=FLAT"},
      {"ZE_AFFINITY_MASK=1", kPciOrder, "ZE_FLAT_DEVICE_HIERARCHY=COMBINED"},
      {"ZE_AFFINITY_MASK=3", kComposite, kPciOrder},
      {"ZE_AFFINITY_MASK=0,x", kComposite, kPciOrder},
      {"ZE_AFFINITY_MASK=0,", kComposite, kPciOrder}};
  for (const auto& env : unknown) {
    const auto gpus = masked(env);
    EXPECT_THAT(gpus.indices, ElementsAre(0, 1, 2)) << env.back();
    EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-mask-unknown")) << env.back();
  }
}

TEST_F(IntelGpus, a_mask_says_nothing_about_one_gpu_and_an_empty_one_nothing) {
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK=7"}, 1).remarks, IsEmpty());
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK=1"}, 1).indices, ElementsAre(0));
  EXPECT_THAT(masked({"ZE_AFFINITY_MASK="}).remarks, IsEmpty());
}

TEST_F(IntelGpus, a_graphics_adapter_beside_them_moves_the_numbers) {
  ContainerBuilder container;
  container.env("ZE_AFFINITY_MASK=1").env(kComposite).env(kPciOrder);
  with_gpus(container, 3).device("/dev/dri/renderD140", 226, 140);
  const auto gpus = gpus_of(container.request(), table_, false, {});
  EXPECT_THAT(gpus.indices, ElementsAre(0, 1, 2));
  EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-mask-unknown"));
}

TEST_F(IntelGpus, a_mask_of_level_zero_leaves_gpus_of_others) {
  ContainerBuilder container;
  container.env("ZE_AFFINITY_MASK=0").env(kComposite).env(kPciOrder);
  with_gpus(container, 2).nvidia(6);
  EXPECT_THAT(gpus_of(container.request(), table_, false, {}).indices, ElementsAre(0, 6));
}

TEST_F(GpusOf, the_variable_of_nvidia_names_no_amd_gpu) {
  node::Node node = test::seed_node();
  node.gpus[2].vendor = gpu::GpuVendor::amd;
  const auto table = test::table_of(node);
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=2");
  EXPECT_THAT(gpus_of(container.request(), table, false, {}).indices, IsEmpty());
  EXPECT_EQ(table.gpu_by_index(2), 2U) << "for people it still is GPU 2";
}

TEST_F(GpusOf, amd_cdi_names_are_resolved_through_their_render_node) {
  node::Node node = test::seed_node();
  node.gpus[2].vendor = gpu::GpuVendor::amd;
  node.gpus[2].drm_render = 130;
  node.cdi = {{"/etc/cdi/amd.json",
               R"({"kind":"amd.com/gpu","devices":[{"name":"0","containerEdits":
                  {"deviceNodes":[{"path":"/dev/kfd"},{"path":"/dev/dri/renderD130"}]}}]})"}};
  const auto table = test::table_of(node);
  ContainerBuilder container;
  container.cdi("amd.com/gpu=0");
  EXPECT_THAT(gpus_of(container.request(), table, false, {}).indices, ElementsAre(2));
  container.cdi("amd.com/gpu=9");
  EXPECT_THAT(codes(gpus_of(container.request(), table, false, {}).remarks),
              ElementsAre("gpu-unresolved"));
}

TEST_F(GpusOf, cdi_names_are_resolved_through_the_specs_of_the_node) {
  EXPECT_THAT(with_cdi("nvidia.com/gpu=slot3").indices, ElementsAre(4));  // minor 3
  EXPECT_THAT(with_cdi("nvidia.com/gpu=MIG-11111111-0000-0000-0000-000000000000").indices,
              ElementsAre(5));
  EXPECT_EQ(with_cdi("nvidia.com/gpu=slot3").source, container::GpuSource::cdi_names);
}

TEST_F(GpusOf, cdi_names_without_a_spec_are_parsed) {
  const std::string kind = "k8s.device-plugin.nvidia.com/gpu=";
  EXPECT_THAT(with_cdi(kind + kUuid4).indices, ElementsAre(4));
  EXPECT_THAT(with_cdi(kind + "5").indices, ElementsAre(5));
  EXPECT_THAT(with_cdi(kind + "gpu5").indices, ElementsAre(5));
  EXPECT_THAT(with_cdi(kind + "5:1").indices, ElementsAre(5));
  EXPECT_THAT(with_cdi(kind + "mig5:1").indices, ElementsAre(5));
  EXPECT_THAT(with_cdi(kind + "all").indices, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(GpusOf, the_claim_form_of_the_dra_driver_carries_the_kernel_minor) {
  EXPECT_THAT(with_cdi("k8s.gpu.nvidia.com/claim=8f3a-11-gpu-2").indices, ElementsAre(5));
  EXPECT_THAT(codes(with_cdi("k8s.gpu.nvidia.com/claim=8f3a-11-gpu-99").remarks),
              ElementsAre("gpu-unresolved"));
  EXPECT_THAT(codes(with_cdi("k8s.gpu.nvidia.com/claim=8f3a-11-gpu-2-mig-1g.5gb").remarks),
              ElementsAre("gpu-unresolved"));
}

TEST_F(GpusOf, cdi_names_of_other_kinds_are_passed_over) {
  for (const char* name : {"vendor.com/net=eth0", "nvidia.com/gds=0", "nonsense", "=", "/=", ""}) {
    const auto gpus = with_cdi(name);
    EXPECT_THAT(gpus.indices, IsEmpty()) << name;
    EXPECT_THAT(gpus.remarks, IsEmpty()) << name;
  }
}

TEST_F(GpusOf, cdi_annotations_of_the_container_count) {
  ContainerBuilder container;
  container.annotation("cdi.k8s.io/nvidia-device-plugin_uid", "nvidia.com/gpu=0,nvidia.com/gpu=1");
  EXPECT_THAT(held(container).indices, ElementsAre(0, 1));
}

TEST_F(GpusOf, a_cdi_annotation_also_on_the_pod_is_only_reported) {
  ContainerBuilder container;
  container.annotation("cdi.k8s.io/x", "nvidia.com/gpu=0");
  container.pod_annotation("cdi.k8s.io/x", "nvidia.com/gpu=0");
  const auto gpus = held(container);
  EXPECT_THAT(gpus.indices, IsEmpty());
  EXPECT_THAT(codes(gpus.remarks), ElementsAre("annotation-copied"));
}

TEST_F(GpusOf, a_cdi_annotation_on_the_pod_alone_proves_nothing) {
  ContainerBuilder container;
  container.pod_annotation("cdi.k8s.io/x", "nvidia.com/gpu=0");
  EXPECT_THAT(held(container).indices, IsEmpty());
}

TEST_F(GpusOf, volume_mounts_name_gpus) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=/var/run/nvidia-container-devices");
  container.mount(std::string("/var/run/nvidia-container-devices/") + kUuid4, "/dev/null");
  container.mount("/var/run/nvidia-container-devices/cdi/nvidia.com/gpu/slot3", "/dev/null");
  const auto gpus = held(container);
  EXPECT_THAT(gpus.indices, ElementsAre(4));
  EXPECT_EQ(gpus.source, container::GpuSource::mounts);
}

TEST_F(GpusOf, a_volume_that_any_pod_may_mount_there_names_none) {
  ContainerBuilder container;
  container.mount(std::string("/var/run/nvidia-container-devices/") + kUuid4, "/var/lib/kubelet/x");
  container.mount("/var/run/nvidia-container-devices/all", "/dev/null");
  EXPECT_THAT(held(container).indices, IsEmpty());
}

TEST_F(GpusOf, the_environment_names_gpus_by_index_uuid_mig_and_replica) {
  EXPECT_THAT(with_env("0,1,2,3").indices, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(with_env(" 3 , 1,1 ").indices, ElementsAre(1, 3));
  EXPECT_THAT(with_env(kUuid4).indices, ElementsAre(4));
  EXPECT_THAT(with_env(std::string(kUuid4) + "::7").indices, ElementsAre(4));
  EXPECT_THAT(with_env("MIG-GPU-00000000-0000-0000-0000-100000000004/1/0").indices, ElementsAre(4));
  EXPECT_THAT(with_env("2:0,2:1").indices, ElementsAre(2));
  EXPECT_THAT(with_env("MIG-11111111-0000-0000-0000-000000000000").indices, ElementsAre(5));
  EXPECT_THAT(with_env("nvidia.com/gpu=slot3").indices, ElementsAre(4));
  EXPECT_EQ(with_env("0").source, container::GpuSource::environment);
}

TEST_F(GpusOf, a_mig_device_that_no_spec_has_is_of_the_only_gpu) {
  const auto said_with = [](std::size_t gpus, const std::string& id) {
    auto node = test::seed_node();
    node.gpus.resize(gpus);
    const auto table = test::table_of(std::move(node));
    GpuEvidence evidence;
    add_gpu_id(id, table, evidence);
    return evidence.gpus;
  };
  EXPECT_THAT(said_with(1, "MIG-beef"), ElementsAre(0));
  EXPECT_THAT(said_with(1, "MIG-beef::1"), ElementsAre(0));
  EXPECT_THAT(said_with(2, "MIG-beef"), IsEmpty()) << "of which one nobody says";
  EXPECT_THAT(said_with(1, "GPU-beef"), IsEmpty()) << "a GPU that is not here";
}

TEST_F(GpusOf, all_void_none_and_empty_never_count) {
  for (const char* value : {"all", "void", "none", "", " ", ",", "all,void"}) {
    const auto gpus = with_env(value);
    EXPECT_THAT(gpus.indices, IsEmpty()) << value;
    EXPECT_THAT(gpus.remarks, IsEmpty()) << value;
  }
}

TEST_F(GpusOf, the_last_occurrence_of_the_variable_wins) {
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=1").env("NVIDIA_VISIBLE_DEVICES_X=2");
  container.env("NVIDIA_VISIBLE_DEVICES=3").env("XNVIDIA_VISIBLE_DEVICES=4");
  EXPECT_THAT(held(container).indices, ElementsAre(3));
}

TEST_F(GpusOf, an_id_that_cannot_be_resolved_gives_nothing_with_a_warning) {
  for (const char* id : {"99", "-1", "1.5", "GPU-beef", "MIG-beef", "MIG-GPU-beef/1/2", "x:y",
                         "99999999999999999999", "::", ":", "GPU-", "18446744073709551616"}) {
    const auto gpus = with_env(id);
    EXPECT_THAT(gpus.indices, IsEmpty()) << id;
    EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-unresolved")) << id;
  }
  EXPECT_THAT(with_env("0,99").indices, ElementsAre(0)) << "the others still count";
}

TEST_F(GpusOf, a_uuid_of_two_gpus_names_neither) {
  node::Node twins = test::seed_node();
  twins.gpus[1].uuid = twins.gpus[0].uuid;
  const auto table = test::table_of(twins);
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=" + *twins.gpus[0].uuid);
  const auto gpus = gpus_of(container.request(), table, false, {});
  EXPECT_THAT(gpus.indices, IsEmpty());
  EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-ambiguous"));
}

TEST_F(GpusOf, the_environment_alone_needs_the_kubelets_word) {
  EXPECT_THAT(with_env("0", {}).indices, ElementsAre(0));
  const auto none = with_env("0", test::holds({}));
  EXPECT_THAT(none.indices, IsEmpty());
  EXPECT_FALSE(none.named);
  EXPECT_THAT(codes(none.remarks), ElementsAre("gpu-claim-denied"));
  const auto silent = with_env("0", test::unanswered());
  EXPECT_THAT(silent.indices, IsEmpty());
  EXPECT_TRUE(silent.named) << "it is a container with GPUs, whichever they are";
  EXPECT_THAT(codes(silent.remarks), ElementsAre("gpu-claim-unanswered"));
}

TEST_F(GpusOf, so_do_mounts_which_any_pod_may_have_of_dev_null) {
  ContainerBuilder container;
  container.mount(std::string("/var/run/nvidia-container-devices/") + kUuid4, "/dev/null");
  EXPECT_THAT(held(container, false, test::holds({})).indices, IsEmpty());
  EXPECT_THAT(held(container, false, test::holds({{"nvidia.com/gpu", {kUuid4}}})).indices,
              ElementsAre(4));
}

TEST_F(GpusOf, the_kubelets_ids_of_the_container_are_the_truth) {
  const auto gpus = with_env("0,1,2,3,4,5,6,7", gpu(kUuid4));
  EXPECT_THAT(gpus.indices, ElementsAre(4));
  EXPECT_EQ(gpus.source, container::GpuSource::kubelet);
  EXPECT_THAT(codes(gpus.remarks), ElementsAre("gpu-env-differs"));
  EXPECT_THAT(with_env("0", gpu(kUuid4)).indices, ElementsAre(4)) << "disjoint";
  EXPECT_THAT(with_env("4", gpu(kUuid4)).remarks, IsEmpty());
  EXPECT_THAT(with_env("GPU-unknown", gpu(kUuid4)).indices, ElementsAre(4));
}

TEST_F(GpusOf, the_environment_narrows_what_the_kubelet_says) {
  const auto word = test::holds({{"nvidia.com/gpu", {uuid(2), uuid(3), uuid(4)}}});
  const auto gpus = with_env("2,3", word);
  EXPECT_THAT(gpus.indices, ElementsAre(2, 3));
  EXPECT_THAT(gpus.remarks, IsEmpty());
}

TEST_F(GpusOf, kubelet_ids_are_uuids_migs_shares_indices_or_addresses) {
  for (const auto& id : {uuid(4), uuid(4) + "::7", "MIG-" + uuid(4) + "/1/0", std::string("4"),
                         uuid(4) + "-12", table_.node().gpus[4].pci.str()}) {
    EXPECT_THAT(with_env("0,4", gpu(id)).indices, ElementsAre(4)) << id;
  }
  EXPECT_THAT(with_env("5", gpu("MIG-11111111-0000-0000-0000-000000000000")).indices,
              ElementsAre(5));
}

TEST_F(GpusOf, a_uuid_counts_whatever_its_resource_is_called) {
  EXPECT_THAT(with_env("4", test::holds({{"example.com/accelerator", {uuid(4)}}})).indices,
              ElementsAre(4));
  EXPECT_FALSE(with_env("4", test::holds({{"rdma.io/hca", {"4"}}})).named);
}

TEST_F(GpusOf, a_confirmed_gpu_that_the_node_lacks_might_be_new) {
  const auto gpus = with_env("0", gpu("GPU-new"));
  EXPECT_THAT(gpus.indices, IsEmpty());
  EXPECT_TRUE(gpus.named);
  EXPECT_TRUE(gpus.might_be_new());
  EXPECT_THAT(gpus.unresolved, ElementsAre("GPU-new"));
  EXPECT_FALSE(with_env("0", gpu(kUuid4)).might_be_new());
  EXPECT_FALSE(with_env("GPU-new", test::holds({})).might_be_new());
}

TEST_F(GpusOf, of_fractions_the_environment_says_which_but_not_how_many) {
  const auto word = test::holds({{"nvidia.com/gpumem", {"m-0", "m-1", "m-2"}},
                                 {"nvidia.com/gpu-share", {"share-a", "share-b"}}});
  const auto two = with_env("4,5", word);
  EXPECT_THAT(two.indices, ElementsAre(4, 5));
  EXPECT_EQ(two.source, container::GpuSource::environment);
  const auto three = with_env("4,5,6", word);
  EXPECT_THAT(three.indices, IsEmpty());
  EXPECT_TRUE(three.named);
  EXPECT_THAT(codes(three.remarks), Contains("gpu-env-differs"));
}

TEST_F(GpusOf, an_allocation_needs_no_word_of_the_kubelet) {
  ContainerBuilder container;
  container.nvidia(7);
  EXPECT_THAT(held(container, false, test::unanswered()).indices, ElementsAre(0));
  EXPECT_EQ(held(container).claim, container::GpuClaim::none);
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  EXPECT_EQ(held(container).claim, container::GpuClaim::none);
  EXPECT_THAT(held(container, false, test::unanswered()).remarks, IsEmpty());
}

TEST_F(GpusOf, ids_of_the_environment_that_were_not_allocated_do_not_count) {
  ContainerBuilder container;
  container.nvidia(7).env("NVIDIA_VISIBLE_DEVICES=4,5");
  const auto gpus = held(container);
  EXPECT_THAT(gpus.indices, ElementsAre(0));
  EXPECT_EQ(gpus.source, container::GpuSource::device_nodes);
  const std::string text = text_of(gpus.remarks, "gpu-env-differs");
  EXPECT_THAT(text, HasSubstr("GPUs 4, 5"));
  EXPECT_THAT(text, HasSubstr("GPU 0"));
}

TEST_F(GpusOf, the_environment_narrows_device_nodes) {
  ContainerBuilder container;
  container.nvidia(7).nvidia(6).nvidia(5).env("NVIDIA_VISIBLE_DEVICES=0,1");
  EXPECT_THAT(held(container).indices, ElementsAre(0, 1));
  EXPECT_THAT(held(container).remarks, IsEmpty());
}

TEST_F(GpusOf, an_environment_that_names_no_gpu_here_leaves_the_allocation) {
  for (const char* value : {"all", "void", "99", "4,MIG-unknown", "0"}) {
    ContainerBuilder container;
    container.nvidia(7).env(std::string("NVIDIA_VISIBLE_DEVICES=") + value);
    const auto gpus = held(container);
    EXPECT_THAT(gpus.indices, ElementsAre(0)) << value;
    EXPECT_EQ(gpus.source, container::GpuSource::device_nodes) << value;
  }
}

TEST_F(GpusOf, hostile_lists_are_reported_in_a_bounded_remark) {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "x" + std::to_string(i) + ",";
  const auto gpus = with_env(many);
  ASSERT_THAT(codes(gpus.remarks), ElementsAre("gpu-unresolved"));
  EXPECT_LT(gpus.remarks[0].text.size(), 512U);
}

}  // namespace
}  // namespace railhead::inject
