// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_networks.h"

#include <array>

#include "base/text.h"

namespace railhead::proof {
namespace {

struct Known {
  std::string_view name;  ///< a glob
  NcclCarrier carrier;
};

/// IB and Socket: NVIDIA/nccl src/transport. IBext*: nccl-rdma-sharp-plugins. IB-CAST: ROCm's RCCL.
/// gIB: Google's RoCE plugin. SHARP: CollNet over InfiniBand. FastSocket, GPUDirectTCPX*, FasTrak:
/// Google's plugins on TCP, which may say GDRDMA all the same.
constexpr std::array kNetworks = {
    Known{"IB", NcclCarrier::rdma},          Known{"IBext*", NcclCarrier::rdma},
    Known{"IB-CAST", NcclCarrier::rdma},     Known{"gIB", NcclCarrier::rdma},
    Known{"SHARP", NcclCarrier::rdma},       Known{"Socket", NcclCarrier::tcp},
    Known{"FastSocket", NcclCarrier::tcp},   Known{"GPUDirectTCPX*", NcclCarrier::tcp},
    Known{"FasTrak", NcclCarrier::tcp},      Known{"AWS Libfabric", NcclCarrier::unknown},
    Known{"Libfabric", NcclCarrier::unknown}};

/// libfabric's fi_provider(7): efa (SRD), cxi (Slingshot), verbs; tcp, sockets, udp. A layered
/// name such as "verbs;ofi_rxm" begins with what is underneath.
constexpr std::array kProviders = {
    Known{"efa*", NcclCarrier::rdma},    Known{"cxi*", NcclCarrier::rdma},
    Known{"verbs*", NcclCarrier::rdma},  Known{"tcp*", NcclCarrier::tcp},
    Known{"sockets*", NcclCarrier::tcp}, Known{"udp*", NcclCarrier::tcp}};

template <typename Rows>
NcclCarrier look_up(const Rows& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (glob_match(row.name, name)) return row.carrier;
  }
  return NcclCarrier::unknown;
}

}  // namespace

NcclCarrier nccl_carrier(std::string_view network, std::string_view ofi_provider) {
  if (network == "AWS Libfabric" || network == "Libfabric") {
    return look_up(kProviders, ofi_provider);
  }
  return look_up(kNetworks, network);
}

}  // namespace railhead::proof
