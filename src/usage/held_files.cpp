// SPDX-License-Identifier: Apache-2.0
#include "usage/held_files.h"

#include <optional>

#include "base/text.h"
#include "gpu/vendors.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxDescriptors = 65536;
constexpr std::size_t kMaxHolders = 1024;
constexpr std::size_t kMaxFabrics = 64;

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

bool is_other_fabric(std::string_view link) {
  return link.starts_with("/dev/hfi1_") || link.starts_with("/dev/cxi");
}

/// Every process that uses CUDA has the control node open, and so has nvidia-smi.
bool is_gpu_itself(std::string_view link) {
  return gpu::is_gpu_path(link) && link != "/dev/nvidiactl" && !link.starts_with("/dev/nvidia-");
}

class Reader {
 public:
  Reader(host::Host& host, HeldFiles& held)
      : host_(host),
        held_(held) {}

  void read(const std::string& folder, std::uint32_t process) {
    const auto names = host_.list(folder);
    if (!names) held_.doubt = names.error().message;
    if (!names || !*names) return;  // not for us to see, or ended
    bool has_gpu = false;
    for (const auto& name : **names) {
      if (++descriptors_ > kMaxDescriptors) {
        held_.doubt = "more than " + std::to_string(kMaxDescriptors) + " descriptors may be theirs";
        held_.is_cut = true;
        break;
      }
      const auto link = host_.readlink(folder + "/" + name);
      if (!link) held_.doubt = link.error().message;
      if (!link || !*link) continue;
      add(**link);
      has_gpu = has_gpu || is_gpu_itself(**link);
    }
    if (has_gpu) held_.gpu_processes.push_back(process);
  }

 private:
  void add(const std::string& link) {
    if (const auto inode = socket_inode(link)) held_.sockets.insert(*inode);
    if (is_devx(link)) ++held_.devx;
    if (is_imex_channel(link)) ++held_.imex_channels;
    const bool has_room = held_.other_fabrics.size() < kMaxFabrics;
    if (is_other_fabric(link) && has_room) held_.other_fabrics.insert(link);
  }

  host::Host& host_;
  HeldFiles& held_;
  std::size_t descriptors_ = 0;
};

}  // namespace

bool is_imex_channel(std::string_view path) {
  return path.starts_with("/dev/nvidia-caps-imex-channels/channel");
}

HeldFiles read_held_files(host::Host& host, const std::string& proc_dir,
                          const std::vector<std::uint32_t>& processes) {
  HeldFiles held;
  Reader reader(host, held);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (i == kMaxHolders) {
      held.doubt = "more than " + std::to_string(kMaxHolders) + " processes may hold them";
      held.is_cut = true;
      break;
    }
    reader.read(proc_dir + "/" + std::to_string(processes[i]) + "/fd", processes[i]);
  }
  return held;
}

}  // namespace railhead::usage
