// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <vector>

#include "node/node.h"
#include "node/reader.h"

namespace railhead::node {

/// What the NVIDIA driver says of its GPUs: the functions below /sys/bus/pci/drivers/nvidia and
/// those below /proc/driver/nvidia/gpus.
struct NvidiaDriver {
  bool present = false;          ///< one of the two folders is there
  std::set<PciAddress> bound;    ///< in /sys/bus/pci/drivers/nvidia
  std::set<PciAddress> in_proc;  ///< in /proc/driver/nvidia/gpus

  friend bool operator==(const NvidiaDriver&, const NvidiaDriver&) = default;
};

NvidiaDriver read_nvidia_driver(Reader& reader);

/// What the NVIDIA driver says of a GPU in /proc/driver/nvidia/gpus/<address>/information. Reading
/// it wakes a sleeping card, and none of it changes while the driver holds the function.
class NvidiaInformation {
 public:
  /// Fills in model, UUID, minor number and whether it is excluded. What the driver does not know
  /// yet (a UUID of question marks), and what could not be used, is asked again next time.
  void read(Reader& reader, Gpu& gpu);

  void forget(const PciAddress& address) { known_.erase(address); }

  /// Forgets all others.
  void keep_only(const std::set<PciAddress>& driven);

 private:
  std::map<PciAddress, Gpu> known_;
};

/// GPUs that the driver `nvidia` drives. Functions bound to another driver (vfio-pci, nouveau) are
/// not this node's GPUs, neither are a vGPU host's virtual functions. A tree without any word of
/// the driver (a picture of the hardware only) has every NVIDIA GPU function. Sorted by address.
std::vector<Gpu> read_nvidia_gpus(Reader& reader, const NvidiaDriver& driver,
                                  const std::vector<PciDevice>& pci,
                                  NvidiaInformation& information);

/// GPUs of all vendors whose nodes are DRM's, under a driver of their row, without VGA that has no
/// render node. Sorted by address; the index counts those of a vendor in that order.
std::vector<Gpu> read_drm_gpus(Reader& reader, const std::vector<PciDevice>& pci);

/// UUIDs that AMD's compute driver (kfd) knows. By address; empty where it is not there.
std::map<PciAddress, std::string> read_kfd_uuids(Reader& reader);

}  // namespace railhead::node
