// SPDX-License-Identifier: Apache-2.0
#include "inject/cdi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railhead::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

CdiRegistry registry(const std::vector<node::TextFile>& files,
                     std::vector<node::Problem>& problems) {
  return CdiRegistry::from_files(files, problems);
}

constexpr const char* kYaml = R"(cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
    - path: /dev/dri/card1
- name: 1
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: /dev/nvidia1
- name: none
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
)";

TEST(Cdi, device_nodes_of_a_yaml_spec_are_found_by_qualified_name) {
  std::vector<node::Problem> problems;
  const auto cdi = registry({{"/etc/cdi/nvidia.yaml", kYaml}}, problems);
  EXPECT_THAT(problems, SizeIs(0));
  ASSERT_NE(cdi.device_paths("nvidia.com/gpu=0"), nullptr);
  EXPECT_THAT(*cdi.device_paths("nvidia.com/gpu=0"), ElementsAre("/dev/nvidia0", "/dev/dri/card1"));
}

TEST(Cdi, a_name_may_be_a_number_and_the_host_path_is_what_counts) {
  std::vector<node::Problem> problems;
  const auto cdi = registry({{"/etc/cdi/nvidia.yaml", kYaml}}, problems);
  ASSERT_NE(cdi.device_paths("nvidia.com/gpu=1"), nullptr);
  EXPECT_THAT(*cdi.device_paths("nvidia.com/gpu=1"), ElementsAre("/dev/nvidia1"));
}

TEST(Cdi, a_device_without_edits_is_known_and_has_no_nodes) {
  std::vector<node::Problem> problems;
  const auto cdi = registry({{"/etc/cdi/nvidia.yaml", kYaml}}, problems);
  ASSERT_NE(cdi.device_paths("nvidia.com/gpu=none"), nullptr);
  EXPECT_THAT(*cdi.device_paths("nvidia.com/gpu=none"), SizeIs(0));
  EXPECT_EQ(cdi.device_paths("nvidia.com/gpu=7"), nullptr);
}

TEST(Cdi, json_is_read_too) {
  std::vector<node::Problem> problems;
  const auto cdi = registry({{"/var/run/cdi/k8s.json",
                              R"({"cdiVersion":"0.6.0","kind":"k8s.gpu.nvidia.com/claim","devices":[
           {"name":"u-gpu-3","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia3"}]}}]})"}},
                            problems);
  EXPECT_THAT(problems, SizeIs(0));
  ASSERT_NE(cdi.device_paths("k8s.gpu.nvidia.com/claim=u-gpu-3"), nullptr);
}

TEST(Cdi, what_cannot_be_parsed_is_left_out_and_reported) {
  const std::vector<std::string> bad = {
      "kind: [",
      "- a list",
      "kind: nvidia\ndevices: []\n",
      "kind: a/b\ndevices: 3\n",
      "kind: a/b\ndevices:\n- containerEdits: {}\n",
      "kind: a/b\ndevices:\n- name: x\n  containerEdits:\n    deviceNodes: 3\n",
      "kind: a/b\ndevices:\n- name: x\n  containerEdits:\n    deviceNodes:\n    - type: c\n",
      "",
  };
  for (const std::string& text : bad) {
    std::vector<node::Problem> problems;
    const auto cdi =
        registry({{"/etc/cdi/bad.yaml", text}, {"/etc/cdi/nvidia.yaml", kYaml}}, problems);
    ASSERT_THAT(problems, SizeIs(1)) << text;
    EXPECT_EQ(problems[0].path, "/etc/cdi/bad.yaml");
    EXPECT_EQ(problems[0].kind, node::Problem::Kind::malformed);
    EXPECT_NE(cdi.device_paths("nvidia.com/gpu=0"), nullptr) << "the other file still counts";
  }
}

TEST(Cdi, the_run_directory_wins_over_etc) {
  const std::string other =
      "kind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n  containerEdits:\n"
      "    deviceNodes:\n    - path: /dev/nvidia5\n";
  for (const bool first : {true, false}) {
    std::vector<node::Problem> problems;
    std::vector<node::TextFile> files = {{"/etc/cdi/nvidia.yaml", kYaml},
                                         {"/var/run/cdi/n.yaml", other}};
    if (!first) std::swap(files[0], files[1]);
    const auto cdi = registry(files, problems);
    EXPECT_THAT(*cdi.device_paths("nvidia.com/gpu=0"), ElementsAre("/dev/nvidia5"));
    EXPECT_THAT(problems, SizeIs(0));
  }
}

TEST(Cdi, two_meanings_of_one_name_in_one_directory_are_none) {
  std::vector<node::Problem> problems;
  const auto cdi =
      registry({{"/etc/cdi/a.yaml", kYaml},
                {"/etc/cdi/b.yaml", "kind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n"}},
               problems);
  EXPECT_EQ(cdi.device_paths("nvidia.com/gpu=0"), nullptr);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].what, HasSubstr("twice"));
}

}  // namespace
}  // namespace railhead::inject
