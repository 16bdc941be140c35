// SPDX-License-Identifier: Apache-2.0
#include "node/ddp_reader.h"

#include "base/text.h"
#include "base/utf8.h"
#include "host/devlink.h"

namespace railhead::node {
namespace {

/// ICE_PKG_NAME_SIZE of Linux drivers/net/ethernet/intel/ice is 32.
constexpr std::size_t kMaxNameBytes = 256;

/// A package, or that there is none. False where the answer cannot be kept.
bool read_package(Reader& reader, const std::string& address, std::optional<std::string>& into) {
  const auto path = host::devlink_path(address);
  const auto answer = reader.devlink_info(address);
  if (!answer) return !reader.has_problems();
  auto package = host::running_package(*answer);
  if (!package) {
    reader.malformed(path, package.error().message);
    return false;
  }
  if (!*package) return true;
  if ((*package)->size() > kMaxNameBytes || !is_plain_text(**package)) {
    reader.malformed(path, in_quotes(**package) + " is not the name of a package");
    return false;
  }
  into = *std::move(package);
  return true;
}

}  // namespace

void DdpPackages::fill(Reader& reader, std::vector<PciDevice>& pci,
                       const std::set<PciAddress>& named) {
  std::map<PciAddress, Known> kept;
  for (auto& device : pci) {
    const bool has_packages = device.driver == "ice" || device.driver == "i40e";
    if (!has_packages || device.is_vf()) continue;
    const auto known = known_.find(device.address);
    const bool is_known = known != known_.end() && known->second.driver == *device.driver &&
                          !named.contains(device.address);
    if (is_known) {
      device.ddp_package = known->second.package;
    } else if (!read_package(reader, device.address.str(), device.ddp_package)) {
      continue;
    }
    kept.emplace(device.address, Known{*device.driver, device.ddp_package});
  }
  known_ = std::move(kept);
}

}  // namespace railhead::node
