// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/contains.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
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

using Files = std::vector<std::string>;

std::string file_name(const Files& files, std::size_t index) {
  return index < files.size() ? files[index] : "";
}

data::Json quote_json(const proof::NcclQuote& quote, const Files& files) {
  return {{"file", file_name(files, quote.place.file)},
          {"line", quote.place.line},
          {"text", quote.text}};
}

data::Json rank_json(const proof::NcclRank& rank, const Files& files) {
  const auto quotes = [&](const proof::NcclQuote& quote) { return quote_json(quote, files); };
  return {{"library", rank.library},
          {"rank", report::json_or_null(rank.rank)},
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
          {"evidence", data::json_list(rank.evidence, quotes)}};
}

data::Json problem_json(const proof::NcclProblem& problem, const Files& files) {
  return {{"severity", to_string(problem.severity)},
          {"meaning", report::text_or_null(problem.meaning)},
          {"code", report::text_or_null(problem.code)},
          {"count", problem.count},
          {"host", report::text_or_null(problem.host)},
          {"file", file_name(files, problem.first.place.file)},
          {"line", problem.first.place.line},
          {"text", problem.first.text}};
}

std::string nic_names(const std::vector<std::string>& all) {
  std::vector<std::string> names;
  for (const auto& name : all) {
    if (contains(names, name)) continue;
    if (names.size() == kShownNics) {
      names.emplace_back("…");
      break;
    }
    names.push_back(name);
  }
  return join(names, ",");
}

/// "mlx5_0,mlx5_1", else the network with the index: "Socket/0". Where the log has the list alone:
/// "of mlx5_0,mlx5_1".
std::string nics_text(const proof::NcclRank& rank) {
  std::vector<std::string> names;
  if (rank.has_candidates_only && rank.verdict != proof::NcclVerdict::tcp) {
    for (const auto& device : rank.available) names.push_back(device.name);
    return "of " + nic_names(names);
  }
  for (const auto& device : rank.devices) {
    names.push_back(device.name.empty()
                        ? device.use.network + "/" + std::to_string(device.use.device)
                        : device.name);
  }
  return nic_names(names);
}

std::string path_text(const proof::NcclRank& rank) {
  if (rank.gpu_path == proof::NcclGpuPath::unknown) return "";
  const std::string path(to_string(rank.gpu_path));
  return rank.route.empty() ? path : path + " (" + rank.route + ")";
}

/// "NCCL IB", "UCX rc_mlx5"; NCCL is not said.
std::string network_text(const proof::NcclRank& rank) {
  if (rank.library == "NCCL") return rank.transport;
  return rank.transport.empty() ? rank.library : rank.library + " " + rank.transport;
}

/// Ranks whose rows differ in their names alone.
struct RankGroup {
  const proof::NcclRank* first = nullptr;
  std::set<unsigned> ranks;
  std::set<unsigned> gpus;
  std::set<std::string> hosts;
};

std::vector<RankGroup> groups_of(const proof::NcclJob& job, ShownEvidence shown) {
  using Key = std::tuple<proof::NcclVerdict, std::string, std::string, std::string, std::size_t,
                         std::string, std::size_t>;
  std::vector<RankGroup> groups;
  std::map<Key, std::size_t> index;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const auto& rank = job.ranks[i];
    const auto own = shown == ShownEvidence::all ? i : 0;
    const Key key{
        rank.verdict, network_text(rank), nics_text(rank), path_text(rank), rank.channels, rank.why,
        own};
    const auto [found, is_new] = index.emplace(key, groups.size());
    if (is_new) groups.push_back({&rank, {}, {}, {}});
    auto& group = groups[found->second];
    if (rank.rank) group.ranks.insert(*rank.rank);
    if (rank.gpu) group.gpus.insert(*rank.gpu);
    if (!rank.host.empty()) group.hosts.insert(rank.host);
  }
  return groups;
}

report::Table ranks_table(const proof::NcclJob& job, ShownEvidence shown) {
  report::Table table;
  for (const auto& group : groups_of(job, shown)) {
    const auto& rank = *group.first;
    const auto host = group.hosts.size() > 1 ? counted(group.hosts.size(), "host") : rank.host;
    table.add({{"RANK", range_list({group.ranks.begin(), group.ranks.end()})},
               {"HOST", host},
               {"PID", rank.pid == 0 ? "" : std::to_string(rank.pid), report::kWide},
               {"GPU", range_list({group.gpus.begin(), group.gpus.end()})},
               {"VERDICT", std::string(to_string(rank.verdict))},
               {"NETWORK", network_text(rank)},
               {"NICS", nics_text(rank)},
               {"GPUDIRECT", path_text(rank)},
               {"CHANNELS", std::to_string(rank.channels)},
               {"COMMUNICATORS", std::to_string(rank.communicators), report::kWide},
               {"WHY", rank.why}});
  }
  return table;
}

std::string rank_label(const proof::NcclRank& rank) {
  const auto name = rank.rank       ? "rank " + std::to_string(*rank.rank)
                    : rank.pid != 0 ? "pid " + std::to_string(rank.pid)
                                    : rank.library;
  return rank.host.empty() ? name : name + " on " + rank.host;
}

/// "line 12: Using network IB", of several files "nccl.a.1, line 12: Using network IB".
std::string quote_text(const proof::NcclQuote& quote, const Files& files) {
  const auto file = files.size() > 1 ? file_name(files, quote.place.file) + ", " : "";
  return file + "line " + std::to_string(quote.place.line) + ": " + quote.text;
}

/// "rank 0 on node-a, line 12: Using network IB".
std::vector<std::string> evidence_lines(const proof::NcclJob& job, const Files& files,
                                        ShownEvidence shown) {
  std::vector<std::string> lines;
  std::set<std::pair<proof::NcclVerdict, proof::NcclGpuPath>> seen;
  for (const auto& rank : job.ranks) {
    const bool is_new = seen.emplace(rank.verdict, rank.gpu_path).second;
    if (!is_new && shown == ShownEvidence::one_of_each_kind) continue;
    for (const auto& quote : rank.evidence) {
      lines.push_back(rank_label(rank) + ", " + quote_text(quote, files));
    }
  }
  return lines;
}

std::vector<std::string> nccl_problem_lines(const proof::NcclLog& log) {
  std::vector<std::string> lines;
  for (const auto& problem : log.problems) {
    auto line = std::string(to_string(problem.severity)) + ": ";
    if (!problem.meaning.empty()) line += problem.meaning + ": ";
    if (problem.code == proof::kNotInTable) line += "not in a table: ";
    line += quote_text(problem.first, log.files);
    if (problem.count > 1) line += " (" + std::to_string(problem.count) + " times)";
    lines.push_back(std::move(line));
  }
  return lines;
}

data::Json summary_json(const proof::NcclJob& job) {
  const auto count = [&](proof::NcclVerdict verdict) {
    return std::ranges::count_if(job.ranks,
                                 [&](const auto& rank) { return rank.verdict == verdict; });
  };
  data::Json summary = {{"ranks", job.ranks.size()}};
  for (const auto verdict : proof::kNcclVerdicts) {
    summary[std::string(to_string(verdict))] = count(verdict);
  }
  return summary;
}

std::size_t count_errors(const proof::NcclLog& log) {
  return static_cast<std::size_t>(std::ranges::count_if(log.problems, [](const auto& problem) {
    return problem.severity == proof::NcclSeverity::error;
  }));
}

std::string headline(const proof::NcclLog& log, const proof::NcclJob& job) {
  auto line = std::string(to_string(job.verdict)) + ": " + job.why;
  if (job.gpu_path != proof::NcclGpuPath::unknown) {
    line += "; GPUDirect RDMA: " + std::string(to_string(job.gpu_path));
  }
  // Errors are the first of the problems.
  const auto errors = count_errors(log);
  if (errors == 0) return line;
  const auto& first = log.problems.front();
  line += errors == 1 ? "; error: " : "; " + counted(errors, "error") + ": ";
  return line + (first.meaning.empty() ? "not in a table: " + first.first.text : first.meaning);
}

/// The ranks as JSON. Each is freed as it is written: a log may have tens of thousands.
data::Json take_ranks_json(std::vector<proof::NcclRank> ranks, const Files& files) {
  data::Json list = data::Json::array();
  for (auto& rank : ranks) {
    list.push_back(rank_json(rank, files));
    rank = {};
  }
  return list;
}

report::Report nccl_log_report(const proof::NcclLog& log, proof::NcclJob job, ShownEvidence shown) {
  const auto& files = log.files;
  report::Report report;
  report.add("", {headline(log, job)});
  report.add("PROBLEMS", nccl_problem_lines(log));
  if (!job.ranks.empty()) report.sections.push_back({"RANKS", ranks_table(job, shown), {}});
  report.add("EVIDENCE", evidence_lines(job, files, shown));
  report.note("WARNINGS", job.warnings);
  report.json = report::make_document("NcclLog");
  report.json["source"] = join(files, " ");
  report.json["files"] = files;
  report.json["verdict"] = to_string(job.verdict);
  report.json["gpuDirect"] = to_string(job.gpu_path);
  report.json["why"] = job.why;
  report.json["versions"] = log.versions;
  report.json["summary"] = summary_json(job);
  report.json["ranks"] = take_ranks_json(std::move(job.ranks), files);
  report.json["problems"] = data::json_list(
      log.problems, [&](const auto& problem) { return problem_json(problem, files); });
  report.json["warnings"] = job.warnings;
  report.json["lines"] = log.lines;
  report.json["messages"] = log.records;
  return report;
}

/// 0 where nothing left the node but by RDMA and nothing failed, 1 where a rank is on TCP or there
/// is an error, 2 where the log does not say or was not read.
int exit_code(const proof::NcclLog& log, const proof::NcclJob& job) {
  using enum proof::NcclVerdict;
  if (job.verdict == tcp || job.verdict == mixed || count_errors(log) > 0) return kExitProblem;
  return job.verdict == unknown || !log.unread.empty() ? kExitCannotTell : kExitOk;
}

Result<proof::NcclLog> read_logs(const Files& paths) {
  proof::NcclLogReader reader;
  for (const auto& path : paths) {
    reader.begin_file(path == "-" ? "standard input" : path);
    const auto read =
        host::stream_input_file(path, [&](std::string_view bytes) { reader.feed(bytes); });
    if (read) continue;
    if (paths.size() == 1) return read.error();
    reader.give_up_file(read.error().message);
  }
  return reader.finish();
}

Result<int> judge_logs(const Invocation& invocation, const Files& paths) {
  auto log = read_logs(paths);
  if (!log) return log.error();
  auto job = proof::judge(*log);
  log->processes = {};
  log->workers = {};
  const auto shown =
      invocation.output == "wide" ? ShownEvidence::all : ShownEvidence::one_of_each_kind;
  const auto code = exit_code(*log, job);
  return invocation.print(nccl_log_report(*log, std::move(job), shown), code);
}

}  // namespace

void add_nccl_log_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "nccl-log",
      "Show what logs of NCCL, RCCL, UCX, NIXL or Mooncake say was used: RDMA or TCP, GPUDirect or "
      "staged");
  auto paths = std::make_shared<Files>();
  app->add_option("FILE", *paths,
                  "the logs of one job, of any size, as NCCL_DEBUG_FILE writes one for each rank "
                  "[- is standard input, and the default]")
      ->type_name("");
  add_output_option(*app, invocation);
  app->footer(
      "The job has to run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET; UCX and NIXL with\n"
      "UCX_LOG_LEVEL=info.\n"
      "Exit codes: 0 RDMA or intra-node, 1 TCP or an error such as a failed connection, 2 the log\n"
      "does not say.\n"
      "Example: kubectl logs trainer-0 | railhead nccl-log");
  invocation.answer(*app, [&invocation, paths] {
    if (paths->empty()) paths->emplace_back("-");
    return judge_logs(invocation, *paths);
  });
}

}  // namespace railhead::cli
