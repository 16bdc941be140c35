// SPDX-License-Identifier: Apache-2.0
#include "host/changes.h"

#include <algorithm>

namespace railhead::host {
namespace {

bool is_hex(std::string_view text, std::size_t fewest, std::size_t most) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() >= fewest && text.size() <= most &&
         std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

bool MachineChanges::empty() const {
  return rdma.empty() && nodes.empty() && pci.empty() && netdevs.empty() && !gpus && !cdi &&
         !everything;
}

void MachineChanges::add(Names& names, std::string_view name) {
  if (name.empty() || names.size() >= kMaxNames) {
    everything = true;
  } else {
    names.emplace(name);
  }
}

void MachineChanges::add_pci(std::string_view address) {
  add(pci, is_pci_address(address) ? address : std::string_view());
}

void MachineChanges::merge(const MachineChanges& other) {
  for (const auto& name : other.rdma) add_rdma(name);
  for (const auto& name : other.nodes) add_node(name);
  for (const auto& address : other.pci) add_pci(address);
  for (const auto& name : other.netdevs) add_netdev(name);
  gpus = gpus || other.gpus;
  cdi = cdi || other.cdi;
  everything = everything || other.everything;
}

bool is_pci_address(std::string_view text) {
  constexpr std::size_t kBehindDomain = 8;  // ":3b:00.0"
  if (text.size() < kBehindDomain) return false;
  const auto domain = text.substr(0, text.size() - kBehindDomain);
  text.remove_prefix(domain.size());
  return is_hex(domain, 4, 8) && text[0] == ':' && is_hex(text.substr(1, 2), 2, 2) &&
         text[3] == ':' && is_hex(text.substr(4, 2), 2, 2) && text[6] == '.' && text[7] >= '0' &&
         text[7] <= '7';
}

std::string_view pci_address_in(std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto last = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (is_pci_address(last)) return last;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return {};
}

}  // namespace railhead::host
