// SPDX-License-Identifier: Apache-2.0
// A pod author writes everything here: pod annotations, environment, container annotations. Lines
// of the input are "key<TAB>value" (literal "\n" in a value is a line break); the first byte picks
// policy and surroundings. Whatever it says, nothing but RDMA devices of the node is ever added,
// and none twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>

#include "base/text.h"
#include "inject/decide.h"
#include "inject/examine.h"

namespace {

using namespace railhead;

node::Node machine() {
  node::Node node;
  for (unsigned i = 0; i < 4; ++i) {
    const node::PciAddress gpu_at{0, static_cast<std::uint8_t>(0x10 + 0x10 * i), 0, 0};
    const node::PciAddress nic_at{0, static_cast<std::uint8_t>(0x11 + 0x10 * i), 0, 0};
    for (const node::PciAddress& at : {gpu_at, nic_at}) {
      node::PciDevice pci;
      pci.address = at;
      pci.root = "pci0000:10";
      pci.class_code = at == gpu_at ? 0x030200 : 0x020700;
      node.pci.push_back(pci);
    }
    node::Gpu gpu;
    gpu.pci = gpu_at;
    gpu.index = gpu.minor = i;
    gpu.uuid = "GPU-0000000" + std::to_string(i);
    node.gpus.push_back(gpu);
    node::Nic nic;
    nic.name = "mlx5_" + std::to_string(i);
    nic.pci = nic_at;
    node::Port port;
    port.state = node::PortState::active;
    port.link_layer = node::LinkLayer::infiniband;
    port.rate_gbps = 400;
    nic.ports = {port};
    const std::string number = std::to_string(i);
    nic.uverbs = {{"/dev/infiniband/uverbs" + number, 231, 192 + i, 0666, 0, 0, true}};
    nic.umads = {{"/dev/infiniband/umad" + number, 231, i, 0600, 0, 0, true}};
    node.nics.push_back(nic);
  }
  node.rdma_cm = node::CharDevice{"/dev/infiniband/rdma_cm", 10, 58, 0666, 0, 0, true};
  return node;
}

inject::DecisionTable table_for(config::AnnotationPolicy annotations) {
  inject::InjectionPolicy policy;
  policy.annotations = annotations;
  return {machine(), {}, policy};
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_break = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    out += line_break ? '\n' : text[i];
    if (line_break) ++i;
  }
  return out;
}

inject::KubeletAnswer word_of(unsigned knobs) {
  if ((knobs & 64U) != 0) return {inject::KubeletAnswer::State::unanswered, {}, false};
  if ((knobs & 32U) == 0) return {};
  return {inject::KubeletAnswer::State::answered, {{"nvidia.com/gpu", {"GPU-00000002"}}}, false};
}

void check(const inject::Decision& decision) {
  std::vector<std::string> paths;
  for (const container::NewDevice& device : decision.adjustment.devices) {
    const bool known = device.path == "/dev/infiniband/rdma_cm" ||
                       (device.path.starts_with("/dev/infiniband/uverbs") &&
                        device.path.size() == 23 && device.major == 231 && device.minor >= 192);
    if (!known) std::abort();
    paths.push_back(device.path);
  }
  std::ranges::sort(paths);
  if (std::ranges::adjacent_find(paths) != paths.end()) std::abort();
  if (decision.outcome != inject::Outcome::adjusted && !decision.adjustment.empty()) std::abort();
  if (decision.outcome == inject::Outcome::refused && !decision.message.starts_with("railhead: ")) {
    std::abort();
  }
  if (decision.remarks.size() > 32) std::abort();
  for (const auto& remark : decision.remarks) {
    if (remark.text.size() > 512) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const inject::DecisionTable narrow = table_for(config::AnnotationPolicy::narrow);
  static const inject::DecisionTable allow = table_for(config::AnnotationPolicy::allow);
  static const inject::DecisionTable deny = table_for(config::AnnotationPolicy::deny);
  if (size == 0) return 0;
  const unsigned knobs = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::deque<std::string> kept;
  container::Request request;
  request.name = "main";
  if ((knobs & 4U) != 0) request.pod_namespaces = {"ipc"};
  if ((knobs & 8U) != 0) request.devices = {{"/dev/nvidia1", 'c', 195, 1}};
  for (const std::string_view line : split(text, '\n')) {
    const auto tab = line.find('\t');
    const std::string_view key = line.substr(0, tab);
    if (tab == std::string_view::npos) {
      request.env.push_back(line);
    } else if (key.starts_with("cdi.k8s.io/") || key.starts_with("allocation.")) {
      request.annotations.emplace_back(key, kept.emplace_back(unescape(line.substr(tab + 1))));
    } else {
      request.pod_annotations.emplace_back(key, kept.emplace_back(unescape(line.substr(tab + 1))));
    }
  }
  const inject::DecisionTable& table = (knobs & 3U) == 0   ? deny
                                       : (knobs & 3U) == 1 ? narrow
                                                           : allow;
  inject::RuntimeAbility runtime;
  if ((knobs & 16U) != 0) runtime.memlock_ceiling = 65536;
  auto facts = inject::examine(request, table);
  inject::take_kubelet_answer(word_of(knobs), request, table, facts);
  (void)inject::needs_kubelet(facts, table);
  (void)inject::missing_devices(request, facts, table, runtime);
  check(inject::decide(request, facts, table, runtime));
  return 0;
}
