// SPDX-License-Identifier: Apache-2.0
#include "host/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/host_error.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

constexpr std::uint32_t kMaxCounters = 65536;  ///< mlx5 has some thousands, by its queues
constexpr std::uint32_t kSpareCounters = 4096;

/// One ethtool command about one netdev. False, with errno, where the kernel refuses.
class EthtoolSocket {
 public:
  explicit EthtoolSocket(const std::string& netdev)
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    netdev.copy(request_.ifr_name, IFNAMSIZ - 1);
  }

  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }

  bool ask(void* command) {
    request_.ifr_data = static_cast<char*>(command);
    return ::ioctl(socket_.get(), SIOCETHTOOL, &request_) == 0;
  }

 private:
  UniqueFd socket_;
  ifreq request_{};
};

/// How many counters there are; 0 where the driver has none.
std::uint32_t count_of(EthtoolSocket& socket) {
  std::array<std::uint64_t, 4> buffer{};  // the head, and one number behind it
  auto* info = reinterpret_cast<ethtool_sset_info*>(buffer.data());
  info->cmd = ETHTOOL_GSSET_INFO;
  info->sset_mask = 1ULL << ETH_SS_STATS;
  if (!socket.ask(info) || info->sset_mask == 0) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, buffer.data() + sizeof *info / sizeof buffer[0], sizeof count);
  return count;
}

/// A command with a list behind its head, and room for more than is expected.
template <typename Head>
std::vector<std::uint64_t> buffer_for(std::uint32_t command, std::uint32_t count,
                                      std::size_t bytes_each) {
  const auto bytes = sizeof(Head) + (std::size_t{count} * 2 + kSpareCounters) * bytes_each;
  std::vector<std::uint64_t> buffer(bytes / sizeof(std::uint64_t) + 1);
  Head head{};
  head.cmd = command;
  std::memcpy(buffer.data(), &head, sizeof head);
  return buffer;
}

}  // namespace

EthtoolCounters paired_counters(std::string_view names, const std::vector<std::uint64_t>& numbers) {
  EthtoolCounters counters;
  for (const auto number : numbers) {
    if (names.size() < ETH_GSTRING_LEN) break;
    const auto block = names.substr(0, ETH_GSTRING_LEN);
    counters.emplace_back(block.substr(0, block.find('\0')), number);
    names.remove_prefix(ETH_GSTRING_LEN);
  }
  return counters;
}

Result<std::optional<EthtoolCounters>> ask_driver_counters(const std::string& netdev,
                                                           const std::string& pci_address) {
  if (netdev.empty() || netdev.size() >= IFNAMSIZ) return kAbsent;
  const std::string what = "ethtool " + netdev;
  EthtoolSocket socket(netdev);
  if (!socket.is_open()) return host_error(what, errno);
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (!socket.ask(&driver)) {
    return errno == EOPNOTSUPP || means_absent(errno)
               ? Result<std::optional<EthtoolCounters>>(kAbsent)
               : host_error(what, errno);
  }
  const std::string_view bus(driver.bus_info, ::strnlen(driver.bus_info, sizeof driver.bus_info));
  if (bus != pci_address) return kAbsent;
  const auto count = count_of(socket);
  if (count == 0 || count > kMaxCounters) return kAbsent;

  auto names = buffer_for<ethtool_gstrings>(ETHTOOL_GSTRINGS, count, ETH_GSTRING_LEN);
  auto* strings = reinterpret_cast<ethtool_gstrings*>(names.data());
  strings->string_set = ETH_SS_STATS;
  strings->len = count;
  if (!socket.ask(strings)) return host_error(what, errno);

  auto numbers = buffer_for<ethtool_stats>(ETHTOOL_GSTATS, count, sizeof(std::uint64_t));
  auto* stats = reinterpret_cast<ethtool_stats*>(numbers.data());
  stats->n_stats = count;
  if (!socket.ask(stats)) return host_error(what, errno);
  // Queues that come or go between the two would give one counter's number to another.
  if (strings->len != count || stats->n_stats != count) return kAbsent;
  const auto* first = reinterpret_cast<const char*>(names.data()) + sizeof(ethtool_gstrings);
  const auto* values = numbers.data() + sizeof(ethtool_stats) / sizeof(std::uint64_t);
  return std::optional(
      paired_counters({first, std::size_t{count} * ETH_GSTRING_LEN}, {values, values + count}));
}

}  // namespace railhead::host
