// SPDX-License-Identifier: Apache-2.0
//
// A RoCE port carries messages of 4096 bytes from an MTU of 4192 on (include/rdma/ib_addr.h,
// iboe_get_mtu()). Both ends and the switch have to have it.
#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

Step mtu_step(const Situation& situation, const std::string& netdev, unsigned mtu) {
  Step step;
  step.id = "link.mtu/" + netdev;
  step.title = netdev + " has an MTU of " + std::to_string(mtu);
  step.risk = Risk::restart;
  step.after = std::to_string(mtu);
  const std::string path = "/sys/class/net/" + netdev + "/mtu";
  const auto now = situation.machine.host->read(path);
  step.before = now && *now ? std::string(trim(**now)) : "";
  if (!now || !*now) {
    step.state = StepState::parked;
    step.reason = now ? "there is no netdev " + netdev + " here" : now.error().message;
    return step;
  }
  Change change{Change::Kind::attribute, path, step.after};
  return live_step(situation, std::move(step), path, "the driver opens its queues anew",
                   std::move(change));
}

}  // namespace

void plan_link(const Situation& situation, Plan& plan) {
  for (const auto& [netdev, mtu] : situation.wanted.mtu)
    plan.push_back(mtu_step(situation, netdev, mtu));
}

}  // namespace railhead::setup
