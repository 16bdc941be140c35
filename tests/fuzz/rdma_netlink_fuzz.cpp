// SPDX-License-Identifier: Apache-2.0
//
// Answers of the kernel's RDMA netlink and devlink, and what else tells of processes: the first
// byte chooses.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "container/job_arguments.h"
#include "container/job_size.h"
#include "host/dcb_netlink.h"
#include "host/devlink.h"
#include "host/ethtool_netlink.h"
#include "host/generic_netlink.h"
#include "host/rdma_netlink.h"
#include "host/tcp_diag.h"
#include "host/vf_netlink.h"
#include "usage/bundle.h"
#include "usage/cgroup.h"
#include "usage/processes.h"
#include "usage/rdma_objects.h"
#include "usage/sockets.h"
#include "usage/unsafe_lists.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void fuzz_dump(std::string_view bytes) {
  std::string answer;
  int error_number = 0;
  (void)railhead::host::take_rdma_datagram(bytes, 1, answer, error_number);
  std::string blanked(bytes);
  railhead::host::blank_unread_attributes(blanked);
  require(blanked.size() == bytes.size());
  // What is read is what was there: blanking changes no object.
  const auto same = [&](auto parse) {
    const auto before = parse(bytes);
    const auto after = parse(blanked);
    require(before.has_value() == after.has_value() || !before.has_value());
    if (before && after) require(*before == *after);
  };
  same(railhead::usage::parse_rdma_devices);
  same(railhead::usage::parse_queue_pairs);
  same(railhead::usage::parse_memory_regions);
  same(railhead::usage::parse_protection_domains);
  same(railhead::usage::parse_user_contexts);
  same(railhead::usage::parse_connection_ids);
}

void fuzz_devlink(std::string_view bytes) {
  std::string answer;
  int error_number = 0;
  (void)railhead::host::take_generic_datagram(bytes, 2, answer, error_number);
  require(answer.size() <= bytes.size());
  (void)railhead::host::family_number(bytes);
  std::string blanked(bytes);
  railhead::host::blank_unread_info(blanked);
  require(blanked.size() == bytes.size());
  const auto settings = railhead::host::devlink_parameters(bytes);
  const auto kept = railhead::host::devlink_parameters(blanked);
  if (settings && (!kept || *settings != *kept)) std::abort();
  const auto before = railhead::host::running_package(bytes);
  const auto after = railhead::host::running_package(blanked);
  require(before.has_value() == after.has_value());
  if (before) require(*before == *after);
}

void fuzz_link(std::string_view bytes) {
  const auto numbers = railhead::host::parse_ethtool(bytes);
  if (numbers) require(numbers->size() <= bytes.size());
  const auto dcb = railhead::host::parse_dcb(bytes);
  if (dcb && dcb->dscp) require(dcb->dscp->size() <= railhead::host::kDscps);
  (void)railhead::host::dcb_status(bytes, 1);
  // What a snapshot keeps says the same, and stays as it is.
  const auto kept_dcb = railhead::host::kept_of_dcb(bytes);
  require(kept_dcb.empty() == !dcb);
  if (dcb) {
    const auto again = railhead::host::parse_dcb(kept_dcb);
    require(again && *again == *dcb);
    require(railhead::host::kept_of_dcb(kept_dcb) == kept_dcb);
  }
  const auto kept_vfs = railhead::host::kept_of_vfs(bytes);
  if (!kept_vfs.empty()) require(railhead::host::kept_of_vfs(kept_vfs) == kept_vfs);
  require(!railhead::host::parse_vf_settings(bytes) || !kept_vfs.empty());
  (void)railhead::host::pfc_change("ens8f0", bytes, 8, 1);
}

/// No more connections than lines.
void fuzz_sockets(std::string_view text) {
  const auto inodes = railhead::usage::established_elsewhere(text);
  require(inodes.size() <= railhead::split(text, '\n').size());
}

void fuzz_job(std::string_view text) {
  const auto env = railhead::split(text, '\n');
  const auto size = railhead::container::job_size(env);
  require(size.nodes.value_or(1) > 0 && size.ranks.value_or(1) > 0);
  if (size == railhead::container::JobSize()) return;
  require(std::ranges::any_of(env, railhead::container::is_job_variable));
}

void fuzz_arguments(std::string_view text) {
  const auto size = railhead::container::job_size_of_arguments(text);
  require(size.nodes.value_or(1) > 0 && size.ranks.value_or(1) > 0);
  // What a snapshot keeps says the same.
  const auto kept = railhead::container::shortened_arguments(text);
  require(railhead::container::job_size_of_arguments(kept) == size);
}

void fuzz_tcp(std::string_view bytes) {
  std::vector<railhead::host::TcpSocket> sockets;
  int error_number = 0;
  (void)railhead::host::take_tcp_datagram(bytes, 1, sockets, error_number);
  require(sockets.size() <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'c': (void)railhead::usage::container_of_cgroup(text); break;
    case 's': (void)railhead::usage::parse_stat(text); break;
    case 'u': (void)railhead::usage::parse_uptime(text); break;
    case 't': fuzz_sockets(text); break;
    case 'j': fuzz_job(text); break;
    case 'a': fuzz_arguments(text); break;
    case 'n': fuzz_tcp(text); break;
    case 'v': (void)railhead::usage::parse_kernel_version(text); break;
    case 'l': fuzz_devlink(text); break;
    case 'e': fuzz_link(text); break;
    case 'd': (void)railhead::usage::netdev_bytes(text); break;
    case 'b': {
      // What a snapshot keeps of a spec is a spec, and of another text it is none.
      const auto kept = railhead::usage::shortened_bundle(text);
      require(railhead::usage::parse_bundle(kept).has_value() ==
                  railhead::usage::parse_bundle(text).has_value() ||
              kept.size() > (1U << 20U));
      break;
    }
    default: fuzz_dump(text); break;
  }
  return 0;
}
