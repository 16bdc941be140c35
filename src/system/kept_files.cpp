// SPDX-License-Identifier: Apache-2.0
#include "system/kept_files.h"

#include <algorithm>
#include <array>

#include "base/absent.h"
#include "base/contains.h"
#include "base/text.h"
#include "data/below.h"
#include "host/keep.h"
#include "system/system.h"

namespace railhead::system {
namespace {

using host::is_made_of;
using host::keep_lines;
using host::keep_lines_if;

/// Values that the kernel knows. Source: Linux Documentation/admin-guide/kernel-parameters.txt.
constexpr auto kIommuArguments = std::to_array<std::string_view>(
    {"iommu", "intel_iommu", "amd_iommu", "iommu.passthrough", "iommu.strict", "iommu.forcedac",
     "amd_iommu_intr", "pci", "arm-smmu.disable_bypass"});
constexpr auto kIommuValues = std::to_array<std::string_view>({"on",
                                                               "off",
                                                               "pt",
                                                               "nopt",
                                                               "0",
                                                               "1",
                                                               "force",
                                                               "noforce",
                                                               "soft",
                                                               "calgary",
                                                               "merge",
                                                               "nomerge",
                                                               "biomerge",
                                                               "panic",
                                                               "nopanic",
                                                               "noagp",
                                                               "allowdac",
                                                               "nodac",
                                                               "usedac",
                                                               "fullflush",
                                                               "strict",
                                                               "igfx_off",
                                                               "forcedac",
                                                               "sm_on",
                                                               "sm_off",
                                                               "sp_off",
                                                               "tboot_noforce",
                                                               "force_isolation",
                                                               "force_enable",
                                                               "pgtbl_v1",
                                                               "pgtbl_v2",
                                                               "irtcachedis",
                                                               "nohugepages",
                                                               "legacy",
                                                               "vapic",
                                                               "realloc",
                                                               "nocrs",
                                                               "use_crs",
                                                               "noats",
                                                               "noaer",
                                                               "nomsi",
                                                               "noacpi",
                                                               "nommconf",
                                                               "pcie_bus_safe",
                                                               "pcie_bus_perf",
                                                               "pcie_bus_peer2peer",
                                                               "pcie_bus_tune_off",
                                                               "pcie_scan_all",
                                                               "big_root_window",
                                                               "nobfsort",
                                                               "bfsort",
                                                               "assign-busses",
                                                               "routeirq",
                                                               "nodomains",
                                                               "earlydump",
                                                               "norom"});

/// "pci=disable_acs_redir=0000:3b:00.0;pci:15b3:1021"
bool is_acs_value(std::string_view value) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"disable_acs_redir=", "config_acs=", "resource_alignment="});
  return std::ranges::any_of(kKeys, [&](std::string_view key) {
    return value.starts_with(key) &&
           value.substr(key.size()).find_first_not_of("0123456789abcdefxpci@:;.-") ==
               std::string_view::npos;
  });
}

std::string kept_argument(std::string_view word) {
  const auto equals = std::min(word.find('='), word.size());
  std::string name(word.substr(0, equals));
  if (!contains(kIommuArguments, std::string_view(name))) return "";
  if (equals == word.size()) return name;
  std::vector<std::string> values;
  for (const auto value : split(word.substr(equals + 1), ',')) {
    if (contains(kIommuValues, value) || is_acs_value(value)) values.emplace_back(value);
  }
  return values.empty() ? "" : name + "=" + join(values, ",");
}

/// The beginnings of modules that have to do with RDMA or GPUs.
constexpr auto kModules = std::to_array<std::string_view>(
    {"ib_",    "rdma",     "mlx",     "iw_",      "nvidia",  "nv_peer", "gdrdrv",
     "amdgpu", "amdkfd",   "bnxt",    "irdma",    "i40iw",   "ice",     "efa",
     "erdma",  "mana",     "hns",     "hfi1",     "qed",     "ionic",   "cxi",
     "ocrdma", "cxgb",     "rpcrdma", "xprtrdma", "svcrdma", "nfs",     "nvme_rdma",
     "siw",    "ko2iblnd", "lnet",    "vfio",     "bonding"});

bool is_our_module(std::string_view name) {
  std::string plain(name);
  std::ranges::replace(plain, '-', '_');
  return plain.size() <= 32 && is_made_of(plain, "_") &&
         std::ranges::any_of(kModules,
                             [&](std::string_view one) { return plain.starts_with(one); });
}

/// What stands in a path or an endpoint, beside letters and digits.
constexpr std::string_view kPlace = "/_-.:+${}";

bool has_word(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos;
}

std::string named(std::string_view option) {
  return std::string(option.substr(0, option.find('=')));
}

}  // namespace

std::string kept_kernel_arguments(std::string_view content) {
  std::vector<std::string> words;
  for (const auto word : split_words(content)) {
    auto kept = kept_argument(word);
    if (!kept.empty()) words.push_back(std::move(kept));
  }
  return join(words, " ") + "\n";
}

std::string kept_modules(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr auto kStates = std::to_array<std::string_view>({"Live", "Loading", "Unloading"});
    const auto words = split_words(line);
    if (words.empty() || words[0].size() > 64 || !is_made_of(words[0], "_-")) return "";
    const bool has_state = words.size() > 4 && contains(kStates, words[4]);
    return std::string(words[0]) + (has_state ? " 0 0 - " + std::string(words[4]) + " 0x0" : "");
  });
}

std::string kept_boot_modules(std::string_view content) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    const auto words = split_words(line);
    if (!words.empty() && is_our_module(words[0])) kept.append(words[0]).append("\n");
  }
  return kept;
}

std::string kept_service_arguments(std::string_view content) {
  constexpr auto kOptions = std::to_array<std::string_view>(
      {"--config", "-c", "--config-dir", "-d", "--address", "-a", "--listen", "--container-runtime",
       "--container-runtime-endpoint", "--enable-nri", "--nri-listen", "--root",
       "--nri-disable-connections"});
  const auto words = split(content, '\0');
  std::string kept(1, '\0');
  const auto add = [&](std::string_view word) { kept.append(word).push_back('\0'); };
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto word = words[i];
    if (word == "--") break;
    const auto name = named(word);
    const auto twice = name.starts_with("--") ? name : "-" + name;
    if (!contains(kOptions, std::string_view(name)) &&
        !contains(kOptions, std::string_view(twice))) {
      continue;
    }
    const auto is_plain = [](std::string_view value) { return is_made_of(value, kPlace); };
    const auto equals = word.find('=');
    if (equals != std::string_view::npos) {
      if (is_plain(word.substr(equals + 1))) add(word);
    } else if (i + 1 < words.size() && is_plain(words[i + 1])) {
      add(word);
      add(words[++i]);
    }
  }
  // Without any argument the process would be one whose arguments are hidden.
  if (kept.size() == 1 && words.size() > 1 && !words[1].empty()) add("-");
  return kept;
}

std::string kept_crio_environment(std::string_view content) {
  constexpr auto kVariables =
      std::to_array<std::string_view>({"CONTAINER_CONFIG", "CONTAINER_CONFIG_DIR"});
  std::string kept;
  for (const auto word : split(content, '\0')) {
    const auto equals = word.find('=');
    if (equals != std::string_view::npos && contains(kVariables, word.substr(0, equals)) &&
        is_made_of(word.substr(equals + 1), kPlace))
      kept.append(word).push_back('\0');
  }
  return kept.empty() ? host::keep_presence(content) : kept;
}

std::string kept_spec(std::string_view content) {
  const auto spec = data::parse_json(content);
  if (!spec) return "[\n";
  for (const auto& limit : data::items_below(*spec, {"process", "rlimits"})) {
    if (data::text_below(limit, {"type"}) != "RLIMIT_MEMLOCK") continue;
    const auto* soft = limit.find("soft");
    const auto bytes = soft == nullptr ? std::nullopt : or_absent(soft->as_unsigned());
    return "{\"process\": {\"rlimits\": [{\"type\": \"RLIMIT_MEMLOCK\"" +
           (bytes ? ", \"soft\": " + std::to_string(*bytes) : "") + "}]}}\n";
  }
  return "{}\n";
}

std::string kept_unit(std::string_view content) {
  constexpr std::string_view kEnd = ".service";
  std::string_view unit;
  for (const auto line : split(content, '\n')) {
    for (const auto name : split(line, '/')) {
      if (name.ends_with(kEnd) && is_made_of(name, "._-@:")) unit = name;
    }
  }
  if (content.empty()) return "";
  const bool is_in_pod = has_word(content, "/kubepods");
  return std::string("0::") + (is_in_pod ? "/kubepods" : "") + "/" + std::string(unit) + "\n";
}

std::string kept_kubelet_settings(std::string_view content) {
  const auto file = data::parse_yaml(content);
  if (!file) return "[\n";
  const auto endpoint = data::text_below(*file, {"containerRuntimeEndpoint"});
  if (!is_made_of(endpoint, kPlace))
    return endpoint.empty() ? "{}\n" : "containerRuntimeEndpoint: '?'\n";
  return "containerRuntimeEndpoint: '" + std::string(endpoint) + "'\n";
}

std::string kept_endpoint_argument(std::string_view content) {
  constexpr std::string_view kOption = "container-runtime-endpoint";
  std::string text(content);
  std::ranges::replace(text, '"', ' ');
  const auto words = split_words(text);
  std::string kept;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto name = std::string_view(words[i]).substr(0, words[i].find('='));
    if (name.substr(std::min(name.find_first_not_of('-'), name.size())) != kOption) continue;
    const bool is_joined = name.size() != words[i].size();
    const auto value = is_joined              ? words[i].substr(name.size() + 1)
                       : i + 1 < words.size() ? words[i + 1]
                                              : std::string_view();
    if (is_made_of(value, kPlace))
      kept += "--" + std::string(kOption) + "=" + std::string(value) + "\n";
  }
  return kept.empty() ? host::keep_presence(content) : kept;
}

bool is_runtimes_socket(std::string_view path) {
  const bool is_ours =
      has_word(path, "containerd") || has_word(path, "cri") || has_word(path, "nri");
  return is_ours && is_made_of(path, kPlace);
}

std::string kept_listeners(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    const auto words = split_words(line);
    if (words.size() != 8 || words[3] != "00010000" || !parse_unsigned(words[6])) return "";
    if (!is_runtimes_socket(words[7])) return "";
    return "0: 0 0 00010000 0001 01 " + std::string(words[6]) + " " + std::string(words[7]);
  });
}

std::string kept_process_name(std::string_view content) {
  return contains(kServiceNames, trim(content)) ? std::string(content) : "other\n";
}

std::string kept_memlock(std::string_view content) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)) != "LimitMEMLOCK")
      continue;
    const auto value = trim(line.substr(equals + 1));
    kept += "LimitMEMLOCK=";
    kept += is_made_of(value, ":") ? std::string(value) : value.empty() ? "" : "?";
    kept += "\n";
  }
  return kept.empty() ? host::keep_presence(content) : kept;
}

std::string kept_lnet_interfaces(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    const auto words = split_words(line);
    const auto at = words.empty() ? std::string_view::npos : words[0].find('@');
    if (words.size() < 2 || at == std::string_view::npos) return "";
    const auto network = words[0].substr(at + 1);
    if (!is_made_of(network, "") || !is_made_of(words[1], "")) return "";
    return "0@" + std::string(network) + " " + std::string(words[1]);
  });
}

/// "tcp0(eth0),o2ib1(ib0) 10.0.0.*": the name of each network.
std::string kept_lnet_networks(std::string_view content) {
  constexpr auto kNetworks = std::to_array<std::string_view>({"o2ib", "tcp", "kfi", "gni", "lo"});
  std::vector<std::string> names;
  for (std::size_t at = 0; at < content.size();) {
    auto end = at;
    while (end < content.size() && is_letter_or_digit(content[end])) ++end;
    const auto word = content.substr(at, end - at);
    const auto letters = word.substr(0, word.find_last_not_of("0123456789") + 1);
    if (word.size() <= 16 && contains(kNetworks, letters)) names.emplace_back(word);
    at = std::max(end, at + 1);
  }
  return join(names, ",") + "\n";
}

/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (user@host)"
std::string kept_nvidia_version(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr auto kKept =
        std::to_array<std::string_view>({"NVRM", "version:", "NVIDIA", "UNIX", "Open", "Kernel",
                                         "Module", "for", "x86_64", "aarch64", "Release", "Build"});
    const auto all = split_words(line);
    if (all.size() < 2 || all[0] != "NVRM" || all[1] != "version:") return "";
    std::vector<std::string> words;
    for (const auto word : all) {
      const bool is_number =
          word.find_first_not_of("0123456789.") == std::string_view::npos && word.size() <= 16;
      if (is_number || contains(kKept, word)) words.emplace_back(word);
    }
    return join(words, " ");
  });
}

std::string kept_nvidia_parameters(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr auto kNumbers =
        std::to_array<std::string_view>({"EnableStreamMemOPs", "GrdmaPciTopoCheckOverride"});
    constexpr std::string_view kOverride = "PeerMappingOverride=1";
    const auto colon = std::min(line.find(':'), line.size());
    const auto value = trim(line.substr(std::min(colon + 1, line.size())));
    if (contains(kNumbers, trim(line.substr(0, colon))) && parse_unsigned(value)) {
      return std::string(trim(line.substr(0, colon))) + ": " + std::string(value);
    }
    return has_word(line, kOverride) ? "RegistryDwords: \"" + std::string(kOverride) + "\"" : "";
  });
}

std::string kept_cufile(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr auto kSwitches =
        std::to_array<std::string_view>({"\"allow_compat_mode\"", "\"use_pci_p2pdma\""});
    const auto said = line.substr(0, line.find("//"));
    for (const auto key : kSwitches) {
      const auto at = said.find(key);
      if (at == std::string_view::npos) continue;
      auto value = trim(said.substr(at + key.size()));
      if (!value.starts_with(':')) continue;
      value = trim(value.substr(1));
      for (const std::string_view word : {"true", "false"}) {
        if (value.starts_with(word)) return std::string(key) + ": " + std::string(word);
      }
    }
    return "";
  });
}

std::string kept_driver_names(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    const bool is_one =
        colon != std::string_view::npos && name.size() <= 32 && is_made_of(name, "_-");
    return is_one ? std::string(name) + ":" : "";
  });
}

std::string kept_error_total(std::string_view content) {
  return keep_lines(content, [](std::string_view line) -> std::string {
    constexpr auto kTotals =
        std::to_array<std::string_view>({"TOTAL_ERR_COR", "TOTAL_ERR_FATAL", "TOTAL_ERR_NONFATAL"});
    const auto words = split_words(line);
    const bool is_total =
        words.size() == 2 && contains(kTotals, words[0]) && parse_unsigned(words[1]);
    return is_total ? std::string(words[0]) + " " + std::string(words[1]) : "";
  });
}

}  // namespace railhead::system
