// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "host/input_file.h"
#include "proof/nccl_job.h"
#include "proof/nccl_log.h"

namespace railhead::cli {
namespace {

/// Which ranks the text shows with the lines that prove its verdict. JSON has them all.
enum class ShownEvidence : std::uint8_t { one_of_each_kind, all };

constexpr std::size_t kShownNics = 8;

data::Json used_json(const proof::NcclUsedDevice& device) {
  const auto all = device.use.sends + device.use.receives;
  return {{"network", device.use.network},
          {"index", device.use.device},
          {"name", report::text_or_null(device.name)},
          {"linkLayer", report::text_or_null(device.link_layer)},
          {"sends", device.use.sends},
          {"receives", device.use.receives},
          {"gpuDirect", device.use.gpu_direct},
          {"staged", all - device.use.gpu_direct},
          {"throughOtherRank", device.use.through_other_rank}};
}

data::Json available_json(const proof::NcclDevice& device) {
  return {{"index", device.index},
          {"name", device.name},
          {"port", report::json_or_null(device.port)},
          {"linkLayer", device.link_layer}};
}

data::Json quote_json(const proof::NcclQuote& quote) {
  return {{"line", quote.line}, {"text", quote.text}};
}

data::Json rank_json(const proof::NcclRank& rank) {
  return {{"rank", report::json_or_null(rank.rank)},
          {"ranks", report::json_or_null(rank.size)},
          {"host", report::text_or_null(rank.host)},
          {"pid", rank.pid == 0 ? data::Json(nullptr) : data::Json(rank.pid)},
          {"gpu", report::json_or_null(rank.gpu)},
          {"verdict", to_string(rank.verdict)},
          {"why", rank.why},
          {"transport", report::text_or_null(rank.transport)},
          {"plugin", report::text_or_null(rank.plugin)},
          {"gpuDirect", to_string(rank.gpu_path)},
          {"gpuDirectRoute", report::text_or_null(rank.route)},
          {"channels", rank.channels},
          {"communicators", rank.communicators},
          {"nics", data::json_list(rank.devices, used_json)},
          {"available", data::json_list(rank.available, available_json)},
          {"relaxedOrdering", rank.relaxed_ordering},
          {"evidence", data::json_list(rank.evidence, quote_json)}};
}

data::Json problem_json(const proof::NcclProblem& problem) {
  return {{"severity", to_string(problem.severity)},
          {"meaning", report::text_or_null(problem.meaning)},
          {"count", problem.count},
          {"host", report::text_or_null(problem.host)},
          {"line", problem.first.line},
          {"text", problem.first.text}};
}

/// "mlx5_0,mlx5_1", else the network with the index: "Socket/0".
std::string nics_text(const proof::NcclRank& rank) {
  std::vector<std::string> names;
  for (const auto& device : rank.devices) {
    auto name = device.name.empty() ? device.use.network + "/" + std::to_string(device.use.device)
                                    : device.name;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (names.size() == kShownNics) {
      names.emplace_back("…");
      break;
    }
    names.push_back(std::move(name));
  }
  return join(names, ",");
}

std::string path_text(const proof::NcclRank& rank) {
  if (rank.gpu_path == proof::NcclGpuPath::unknown) return "";
  const std::string path(to_string(rank.gpu_path));
  return rank.route.empty() ? path : path + " (" + rank.route + ")";
}

report::Table ranks_table(const proof::NcclJob& job) {
  report::Table table;
  for (const auto& rank : job.ranks) {
    table.add({{"RANK", report::text_or_blank(rank.rank)},
               {"HOST", rank.host},
               {"PID", rank.pid == 0 ? "" : std::to_string(rank.pid), report::kWide},
               {"GPU", report::text_or_blank(rank.gpu)},
               {"VERDICT", std::string(to_string(rank.verdict))},
               {"NETWORK", rank.transport},
               {"NICS", nics_text(rank)},
               {"GPUDIRECT", path_text(rank)},
               {"CHANNELS", std::to_string(rank.channels)},
               {"COMMUNICATORS", std::to_string(rank.communicators), report::kWide},
               {"WHY", rank.why}});
  }
  return table;
}

std::string rank_label(const proof::NcclRank& rank) {
  const auto name =
      rank.rank ? "rank " + std::to_string(*rank.rank) : "pid " + std::to_string(rank.pid);
  return rank.host.empty() ? name : name + " on " + rank.host;
}

/// "rank 0 on node-a, line 12: Using network IB".
std::vector<std::string> evidence_lines(const proof::NcclJob& job, ShownEvidence shown) {
  std::vector<std::string> lines;
  std::set<std::pair<proof::NcclVerdict, proof::NcclGpuPath>> seen;
  for (const auto& rank : job.ranks) {
    const bool is_new = seen.emplace(rank.verdict, rank.gpu_path).second;
    if (!is_new && shown == ShownEvidence::one_of_each_kind) continue;
    for (const auto& quote : rank.evidence) {
      lines.push_back(rank_label(rank) + ", line " + std::to_string(quote.line) + ": " +
                      quote.text);
    }
  }
  return lines;
}

std::vector<std::string> nccl_problem_lines(const proof::NcclLog& log) {
  std::vector<std::string> lines;
  for (const auto& problem : log.problems) {
    auto line = std::string(to_string(problem.severity)) + ": ";
    if (!problem.meaning.empty()) line += problem.meaning + ": ";
    line += "line " + std::to_string(problem.first.line) + ": " + problem.first.text;
    if (problem.count > 1) line += " (" + std::to_string(problem.count) + " times)";
    lines.push_back(std::move(line));
  }
  return lines;
}

data::Json summary_json(const proof::NcclJob& job) {
  const auto count = [&](proof::NcclVerdict verdict) {
    return std::count_if(job.ranks.begin(), job.ranks.end(),
                         [&](const auto& rank) { return rank.verdict == verdict; });
  };
  return {{"ranks", job.ranks.size()},
          {"RDMA", count(proof::NcclVerdict::rdma)},
          {"TCP", count(proof::NcclVerdict::tcp)},
          {"mixed", count(proof::NcclVerdict::mixed)},
          {"unknown", count(proof::NcclVerdict::unknown)}};
}

std::string headline(const proof::NcclJob& job) {
  auto line = std::string(to_string(job.verdict)) + ": " + job.why;
  if (job.gpu_path != proof::NcclGpuPath::unknown) {
    line += "; GPUDirect RDMA: " + std::string(to_string(job.gpu_path));
  }
  return line;
}

report::Report nccl_log_report(const std::string& source, const proof::NcclLog& log,
                               const proof::NcclJob& job, ShownEvidence shown) {
  report::Report report;
  report.json = report::make_document("NcclLog");
  report.json["source"] = source;
  report.json["verdict"] = to_string(job.verdict);
  report.json["gpuDirect"] = to_string(job.gpu_path);
  report.json["why"] = job.why;
  report.json["versions"] = log.versions;
  report.json["summary"] = summary_json(job);
  report.json["ranks"] = data::json_list(job.ranks, rank_json);
  report.json["problems"] = data::json_list(log.problems, problem_json);
  report.json["warnings"] = job.warnings;
  report.json["lines"] = log.lines;
  report.json["messages"] = log.records;
  report.add("", {headline(job)});
  if (!job.ranks.empty()) report.sections.push_back({"", ranks_table(job), {}});
  report.add("EVIDENCE", evidence_lines(job, shown));
  report.add("PROBLEMS", nccl_problem_lines(log));
  report.add("WARNINGS", job.warnings);
  return report;
}

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

Result<int> judge_log(const Invocation& invocation, const std::string& path) {
  proof::NcclLogReader reader;
  TRY_STATUS(host::stream_input_file(path, [&](std::string_view bytes) { reader.feed(bytes); }));
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
  invocation.answer(*app, [&invocation, path] { return judge_log(invocation, *path); });
}

}  // namespace railhead::cli
