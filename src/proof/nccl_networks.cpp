// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_networks.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace railhead::proof {
namespace {

constexpr std::size_t kMaxNetworkName = 64;
constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

struct Known {
  std::string_view name;  ///< a glob
  Carrier carrier;
};

/// IB and Socket: NVIDIA/nccl src/transport. IBext*: nccl-rdma-sharp-plugins. IB-CAST: ROCm's RCCL.
/// gIB: Google's RoCE plugin. RCCL-ANP: AMD's for its own NICs, on verbs (ROCm/amd-anp
/// src/net_ib.cc). SHARP: CollNet over InfiniBand. FastSocket, GPUDirectTCPX*, FasTrak: Google's
/// plugins on TCP, which may say GDRDMA all the same. UCX*: nccl-rdma-sharp-plugins, which gives
/// UCX the one RDMA device as its network (NET_DEVICES, src/ucx_plugin.c). NCCL RDMA Plugin: its
/// stub, below which is IBext or one of these (src/p2p_plugin.c).
constexpr std::array kNetworks = {Known{"IB", Carrier::rdma},
                                  Known{"IBext*", Carrier::rdma},
                                  Known{"IB-CAST", Carrier::rdma},
                                  Known{"gIB", Carrier::rdma},
                                  Known{"SHARP", Carrier::rdma},
                                  Known{"UCX*", Carrier::rdma},
                                  Known{"NCCL RDMA Plugin*", Carrier::rdma},
                                  Known{"Socket", Carrier::tcp},
                                  Known{"FastSocket", Carrier::tcp},
                                  Known{"GPUDirectTCPX*", Carrier::tcp},
                                  Known{"RCCL-ANP*", Carrier::rdma},
                                  Known{"FasTrak", Carrier::tcp},
                                  Known{"AWS Libfabric", Carrier::unknown},
                                  Known{"Libfabric", Carrier::unknown}};

/// libfabric's fi_provider(7): efa (SRD), cxi (Slingshot), verbs; tcp, sockets, udp. A layered
/// name such as "verbs;ofi_rxm" begins with what is underneath.
constexpr std::array kProviders = {Known{"efa*", Carrier::rdma},    Known{"cxi*", Carrier::rdma},
                                   Known{"verbs*", Carrier::rdma},  Known{"tcp*", Carrier::tcp},
                                   Known{"sockets*", Carrier::tcp}, Known{"udp*", Carrier::tcp}};

/// Transports of UCX: src/uct/ib, src/uct/tcp, src/uct/ugni.
constexpr std::array kUcxTransports = {Known{"rc_*", Carrier::rdma}, Known{"dc_*", Carrier::rdma},
                                       Known{"ud_*", Carrier::rdma}, Known{"gga_*", Carrier::rdma},
                                       Known{"srd*", Carrier::rdma}, Known{"ugni_*", Carrier::rdma},
                                       Known{"tcp", Carrier::tcp}};

constexpr std::array kStoreTransports = {Known{"RDMA", Carrier::rdma}, Known{"TCP", Carrier::tcp}};

template <typename Rows>
Carrier look_up(const Rows& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (glob_match(row.name, name)) return row.carrier;
  }
  return Carrier::unknown;
}

std::string_view without_star(std::string_view glob) {
  return glob.substr(0, glob.find('*'));
}

}  // namespace

Carrier carrier_of_network(std::string_view name, std::string_view ofi_provider) {
  if (name == "AWS Libfabric" || name == "Libfabric") return look_up(kProviders, ofi_provider);
  return look_up(kNetworks, name);
}

Carrier carrier_of_ucx(std::string_view transport) {
  return look_up(kUcxTransports, transport);
}

Carrier carrier_of_store(std::string_view transport) {
  return look_up(kStoreTransports, transport);
}

std::string_view network_over_tcp(std::string_view text) {
  const auto name = text.substr(0, text.find_first_not_of(kNameLetters));
  for (const auto& row : kNetworks) {
    if (row.carrier != Carrier::tcp) continue;
    const auto known = without_star(row.name);
    if (name.starts_with(known)) return name.size() > kMaxNetworkName ? known : name;
    if (name.size() == text.size() && !name.empty() && known.starts_with(name)) return known;
  }
  return {};
}

bool is_other_than_tcp(std::string_view text) {
  return std::any_of(kNetworks.begin(), kNetworks.end(), [&](const Known& row) {
    const auto known = without_star(row.name);
    return row.carrier != Carrier::tcp && !text.empty() &&
           (text.starts_with(known) || known.starts_with(text));
  });
}

}  // namespace railhead::proof
