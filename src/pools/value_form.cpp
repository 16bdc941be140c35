// SPDX-License-Identifier: Apache-2.0
#include "pools/value_form.h"

#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/text.h"
#include "node/pci.h"
#include "pools/selectors.h"

namespace railhead::pools {
namespace {

/// A word that stands for another.
struct Meant {
  std::string_view written;
  std::string_view right;
};

/// Names of vendors, and their ids of PCI.
constexpr std::array kVendors{Meant{"mellanox", "15b3"}, Meant{"nvidia", "15b3"},
                              Meant{"intel", "8086"},    Meant{"broadcom", "14e4"},
                              Meant{"amazon", "1d0f"},   Meant{"pensando", "1dd8"}};

/// Modules that make RDMA devices or interfaces, and the PCI driver below them. No PCI function is
/// bound to them. Source: Linux drivers/infiniband/hw, drivers/net/ethernet.
constexpr std::array kUpperDrivers{
    Meant{"mlx5_ib", "mlx5_core"}, Meant{"mlx5_en", "mlx5_core"},   Meant{"mlx5_vdpa", "mlx5_core"},
    Meant{"mlx5", "mlx5_core"},    Meant{"mlx4_ib", "mlx4_core"},   Meant{"mlx4_en", "mlx4_core"},
    Meant{"mlx4", "mlx4_core"},    Meant{"ib_ipoib", "mlx5_core"},  Meant{"bnxt_re", "bnxt_en"},
    Meant{"irdma", "ice"},         Meant{"hns_roce_hw_v2", "hns3"}, Meant{"qedr", "qede"},
    Meant{"iw_cxgb4", "cxgb4"},    Meant{"mana_ib", "mana"},        Meant{"ionic_rdma", "ionic"},
    Meant{"vfio_pci", "vfio-pci"}};

/// As the kernel's RDMA drivers and udev's names for RDMA devices begin, before a number.
constexpr std::array<std::string_view, 11> kRdmaNames{"mlx4_", "mlx5_",  "bnxt_re", "irdma",
                                                      "efa_",  "erdma_", "hns_",    "qedr",
                                                      "mana_", "ionic_", "cxgb4_"};

// Of alternative names, which policies may give. Linux include/uapi/linux/if_link.h, ALTIFNAMSIZ.
constexpr std::size_t kLongestInterface = 127;

std::string write_instead(std::string_view right) {
  return ": write " + std::string(right);
}

bool is_rdma_name(std::string_view text) {
  const auto is_number = [](std::string_view rest) { return parse_unsigned(rest).has_value(); };
  if (text.starts_with("rocep") || text.starts_with("roceo") || text.starts_with("roces")) {
    return true;
  }
  return std::ranges::any_of(kRdmaNames, [&](std::string_view begin) {
    return text.starts_with(begin) && is_number(text.substr(begin.size()));
  });
}

std::string why_no_interface(std::string_view text) {
  if (node::PciAddress::parse(text)) {
    return in_quotes(text) + " is a PCI address, and no interface's name";
  }
  if (is_rdma_name(text)) {
    return in_quotes(text) + " is the name of an RDMA device, and no interface's, as ens1f0np0";
  }
  const bool is_possible = !text.empty() && text.size() <= kLongestInterface &&
                           text.find_first_of("/: \t") == std::string_view::npos;
  if (!is_possible) return in_quotes(text) + " is no name that an interface can have";
  if (text.find_first_of("*?[") != std::string_view::npos) {
    return in_quotes(text) + " is no pattern here: names are compared letter by letter";
  }
  return "";
}

/// Of a fact that is spelt in one way.
std::string why_not_spelt_so(Fact fact, std::string_view text) {
  const auto spelt = selector_of(fact).spelt(text);
  if (!spelt) return spelt.error().message;
  if (*spelt == text) return "";
  return in_quotes(text) + " is compared letter by letter" + write_instead(*spelt);
}

std::string why_no_id(Fact fact, std::string_view text) {
  if (node::PciAddress::parse(text)) {
    return in_quotes(text) + " is a PCI address, which belongs in pciAddresses; an id is as 101e";
  }
  auto why = why_not_spelt_so(fact, text);
  const auto* vendor = find_by(kVendors, &Meant::written, to_lower(text));
  if (fact == Fact::vendor && vendor != nullptr) why += write_instead(vendor->right);
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && !why.empty()) {
    const auto own = fact == Fact::vendor ? text.substr(0, colon) : text.substr(colon + 1);
    if (why_not_spelt_so(fact, own).empty()) why += write_instead(own);
  }
  return why;
}

std::string why_no_root_device(std::string_view text) {
  const auto parent = text.substr(0, text.find('#'));
  const auto why = why_not_spelt_so(Fact::pci_address, to_lower(parent));
  return parent.empty() ? "" : why;  // FunctionRange says that
}

std::string why_no_driver(std::string_view text) {
  const auto* upper = find_by(kUpperDrivers, &Meant::written, text);
  if (upper == nullptr) return "";
  return in_quotes(text) + " is no driver that a PCI function is bound to" +
         write_instead(upper->right);
}

}  // namespace

std::string why_nothing_has(Fact fact, std::string_view text) {
  switch (fact) {
    case Fact::vendor:
    case Fact::device: return why_no_id(fact, text);
    case Fact::driver: return why_no_driver(text);
    case Fact::netdev: return why_no_interface(text);
    case Fact::root_device: return why_no_root_device(text);
    case Fact::pf_name: {
      const auto parent = text.substr(0, text.find('#'));
      return parent.empty() ? "" : why_no_interface(parent);  // FunctionRange says that
    }
    case Fact::pci_address:
    case Fact::link_type:
    case Fact::first_pkey:
    case Fact::acpi_index:
    case Fact::vdpa_type: return why_not_spelt_so(fact, text);
    default: return "";
  }
}

}  // namespace railhead::pools
