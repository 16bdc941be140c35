// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_process.h"

#include <utility>

#include "proof/nccl_source.h"

namespace railhead::proof {
namespace {

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void read_devices(NcclProcess& process, NcclDeviceList list) {
  if (list.devices.empty()) return;
  if (list.network == "Socket") {
    process.interfaces = std::move(list.devices);
    return;
  }
  process.listed = list.network;
  for (const auto& device : list.devices) process.names[device.index] = device.name;
  process.relaxed_ordering = list.relaxed_ordering;
  process.devices = std::move(list.devices);
}

void read_capability(NcclProcess& process, const NcclGpuDirect& said) {
  if (process.names.size() < kMaxNamedDevices && !said.device.name.empty()) {
    process.names.emplace(said.device.index, said.device.name);
  }
  process.surveyed = said.network;
  if (said.enabled && !said.route.empty()) process.routes.emplace(said.route);
}

/// Why there is no RDMA, in the words of the versions since 2.18.
std::optional<NcclSign> obstacle(std::string_view message) {
  // People write it from memory: "Net/IB: No device found".
  const bool is_of_ib = message.starts_with("NET/IB") || message.starts_with("Net/IB");
  if (is_of_ib && says(message, "No device found")) return NcclSign::no_device;
  if (says(message, "Failed to open libibverbs")) return NcclSign::no_library;
  if (says(message, "Unable to open device")) return NcclSign::not_opened;
  if (says(message, "NCCL_IB_DISABLE set by environment to 1")) return NcclSign::switched_off;
  if (says(message, "NCCL_NET set by environment to Socket")) return NcclSign::switched_off;
  if (says(message, "Failed to initialize NET plugin IB") ||
      says(message, "NET/OFI No eligible providers")) {
    return NcclSign::plugin_failed;
  }
  return std::nullopt;
}

/// Google's plugins over TCP announce themselves: the first words of what they print.
std::string_view tcp_plugin(std::string_view message) {
  for (const std::string_view name : {"FastSocket", "FasTrak", "GPUDirectTCPX"}) {
    if (message.starts_with("NET/" + std::string(name))) return name;
  }
  return says(message, "tcpxResult_t") ? "GPUDirectTCPX" : std::string_view();
}

constexpr std::string_view kInitialized = "Initialized NET plugin ";

/// "SHARP rank 1/4 initialized on mlx5_4:1": CollNet over InfiniBand (nccl-rdma-sharp-plugins,
/// src/sharp_plugin.c). The device; "" in other messages.
std::string_view sharp_device(std::string_view message) {
  constexpr std::string_view kMiddle = " initialized on ";
  const auto at = message.find(kMiddle);
  if (!message.starts_with("SHARP rank ") || at == std::string_view::npos) return {};
  const auto name = message.substr(at + kMiddle.size(), 64);
  return name.substr(0, name.find_first_of(" \t"));
}

/// What a process says of itself without a place of its own among the evidence.
void read_traits(NcclProcess& process, std::string_view message) {
  if (message.starts_with(kInitialized)) {
    process.initialized = message.substr(kInitialized.size(), 64);
    process.initialized = process.initialized.substr(0, process.initialized.find_first_of(" \t"));
  }
  // 2.4; from 2.5 on the words go on behind the bracket.
  if (message.starts_with("NET/Plugin : No plugin found (libnccl-net.so).")) {
    process.is_before_2_7 = true;
  }
  if (nccl_dma_buf_is_off(message)) process.dma_buf_is_off = true;
  if (const auto provider = nccl_ofi_provider_of_address(message);
      provider && process.ofi_provider.empty()) {
    process.ofi_provider = *provider;
  }
  if (const auto name = tcp_plugin(message); !name.empty()) process.listed = name;
}

}  // namespace

void note(NcclEvidence& evidence, NcclSign sign, NcclPlace place, std::string_view text) {
  if (evidence.find(sign) == evidence.end()) evidence.emplace(sign, nccl_quote(place, text));
}

void read_about_process(NcclProcess& process, std::string_view message, NcclPlace place) {
  read_traits(process, message);
  if (!tcp_plugin(message).empty() || message.starts_with(kInitialized)) {
    note(process.evidence, NcclSign::plugin, place, message);
  }
  if (auto list = nccl_device_list(message)) {
    if (list->network != "Socket") {
      note(process.evidence, list->is_empty ? NcclSign::no_list : NcclSign::devices, place,
           message);
    }
    read_devices(process, std::move(*list));
  } else if (auto old = nccl_old_device(message)) {
    note(process.evidence, NcclSign::devices, place, message);
    process.is_before_2_7 = true;
    const bool has_room = process.names.size() < kMaxNamedDevices;
    if (has_room && process.names.emplace(old->index, old->name).second) {
      process.devices.push_back(std::move(*old));
    }
  } else if (const auto merged = nccl_virtual_device(message)) {
    if (process.names.size() < kMaxNamedDevices) process.names[merged->index] = merged->name;
  } else if (const auto said = nccl_gpu_direct(message)) {
    note(process.evidence, NcclSign::capability, place, message);
    read_capability(process, *said);
  } else if (!sharp_device(message).empty()) {
    note(process.evidence, NcclSign::capability, place, message);
    if (process.surveyed.empty()) process.surveyed = "SHARP";
  } else if (const auto provider = nccl_ofi_provider(message)) {
    note(process.evidence, NcclSign::provider, place, message);
    process.ofi_provider = *provider;
  } else if (const auto filter = nccl_ofi_filter(message)) {
    note(process.evidence, NcclSign::provider, place, message);
    process.ofi_filter = *filter;
  } else if (says(message, "DMA-BUF is available on GPU device")) {
    note(process.evidence, NcclSign::dma_buf, place, message);
    process.routes.emplace("DMA-BUF");
  } else if (const auto plugin = nccl_plugin(message)) {
    note(process.evidence, NcclSign::plugin, place, message);
    // What sits in the plugin says more than the plugin's name.
    if (process.plugin.empty() || message.starts_with("P2P plugin")) process.plugin = *plugin;
  } else if (nccl_made_queue_pair(message)) {
    note(process.evidence, NcclSign::queue_pair, place, message);
  } else if (const auto why = obstacle(message)) {
    note(process.evidence, *why, place, message);
  }
}

}  // namespace railhead::proof
