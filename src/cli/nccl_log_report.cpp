// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_log_report.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace railhead::cli {
namespace {

constexpr std::size_t kShownNics = 8;

data::Json used_json(const proof::NcclUsedDevice& device) {
  const auto all = device.use.sends + device.use.receives;
  return {{"network", device.use.network},
          {"index", device.use.device},
          {"name", device.name.empty() ? data::Json(nullptr) : data::Json(device.name)},
          {"linkLayer",
           device.link_layer.empty() ? data::Json(nullptr) : data::Json(device.link_layer)},
          {"sends", device.use.sends},
          {"receives", device.use.receives},
          {"gpuDirect", device.use.gpu_direct},
          {"staged", all - device.use.gpu_direct},
          {"throughOtherRank", device.use.through_other_rank}};
}

data::Json available_json(const std::vector<proof::NcclDevice>& devices) {
  data::Json json = data::Json::array();
  for (const auto& device : devices) {
    json.push_back({{"index", device.index},
                    {"name", device.name},
                    {"port", report::json_or_null(device.port)},
                    {"linkLayer", device.link_layer}});
  }
  return json;
}

data::Json null_if_empty(const std::string& text) {
  return text.empty() ? data::Json(nullptr) : data::Json(text);
}

data::Json rank_json(const proof::NcclRank& rank) {
  data::Json json = {{"rank", report::json_or_null(rank.rank)},
                     {"ranks", report::json_or_null(rank.size)},
                     {"host", null_if_empty(rank.host)},
                     {"pid", rank.pid == 0 ? data::Json(nullptr) : data::Json(rank.pid)},
                     {"gpu", report::json_or_null(rank.gpu)},
                     {"verdict", to_string(rank.verdict)},
                     {"why", rank.why},
                     {"transport", null_if_empty(rank.transport)},
                     {"plugin", null_if_empty(rank.plugin)},
                     {"gpuDirect", to_string(rank.gpu_path)},
                     {"gpuDirectRoute", null_if_empty(rank.route)},
                     {"channels", rank.channels},
                     {"communicators", rank.communicators}};
  json["nics"] = data::Json::array();
  for (const auto& device : rank.devices) json["nics"].push_back(used_json(device));
  json["available"] = available_json(rank.available);
  json["relaxedOrdering"] = rank.relaxed_ordering;
  json["evidence"] = data::Json::array();
  for (const auto& quote : rank.evidence)
    json["evidence"].push_back({{"line", quote.line}, {"text", quote.text}});
  return json;
}

data::Json problem_json(const proof::NcclProblem& problem) {
  return {{"severity", to_string(problem.severity)},
          {"meaning", null_if_empty(problem.meaning)},
          {"count", problem.count},
          {"host", null_if_empty(problem.host)},
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
  report::Table table{{{"RANK"},
                       {"HOST"},
                       {"PID", report::Column::Shown::wide},
                       {"GPU"},
                       {"VERDICT"},
                       {"NETWORK"},
                       {"NICS"},
                       {"GPUDIRECT"},
                       {"CHANNELS"},
                       {"COMMUNICATORS", report::Column::Shown::wide},
                       {"WHY"}},
                      {}};
  for (const auto& rank : job.ranks) {
    table.rows.push_back(
        {report::text_or_blank(rank.rank), rank.host, rank.pid == 0 ? "" : std::to_string(rank.pid),
         report::text_or_blank(rank.gpu), std::string(to_string(rank.verdict)), rank.transport,
         nics_text(rank), path_text(rank), std::to_string(rank.channels),
         std::to_string(rank.communicators), rank.why});
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

}  // namespace

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
  report.json["ranks"] = data::Json::array();
  for (const auto& rank : job.ranks) report.json["ranks"].push_back(rank_json(rank));
  report.json["problems"] = data::Json::array();
  for (const auto& problem : log.problems) {
    report.json["problems"].push_back(problem_json(problem));
  }
  report.json["warnings"] = job.warnings;
  report.json["lines"] = log.lines;
  report.json["messages"] = log.records;
  report.sections.push_back({"", {}, {headline(job)}});
  if (!job.ranks.empty()) report.sections.push_back({"", ranks_table(job), {}});
  if (auto lines = evidence_lines(job, shown); !lines.empty()) {
    report.sections.push_back({"EVIDENCE", {}, std::move(lines)});
  }
  if (auto lines = nccl_problem_lines(log); !lines.empty()) {
    report.sections.push_back({"PROBLEMS", {}, std::move(lines)});
  }
  if (!job.warnings.empty()) report.sections.push_back({"WARNINGS", {}, job.warnings});
  return report;
}

}  // namespace railhead::cli
