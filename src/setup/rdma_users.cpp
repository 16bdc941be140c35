// SPDX-License-Identifier: Apache-2.0
#include "setup/rdma_users.h"

#include <rdma/rdma_netlink.h>

#include <cerrno>

#include "base/contains.h"
#include "base/find.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "setup/machine.h"
#include "usage/rdma_objects.h"

namespace railhead::setup {
namespace {

/// The first object that a program made, in what the kernel lists. Queue pairs of the kernel's own
/// and those of management are always there.
template <typename Object>
const usage::ObjectOwner* owner_in(const std::vector<Object>& objects) {
  const auto* found = find_where(objects, [](const Object& one) { return !one.owner.kernel; });
  return found == nullptr ? nullptr : &found->owner;
}

std::string said(host::Host& host, const std::string& device, const usage::ObjectOwner& owner) {
  const std::string who = device + " is used by ";
  if (!owner.thread) return who + "a process that cannot be seen";
  const auto process = std::to_string(*owner.thread);
  const std::string name = line_in(host, "/proc/" + process + "/comm");
  return who + "process " + process + (name.empty() ? "" : " (" + name + ")");
}

/// Not to be seen is not to be there.
std::string unseen(const std::string& device, const Error& why) {
  return "who uses " + device + " cannot be seen: " + why.message;
}

/// From another PID namespace than the first the kernel hides who made an object
/// (drivers/infiniband/core/restrack.c, rdma_is_visible_in_pid_ns(); the number is
/// PROC_PID_INIT_INO of include/linux/proc_ns.h).
bool sees_all_processes(host::Host& host) {
  const auto own = host.readlink("/proc/self/ns/pid");
  return !own || !*own || **own == "pid:[4026531836]";
}

template <typename Object>
std::string user_in(host::Host& host, const usage::RdmaDevice& device, std::uint16_t command,
                    Result<std::vector<Object>> (*parse)(std::string_view)) {
  const auto answer = host.rdma({command, device.index});
  // A kernel that does not list them; the caller asks for others.
  if (!answer && host::errno_of(answer.error()) == EOPNOTSUPP) return "";
  if (!answer) return unseen(device.name, answer.error());
  if (!*answer) return "";
  const auto objects = parse(**answer);
  if (!objects) return unseen(device.name, objects.error());
  const auto* owner = owner_in(*objects);
  if (owner != nullptr) return said(host, device.name, *owner);
  const auto number = host::cut_short(**answer);
  return number ? unseen(device.name,
                         host::host_error(host::rdma_path({command, device.index}), *number))
                : "";
}

}  // namespace

std::string rdma_user(host::Host& host, const std::string& name) {
  if (name.empty()) return "";
  const auto answer = host.rdma({RDMA_NLDEV_CMD_GET, {}});
  if (!answer) return unseen(name, answer.error());
  if (!*answer) return "";
  const auto devices = usage::parse_rdma_devices(**answer);
  if (!devices) return unseen(name, devices.error());
  for (const auto& device : *devices) {
    if (device.name != name) continue;
    auto user = user_in(host, device, RDMA_NLDEV_CMD_RES_CTX_GET, usage::parse_user_contexts);
    // A kernel before 5.15 does not list contexts.
    if (user.empty())
      user = user_in(host, device, RDMA_NLDEV_CMD_RES_QP_GET, usage::parse_queue_pairs);
    if (!user.empty() || sees_all_processes(host)) return user;
    return "who uses " + name + " cannot be seen from a PID namespace of its own: hostPID: true";
  }
  return "";
}

std::string user_of_link(host::Host& host, const node::Node& node, const std::string& netdev) {
  for (const auto& nic : node.nics) {
    if (!contains(nic.netdevs, netdev)) continue;
    auto user = rdma_user(host, nic.name);
    if (!user.empty()) return user;
  }
  return "";
}

}  // namespace railhead::setup
