// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/pci.h"
#include "node/reader.h"

namespace railhead::node {

/// The packages of Dynamic Device Personalization. A driver answers while it holds its device's
/// lock, which it does for minutes while firmware is written: what it said once is kept.
class DdpPackages {
 public:
  /// Fills PciDevice::ddp_package: one question for each physical function that one of Intel's
  /// drivers with such packages holds (ice, i40e), none for anything else. Answers of functions
  /// that are named, and of those that are held no more, are forgotten first.
  void fill(Reader& reader, std::vector<PciDevice>& pci, const std::set<PciAddress>& named);

 private:
  struct Known {
    std::string driver;
    std::optional<std::string> package;
  };

  std::map<PciAddress, Known> known_;
};

}  // namespace railhead::node
