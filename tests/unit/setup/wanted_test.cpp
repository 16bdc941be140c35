// SPDX-License-Identifier: Apache-2.0
#include "setup/wanted.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

namespace railhead::setup {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string error_of(const std::string& text) {
  const auto wanted = parse_wanted("setup.yaml", text);
  return wanted ? "" : wanted.error().message;
}

TEST(Wanted, has_every_key) {
  const auto wanted = parse_wanted("setup.yaml",
                                   "modules: [ib-umad, rdma_ucm]\n"
                                   "memlock: {services: [containerd], limitsFile: true}\n"
                                   "nri: true\nrdmaNamespaces: exclusive\n"
                                   "sysctl: {net.ipv4.conf.all.arp_ignore: 1}\n");
  ASSERT_TRUE(wanted);
  EXPECT_THAT(wanted->modules, ElementsAre("ib_umad", "rdma_ucm"));
  EXPECT_THAT(wanted->memlock_services, ElementsAre("containerd"));
  EXPECT_TRUE(wanted->limits_file);
  EXPECT_TRUE(wanted->nri);
  EXPECT_EQ(wanted->rdma_namespaces, node::RdmaNetns::exclusive);
  EXPECT_THAT(wanted->sysctl, ElementsAre(Pair("net.ipv4.conf.all.arp_ignore", "1")));
}

TEST(Wanted, what_is_wrong_names_file_place_and_key) {
  EXPECT_EQ(error_of("modules: [a]\nmodule: [b]\n"),
            "setup.yaml: line 2: there is no key \"module\"");
  EXPECT_EQ(error_of("memlock:\n  service: [a]\n"),
            "setup.yaml: memlock: line 2: there is no key \"service\"");
  EXPECT_THAT(error_of("nri: perhaps\n"), HasSubstr("setup.yaml: nri: line 1"));
  EXPECT_THAT(error_of("rdmaNamespaces: both\n"), HasSubstr("is neither shared nor exclusive"));
  EXPECT_THAT(error_of("- a\n"), HasSubstr("no map of what is wanted"));
  EXPECT_THAT(error_of("memlock: 3\n"), HasSubstr("memlock: line 1: no map"));
}

TEST(Wanted, names_become_no_paths) {
  for (const auto* name : {"../x", "a/b", "''", ".a", "-a", "a b", "\"a\\nb\""}) {
    EXPECT_THAT(error_of("modules: [" + std::string(name) + "]\n"), HasSubstr("is no name"))
        << name;
  }
  EXPECT_THAT(error_of("memlock: {services: [../../x]}\n"), HasSubstr("is no name"));
  for (const auto* key : {"../kernel", "/proc/sys/kernel", "kernel.//.//.sysrq-trigger"})
    EXPECT_THAT(error_of("sysctl: {" + std::string(key) + ": 1}\n"), HasSubstr("is no name"))
        << key;
  for (const auto* key :
       {"kernel.core_pattern", "kernel/modprobe", "kernel.sysrq", "fs.suid_dumpable"})
    EXPECT_NE(error_of("sysctl: {" + std::string(key) + ": 1}\n"), "") << key;
  EXPECT_THAT(error_of("sysctl: {net.b: \"1\\n2\"}\n"), HasSubstr("no value of a sysctl"));
  EXPECT_THAT(error_of("nfs: [{what: 'a:/b', where: /" + std::string(240, 'x') + "}]\n"),
              HasSubstr("too long for the name of a unit"));
}

TEST(Wanted, what_is_said_twice_is_wanted_once) {
  const auto wanted = parse_wanted("setup.yaml",
                                   "modules: [ib_umad, ib-umad, rdma_ucm]\n"
                                   "memlock: {services: [containerd, containerd.service]}\n");
  EXPECT_THAT(wanted->modules, ElementsAre("ib_umad", "rdma_ucm"));
  EXPECT_THAT(wanted->memlock_services, ElementsAre("containerd"));
}

TEST(Wanted, a_sysctl_that_is_written_two_ways_is_one) {
  EXPECT_EQ(error_of("sysctl:\n  net.a.b: 1\n  net/a/b: 1\n"),
            "setup.yaml: sysctl: line 3: \"net/a/b\" is there twice, also as net.a.b");
  for (const auto* name : {"net//a", "net./a", "net/a/", "net.a."}) {
    EXPECT_THAT(error_of("sysctl: {" + std::string(name) + ": 1}\n"), HasSubstr("is no name"))
        << name;
  }
}

TEST(Wanted, more_than_a_node_can_want_is_refused) {
  std::string modules = "modules: [a";
  for (int i = 0; i < 5000; ++i) modules += ", a" + std::to_string(i);
  EXPECT_THAT(error_of(modules + "]\n"), HasSubstr("more than 4096 values"));
}

TEST(Wanted, one_mount_point_is_mounted_once) {
  EXPECT_THAT(error_of("nfs:\n- {what: 'a:/x', where: /mnt/x}\n- {what: 'b:/x', where: /mnt/x/}\n"),
              HasSubstr("line 3: /mnt/x is there twice"));
}

TEST(Wanted, functions_of_virtual_machines_need_the_iommu_driver_too) {
  // modprobe(8) loads it with vfio (softdep); finit_module(2) does not.
  const auto wanted = parse_wanted(
      "x", "sriov: [{nicSelector: {vendor: \"15b3\"}, numVfs: 2, deviceType: vfio-pci}]\n");
  EXPECT_THAT(wanted.value().modules, ElementsAre("vfio_pci", "vfio_iommu_type1"));
}

TEST(Profile, each_can_be_read) {
  EXPECT_EQ(profiles().size(), 6U);
  for (const auto& profile : profiles()) {
    const auto wanted = find_profile(profile.name);
    ASSERT_TRUE(wanted) << wanted.error().message;
    EXPECT_EQ(wanted->nri, profile.name != "hpc") << profile.name;
  }
}

TEST(Profile, what_has_no_containers_restarts_nothing) {
  const auto wanted = find_profile("hpc").value();
  EXPECT_FALSE(wanted.nri);
  EXPECT_TRUE(wanted.limits_file);
  EXPECT_THAT(wanted.memlock_services, IsEmpty());
}

TEST(Profile, the_rest_is_a_script_of_what_a_node_cannot_do) {
  for (const auto& profile : profiles()) {
    const std::string name(profile.name);
    EXPECT_TRUE(profile.rest.starts_with("#!/usr/bin/env bash\n")) << name;
    EXPECT_NE(profile.rest.find("\nPROFILE=" + name + "\n"), std::string_view::npos) << name;
    EXPECT_EQ(profile.rest.find("# part:"), std::string_view::npos) << name;
    EXPECT_EQ(profile.rest.find("helm install "), std::string_view::npos) << name;
  }
}

TEST(Profile, an_unknown_one_names_those_there_are) {
  EXPECT_EQ(find_profile("aks").error().message,
            "there is no profile \"aks\", but aks-dynamo, aks-llm-d, openshift-full-stack, "
            "bare-metal-ib, roce, hpc");
}

}  // namespace
}  // namespace railhead::setup
