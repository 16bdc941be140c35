// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/table_feed.h"
#include "host/back_off_host.h"
#include "host/ethtool.h"
#include "host/host.h"

namespace railhead::agent {

/// One counter of the kernel: a file below /sys/class/infiniband/NIC/ports/N/ and the metric that
/// it is a sample of.
struct PortCounter {
  enum class Metric : std::uint8_t { bytes, errors, congestion, link_downs };

  std::string_view file;
  Metric metric;
  std::string_view kind;     ///< value of the label `kind` or `direction`
  std::uint64_t factor = 1;  ///< the file counts so many of the metric's unit at once
};

/// Every counter that is read, so that the labels are bounded: at most so many samples a port.
std::span<const PortCounter> port_counters();

/// Counts what the ports of physical NICs count: bytes, errors, congestion, links that went down.
/// Left out are VFs and sub-functions, of which a node can have a thousand: what goes through them
/// goes through their PF's port. Lives on a thread of its own, as each file is a question to
/// firmware.
class PortCounters {
 public:
  /// What the driver of a PCI function counts of its netdev: host::ask_driver_counters().
  using Ask = Result<std::optional<host::EthtoolCounters>> (*)(const std::string& netdev,
                                                               const std::string& pci_address);

  struct Source {
    OpenMachine open;
    Ask ask = nullptr;  ///< null where the machine is not the one that we run on
  };

  PortCounters(Context context, const TableFeed& tables, std::chrono::seconds every, Source source);

  /// Looks now, and whenever it is time.
  void start();

  /// One look.
  void read(host::Host& host, const node::Node& node);

 private:
  void read_port(host::Host& host, const node::Nic& nic, const node::Port& port);
  void rest(const node::Nic& nic, const node::Port& port);
  void read_pauses(const node::Nic& nic, const node::Port& port);
  void forget(const std::string& nic);

  Context context_;
  const TableFeed& tables_;
  std::chrono::seconds every_;
  Source source_;
  boost::asio::steady_timer timer_;
  std::set<std::string> shown_;  ///< NICs with samples
  host::Refusals refusals_;      ///< of ports, by their folder
};

}  // namespace railhead::agent
