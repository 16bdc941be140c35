// SPDX-License-Identifier: Apache-2.0

#include "agent/options.h"
#include "cli/command.h"
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
          {"CONNECTIONS", std::to_string(mount.transports.size()), report::kWide},
          {"CONNECTS", sum_text(mount, &usage::NfsTransport::connects), report::kWide},
          {"SENDS", sum_text(mount, &usage::NfsTransport::sends), report::kWide},
          {"RECEIVES", sum_text(mount, &usage::NfsTransport::receives), report::kWide},
          {"BECAUSE", use.why, report::kWide}};
}

bool is_problem(const proof::NfsUse& use) {
  return use.verdict == proof::NfsVerdict::fallback || use.verdict == proof::NfsVerdict::absent;
}

int exit_code(const std::vector<proof::JudgedNfs>& judged) {
  int code = kExitOk;
  for (const auto& [mount, use] : judged) {
    if (is_problem(use)) return kExitProblem;
    if (use.verdict == proof::NfsVerdict::unknown) code = kExitCannotTell;
  }
  return code;
}

int show(const Invocation& invocation, const std::vector<proof::JudgedNfs>& judged,
         std::vector<std::string> warnings) {
  report::Report report;
  report.json = report::make_document("NfsMounts");
  report.json["mounts"] = data::Json::array();
  report::Table rows;
  for (const auto& [mount, use] : judged) {
    report.json["mounts"].push_back(mount_json(mount, use));
    rows.add(line_of(mount, use));
    if (is_problem(use)) warnings.push_back(mount.mount_point + ": " + use.why);
  }
  report.json["warnings"] = warnings;
  report.add(std::move(rows), "no NFS mount on this node");
  report.add("WARNINGS", std::move(warnings));
  return invocation.print(report, exit_code(judged));
}

/// What should be mounted. Of another root that is only compared with that machine's mounts, not
/// with those of a container that looks into it.
std::vector<usage::NfsDeclaration> declarations(host::Host& host,
                                                const agent::MachineOrigin& origin,
                                                std::vector<std::string>& warnings) {
  const auto read = usage::read_nfs_declarations(host);
  if (!read) warnings.push_back("what should be mounted is not known: " + read.error().message);
  if (!read || !*read) return {};
  if (origin.root == "/" || usage::sees_mounts_of_machine(host)) return **read;
  warnings.emplace_back(
      "/proc/1/mountstats cannot be read: mounts of /etc/fstab that are absent are not seen");
  return {};
}

Result<int> show_nfs(const Invocation& invocation, const config::Config& config,
                     const std::vector<std::string>& wanted) {
  const auto origin = TRY(agent::machine_origin(config.settings()));
  const auto host = TRY(agent::open_machine(origin));
  const auto mounts = TRY(usage::read_nfs_mounts(*host));
  if (!mounts) return Error{ErrorCode::unavailable, "/proc/self/mountstats is not there"};
  std::vector<std::string> warnings;
  const auto declared = declarations(*host, origin, warnings);
  return show(invocation, proof::judge_all_nfs(*mounts, declared, wanted), std::move(warnings));
}

}  // namespace

void add_nfs_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "nfs", "Show which NFS mounts use RDMA, and which were to use it and do not");
  auto wanted = std::make_shared<std::vector<std::string>>();
  add_settings(*app, invocation, {"host.root"});
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->add_option("--want", *wanted,
                  "mount points that have to be on RDMA, with * and ?; may be given several times")
      ->type_name("PATTERN");
  app->footer(
      "A mount is to use RDMA if it or its line in /etc/fstab says so, or --want names it.\n"
      "Exit codes: 0 ok, 1 one fell back to another transport or is absent, 2 cannot tell.\n"
      "Example: railhead nfs --want '/data/*'");
  invocation.answer_with_config(*app, [&invocation, wanted](const config::Config& config) {
    return show_nfs(invocation, config, *wanted);
  });
}

}  // namespace railhead::cli
