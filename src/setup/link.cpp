// SPDX-License-Identifier: Apache-2.0
//
// Netdevs: their MTU, and by option what ethtool(8) and dcb(8) set. RoCE takes the largest RDMA MTU
// that fits into that of its netdev: 4096 bytes need 4192 (include/rdma/ib_addr.h,
// iboe_get_mtu()). A switch between has to have more than both ends. None of it lasts longer than
// the netdev.
#include <cerrno>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "host/host_error.h"
#include "setup/link_control.h"
#include "setup/plan.h"
#include "setup/rdma_users.h"

namespace railhead::setup {
namespace {

/// What a setting costs, by what its name begins with.
struct LinkCost {
  std::string_view prefix;
  std::string_view reason;
};

constexpr LinkCost kCosts[] = {
    {"rings.", "the driver opens its queues anew"},
    {"coalesce.", "until the next boot; of no effect on RDMA traffic"},
    {"pause.", "the link may go down and come up again"},
    {"ets", "what is on its way may change its queue"},
    {"pfc", "the driver sets its buffers anew; switches have to have it, too"},
    {"dscp.", "what is on its way may change its queue"},
};

/// A step that others notice is not for a link that a program uses.
Step guarded(const Situation& situation, const std::string& netdev, Step step) {
  if (step.state != StepState::todo || step.risk == Risk::live) return step;
  auto user = user_of_link(*situation.machine.host, situation.node, netdev);
  return user.empty() ? step : refused(std::move(step), std::move(user));
}

/// Where there is no such netdev; the step is complete then.
bool lacks_netdev(const Situation& situation, const std::string& netdev, Step& step) {
  const auto folder = situation.machine.host->list("/sys/class/net/" + netdev);
  if (folder && *folder) return false;
  step.state = StepState::parked;
  step.reason = folder ? "there is no netdev " + netdev + " here" : folder.error().message;
  return true;
}

Step mtu_step(const Situation& situation, const std::string& netdev, unsigned mtu) {
  Step step{.id = "link.mtu/" + netdev,
            .title = netdev + " has an MTU of " + std::to_string(mtu),
            .risk = Risk::restart,
            .after = std::to_string(mtu)};
  if (lacks_netdev(situation, netdev, step)) return step;
  const std::string path = "/sys/class/net/" + netdev + "/mtu";
  step.before = line_in(*situation.machine.host, path);
  Change change{Change::Kind::attribute, path, step.after};
  return guarded(situation, netdev,
                 live_step(situation, std::move(step), path, "the driver opens its queues anew",
                           std::move(change)));
}

std::string driver_of(const Situation& situation, const std::string& netdev) {
  auto name = link_name(*situation.machine.host, "/sys/class/net/" + netdev + "/device/driver");
  return name.empty() ? "its driver" : name;
}

/// How much of something a value asks for: entries of a ring, priorities.
std::uint64_t amount_of(const std::string& name, const std::string& value) {
  if (name == "pfc") return value == "none" ? 0 : split(value, ',').size();
  return parse_unsigned(value).value_or(0);
}

/// Why a driver does not take a value. "": it says nothing against it.
std::string against_setting(const Situation& situation, const std::string& netdev,
                            const std::string& name, const std::string& value, bool has_it) {
  if (!has_it) return driver_of(situation, netdev) + " does not have it (EOPNOTSUPP)";
  const auto most = most_of_link(*situation.machine.host, link_subject(netdev, name));
  if (!most || amount_of(name, value) <= *most) return "";
  return driver_of(situation, netdev) + " takes " + std::to_string(*most) +
         (name == "pfc" ? " priorities" : "") + " at most";
}

Step setting_step(const Situation& situation, const std::string& netdev, const std::string& name,
                  const std::string& value) {
  const auto* cost = find_where(
      kCosts, [&](const LinkCost& one) { return std::string_view(name).starts_with(one.prefix); });
  const std::string subject = link_subject(netdev, name);
  Step step{.id = "link." + name + "/" + netdev,
            .title = netdev + ": " + name + " is " + value,
            .risk = risk_of_link(name),
            .after = value};
  if (lacks_netdev(situation, netdev, step)) return step;
  Change change{Change::Kind::link, subject, value};
  if (!situation.machine.is_live)
    return live_step(situation, std::move(step), subject, "", std::move(change));
  const auto now = read_link(*situation.machine.host, subject);
  if (!now) {
    return parked(std::move(step), host::errno_of(now.error()) == ENODEV
                                       ? "setup runs in another network namespace than " + netdev +
                                             ": a pod has it with hostNetwork"
                                       : now.error().message);
  }
  step.before = now->value_or("");
  std::string against = against_setting(situation, netdev, name, value, now->has_value());
  if (!against.empty()) return refused(std::move(step), std::move(against));
  return guarded(situation, netdev,
                 live_step(situation, std::move(step), "the kernel says so",
                           std::string(cost->reason), std::move(change)));
}

/// Congestion control, of the sender (reaction point) and of the receiver (notification point),
/// for each priority. Attributes of mlx5 in MLNX_OFED and DOCA; the kernel's own has none.
Step ecn_step(const Situation& situation, const std::string& netdev, std::uint8_t wanted) {
  Step step{.id = "link.ecn/" + netdev,
            .title = netdev + ": ecn is " + host::priorities_text(wanted),
            .after = host::priorities_text(wanted)};
  if (lacks_netdev(situation, netdev, step)) return step;
  unsigned now = 0xff;
  for (unsigned priority = 0; priority < host::kPriorities; ++priority) {
    const unsigned bit = 1U << priority;
    const std::string value = (wanted & bit) != 0 ? "1" : "0";
    for (const std::string point : {"roce_np", "roce_rp"}) {
      const std::string path =
          "/sys/class/net/" + netdev + "/ecn/" + point + "/enable/" + std::to_string(priority);
      const std::string text = text_of(*situation.machine.host, path);
      if (text.empty()) {
        return refused(std::move(step),
                       "there is no " + path + ": mlx5 of MLNX_OFED and DOCA has it");
      }
      if (trim(text) != "1") now &= ~bit;
      if (trim(text) != value) step.changes.push_back({Change::Kind::attribute, path, value});
    }
  }
  step.before = host::priorities_text(static_cast<std::uint8_t>(now));
  if (step.changes.empty()) {
    step.reason = "/sys/class/net/" + netdev + "/ecn";
    return step;
  }
  if (!situation.machine.is_live)
    return parked(std::move(step), "no kernel runs in this tree: apply it on the machine");
  step.state = StepState::todo;
  step.reason = "until the next boot";
  return step;
}

/// The traffic class of what the connection manager connects from now on. A folder of the device's
/// name makes its attributes appear.
Step tos_step(const Situation& situation, const std::string& netdev, unsigned tos) {
  Step step{.id = "link.tos/" + netdev,
            .title = netdev + ": tos is " + std::to_string(tos),
            .after = std::to_string(tos)};
  if (lacks_netdev(situation, netdev, step)) return step;
  host::Host& host = *situation.machine.host;
  const auto* nic = find_where(situation.node.nics,
                               [&](const node::Nic& one) { return contains(one.netdevs, netdev); });
  if (nic == nullptr) return parked(std::move(step), netdev + " has no RDMA device");
  if (!has_folder(host, system::kConnectionManager)) {
    return parked(std::move(step),
                  std::string("there is no ") + system::kConnectionManager +
                      ": load rdma_cm, and mount -t configfs none /sys/kernel/config");
  }
  const auto port = nic->ports.empty() ? 1U : nic->ports.front().number;
  const auto path = system::default_tos_path(nic->name, port);
  step.before = line_in(host, path);
  if (step.before.empty()) step.before = "the kernel's default";
  Change change{Change::Kind::attribute, path, step.after};
  return live_step(situation, std::move(step), path, "of connections that are made from now on",
                   std::move(change));
}

}  // namespace

void plan_link(const Situation& situation, Plan& plan) {
  for (const auto& [netdev, mtu] : situation.wanted.mtu)
    plan.push_back(mtu_step(situation, netdev, mtu));
  for (const auto& [netdev, wish] : situation.wanted.links) {
    for (const auto& [name, value] : wish.settings)
      plan.push_back(setting_step(situation, netdev, name, value));
    if (wish.ecn) plan.push_back(ecn_step(situation, netdev, *wish.ecn));
    if (wish.tos) plan.push_back(tos_step(situation, netdev, *wish.tos));
  }
}

}  // namespace railhead::setup
