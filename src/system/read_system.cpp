// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

struct PartRow {
  Part part;
  void (*read)(const Gather& gather);
};

constexpr std::array kPartRows = {
    PartRow{Part::modules, read_modules},       PartRow{Part::kernel, read_kernel},
    PartRow{Part::services, read_services},     PartRow{Part::runtime, read_runtime},
    PartRow{Part::pci_config, read_pci_config}, PartRow{Part::netdevs, read_netdevs},
    PartRow{Part::gpu_driver, read_gpu_driver}, PartRow{Part::nfs, read_nfs},
    PartRow{Part::counters, read_counters},     PartRow{Part::kernel_log, read_kernel_log},
};

constexpr const char* kNotRead = "not read";

/// The path of NRI's socket, where its name is there.
std::optional<std::string> nri_path(const System& system) {
  for (const auto& path : places_of_socket(system.nri_place())) {
    const auto slash = path.rfind('/');
    const auto names =
        system.folder(path.substr(0, slash)).value.value_or(std::vector<std::string>());
    if (contains(names, path.substr(slash + 1))) return path;
  }
  return std::nullopt;
}

/// Whether somebody listens there, or may: the kernel's table counts where it has the socket of
/// the runtime.
bool is_listened(const System& system, const std::string& path) {
  const auto has = [&](const std::string& one) {
    return find_by(system.listeners, &Listener::path, one) != nullptr;
  };
  return !has(system.runtime.socket) || !is_runtimes_socket(path) || has(socket_path(path));
}

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

const Text& Gather::text(const std::string& path, host::Keep keep) const {
  const auto at = into.texts.find(path);
  if (at != into.texts.end()) return at->second;
  auto fact = fact_of(path, host.read_keeping(path, keep));
  if (fact.value) fact.value = without_end(keep(*fact.value));
  return into.texts.emplace(path, std::move(fact)).first->second;
}

const Fact<std::vector<std::string>>& Gather::folder(const std::string& path,
                                                     host::KeepName keep) const {
  const auto at = into.folders.find(path);
  if (at != into.folders.end()) return at->second;
  return into.folders.emplace(path, fact_of(path, host.list_keeping(path, keep))).first->second;
}

void Gather::folder_with_texts(const std::string& path, host::Keep keep) const {
  constexpr std::size_t kMaxFiles = 256;
  const auto& names = folder(path, [](std::string_view name) { return name.ends_with(".conf"); });
  if (!names.value) return;
  std::size_t files = 0;
  for (const auto& name : *names.value) {
    if (!name.ends_with(".conf") || ++files > kMaxFiles) continue;
    text((path + "/").append(name), keep);
  }
}

const Service* Processes::find(std::string_view name) const {
  return find_by(services, &Service::name, name);
}

Text System::text(std::string_view path) const {
  const auto at = texts.find(path);
  return at != texts.end() ? at->second : Text{std::string(path), {}, kNotRead};
}

Fact<std::vector<std::string>> System::folder(std::string_view path) const {
  const auto at = folders.find(path);
  if (at != folders.end()) return at->second;
  return {std::string(path), {}, kNotRead};
}

std::optional<bool> System::has_module(std::string_view name) const {
  const auto loaded = text("/proc/modules");
  const auto known = folder("/sys/module");
  if (!loaded.known() || !known.known()) return std::nullopt;
  for (const auto& line : split(*loaded.value, '\n')) {
    const auto words = split_words(line);
    // "name size uses used-by state address": a module that is loading is not there yet.
    if (!words.empty() && words[0] == name) return words.size() < 5 || words[4] == "Live";
  }
  return contains(*known.value, name);
}

RuntimeAnswer System::runtime_answer() const {
  return runtime.is("crio") ? judge_crio(crio) : judge_containerd(containerd);
}

std::string System::nri_place() const {
  const auto place = runtime_answer().socket;
  return place.empty() ? std::string(kNriSocket) : place;
}

std::optional<std::string> System::nri_socket() const {
  const auto path = nri_path(*this);
  return path && is_listened(*this, *path) ? path : std::nullopt;
}

std::optional<std::string> System::dead_nri_socket() const {
  const auto path = nri_path(*this);
  return path && !is_listened(*this, *path) ? path : std::nullopt;
}

System read_system(host::Host& host, const node::Node& node, Part parts) {
  System system;
  const Gather gather{host, node, system};
  for (const auto& row : kPartRows) {
    if (has(parts, row.part)) row.read(gather);
  }
  return system;
}

System read_system(host::Host& host, const node::Node& node, Part parts, host::Clock& clock,
                   PartTimes& times) {
  System system;
  const Gather gather{host, node, system};
  for (const auto& row : kPartRows) {
    if (!has(parts, row.part)) continue;
    const auto start = clock.now();
    row.read(gather);
    times[row.part] = clock.now() - start;
  }
  return system;
}

}  // namespace railhead::system
