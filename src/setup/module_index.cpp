// SPDX-License-Identifier: Apache-2.0
#include "setup/module_index.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/find.h"
#include "base/text.h"

namespace railhead::setup {
namespace {

/// Ubuntu's modules.dep with all extra modules has about 1 MiB.
constexpr std::size_t kMaxIndexBytes = std::size_t{16} << 20;

/// Hands out the lines of a file; nothing where there is no such file.
Status each_line(host::Tree& tree, const std::string& path,
                 const std::function<Status(std::string_view)>& use) {
  const auto text = TRY(tree.read(path, kMaxIndexBytes));
  if (!text) return {};
  unsigned number = 0;
  for (const auto line : split(*text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto status = use(line);
    if (!status) return status.error().context(path + ": line " + std::to_string(number));
  }
  return {};
}

/// The folders of modprobe.d(5), from the most to the least important.
constexpr const char* kModprobeFolders[] = {"/etc/modprobe.d", "/run/modprobe.d",
                                            "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
                                            "/lib/modprobe.d"};

/// A file hides those of its name in less important folders.
std::map<std::string, std::string> modprobe_files(host::Host& host) {
  std::map<std::string, std::string> files;
  for (const std::string folder : kModprobeFolders) {
    for (const auto& name : names_in(host, folder, ".conf"))
      files.emplace(name, folder + "/" + name);
  }
  return files;
}

/// A line that ends with a backslash goes on in the next one.
std::vector<std::string> joined_lines(const std::string& text) {
  std::vector<std::string> lines;
  bool goes_on = false;
  for (const auto line : split(text, '\n')) {
    std::string part(line);
    const bool has_more = part.ends_with('\\');
    if (has_more) part.back() = ' ';
    if (goes_on) {
      lines.back() += part;
    } else {
      lines.push_back(part);
    }
    goes_on = has_more;
  }
  return lines;
}

void add_parameter(ModuleOptions& options, std::string_view parameter) {
  if (!options.parameters.empty()) options.parameters += ' ';
  options.parameters += parameter;
}

/// "softdep vfio pre: a b post: c", in words.
void add_soft(const std::vector<std::string_view>& words, SoftDependencies& soft) {
  std::vector<std::string>* names = nullptr;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "pre:" || words[i] == "post:") {
      names = words[i] == "pre:" ? &soft.before : &soft.after;
    } else if (names != nullptr) {
      names->push_back(module_name(words[i]));
    }
  }
}

void add_options_of(const std::string& path, const std::string& text, std::string_view name,
                    ModuleOptions& options) {
  for (const auto& line : joined_lines(text)) {
    const auto words = split_words(line);
    if (words.size() < 2 || module_name(words[1]) != name) continue;
    if (words[0] == "blacklist") options.blacklist = path;
    if (words[0] == "softdep") add_soft(words, options.soft);
    if (words[0] == "install" && words.size() > 2) options.install = path;
    if (words[0] != "options") continue;
    for (std::size_t i = 2; i < words.size(); ++i) add_parameter(options, words[i]);
  }
}

}  // namespace

std::string module_name(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  name = name.substr(0, name.find(".ko"));
  std::ranges::replace(name, '-', '_');
  return name;
}

Status ModuleIndex::add_line(std::string_view line, const std::string& folder) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    return Error{ErrorCode::malformed, "no colon in " + in_quotes(std::string(line))};
  }
  const auto path = line.substr(0, colon);
  Module module;
  module.path = path.starts_with('/') ? std::string(path) : folder + "/" + std::string(path);
  for (const auto& need : split_words(line.substr(colon + 1)))
    module.needs.push_back(module_name(need));
  // depmod writes them the other way round: a module stands before what it needs itself.
  std::ranges::reverse(module.needs);
  modules_[module_name(path)] = std::move(module);
  return {};
}

/// "alias xprtrdma rpcrdma". Those of hardware are patterns ("pci:v000015B3d*"), and nobody's wish.
void ModuleIndex::add_alias(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() != 3 || words[0] != "alias") return;
  if (words[1].find_first_of("*:?[") != std::string_view::npos) return;
  aliases_.emplace(module_name(words[1]), module_name(words[2]));
}

Result<ModuleIndex> ModuleIndex::read(const Machine& machine) {
  ModuleIndex index;
  index.release_ = line_in(*machine.host, "/proc/sys/kernel/osrelease");
  if (index.release_.empty() || index.release_.find('/') != std::string::npos) return index;
  const std::string folder = "/lib/modules/" + index.release_;
  TRY_STATUS(each_line(*machine.tree, folder + "/modules.dep",
                       [&](std::string_view line) { return index.add_line(line, folder); }));
  TRY_STATUS(each_line(*machine.tree, folder + "/modules.builtin", [&](std::string_view line) {
    index.built_in_[module_name(trim(line))] = true;
    return Status();
  }));
  TRY_STATUS(each_line(*machine.tree, folder + "/modules.alias", [&](std::string_view line) {
    index.add_alias(line);
    return Status();
  }));
  TRY_STATUS(each_line(*machine.tree, folder + "/modules.softdep", [&](std::string_view line) {
    const auto words = split_words(line);
    if (words.size() > 2 && words[0] == "softdep")
      add_soft(words, index.soft_[module_name(words[1])]);
    return Status();
  }));
  return index;
}

const ModuleIndex::Module* ModuleIndex::find(std::string_view name) const {
  return find_value(modules_, name);
}

bool ModuleIndex::is_built_in(std::string_view name) const {
  return built_in_.find(name) != built_in_.end();
}

std::string ModuleIndex::resolve(const std::string& name) const {
  if (find(name) != nullptr || is_built_in(name)) return name;
  const auto* found = find_value(aliases_, name);
  return found == nullptr ? name : *found;
}

SoftDependencies ModuleIndex::soft_dependencies(std::string_view name) const {
  const auto* found = find_value(soft_, name);
  return found == nullptr ? SoftDependencies() : *found;
}

std::string against_unpacking(host::Host& host, const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {".gz", "gzip"}, {".xz", "xz"}, {".zst", "zstd"}};
  for (const auto& [suffix, kind] : kKinds) {
    if (!path.ends_with(suffix)) continue;
    const std::string text = text_of(host, "/sys/module/compression");
    const auto now = trim(text);
    if (now == kind) return "";
    return path + " is compressed, and this kernel unpacks " +
           (now.empty() ? "no modules itself" : std::string(now) + " only");
  }
  return "";
}

ModuleOptions module_options(host::Host& host, std::string_view name) {
  ModuleOptions options;
  for (const auto& [file, path] : modprobe_files(host))
    add_options_of(path, text_of(host, path), name, options);
  // "ib_core.netns_mode=0": what the boot loader says counts last, as with modprobe(8).
  const std::string command_line = text_of(host, "/proc/cmdline");
  for (const auto word : split_words(command_line)) {
    const auto dot = word.find('.');
    if (dot != std::string_view::npos && module_name(word.substr(0, dot)) == name)
      add_parameter(options, word.substr(dot + 1));
  }
  return options;
}

}  // namespace railhead::setup
