// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "cli/command.h"
#include "host/input_file.h"
#include "options/options.h"
#include "proof/nfs_use.h"

namespace railhead::cli {
namespace {

using Counter = std::optional<std::uint64_t> usage::NfsTransport::*;

std::string sum_text(const usage::NfsMount& mount, Counter counter) {
  std::optional<std::uint64_t> sum;
  for (const auto& one : mount.transports) {
    if (one.*counter) sum = sum.value_or(0) + *(one.*counter);
  }
  return report::text_or_blank(sum);
}

/// "1 of 16"
std::string connections_text(const usage::NfsMount& mount, const proof::NfsUse& use) {
  const auto made = std::to_string(mount.transports.size());
  return use.fewer.empty() ? made : made + " of " + std::to_string(*use.nconnect);
}

data::Json connection_json(const usage::NfsTransport& one) {
  return {{"transport", one.protocol},
          {"connects", report::json_or_null(one.connects)},
          {"sends", report::json_or_null(one.sends)},
          {"receives", report::json_or_null(one.receives)}};
}

data::Json mount_json(const usage::NfsMount& mount, const proof::NfsUse& use) {
  return {{"server", report::text_or_null(mount.server)},
          {"path", report::text_or_null(mount.path)},
          {"mountPoint", mount.mount_point},
          {"version", report::text_or_null(mount.version)},
          {"requestedProtocol", report::text_or_null(mount.protocol)},
          {"address", report::json_or_null(mount.address)},
          {"port", report::json_or_null(use.port)},
          {"transport", report::text_or_null(use.transport)},
          {"verdict", to_string(use.verdict)},
          {"why", use.why},
          {"nconnect", report::json_or_null(use.nconnect)},
          {"fewerConnections", report::text_or_null(use.fewer)},
          {"connections", data::json_list(mount.transports, connection_json)}};
}

std::vector<report::Cell> line_of(const usage::NfsMount& mount, const proof::NfsUse& use) {
  return {{"SERVER", mount.server},
          {"PATH", mount.path},
          {"MOUNTED ON", mount.mount_point},
          {"VERSION", mount.version},
          {"TRANSPORT", use.transport},
          {"ADDRESS", mount.address.value_or("")},
          {"PORT", report::text_or_blank(use.port)},
          {"VERDICT", std::string(to_string(use.verdict))},
          {"CONNECTIONS", connections_text(mount, use), report::kWide},
          {"CONNECTS", sum_text(mount, &usage::NfsTransport::connects), report::kWide},
          {"SENDS", sum_text(mount, &usage::NfsTransport::sends), report::kWide},
          {"RECEIVES", sum_text(mount, &usage::NfsTransport::receives), report::kWide},
          {"BECAUSE", use.why, report::kWide}};
}

bool is_problem(const proof::NfsUse& use) {
  return use.verdict == proof::NfsVerdict::fallback || use.verdict == proof::NfsVerdict::absent;
}

int exit_code(const std::vector<proof::JudgedNfs>& judged, bool is_all_known) {
  int code = is_all_known ? kExitOk : kExitCannotTell;
  for (const auto& [mount, use] : judged) {
    if (is_problem(use)) return kExitProblem;
    if (use.verdict == proof::NfsVerdict::unknown) code = kExitCannotTell;
  }
  return code;
}

/// `warnings`: what keeps mounts or declarations from being known.
int show(const Invocation& invocation, const std::string& node,
         const std::vector<proof::JudgedNfs>& judged, std::vector<std::string> warnings) {
  const bool is_all_known = warnings.empty();
  report::Report report;
  report.json = report::make_document("NfsMounts");
  report.json["node"] = node;
  report.json["mounts"] = data::Json::array();
  report::Table rows;
  for (const auto& [mount, use] : judged) {
    report.json["mounts"].push_back(mount_json(mount, use));
    rows.add(line_of(mount, use));
    const bool is_unknown = use.verdict == proof::NfsVerdict::unknown;
    if (is_problem(use) || is_unknown) warnings.push_back(mount.mount_point + ": " + use.why);
    if (!use.fewer.empty()) warnings.push_back(mount.mount_point + ": " + use.fewer);
  }
  report.json["warnings"] = warnings;
  report.add(std::move(rows), "no NFS mount on this node");
  report.note("WARNINGS", std::move(warnings));
  return invocation.print(report, exit_code(judged, is_all_known));
}

struct NfsFlags {
  std::vector<std::string> wanted;
  std::vector<std::string> declared;  ///< files
};

/// What should be mounted: what the user's files say, and then the machine.
Result<std::vector<usage::NfsDeclaration>> declarations(host::Host& host, const NfsFlags& flags,
                                                        std::vector<std::string>& warnings) {
  std::vector<usage::NfsDeclaration> all;
  for (const auto& file : flags.declared) {
    const auto text = TRY(host::read_input_file(file, host::Host::kMaxFileBytes));
    for (auto& one : TRY(usage::parse_nfs_manifests(file, text))) all.push_back(std::move(one));
  }
  std::vector<std::string> unknown;
  for (auto& one : usage::read_nfs_declarations(host, unknown)) all.push_back(std::move(one));
  for (const auto& why : unknown)
    warnings.push_back("what should be mounted is not fully known: " + why);
  return all;
}

Result<int> show_nfs(const Invocation& invocation, const config::Config& config,
                     const NfsFlags& flags) {
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto host = TRY(options::open_machine(origin));
  auto mounts = TRY(usage::read_nfs_mounts(*host));
  if (!mounts) return Error{ErrorCode::unavailable, "/proc/self/mountstats is not there"};
  std::vector<std::string> warnings;
  const auto declared = TRY(declarations(*host, flags, warnings));
  // Of another root it is no use to compare with the mounts of a container that looks into it.
  if (!mounts->of_machine && origin.root != "/" && !declared.empty()) {
    warnings.emplace_back(
        "/proc/1/mountstats cannot be read: declared mounts that are absent are not seen");
  } else {
    mounts->of_machine = true;
  }
  const auto name = TRY(host->read("/proc/sys/kernel/hostname"));
  return show(invocation, std::string(trim(name.value_or(""))),
              proof::judge_all_nfs(*mounts, declared, flags.wanted), std::move(warnings));
}

}  // namespace

void add_nfs_command(CLI::App& program, Invocation& invocation) {
  auto* app =
      program.add_subcommand("nfs", "Show which NFS mounts use RDMA, and which should and do not");
  auto flags = std::make_shared<NfsFlags>();
  add_settings(*app, invocation, {"host.root", "host.snapshot"});
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->add_option("--want", flags->wanted,
                  "mount points that have to be on RDMA, with * and ?; may be given several times")
      ->type_name("PATTERN");
  app->add_option(
         "--declared", flags->declared,
         "MachineConfigs and PersistentVolumes as kubectl prints them; may be given several "
         "times; - is standard input")
      ->type_name("FILE");
  app->footer(
      "A mount is to use RDMA if it, its line in /etc/fstab, its mount unit or a --declared file "
      "says\n"
      "so, or --want names it.\n"
      "Exit codes: 0 ok, 1 one fell back to another transport or is absent, 2 cannot tell.\n"
      "Examples: railhead nfs --want '/data/*'\n"
      "          kubectl get pv -o yaml | railhead nfs --declared -");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return show_nfs(invocation, config, *flags);
  });
}

}  // namespace railhead::cli
