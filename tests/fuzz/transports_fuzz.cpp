// SPDX-License-Identifier: Apache-2.0
// A pod author writes the environment. A line of the input is a variable. Whatever it says, a
// library uses nothing that is not given and usable, nothing is wanted that is given, and texts are
// short and can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "transports/nic_list.h"
#include "transports/transports.h"
#include "transports/ucx_transports.h"

namespace {

using namespace railhead;
using transports::LinkKind;

constexpr std::size_t kMostEntries = 128;
constexpr std::size_t kMostBytes = 4096;

const std::vector<transports::KnownNic>& nics() {
  static const std::vector<transports::KnownNic> all = {
      {.name = "mlx5_0", .ports = {{.link = LinkKind::infiniband}}},
      {.name = "mlx5_1",
       .given = true,
       .ports = {{.link = LinkKind::ethernet, .gids = std::vector<unsigned>{0, 1, 3}},
                 {.number = 2, .usable = false}}},
      {.name = "mlx5_10", .given = true, .ports = {{.link = LinkKind::infiniband}}},
      {.name = "rdmap0s6", .given = true, .ports = {{.link = LinkKind::efa}}}};
  return all;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const transports::Reading& reading) {
  for (const auto& library : reading.libraries) {
    for (const auto& port : library.ports) {
      require(port == "mlx5_1:1" || port == "mlx5_10:1" || port == "rdmap0s6:1");
    }
    require(library.off_by.empty() || library.ports.empty());
    require(!library.chosen || !library.ports.empty() || !library.known);
  }
  for (const auto& one : reading.wanted) require(one.nic == 0);
  for (const auto& one : reading.contradictions) {
    require(one.text.starts_with(one.variable) && one.text.size() < kMostBytes);
    require(std::ranges::none_of(one.text,
                                 [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
  }
  require(reading.obstacle() == nullptr || !reading.off_rdma().empty());
}

void check_list(const transports::NicList& list) {
  require(list.entries.size() <= kMostEntries);
  for (const auto& entry : list.entries) {
    require(!entry.names("mlx5_1", 1) || entry.names("mlx5_1"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto environment = split(text, '\n');
  check(transports::read_environment(environment, &nics()));
  const auto unknown = transports::read_environment(environment, nullptr);
  for (const auto& library : unknown.libraries) require(library.ports.empty());
  require(unknown.wanted.empty());
  for (const auto& line : environment) {
    const auto value = line.substr(std::min(line.find('=') + 1, line.size()));
    for (auto* read :
         {transports::nccl_list, transports::nvshmem_list, transports::nvshmem_mapping}) {
      check_list(read(value));
    }
    for (const auto release : transports::kUcxReleases) {
      check_list(transports::ucx_list(value, release));
    }
    (void)transports::has_rdma_transport(value);
  }
  return 0;
}
