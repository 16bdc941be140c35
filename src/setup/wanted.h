// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "node/node.h"

namespace railhead::setup {

/// Virtual functions, in the words of a SriovNetworkNodePolicy
/// (k8snetworkplumbingwg/sriov-network-operator, api/v1/sriovnetworknodepolicy_types.go).
struct VfPolicy {
  std::string resource;                   ///< resourceName
  std::string vendor, device;             ///< "15b3", "101d"; "": any
  std::vector<std::string> pf_names;      ///< netdevs; "ens8f0#0-3": a part of its functions
  std::vector<std::string> root_devices;  ///< PCI addresses
  unsigned count = 0;                     ///< numVfs, of each physical function
  std::optional<unsigned> mtu;
  bool is_rdma = false;
  bool externally_managed = false;  ///< who made them keeps their number
  bool is_vfio = false;             ///< bound to vfio-pci, for virtual machines
  std::optional<bool> is_trusted;   ///< as SriovNetwork's trust has it
};

/// An element of `pf_names`.
struct PfPart {
  std::string netdev;
  unsigned first = 0, last = kAllVfs;  ///< of its virtual functions

  static constexpr unsigned kAllVfs = 65535;
};

/// "ens8f0", "ens8f0#0-3", "ens8f0#2". Absent: the part is no range of numbers.
std::optional<PfPart> part_of(const std::string& pf_name);

/// A file system of an NFS server, by RDMA.
struct NfsWish {
  std::string what;     ///< "server:/export"
  std::string where;    ///< "/mnt/ai-data", without a slash at its end
  std::string options;  ///< further ones: "vers=4.1,nconnect=16"
};

/// Settings of a netdev.
struct LinkWish {
  /// Names of setup/link_control.h and their texts, in the order in which they are set.
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<std::uint8_t> ecn;  ///< a bit for each priority with congestion control by ECN
  std::optional<unsigned> tos;      ///< of RoCE connections of the connection manager
};

struct GpudirectWish {
  bool route = false;  ///< NICs reach GPU memory by DMA-BUF or nvidia_peermem
  bool pcie = false;   ///< reads of 4096 bytes, relaxed ordering, and what switches redirect
};

/// What a node is to be like. What is not named is left as it is.
struct Wanted {
  std::string source;                ///< "profile roce", "/etc/railhead/setup.yaml"
  std::vector<std::string> modules;  ///< kernel modules, loaded now and at each boot
  /// systemd units, without ".service", that run with LimitMEMLOCK=infinity: containers inherit it
  /// from the runtime.
  std::vector<std::string> memlock_services;
  bool limits_file = false;  ///< the same in /etc/security/limits.d, for people who log in
  bool nri = false;          ///< the runtime takes NRI plugins
  std::optional<node::RdmaNetns> rdma_namespaces;  ///< ib_core's netns_mode
  std::vector<VfPolicy> sriov;
  std::map<std::string, std::string> sysctl;  ///< by sysctl_name()
  std::map<std::string, unsigned> mtu;        ///< of netdevs
  std::map<std::string, LinkWish> links;      ///< of netdevs
  std::vector<NfsWish> nfs;
  GpudirectWish gpudirect;
  std::string topology_manager_policy;  ///< of the kubelet, looked at only; "": any
};

/// Whether setup sets this one, by its path below /proc/sys, and takes it back: none that makes the
/// kernel start a program, and none that opens the machine.
bool may_be_set(std::string_view path);

/// The name of a sysctl with dots between its parts: that of "net/ipv4/conf/eth0.1/arp_ignore" is
/// "net.ipv4.conf.eth0/1.arp_ignore". The first separator says which is which (sysctl.d(5)).
std::string sysctl_name(const std::string& key);

/// A wanted state as YAML. Errors name `source`, line, column and key.
Result<Wanted> parse_wanted(const std::string& source, std::string_view text);

/// A wanted state that comes with the program.
struct Profile {
  std::string_view name;
  std::string_view text;
  std::string_view rest;  ///< a script: what the cloud, operators and their charts are to do
};

const std::vector<Profile>& profiles();

/// The error names the profiles there are.
Result<Wanted> find_profile(std::string_view name);

}  // namespace railhead::setup
