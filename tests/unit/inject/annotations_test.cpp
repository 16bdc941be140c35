// SPDX-License-Identifier: Apache-2.0
#include "inject/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/device_list.h"
#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::codes;
using test::ContainerBuilder;
using test::text_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

container::Wishes read(ContainerBuilder& container,
                       config::AnnotationPolicy policy = config::AnnotationPolicy::narrow) {
  return read_annotations(container.request(), policy);
}

container::Wishes read_one(const std::string& key, const std::string& value) {
  ContainerBuilder container;
  container.pod_annotation(key, value);
  return read(container);
}

TEST(Annotations, without_a_known_key_there_is_nothing) {
  ContainerBuilder container;
  container.pod_annotation("kubernetes.io/config.source", "api").pod_annotation("", "");
  container.pod_annotation("xrdma.railhead.io/pod", "none").pod_annotation("/pod", "none");
  EXPECT_TRUE(read(container).empty());
}

TEST(Annotations, rdma_is_one_of_three_words) {
  EXPECT_EQ(read_one("rdma.railhead.io/pod", "required").rdma->value,
            container::RdmaWish::required);
  EXPECT_EQ(read_one("rdma.railhead.io/pod", " preferred\n").rdma->value,
            container::RdmaWish::preferred);
  EXPECT_EQ(read_one("rdma.railhead.io/container.main", "none").rdma->value,
            container::RdmaWish::none);
  const auto typo = read_one("rdma.railhead.io/pod", "Required!");
  EXPECT_FALSE(typo.rdma);
  EXPECT_THAT(codes(typo.remarks), ElementsAre("annotation-malformed"));
}

TEST(Annotations, the_container_form_wins_in_any_order) {
  for (const bool pod_first : {true, false}) {
    ContainerBuilder container;
    if (pod_first) container.pod_annotation("rdma.railhead.io/pod", "none");
    container.pod_annotation("rdma.railhead.io/container.main", "required");
    if (!pod_first) container.pod_annotation("rdma.railhead.io/pod", "none");
    const auto wishes = read(container);
    EXPECT_EQ(wishes.rdma->value, container::RdmaWish::required);
    EXPECT_EQ(wishes.rdma->form, container::AnnotationForm::container);
  }
}

TEST(Annotations, what_names_another_container_is_not_for_this_one) {
  EXPECT_TRUE(read_one("rdma.railhead.io/container.other", "none").empty());
  EXPECT_TRUE(read_one("rdma.railhead.io/container.mai", "none").empty());
  EXPECT_TRUE(read_one("rdma.railhead.io/container.main2", "none").empty());
}

TEST(Annotations, a_known_domain_in_an_unknown_form_is_reported) {
  for (const char* key : {"rdma.railhead.io/pods", "devices.nri.io", "rdma.railhead.io/"}) {
    EXPECT_THAT(codes(read_one(key, "none").remarks), ElementsAre("annotation-malformed")) << key;
  }
}

TEST(Annotations, a_near_miss_of_a_key_is_reported_with_what_was_meant) {
  const std::pair<const char*, const char*> near_misses[] = {
      {"rdma", "rdma.railhead.io/pod"},
      {"nics", "nics.railhead.io/pod"},
      {"memlock", "memlock.railhead.io/pod"},
      {"railhead.io/rdma", "rdma.railhead.io/pod"},
      {"rdma.railhaed.io/pod", "rdma.railhead.io/pod"},
      {"memlock.railhead.com/container.main", "memlock.railhead.io/container.main"},
      {"railhead.io/other", ""},
      {"nic.railhead.io/pod", ""},
  };
  for (const auto& [key, meant] : near_misses) {
    EXPECT_EQ(meant_annotation(key), meant) << key;
    const auto wishes = read_one(key, "required");
    EXPECT_TRUE(!wishes.rdma && !wishes.nics && !wishes.memlock) << key;
    EXPECT_THAT(codes(wishes.remarks), ElementsAre("annotation-unknown")) << key;
  }
}

TEST(Annotations, the_other_way_round_is_a_near_miss) {
  EXPECT_EQ(meant_annotation("pod.railhead.io/nics"), "nics.railhead.io/pod");
}

TEST(Annotations, other_keys_are_other_peoples) {
  for (const auto* key :
       {"rdma.example.com/pod", "example.com/rdma", "rdma/pod", "nic", "networking.k8s.io/rdma",
        "notrailhead.io/rdma", "railhead", "rdma.railhead.io/pods", "rdma.railhead.io",
        "devices.nri.io/pod", "", "/", "rdma/"}) {
    EXPECT_EQ(meant_annotation(key), std::nullopt) << key;
  }
}

TEST(Annotations, nics_is_a_comma_list) {
  EXPECT_THAT(read_one("nics.railhead.io/pod", "mlx5_0, mlx5_1,").nics->value,
              ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(codes(read_one("nics.railhead.io/pod", " , ").remarks),
              ElementsAre("annotation-malformed"));
  EXPECT_THAT(codes(read_one("nics.railhead.io/pod", std::string(70000, 'x')).remarks),
              ElementsAre("annotation-malformed"));
  std::string many;
  for (int i = 0; i < 256; ++i) many += "mlx5_" + std::to_string(i) + ",";
  EXPECT_TRUE(read_one("nics.railhead.io/pod", many).nics);
  EXPECT_THAT(codes(read_one("nics.railhead.io/pod", many + "mlx5_256").remarks),
              ElementsAre("annotation-malformed"));
}

TEST(Annotations, yaml_above_8_kibibytes_is_not_parsed) {
  const std::string entry = "- path: /dev/infiniband/uverbs0\n";
  const std::string filler(8192 - entry.size() - 1, '#');
  const auto most = read_one("devices.nri.io/pod", entry + filler);
  EXPECT_TRUE(most.devices) << "25 devices with all their fields have 2.5 KiB";
  const auto more = read_one("devices.nri.io/pod", entry + filler + "##");
  EXPECT_FALSE(more.devices);
  EXPECT_THAT(codes(more.remarks), ElementsAre("annotation-malformed"));
}

TEST(Annotations, memlock_is_unlimited_or_bytes) {
  EXPECT_EQ(read_one("memlock.railhead.io/pod", "unlimited").memlock->value, container::kUnlimited);
  EXPECT_EQ(read_one("memlock.railhead.io/pod", "65536").memlock->value, 65536U);
  for (const char* bad : {"64Mi", "-1", "", "1e9", "a lot"}) {
    EXPECT_THAT(codes(read_one("memlock.railhead.io/pod", bad).remarks),
                ElementsAre("annotation-malformed"))
        << bad;
  }
}

TEST(Annotations, ulimits_of_both_domains_are_honoured_for_memlock_only) {
  const std::string yaml =
      "- type: RLIMIT_MEMLOCK\n  hard: 200\n  soft: 100\n"
      "- type: nofile\n  hard: 5\n  soft: 5\n";
  for (const char* key :
       {"ulimits.nri.containerd.io/container.main", "ulimits.noderesource.dev/container.main",
        "ulimits.noderesource.dev/pod"}) {
    const auto wishes = read_one(key, yaml);
    EXPECT_EQ(wishes.memlock->value, 200U) << key;
    EXPECT_THAT(codes(wishes.remarks), ElementsAre("annotation-refused")) << key;
    EXPECT_THAT(wishes.remarks[0].text, HasSubstr("nofile")) << key;
  }
}

TEST(Annotations, the_own_memlock_key_wins_over_ulimits) {
  ContainerBuilder container;
  container.pod_annotation("ulimits.noderesource.dev/container.main", "[{type: memlock, hard: 9}]");
  container.pod_annotation("memlock.railhead.io/pod", "7");
  EXPECT_EQ(read(container).memlock->value, 7U);
}

TEST(Annotations, forms_win_over_domains_and_the_newer_domain_within_a_form) {
  ContainerBuilder container;
  container.pod_annotation("devices.nri.io/pod", "[{path: /a}]");
  container.pod_annotation("devices.noderesource.dev/pod", "[{path: /b}]");
  EXPECT_EQ(read(container).devices->value[0].path, "/b");
  container.pod_annotation("devices.nri.io/container.main", "[{path: /c}]");
  EXPECT_EQ(read(container).devices->value[0].path, "/c");
}

TEST(Annotations, deny_reads_none_and_reports_each) {
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/pod", "required");
  container.pod_annotation("devices.nri.io/pod", "{[");
  const auto wishes = read(container, config::AnnotationPolicy::deny);
  EXPECT_FALSE(wishes.rdma || wishes.nics || wishes.memlock || wishes.devices);
  EXPECT_THAT(codes(wishes.remarks), ElementsAre("annotation-denied", "annotation-denied"));
}

TEST(Annotations, annotations_of_the_container_itself_are_not_read) {
  ContainerBuilder container;
  container.annotation("rdma.railhead.io/pod", "required");
  EXPECT_TRUE(read(container).empty());
}

TEST(Annotations, yaml_bombs_are_refused_and_reported) {
  std::string deep(100, '[');
  std::string wide = "[";
  for (int i = 0; i < 2000; ++i) wide += "{path: /a},";
  wide += "]";
  for (const std::string& yaml :
       {std::string("a: &a [x,x]\nb: [*a,*a,*a]\n"), deep, wide, std::string(70000, '#'),
        std::string("- &x {path: /dev/a}\n- *x\n"), std::string("!!binary aaaa"),
        std::string("path: /dev/sda"), std::string("- /dev/sda"), std::string("- path: ''"),
        std::string("- {type: c}"), std::string("- {path: /x, major: many}"),
        std::string("- {path: /x, file_mode: 0999}"), std::string("\0\0", 2)}) {
    const auto wishes = read_one("devices.nri.io/pod", yaml);
    EXPECT_FALSE(wishes.devices) << yaml.substr(0, 40);
    EXPECT_THAT(codes(wishes.remarks), ElementsAre("annotation-malformed")) << yaml.substr(0, 40);
    EXPECT_LT(wishes.remarks[0].text.size(), 512U);
  }
}

TEST(DeviceList, every_field_of_seed_002_and_of_the_upstream_plugin_is_read) {
  const auto list = parse_device_list(
      "- path: /dev/infiniband/uverbs0\n  type: c\n  major: 231\n  minor: 0\n"
      "  file_mode: 0660\n  uid: 7\n  gid: 8\n  colour: red\n"
      "- path: /x\n  file_mode: 0\n");
  ASSERT_TRUE(list);
  ASSERT_THAT(*list, SizeIs(2));
  EXPECT_EQ((*list)[0].type, "c");
  EXPECT_EQ((*list)[0].major, 231);
  EXPECT_EQ((*list)[0].minor, 0);
  EXPECT_EQ((*list)[0].mode, 0660);
  EXPECT_EQ((*list)[0].uid, 7);
  EXPECT_EQ((*list)[0].gid, 8);
  EXPECT_FALSE((*list)[1].mode) << "zero is not stated";
}

TEST(DeviceList, json_is_yaml_and_an_empty_text_is_an_empty_list) {
  EXPECT_THAT(*parse_device_list(R"([{"path": "/x", "file_mode": 438}])"), SizeIs(1));
  EXPECT_THAT(*parse_device_list(""), IsEmpty());
}

TEST(UlimitList, the_prefix_and_the_case_of_a_type_do_not_matter) {
  for (const char* type : {"memlock", "MEMLOCK", "RLIMIT_MEMLOCK", "rlimit_memlock"}) {
    const auto list =
        parse_ulimit_list("- {type: " + std::string(type) + ", hard: unlimited, soft: 4}");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->memlock, container::kUnlimited) << type;
  }
}

TEST(Annotations, what_nothing_looks_at_is_known_by_its_key) {
  for (const char* key :
       {"rdma.railhead.io/pod", "nics.railhead.io/container.main", "memlock.railhead.io/pod",
        "devices.nri.io/pod", "devices.noderesource.dev/pod", "ulimits.nri.containerd.io/pod",
        "allocation.railhead.io/rdma.io/hca", "cdi.k8s.io/nvidia", "k8s.v1.cni.cncf.io/networks"}) {
    EXPECT_TRUE(is_looked_at(key)) << key;
  }
  for (const char* key : {"", "/", "rdma.railhead.ioo/pod", "kubernetes.io/config.seen",
                          "k8s.v1.cni.cncf.io/network-status"}) {
    EXPECT_FALSE(is_looked_at(key)) << key;
  }
}

TEST(UlimitList, a_hard_limit_below_the_soft_one_is_malformed) {
  EXPECT_FALSE(parse_ulimit_list("- {type: memlock, soft: 5}"));
  EXPECT_FALSE(parse_ulimit_list("- {hard: 5}"));
  EXPECT_FALSE(parse_ulimit_list("- {type: memlock, hard: -5}"));
}

}  // namespace
}  // namespace railhead::inject
