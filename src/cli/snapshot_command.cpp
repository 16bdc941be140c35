// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "cli/command.h"
#include "host/input_file.h"
#include "options/options.h"
#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot.h"
#include "system/shorten.h"
#include "system/system.h"
#include "usage/bundle.h"
#include "usage/held_files.h"
#include "usage/nfs_declarations.h"
#include "usage/nfs_mounts.h"
#include "usage/usage.h"

namespace railhead::cli {
namespace {

struct SnapshotFlags {
  std::string output = "-";
  std::string old_output;  ///< as 0.1 had it
  bool raw = false;
  bool pods = false;
  bool doctor = false;
};

/// An OCI bundle holds the container's environment, secrets included, and so may the arguments of a
/// process. None of it leaves the machine but what `railhead pods` reads, --raw or not.
void shorten_bundles(snapshot::Snapshot& snapshot) {
  for (auto& [path, entry] : snapshot.entries) {
    auto* file = std::get_if<snapshot::SnapshotFile>(&entry);
    if (file == nullptr) continue;
    const auto name = host::base_name(path);
    if (name == "config.json") file->content = usage::shortened_bundle(file->content);
    if (name == "cmdline") file->content = usage::shortened_command_line(file->content);
  }
}

/// Of the files that processes have open, none leaves the machine but those that say something.
void keep_only_telling_links(snapshot::Snapshot& snapshot) {
  std::erase_if(snapshot.entries, [](const auto& entry) {
    const auto folder = entry.first.substr(0, entry.first.rfind('/'));
    const auto* link = std::get_if<snapshot::SnapshotLink>(&entry.second);
    return link != nullptr && folder.ends_with("/fd") && !usage::tells_of_use(link->target);
  });
}

/// Of what the doctor reads no more leaves the machine than its checks look at.
void record_for_doctor(host::Host& recorder, const node::Node& node) {
  using system::Part;
  system::read_system(recorder, node,
                      Part::modules | Part::kernel | Part::services | Part::runtime |
                          Part::pci_config | Part::netdevs | Part::gpu_driver | Part::counters |
                          Part::kernel_log);
}

void shorten_for_doctor(snapshot::Snapshot& snapshot) {
  for (auto& [path, entry] : snapshot.entries) {
    auto* file = std::get_if<snapshot::SnapshotFile>(&entry);
    if (file != nullptr) file->content = system::shortened_file(path, std::move(file->content));
  }
}

bool is_in(const std::string& path, std::string_view name) {
  const auto at = path.find("/" + std::string(name));
  return at != std::string::npos;
}

/// Of the files that say what is mounted, nothing leaves the machine but what is of NFS: no
/// password of another file system, no name of another unit.
void keep_only_nfs(snapshot::Snapshot& snapshot) {
  std::vector<std::string> units;
  for (auto& [path, entry] : snapshot.entries) {
    auto* file = std::get_if<snapshot::SnapshotFile>(&entry);
    if (file == nullptr || !usage::is_nfs_file(path)) continue;
    file->content = usage::only_nfs(path, file->content);
    const auto name = host::base_name(path);
    if (!name.ends_with(".mount") || file->content.empty()) continue;
    units.push_back(name);
    units.push_back(name.substr(0, name.size() - 6) + ".automount");
  }
  std::erase_if(snapshot.entries, [&](const auto& entry) {
    const auto& path = entry.first;
    return usage::is_nfs_file(path) && is_in(path, "systemd") &&
           std::ranges::none_of(units, [&](const std::string& unit) { return is_in(path, unit); });
  });
}

Result<int> record(const Invocation& invocation, const SnapshotFlags& flags,
                   const config::Config& config) {
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto host = TRY(options::open_machine(origin));
  snapshot::RecordingHost recorder(*host);
  const auto node = node::read_node(recorder);
  if (flags.doctor) record_for_doctor(recorder, node);
  if (flags.pods) {
    usage::read_usage(recorder, config.settings().host.proc,
                      options::listed_queue_pairs(config.settings()));
  }
  std::vector<std::string> unknown;  // each is in the snapshot as well
  (void)usage::read_nfs_mounts(recorder);
  (void)usage::read_nfs_declarations(recorder, unknown);
  auto snapshot = recorder.recorded();
  keep_only_nfs(snapshot);
  if (flags.pods) {
    shorten_bundles(snapshot);
    keep_only_telling_links(snapshot);
  }
  if (flags.doctor) shorten_for_doctor(snapshot);
  if (!flags.raw) {
    auto redacted = snapshot::redact(snapshot);
    for (const auto& what : redacted.replaced) invocation.err << "replaced " << what << "\n";
    snapshot = std::move(redacted.snapshot);
  }
  const auto text = snapshot::format_snapshot(snapshot);
  if (flags.output == "-") {
    invocation.out << text;
  } else {
    TRY_STATUS(host::write_output_file(flags.output, text));
  }
  invocation.err << "recorded " << node.gpus.size() << " GPUs, " << node.nics.size() << " NICs, "
                 << snapshot.entries.size() << " entries\n";
  return kExitOk;
}

}  // namespace

void add_snapshot_command(CLI::App& program, Invocation& invocation) {
  auto* app =
      program.add_subcommand("snapshot", "Save this machine's state for a bug report, anonymised");
  auto flags = std::make_shared<SnapshotFlags>();
  add_settings(*app, invocation, {"host.root", "host.snapshot", "pods.queuePairs"});
  add_config_option(*app, invocation);
  app->add_option("FILE", flags->output, "file to write [- is standard output, and the default]");
  // As it was called in 0.1; everywhere else -o is a format.
  app->add_option("-o,--output", flags->old_output)->group("");
  app->add_flag("--raw", flags->raw, "keep serial numbers, UUIDs, GUIDs and addresses");
  app->add_flag(
      "--pods", flags->pods,
      "also what `railhead pods` reads: RDMA objects, processes of containers, their names");
  app->add_flag("--doctor", flags->doctor,
                "also what `railhead doctor` reads: modules, limits, PCI "
                "configuration, kernel log");
  app->footer(
      "Exit codes: 0 ok, 2 the machine cannot be read, or the file not be written.\n"
      "Examples: railhead snapshot node.snapshot\n"
      "          railhead snapshot --doctor --pods node.snapshot");
  invocation.answer_with_config(
      *app, [&invocation, flags](const config::Config& config) -> Result<int> {
        if (report::find_format(flags->old_output) != nullptr) {
          return Error{ErrorCode::usage, flags->old_output +
                                             " is a format, and a snapshot has one only: "
                                             "railhead snapshot FILE"};
        }
        if (!flags->old_output.empty()) flags->output = flags->old_output;
        return record(invocation, *flags, config);
      });
}

}  // namespace railhead::cli
