// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/contains.h"
#include "base/text.h"
#include "system/gather.h"

namespace railhead::system {
namespace {

/// The file behind --config or -c: arguments end with a NUL each.
std::string config_of(std::string_view command_line) {
  const auto words = split(command_line, '\0');
  for (std::size_t i = 1; i < words.size(); ++i) {
    if ((words[i] == "--config" || words[i] == "-c") && i + 1 < words.size()) {
      return std::string(words[i + 1]);
    }
    constexpr std::string_view kJoined = "--config=";
    if (words[i].starts_with(kJoined)) return std::string(words[i].substr(kJoined.size()));
  }
  return "";
}

Service service_at(const Gather& gather, std::string name, int pid) {
  Service service{std::move(name), pid, {}, {}};
  const auto folder = "/proc/" + std::to_string(pid);
  service.facts = fact_of(folder + "/limits", host::read_process(gather.host, "/proc", pid));
  const auto command_line = gather.host.read(folder + "/cmdline");
  if (command_line && *command_line) service.config = config_of(**command_line);
  return service;
}

}  // namespace

void read_services(const Gather& gather) {
  for (const auto* service : {"containerd", "crio", "kubelet"})
    gather.into.units.push_back(read_unit(gather.host, service));
  gather.folder_with_texts("/etc/security/limits.d", ".conf");
  auto& processes = gather.into.processes;
  const auto names = fact_of("/proc", gather.host.list("/proc"));
  processes.seen.error = names.error;
  if (!names.value) return;
  std::size_t seen = 0;
  for (const auto& entry : *names.value) {
    const auto pid = parse_unsigned(entry);
    if (!pid || *pid == 0 || *pid > 0x7fffffff) continue;
    const auto comm = gather.host.read("/proc/" + entry + "/comm");
    if (!comm && comm.error().code != ErrorCode::denied) {
      processes.seen.error = host::errno_name(host::errno_of(comm.error()));
      return;
    }
    if (!comm || !*comm) continue;  // hidden from us, or ended
    ++seen;
    const auto name = std::string(trim(**comm));
    if (!contains(kServiceNames, name)) continue;
    processes.services.push_back(service_at(gather, name, static_cast<int>(*pid)));
  }
  processes.seen.value = seen;
}

}  // namespace railhead::system
