// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/command.h"
#include "cli/nccl_log_report.h"
#include "host/input_file.h"

namespace railhead::cli {
namespace {

/// 0 where every rank used RDMA and nothing failed, 1 where one fell back to TCP or there is an
/// error, 2 where the log does not say.
int exit_code(const proof::NcclLog& log, const proof::NcclJob& job) {
  const bool failed =
      std::any_of(log.problems.begin(), log.problems.end(), [](const proof::NcclProblem& problem) {
        return problem.severity == proof::NcclSeverity::error;
      });
  if (job.verdict == proof::NcclVerdict::tcp || job.verdict == proof::NcclVerdict::mixed ||
      failed) {
    return kExitProblem;
  }
  return job.verdict == proof::NcclVerdict::rdma ? kExitOk : kExitCannotTell;
}

int judge_log(const Invocation& invocation, const std::string& path) {
  proof::NcclLogReader reader;
  const auto read =
      host::stream_input_file(path, [&](std::string_view bytes) { reader.feed(bytes); });
  if (!read) return invocation.fail("nccl-log", read.error());
  const auto log = reader.finish();
  const auto job = proof::judge(log);
  const auto shown =
      invocation.output == "wide" ? ShownEvidence::all : ShownEvidence::one_of_each_kind;
  return invocation.print(nccl_log_report(path == "-" ? "standard input" : path, log, job, shown),
                          exit_code(log, job));
}

}  // namespace

void add_nccl_log_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "nccl-log",
      "Show what a log of NCCL or RCCL says was used: RDMA or TCP, GPUDirect or staged");
  auto path = std::make_shared<std::string>("-");
  app->add_option("FILE", *path, "the log, of any size [- is standard input]")->type_name("");
  add_output_option(*app, invocation);
  app->footer(
      "The job has to run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET.\n"
      "Exit codes: 0 RDMA, 1 TCP or an error such as a failed connection, 2 the log does not say.\n"
      "Example: kubectl logs trainer-0 | railhead nccl-log");
  app->callback([&invocation, path] {
    invocation.run = [&invocation, path] { return judge_log(invocation, *path); };
  });
}

}  // namespace railhead::cli
