// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/contains.h"
#include "base/text.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

/// Each ends with a NUL; the first one is the program.
std::vector<std::string> arguments_of(std::string_view command_line) {
  while (command_line.ends_with('\0')) command_line.remove_suffix(1);
  std::vector<std::string> arguments;
  for (const auto word : split(command_line, '\0')) arguments.emplace_back(word);
  arguments.erase(arguments.begin());
  return arguments;
}

bool is_process_folder(std::string_view name) {
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

Service service_at(const Gather& gather, std::string name, int pid) {
  Service service{std::move(name), pid, {}, {}, {}};
  const auto folder = "/proc/" + std::to_string(pid);
  service.facts = fact_of(folder + "/limits", host::read_process(gather.host, "/proc", pid));
  const auto command_line = gather.host.read_keeping(folder + "/cmdline", kept_service_arguments);
  if (command_line && *command_line) service.arguments = arguments_of(**command_line);
  service.config = argument_of(service.arguments, {"config", "c"}).value_or("");
  return service;
}

}  // namespace

void read_services(const Gather& gather) {
  for (const auto* service : {"containerd", "crio", "kubelet"})
    gather.into.units.push_back(read_unit(gather.host, service));
  auto& processes = gather.into.processes;
  const auto names = fact_of("/proc", gather.host.list_keeping("/proc", is_process_folder));
  processes.seen.error = names.error;
  if (!names.value) return;
  std::size_t seen = 0;
  for (const auto& entry : *names.value) {
    const auto pid = parse_unsigned(entry);
    if (!pid || *pid == 0 || *pid > 0x7fffffff) continue;
    const auto comm = gather.host.read_keeping("/proc/" + entry + "/comm", kept_process_name);
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
