// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendors.h"

#include <limits>

#include "base/text.h"
#include "base/variable.h"

namespace railhead::gpu {
namespace {

template <typename Is>
const GpuRow* find_row(Is is) {
  const auto* row = std::find_if(kGpuRows.begin(), kGpuRows.end(), is);
  return row == kGpuRows.end() ? nullptr : row;
}

bool any_begins(std::string_view text, const Words& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

bool sets_any(std::string_view variable, const Words& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return sets_variable(variable, name); });
}

bool is_kind(std::string_view kind, std::string_view ours) {
  if (!kind.ends_with(ours)) return false;
  return kind.size() == ours.size() || kind[kind.size() - ours.size() - 1] == '.';
}

}  // namespace

const GpuRow* gpu_row_of_pci(std::uint16_t vendor) {
  return find_row([&](const GpuRow& row) { return row.pci_vendor == vendor; });
}

const GpuRow* gpu_row_of_cdi(std::string_view kind) {
  return find_row([&](const GpuRow& row) {
    return std::any_of(row.cdi_kinds.begin(), row.cdi_kinds.end(),
                       [&](std::string_view ours) { return is_kind(kind, ours); });
  });
}

bool is_gpu_driver(std::string_view name) {
  return find_row([&](const GpuRow& row) {
           return std::find(row.drivers.begin(), row.drivers.end(), name) != row.drivers.end();
         }) != nullptr;
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
  return find_row([&](const GpuRow& row) { return any_begins(path, row.nodes); }) != nullptr;
}

bool is_gpu_mount(std::string_view destination) {
  return find_row([&](const GpuRow& row) { return any_begins(destination, row.mounts); }) !=
         nullptr;
}

bool names_gpus(std::string_view variable) {
  return find_row([&](const GpuRow& row) {
           return sets_variable(variable, row.variable) || sets_any(variable, row.own_variables);
         }) != nullptr;
}

bool is_gpu_variable(std::string_view variable) {
  return names_gpus(variable) || find_row([&](const GpuRow& row) {
                                   return sets_any(variable, row.meaning_variables);
                                 }) != nullptr;
}

}  // namespace railhead::gpu
