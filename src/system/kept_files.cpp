// SPDX-License-Identifier: Apache-2.0
#include "system/shorten.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "host/host.h"
#include "system/system.h"

namespace railhead::system {
namespace {

template <typename Words>
bool has_any(std::string_view line, const Words& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

template <typename Words>
std::string lines_with(std::string_view content, const Words& words) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    if (has_any(line, words)) kept.append(line).append("\n");
  }
  return kept;
}

/// Of the kernel's log what a check looks at: lines that fit a pattern, of mlx5 all, and links that
/// went down.
std::string kernel_log_lines(std::string_view content) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    const bool of_mlx5 = line.find("mlx5") != std::string_view::npos;
    const auto record = line.substr(line.find(';') + 1);  // the whole line where there is none
    const bool fits = pattern_of(record) != nullptr || pattern_of(line) != nullptr;
    if (!of_mlx5 && !fits && !says_link_down(line)) continue;
    kept.append(line).append("\n");
  }
  return kept;
}

/// Of these only what says how peer-to-peer is translated.
std::string kernel_arguments(std::string_view content) {
  constexpr std::array<std::string_view, 4> kKept = {"iommu", "intel_iommu", "amd_iommu", "pci="};
  std::vector<std::string> words;
  for (const auto word : split_words(content)) {
    if (std::ranges::any_of(kKept, [&](std::string_view kept) { return word.starts_with(kept); })) {
      words.emplace_back(word);
    }
  }
  return join(words, " ") + "\n";
}

void keep_flag(const data::Value& root, std::string_view outer, std::string_view inner,
               std::string_view key, std::string& out) {
  const auto* value = data::below(root, {outer, inner, key});
  if (value == nullptr || !value->as_bool()) return;
  out.append("[").append(outer).append(".\"").append(inner).append("\"]\n");
  out.append(key).append(value->as_bool().value() ? " = true\n" : " = false\n");
}

/// Whether TOML's literal strings cannot have it.
bool needs_escape(unsigned char c) {
  return c == '\'' || c < 0x20 || c == 0x7F;
}

/// Which files it names, and what it says of NRI. One that cannot be parsed stays so.
std::string runtime_settings(std::string_view content) {
  const auto root = data::parse_toml(content);
  if (!root) return "[malformed\n";
  std::string out;
  if (const auto* imports = root->find("imports")) {
    out += "imports = [";
    for (const auto& path : imports->as_strings().value_or(std::vector<std::string>())) {
      if (std::ranges::none_of(path, needs_escape)) out.append("'").append(path).append("', ");
    }
    out += "]\n";
  }
  for (const auto plugin : {kNriPlugin, kNriPluginBefore2})
    keep_flag(*root, "plugins", plugin, "disable", out);
  keep_flag(*root, "crio", "nri", "enable_nri", out);
  return out;
}

/// Names of processes that nobody asks for are nobody's business.
std::string process_name(std::string_view content) {
  const auto name = trim(content);
  const bool kept = contains(kServiceNames, name);
  return kept ? std::string(content) : "other\n";
}

/// Of the arguments only the file of configuration.
std::string config_argument(std::string_view command_line) {
  const auto words = split(command_line, '\0');
  std::string kept(1, '\0');
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool alone = (words[i] == "--config" || words[i] == "-c") && i + 1 < words.size();
    if (!alone && !words[i].starts_with("--config=")) continue;
    kept.append(words[i]).push_back('\0');
    if (alone) kept.append(words[++i]).push_back('\0');
  }
  return kept;
}

/// Of LNet's interfaces the network and its state, without the address.
std::string lnet_interfaces(std::string_view content) {
  std::string kept;
  for (const auto line : split(content, '\n')) {
    const auto words = split_words(line);
    const auto at = words.empty() ? std::string_view::npos : words[0].find('@');
    if (words.size() < 2 || at == std::string_view::npos) continue;
    kept.append("0").append(words[0].substr(at)).append(" ").append(words[1]).append("\n");
  }
  return kept;
}

struct Rule {
  std::string_view pattern;  ///< of the path
  std::string (*keep)(std::string_view content);
};

constexpr std::array kRules = {
    Rule{host::Host::kKernelLog, kernel_log_lines},
    Rule{"/proc/cmdline", kernel_arguments},
    Rule{"/proc/devices",
         [](std::string_view content) {
           return lines_with(content, std::array<std::string_view, 1>{"gdrdrv"});
         }},
    Rule{"*/lnet/nis", lnet_interfaces},
    Rule{"/proc/*/comm", process_name},
    Rule{"/proc/*/cmdline", config_argument},
    Rule{"/proc/*/status",
         [](std::string_view content) {
           return lines_with(content, std::array<std::string_view, 1>{"CapEff:"});
         }},
    Rule{"*/containerd/*.toml", runtime_settings},
    Rule{"/etc/crio/*", runtime_settings},
    Rule{"*/systemd/system/*",
         [](std::string_view content) {
           return lines_with(content, std::array<std::string_view, 1>{"LimitMEMLOCK"});
         }},
    Rule{"/etc/security/limits.d/*", [](std::string_view content) {
           return lines_with(content, std::array<std::string_view, 1>{"memlock"});
         }}};

}  // namespace

std::string shortened_file(std::string_view path, std::string content) {
  for (const auto& rule : kRules) {
    if (glob_match(rule.pattern, path)) return rule.keep(content);
  }
  return content;
}

}  // namespace railhead::system
