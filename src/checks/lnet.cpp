// SPDX-License-Identifier: Apache-2.0
//
// Lustre's network: which transports it has, and whether those over RDMA are up.
#include <array>

#include "base/text.h"
#include "checks/groups.h"

namespace railhead::checks {
namespace {

constexpr const char* kNetworks = "/sys/module/lnet/parameters/networks";
constexpr std::array kInterfaces = {"/sys/kernel/debug/lnet/nis", "/proc/sys/lnet/nis"};
constexpr std::string_view kOverRdma = "o2ib";

/// "10.0.0.5@o2ib  up  -1 …": the network and the state. Source: Lustre lnet/lnet/router_proc.c
/// (proc_lnet_nis).
void judge_interface_line(std::string_view line, const std::string& path, Findings& found) {
  const auto words = split_words(line);
  const auto at = words.empty() ? std::string_view::npos : words[0].find('@');
  if (words.size() < 2 || at == std::string_view::npos) return;
  const auto network = words[0].substr(at + 1);
  if (network == "lo") return;
  const Evidence evidence{path, std::string(network) + " " + std::string(words[1])};
  if (words[1] == "down") {
    found.fail(std::string(network), "down", "up", {evidence});
  } else {
    const std::string over = network.starts_with(kOverRdma) ? "over RDMA" : "not over RDMA";
    found.pass(std::string(network), std::string(words[1]) + ", " + over, {evidence});
  }
}

/// Without the list of interfaces: what was asked for at the module's start.
void judge_declared(const Machine& machine, Findings& found) {
  const auto networks = machine.system.text(kNetworks);
  const bool over_rdma = networks.value && networks.value->find(kOverRdma) != std::string::npos;
  const auto has_driver = machine.has_module("ko2iblnd");
  if (!networks.value) {
    found.unknown(kNode, networks);
  } else if (!over_rdma) {
    found.unknown(kNode, "networks are set up later, and the list of interfaces is not readable",
                  {evidence_of(networks)});
  } else if (has_driver == false) {
    auto& finding = found.fail(kNode, *networks.value + ", and no ko2iblnd", "module ko2iblnd",
                               {evidence_of(networks), {"/proc/modules", "no ko2iblnd"}});
    finding.remedy = "modprobe ko2iblnd. It has to be built for the OFED that is loaded.";
  } else {
    found.pass(kNode, *networks.value, {evidence_of(networks)});
  }
}

void lnet_networks(const Machine& machine, Findings& found) {
  const auto loaded = machine.has_module("lnet");
  if (!loaded) {
    found.unknown(kNode, machine.system.text("/proc/modules"));
    return;
  }
  if (!*loaded) return;
  for (const auto* path : kInterfaces) {
    const auto text = machine.system.text(path);
    if (!text.value) continue;
    for (const auto line : split(*text.value, '\n')) judge_interface_line(line, path, found);
    return;
  }
  judge_declared(machine, found);
}

using system::Part;

constexpr std::array kLnetChecks = {
    Check{.id = "lnet.networks",
          .what = "Lustre's networks are up.",
          .source = "/sys/kernel/debug/lnet/nis or /proc/sys/lnet/nis; "
                    "/sys/module/lnet/parameters/networks, /proc/modules",
          .rule = "PASS: up, over RDMA (o2ib) or not; FAIL: an interface is down, or o2ib is "
                  "declared and ko2iblnd is not loaded; SKIP: no module lnet",
          .effect = "Lustre hangs, or goes over another network",
          .remedy = "See lnetctl net show, and the port below the interface (link.port-state). To "
                    "measure: lnet_selftest for the network, IOR or fio --direct=1 for the files.",
          .remedy_class = RemedyClass::restart,
          .about = "LNet",
          .covers = "E16",
          .parts = Part::modules | Part::nfs,
          .look = lnet_networks},
};

}  // namespace

std::span<const Check> lnet_checks() {
  return kLnetChecks;
}

}  // namespace railhead::checks
