// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/text.h"
#include "cli/command.h"
#include "host/input_file.h"
#include "options/options.h"
#include "report/text_width.h"
#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot.h"
#include "system/system.h"
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

/// Of the files that processes have open, none leaves the machine but those that say something.
void keep_only_telling_links(snapshot::Snapshot& snapshot) {
  std::erase_if(snapshot.entries, [](const auto& entry) {
    const auto folder = entry.first.substr(0, entry.first.rfind('/'));
    const auto* link = std::get_if<snapshot::SnapshotLink>(&entry.second);
    return link != nullptr && folder.ends_with("/fd") && !usage::tells_of_use(link->target);
  });
}

/// For a terminal, which obeys what a pod may have written into its name or a mount's.
std::string shown(std::string_view text) {
  std::string lines;
  for (const auto line : split(text, '\n')) lines += report::printable(line) + "\n";
  lines.pop_back();
  return lines;
}

struct Recorded {
  snapshot::Snapshot snapshot;
  snapshot::AskedPaths asked;
  std::size_t gpus = 0;
  std::size_t nics = 0;
};

/// Records the machine. The node and the system that were read on the way are freed here.
Result<Recorded> read_machine(const SnapshotFlags& flags, const config::Config& config) {
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto host = TRY(options::open_machine(origin));
  snapshot::RecordingHost recorder(*host);
  const auto node = node::read_node(recorder);
  if (flags.doctor) system::read_system(recorder, node, system::Part::all);
  if (flags.pods) {
    usage::read_usage(recorder, config.settings().host.proc,
                      options::listed_queue_pairs(config.settings()));
  }
  std::vector<std::string> unknown;  // each is in the snapshot as well
  (void)usage::read_nfs_mounts(recorder);
  (void)usage::read_nfs_declarations(recorder, unknown);
  auto asked = recorder.asked();
  return Recorded{std::move(recorder).recorded(), std::move(asked), node.gpus.size(),
                  node.nics.size()};
}

Result<int> record(const Invocation& invocation, const SnapshotFlags& flags,
                   const config::Config& config) {
  auto [snapshot, asked, gpus, nics] = TRY(read_machine(flags, config));
  keep_only_telling_links(snapshot);
  if (!flags.raw) {
    auto redacted = snapshot::redact(std::move(snapshot), asked);
    for (const auto& what : redacted.replaced) invocation.err << "replaced " << what << "\n";
    snapshot = std::move(redacted.snapshot);
  }
  const auto text = snapshot::format_snapshot(snapshot);
  if (flags.output == "-" || flags.output == "/dev/stdout") {
    invocation.out << (invocation.terminal.is_terminal ? shown(text) : text);
  } else {
    TRY_STATUS(host::write_output_file(flags.output, text));
  }
  invocation.err << "recorded " << gpus << " GPUs, " << nics << " NICs, " << snapshot.entries.size()
                 << " entries\n";
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
