// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kOtherOptions =
    "another file of /etc/modprobe.d, or the kernel's command line,";
constexpr const char* kActive = "/sys/module/ib_core/parameters/netns_mode";

/// The parameter is a bool: true is shared (drivers/infiniband/core/device.c).
std::string mode_of(std::string_view value) {
  if (value == "Y" || value == "1" || value == "y") return "shared";
  return value.empty() ? "" : "exclusive";
}

/// What the next load of ib_core will have, where something says it.
std::string at_next_load(host::Host& host) {
  std::string mode;
  const auto parameters = module_options(host, "ib_core").parameters;
  for (const auto word : split_words(parameters)) {
    if (word.starts_with("netns_mode=")) mode = mode_of(word.substr(word.find('=') + 1));
  }
  return mode;
}

}  // namespace

void plan_rdma_namespaces(const Situation& situation, Plan& plan) {
  if (!situation.wanted.rdma_namespaces) return;
  const bool exclusive = *situation.wanted.rdma_namespaces == node::RdmaNetns::exclusive;
  const std::string wanted = exclusive ? "exclusive" : "shared";
  host::Host& host = *situation.machine.host;
  const std::string active = mode_of(line_in(host, kActive));
  const std::string next = at_next_load(host);
  Step step{.id = "rdma.namespaces",
            .title = "RDMA namespaces are " + wanted,
            .risk = Risk::reboot,
            .before = active.empty() ? "ib_core is not loaded" : active,
            .after = wanted};
  const bool stays = next == wanted || (next.empty() && wanted == "shared");
  if (stays && (active == wanted || active.empty())) {
    step.reason = active.empty() ? "the next load of ib_core" : kActive;
    return plan.push_back(std::move(step));
  }
  if (stays) {
    // RDMA_NLDEV_CMD_SYS_SET answers EBUSY as soon as there is any network namespace but the first
    // (drivers/infiniband/core/device.c, rdma_compatdev_set), and a node with pods has them.
    return plan.push_back(
        parked(std::move(step),
               "active after a reboot: a kernel with network namespaces does not change it. Where "
               "ib_core is loaded by the initramfs, that has to be made anew before "
               "(update-initramfs -u, dracut -f)"));
  }
  plan.push_back(files_step(situation, std::move(step), {namespaces_file(situation.wanted)},
                            next.empty() ? "" : kOtherOptions));
}

}  // namespace railhead::setup
