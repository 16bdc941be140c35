// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_cpu.h"

#include "topology/cpu_mask.h"

namespace railhead::topology {
namespace {

/// CPUID leaf 1: a base family of 15 is extended by another field, and the family is their sum, so
/// the kernel says 25. NCCL adds the extension shifted by four (src/graph/xml.cc), and says 175.
constexpr unsigned kExtended = 15;

unsigned to_nccl(unsigned family) {
  return family < kExtended ? family : kExtended + (family - kExtended) * 16;
}

unsigned from_nccl(unsigned family) {
  const bool shifted = family > kExtended && (family - kExtended) % 16 == 0;
  return shifted ? kExtended + (family - kExtended) / 16 : family;
}

constexpr std::size_t kLongestValue = 254;  // MAX_STR_LEN in NCCL's src/graph/xml.h, with its end

std::optional<std::string> text(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional(value);
}

std::optional<unsigned> number(const std::optional<int>& value) {
  return value && *value >= 0 ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

}  // namespace

std::optional<NcclCpu> nccl_cpu_of(const node::Cpu& cpu) {
  if (!cpu.arch) return std::nullopt;
  NcclCpu out;
  out.arch = *cpu.arch;
  if (out.arch != "x86_64") return out;
  if (!cpu.vendor || !cpu.family || !cpu.model) return std::nullopt;
  out.vendor = *cpu.vendor;
  out.family = static_cast<int>(to_nccl(*cpu.family));
  out.model = static_cast<int>(*cpu.model);
  return out;
}

std::string nccl_affinity_of(const node::Node& node, std::optional<int> numa_node) {
  std::string mask;
  for (const auto& known : node.numa) {
    if (known.id == numa_node) mask = mask_of_cpus(known.cpus);
  }
  return mask.size() <= kLongestValue ? mask : "";
}

node::Cpu cpu_from(const NcclCpu& cpu) {
  node::Cpu out;
  out.arch = text(cpu.arch);
  out.vendor = text(cpu.vendor);
  out.family = number(cpu.family);
  if (out.family) out.family = from_nccl(*out.family);
  out.model = number(cpu.model);
  return out;
}

}  // namespace railhead::topology
