// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inject/codes.h"
#include "inject/decide.h"
#include "inject/examine.h"
#include "unit/machines.h"

namespace railhead::test {

/// A container as a runtime would show it; owns the texts that the request points into. By default
/// an ordinary container "main" of a host-network pod.
class ContainerBuilder {
 public:
  ContainerBuilder() {
    request_.name = "main";
    request_.pod_name = "pod";
    request_.pod_namespace = "default";
    request_.pod_namespaces = {"ipc", "pid"};
    request_.mounts = {{"/sys", "sysfs", "sysfs", false}};
  }

  ContainerBuilder(const ContainerBuilder&) = delete;
  ContainerBuilder& operator=(const ContainerBuilder&) = delete;

  ContainerBuilder& own_network() {
    request_.pod_namespaces = {"ipc", "pid", "network"};
    return *this;
  }

  ContainerBuilder& privileged() {
    request_.mounts = {{"/sys", "sysfs", "sysfs", true}};
    return *this;
  }

  ContainerBuilder& env(std::string text) {
    request_.env.push_back(keep(std::move(text)));
    return *this;
  }

  ContainerBuilder& annotation(std::string key, std::string value) {
    request_.annotations.emplace_back(keep(std::move(key)), keep(std::move(value)));
    return *this;
  }

  ContainerBuilder& pod_annotation(std::string key, std::string value) {
    request_.pod_annotations.emplace_back(keep(std::move(key)), keep(std::move(value)));
    return *this;
  }

  ContainerBuilder& device(std::string path, std::int64_t major, std::int64_t minor) {
    request_.devices.push_back({keep(std::move(path)), 'c', major, minor});
    return *this;
  }

  ContainerBuilder& nvidia(int minor) {
    return device("/dev/nvidia" + std::to_string(minor), 195, minor);
  }

  ContainerBuilder& cdi(std::string name) {
    request_.cdi_devices.push_back(keep(std::move(name)));
    return *this;
  }

  ContainerBuilder& mount(std::string destination, std::string source) {
    request_.mounts.push_back(
        {keep(std::move(destination)), "bind", keep(std::move(source)), false});
    return *this;
  }

  ContainerBuilder& memlock(std::uint64_t hard, std::uint64_t soft) {
    request_.rlimits.push_back({"RLIMIT_MEMLOCK", hard, soft});
    return *this;
  }

  ContainerBuilder& handler(std::string name) {
    request_.runtime_handler = keep(std::move(name));
    return *this;
  }

  container::Request& request() { return request_; }

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;  // never moves its elements
  container::Request request_;
};

/// The built node with rdma_cm, and umad and issm beside each uverbs.
inline node::Node with_device_nodes(node::Node node) {
  node.rdma_cm = node::CharDevice{"/dev/infiniband/rdma_cm", 10, 58, 0666, 0, 0, true};
  std::uint32_t number = 0;
  for (node::Nic& nic : node.nics) {
    if (nic.uverbs.empty()) continue;
    const std::string suffix = std::to_string(number);
    nic.umads = {{"/dev/infiniband/umad" + suffix, 231, number, 0600, 0, 27, true}};
    nic.issms = {{"/dev/infiniband/issm" + suffix, 231, 64 + number, 0600, 0, 0, true}};
    ++number;
  }
  return node;
}

/// Eight GPUs, NICs mlx5_0 to mlx5_3: GPUs 0,1 -> mlx5_0, 2,3 -> mlx5_1, 4,5 -> mlx5_2, …
inline node::Node seed_node() {
  return with_device_nodes(eight_gpus_four_nics().build());
}

inline node::Node as_roce(node::Node node) {
  for (node::Nic& nic : node.nics) {
    for (node::Port& port : nic.ports) port.link_layer = node::LinkLayer::ethernet;
  }
  return node;
}

inline void set_down(node::Node& node, std::size_t nic) {
  for (node::Port& port : node.nics[nic].ports) port.state = node::PortState::down;
}

inline inject::DecisionTable table_of(node::Node node, inject::InjectionPolicy policy = {}) {
  return {std::move(node), {}, std::move(policy)};
}

inline inject::InjectionPolicy allowing() {
  inject::InjectionPolicy policy;
  policy.annotations = config::AnnotationPolicy::allow;
  return policy;
}

/// A runtime with every capability.
inline inject::RuntimeAbility able() {
  inject::RuntimeAbility runtime;
  runtime.name = "containerd";
  runtime.version = "2.4.2";
  runtime.memlock_ceiling = container::kUnlimited;
  return runtime;
}

/// The kubelet's answer about a container that holds these devices.
inline inject::KubeletAnswer holds(std::vector<container::Holding> devices) {
  return {inject::KubeletAnswer::State::answered, std::move(devices), false};
}

inline inject::KubeletAnswer unanswered() {
  return {inject::KubeletAnswer::State::unanswered, {}, false};
}

inline container::Facts facts(ContainerBuilder& container, const inject::DecisionTable& table,
                              const inject::KubeletAnswer& word = {}) {
  auto facts = inject::examine(container.request(), table);
  inject::take_kubelet_answer(word, container.request(), table, facts);
  return facts;
}

inline inject::Decision decide(ContainerBuilder& container, const inject::DecisionTable& table,
                               const inject::RuntimeAbility& runtime = able(),
                               const inject::KubeletAnswer& word = {}) {
  return railhead::inject::decide(container.request(), facts(container, table, word), table,
                                  runtime);
}

inline std::vector<std::string> missing(ContainerBuilder& container,
                                        const inject::DecisionTable& table) {
  return inject::missing_devices(container.request(), facts(container, table), table, able());
}

inline std::vector<std::string> paths(const container::Adjustment& adjustment) {
  std::vector<std::string> out;
  for (const container::NewDevice& device : adjustment.devices) out.push_back(device.path);
  return out;
}

template <typename List>
std::vector<std::string> codes(const List& remarks) {
  std::vector<std::string> out;
  for (const container::Remark& remark : remarks) out.push_back(remark.code);
  return out;
}

template <typename List>
std::string text_of(const List& remarks, std::string_view code) {
  for (const container::Remark& remark : remarks) {
    if (remark.code == code) return remark.text;
  }
  return {};
}

inline std::string variable(const container::Adjustment& adjustment, std::string_view name) {
  for (const auto& [key, value] : adjustment.env) {
    if (key == name) return value;
  }
  return "(unset)";
}

}  // namespace railhead::test
