// SPDX-License-Identifier: Apache-2.0
#include "inject/surroundings.h"

#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;

TEST(Surroundings, a_writable_sysfs_is_a_privileged_container) {
  ContainerBuilder ordinary;
  EXPECT_FALSE(is_privileged(ordinary.request()));
  ContainerBuilder privileged;
  privileged.privileged();
  EXPECT_TRUE(is_privileged(privileged.request()));
}

TEST(Surroundings, a_host_path_on_sys_and_a_writable_cgroup_prove_nothing) {
  ContainerBuilder container;
  container.request().mounts = {{"/sys", "bind", "/sys", true},
                                {"/sys/fs/cgroup", "cgroup", "cgroup", true},
                                {"/host/sys", "sysfs", "sysfs", true}};
  EXPECT_FALSE(is_privileged(container.request()));
}

TEST(Surroundings, host_network_is_a_list_without_network) {
  ContainerBuilder container;
  EXPECT_TRUE(has_host_network(container.request()));
  container.own_network();
  EXPECT_FALSE(has_host_network(container.request()));
  container.request().pod_namespaces.clear();
  EXPECT_FALSE(has_host_network(container.request())) << "unknown counts as its own";
}

TEST(Surroundings, host_network_with_crio_is_a_container_without_one) {
  ContainerBuilder container;
  container.own_network();  // the pod's list has it always: the network of the host, pinned
  container.request().container_namespaces = {"pid", "ipc", "uts", "mount"};
  EXPECT_TRUE(has_host_network(container.request()));
  container.request().container_namespaces.emplace_back("network");
  EXPECT_FALSE(has_host_network(container.request()));
}

TEST(Surroundings, vm_handlers_are_matched_as_whole_names) {
  const InjectionPolicy policy;
  for (const auto& [handler, vm] : std::initializer_list<std::pair<const char*, bool>>{
           {"kata", true}, {"kata-clh", true}, {"", false}, {"runc", false}, {"my-kata", false}}) {
    ContainerBuilder container;
    container.handler(handler);
    EXPECT_EQ(surroundings_of(container.request(), policy).vm, vm) << handler;
  }
}

}  // namespace
}  // namespace railhead::inject
