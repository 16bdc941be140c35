// SPDX-License-Identifier: Apache-2.0
#include "node/platform_reader.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "node/kept_files.h"

namespace railhead::node {
namespace {

/// Whether the line "flags : …" has the flag; all CPUs of a machine agree on it.
bool has_hypervisor_flag(std::string_view first_processor) {
  for (const auto line : split(first_processor, '\n')) {
    if (!line.starts_with("flags")) continue;
    for (const auto flag : split_words(line)) {
      if (flag == "hypervisor") return true;
    }
    return false;
  }
  return false;
}

/// Of the first processor alone.
std::string kept_processor(std::string_view cpuinfo) {
  const auto processor = cpuinfo.substr(0, cpuinfo.find("\n\n"));
  return host::keep_lines(processor, [](std::string_view line) -> std::string {
    constexpr auto kRead = std::to_array<std::string_view>(
        {"vendor_id", "cpu family", "model", "CPU implementer", "cpu"});
    if (line.starts_with("flags"))
      return has_hypervisor_flag(line) ? "flags : hypervisor" : "flags :";
    return contains(kRead, trim(line.substr(0, line.find(':')))) ? std::string(line) : "";
  });
}

std::optional<unsigned> small_number(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number > 0xffff) return std::nullopt;
  return static_cast<unsigned>(*number);
}

Dmi read_dmi(Reader& reader) {
  const std::string folder = "/sys/class/dmi/id/";
  return {.sys_vendor = reader.text(folder + "sys_vendor"),
          .product_name = reader.text(folder + "product_name"),
          .chassis_asset_tag = reader.text(folder + "chassis_asset_tag")};
}

/// What the firmware of a virtual machine says that it is.
struct VirtualMachine {
  std::string_view vendor;
  std::string_view product;  ///< what the name begins with
};

/// Source: systemd src/basic/virt.c, which goes by DMI where no processor tells; and the table of
/// known machines. Bare metal of Amazon's says so in its name.
constexpr std::array kVirtualMachines = {
    VirtualMachine{"Microsoft Corporation", "Virtual Machine"},
    VirtualMachine{"Google", "Google Compute Engine"},
    VirtualMachine{"Amazon EC2", ""},
    VirtualMachine{"QEMU", ""},
    VirtualMachine{"Red Hat", "KVM"},
    VirtualMachine{"Cloud Hypervisor", ""},
    VirtualMachine{"OpenStack Foundation", ""},
    VirtualMachine{"VMware, Inc.", "VMware"},
    VirtualMachine{"Xen", ""},
};

bool names_virtual_machine(const Dmi& dmi) {
  const auto product = dmi.product_name.value_or("");
  if (product.find(".metal") != std::string::npos) return false;
  return std::ranges::any_of(kVirtualMachines, [&](const auto& one) {
    return dmi.sys_vendor == one.vendor && product.starts_with(one.product);
  });
}

/// The CPU flag "hypervisor", which arm64 has not: there DMI says it. Else /sys/hypervisor/type.
bool read_hypervisor(Reader& reader, std::string_view first_processor, const Platform& platform) {
  if (has_hypervisor_flag(first_processor)) return true;
  if (platform.cpu.arch == "arm64" && names_virtual_machine(platform.dmi)) return true;
  const auto type = reader.text("/sys/hypervisor/type");
  return type.has_value() && *type != "none";
}

}  // namespace

Cpu cpu_of(std::string_view first_processor) {
  Cpu cpu;
  for (const auto line : split(first_processor, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = trim(line.substr(0, colon));
    const std::string value(trim(line.substr(colon + 1)));
    if (key == "vendor_id") {
      cpu.arch = "x86_64";
      cpu.vendor = value;
    } else if (key == "cpu family") {
      cpu.family = small_number(value);
    } else if (key == "model") {
      cpu.model = small_number(value);
    } else if (key == "CPU implementer") {
      cpu.arch = "arm64";
    } else if (key == "cpu" && value.starts_with("POWER")) {
      cpu.arch = "ppc64";
    }
  }
  return cpu;
}

Platform read_platform(Reader& reader) {
  Platform platform;
  platform.name = reader.text("/proc/sys/kernel/hostname").value_or("");
  platform.dmi = read_dmi(reader);
  // The file is above the limit of a file on machines with many hundred CPUs. Whatever keeps us
  // from reading it, nothing is known of the processor then.
  const auto cpuinfo = reader.quiet("/proc/cpuinfo", kept_processor).value_or("");
  const auto processor = std::string_view(cpuinfo).substr(0, cpuinfo.find("\n\n"));
  platform.cpu = cpu_of(processor);
  platform.hypervisor = read_hypervisor(reader, processor, platform);
  platform.numa = read_numa(reader);
  return platform;
}

RdmaNetns read_rdma_netns(Reader& reader) {
  const std::string path = "/sys/module/ib_core/parameters/netns_mode";
  const auto mode = reader.text(path);
  if (!mode) return RdmaNetns::unknown;
  if (*mode == "Y") return RdmaNetns::shared;
  if (*mode == "N") return RdmaNetns::exclusive;
  reader.malformed(path, in_quotes(*mode) + " is neither Y nor N");
  return RdmaNetns::unknown;
}

std::vector<TextFile> read_cdi(Reader& reader) {
  std::vector<TextFile> files;
  for (const std::string folder : {"/etc/cdi", "/var/run/cdi"}) {
    for (const auto& name : reader.names(folder)) {
      if (!(name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml"))) continue;
      const std::string path = folder + "/" + name;
      if (files.size() == kMaxCdiFiles) {
        reader.malformed(path, "more than " + std::to_string(kMaxCdiFiles) +
                                   " specs, this and the rest are not read");
        return files;
      }
      if (auto text = reader.raw(path, name.ends_with(".json") ? kept_cdi_json : kept_cdi_yaml))
        files.push_back({path, *std::move(text)});
    }
  }
  return files;
}

}  // namespace railhead::node
