// SPDX-License-Identifier: Apache-2.0
#include "usage/held_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "gpu/vendors.h"

namespace railhead::usage {
namespace {

/// "socket:[4711]"
std::optional<std::uint64_t> socket_inode(std::string_view link) {
  constexpr std::string_view kPrefix = "socket:[";
  if (!link.starts_with(kPrefix) || !link.ends_with(']')) return std::nullopt;
  const auto inode = parse_unsigned(link.substr(kPrefix.size(), link.size() - kPrefix.size() - 1));
  if (!inode) return std::nullopt;
  return *inode;
}

bool is_devx(std::string_view link) {
  return link == "anon_inode:[devx_async_event]" || link == "anon_inode:[devx_async_cmd]";
}

/// A unit's node, as its driver names it. (A container may name files of its own as it likes.)
bool is_other_fabric(std::string_view link) {
  constexpr std::array<std::string_view, 2> kNodes = {"/dev/hfi1_", "/dev/cxi"};
  constexpr std::size_t kDigits = 2;
  return std::ranges::any_of(kNodes, [&](std::string_view node) {
    return link.starts_with(node) && parse_unsigned(link.substr(node.size())) &&
           link.size() <= node.size() + kDigits;
  });
}

/// Every process that uses CUDA has the control node open, and so has nvidia-smi.
bool is_gpu_itself(std::string_view link) {
  return gpu::is_gpu_path(link) && link != "/dev/nvidiactl" && !link.starts_with("/dev/nvidia-");
}

void add_link(const std::string& link, HeldFiles& held) {
  if (const auto inode = socket_inode(link)) held.sockets.insert(*inode);
  if (is_devx(link)) ++held.devx;
  if (is_imex_channel(link)) ++held.imex_channels;
  if (is_other_fabric(link)) held.other_fabrics.insert(link);
}

void merge(HeldFiles&& mine, HeldFiles& held) {
  held.sockets.merge(mine.sockets);
  held.devx += mine.devx;
  held.imex_channels += mine.imex_channels;
  held.other_fabrics.merge(mine.other_fabrics);
  held.gpu_processes.insert(held.gpu_processes.end(), mine.gpu_processes.begin(),
                            mine.gpu_processes.end());
}

std::string more_than(std::size_t limit, const std::string& what) {
  return "more than " + std::to_string(limit) + " " + what;
}

}  // namespace

bool is_imex_channel(std::string_view path) {
  return path.starts_with("/dev/nvidia-caps-imex-channels/channel");
}

bool tells_of_use(std::string_view target) {
  return socket_inode(target) || is_devx(target) || is_imex_channel(target) ||
         is_other_fabric(target) || is_gpu_itself(target);
}

bool HeldFilesReader::add(std::uint32_t process, std::size_t limit, HeldFiles& held) {
  const auto folder = proc_dir_ + "/" + std::to_string(process) + "/fd";
  HeldFiles mine;
  bool has_gpu = false;
  const auto walk = host_.walk_links(folder, limit, [&](const std::string& link) {
    add_link(link, mine);
    has_gpu = has_gpu || is_gpu_itself(link);
  });
  if (!walk) {
    held.doubt = walk.error().message;
    return true;
  }
  if (!*walk) return true;  // it has ended
  looked_at_ += (*walk)->entries;
  if (!is_still(host_, proc_dir_, table_, process)) return true;  // those were another's
  const auto known = table_.by_id.find(process);
  if (known != table_.by_id.end() && known->second.leaderless) {
    held.doubt = folder + " shows none, because its first thread has ended";
  }
  if (has_gpu) mine.gpu_processes.push_back(process);
  merge(std::move(mine), held);
  if ((*walk)->failure) held.doubt = (*walk)->failure->message;
  return !(*walk)->is_cut;
}

HeldFiles HeldFilesReader::read(const std::vector<std::uint32_t>& processes) {
  HeldFiles held;
  const auto before = looked_at_;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (i == kProcesses) {
      held.doubt = more_than(kProcesses, "processes may hold them");
      break;
    }
    const auto theirs = before + kDescriptors;
    if (add(processes[i], std::min(theirs, kInAll) - looked_at_, held)) continue;
    held.doubt = theirs <= kInAll ? more_than(kDescriptors, "descriptors may be theirs")
                                  : more_than(kInAll, "descriptors are open on this node");
    break;
  }
  return held;
}

}  // namespace railhead::usage
