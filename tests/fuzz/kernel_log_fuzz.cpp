// SPDX-License-Identifier: Apache-2.0
//
// Lines of the kernel's log, the addresses in them, and what a snapshot keeps of them
// and of other files of the kernel and of services.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "system/gather.h"
#include "system/kept_files.h"
#include "system/lldp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = railhead::system::parse_kernel_log(text);
  if (lines.size() > railhead::system::kMaxLogLines) std::abort();
  for (const auto& line : lines) {
    if (railhead::system::addresses_in(line.text).size() > line.text.size()) std::abort();
  }
  using namespace railhead::system;
  for (const auto keep :
       {kept_kernel_log, kept_kernel_arguments, kept_modules, kept_boot_modules,
        kept_service_arguments, kept_unit, kept_kubelet_settings, kept_endpoint_argument,
        kept_listeners, kept_process_name, kept_memlock, kept_lnet_interfaces, kept_lnet_networks,
        kept_cufile, kept_lldp, kept_driver_names, kept_nvidia_version, kept_nvidia_parameters,
        kept_error_total}) {
    const auto kept = keep(text);
    if (keep(kept) != kept) std::abort();
  }
  return 0;
}
