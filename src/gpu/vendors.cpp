// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendors.h"

#include <limits>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "base/variable.h"

namespace railhead::gpu {
namespace {

bool any_begins(std::string_view text, const Words& beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

bool sets_any(std::string_view variable, const Words& names) {
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return sets_variable(variable, name); });
}

bool is_kind(std::string_view kind, std::string_view ours) {
  if (!kind.ends_with(ours)) return false;
  return kind.size() == ours.size() || kind[kind.size() - ours.size() - 1] == '.';
}

}  // namespace

const GpuRow* gpu_row_of_pci(std::uint16_t vendor) {
  return find_where(kGpuRows, [&](const GpuRow& row) { return row.pci_vendor == vendor; });
}

const GpuRow* gpu_row_of_cdi(std::string_view kind) {
  return find_where(kGpuRows, [&](const GpuRow& row) {
    return std::ranges::any_of(row.cdi_kinds,
                               [&](std::string_view ours) { return is_kind(kind, ours); });
  });
}

bool is_gpu_driver(std::string_view name) {
  return find_where(kGpuRows, [&](const GpuRow& row) { return contains(row.drivers, name); }) !=
         nullptr;
}

std::optional<GpuNode> gpu_node(std::string_view path) {
  for (const GpuRow& row : kGpuRows) {
    for (const std::string_view beginning : row.nodes) {
      if (!path.starts_with(beginning)) continue;
      const auto minor = parse_unsigned(path.substr(beginning.size()));
      if (!minor || *minor > std::numeric_limits<std::uint32_t>::max()) continue;
      return GpuNode{row.major, static_cast<std::uint32_t>(*minor)};
    }
  }
  return std::nullopt;
}

bool is_gpu_path(std::string_view path) {
  return find_where(kGpuRows, [&](const GpuRow& row) { return any_begins(path, row.nodes); }) !=
         nullptr;
}

bool is_gpu_mount(std::string_view destination) {
  return find_where(kGpuRows, [&](const GpuRow& row) {
           return any_begins(destination, row.mounts);
         }) != nullptr;
}

bool names_gpus(std::string_view variable) {
  return find_where(kGpuRows, [&](const GpuRow& row) {
           return sets_variable(variable, row.variable) || sets_any(variable, row.own_variables);
         }) != nullptr;
}

bool is_gpu_variable(std::string_view variable) {
  return names_gpus(variable) || find_where(kGpuRows, [&](const GpuRow& row) {
                                   return sets_any(variable, row.meaning_variables);
                                 }) != nullptr;
}

}  // namespace railhead::gpu
