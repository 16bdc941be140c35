// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace railhead::host {

/// What may have changed on the machine: the names in its events. An event without a name means
/// `everything`.
struct MachineChanges {
  using Names = std::set<std::string, std::less<>>;

  /// Names of one kind that are kept; with more it is `everything`.
  static constexpr std::size_t kMaxNames = 4096;

  Names rdma;     ///< RDMA devices, as in /sys/class/infiniband
  Names nodes;    ///< character devices of RDMA: "uverbs0", "umad0", "rdma_cm"
  Names pci;      ///< PCI functions by address, "0000:3b:00.0"
  Names netdevs;  ///< network interfaces
  bool gpus = false;
  bool cdi = false;  ///< specs of the Container Device Interface
  bool everything = false;

  [[nodiscard]] bool empty() const;

  /// True where anything may have changed.
  explicit operator bool() const { return !empty(); }

  void add_rdma(std::string_view name) { add(rdma, name); }

  void add_node(std::string_view name) { add(nodes, name); }

  /// A name that is no PCI address is `everything`.
  void add_pci(std::string_view address);

  void add_netdev(std::string_view name) { add(netdevs, name); }

  void merge(const MachineChanges& other);

  friend bool operator==(const MachineChanges&, const MachineChanges&) = default;

 private:
  void add(Names& names, std::string_view name);
};

/// "0000:3b:00.0" as the kernel prints it; domains have four to eight digits.
bool is_pci_address(std::string_view text);

/// The last component of a path that is a PCI address, "" where there is none.
std::string_view pci_address_in(std::string_view path);

/// What a kernel uevent ("add@/devices/…\0SUBSYSTEM=infiniband\0…") is about, as far as it is
/// something that the reader reads. Virtual netdevs are not: each container's veth would be one.
/// A message with more fields than the kernel sends is `everything`.
/// Source: Linux lib/kobject_uevent.c (UEVENT_NUM_ENVP is 64), include/linux/kobject.h.
MachineChanges changes_of_uevent(std::string_view message);

}  // namespace railhead::host
