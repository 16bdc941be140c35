// SPDX-License-Identifier: Apache-2.0
#include "node/ddp_reader.h"

#include "base/text.h"
#include "host/devlink.h"

namespace railhead {
namespace {

/// ICE_PKG_NAME_SIZE of Linux drivers/net/ethernet/intel/ice is 32.
constexpr std::size_t kMaxNameBytes = 256;

std::optional<std::string> read_package(Reader& reader, const std::string& address) {
  const auto answer = reader.devlink_info(address);
  if (!answer) return std::nullopt;
  auto package = running_package(*answer);
  const auto path = devlink_path(address);
  if (!package) {
    reader.malformed(path, package.error().message);
    return std::nullopt;
  }
  if (!*package) return std::nullopt;
  if ((*package)->size() <= kMaxNameBytes && is_plain_text(**package)) return *std::move(package);
  reader.malformed(path, quoted(**package) + " is not the name of a package");
  return std::nullopt;
}

}  // namespace

void read_ddp_packages(Reader& reader, std::vector<PciDevice>& pci) {
  for (auto& device : pci) {
    const bool has_packages = device.driver == "ice" || device.driver == "i40e";
    if (!has_packages || device.is_vf()) continue;
    device.ddp_package = read_package(reader, device.address.str());
  }
}

}  // namespace railhead
