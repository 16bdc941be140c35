// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_log_report.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace railhead {
namespace {

constexpr std::size_t kShownNics = 8;

Json quote_json(const NcclQuote& quote) {
  return {{"line", quote.line}, {"text", quote.text}};
}

Json used_json(const NcclUsedDevice& device) {
  const auto all = device.use.sends + device.use.receives;
  return {{"network", device.use.network},
          {"index", device.use.device},
          {"name", device.name.empty() ? Json(nullptr) : Json(device.name)},
          {"linkLayer", device.link_layer.empty() ? Json(nullptr) : Json(device.link_layer)},
          {"sends", device.use.sends},
          {"receives", device.use.receives},
          {"gpuDirect", device.use.gpu_direct},
          {"staged", all - device.use.gpu_direct},
          {"throughOtherRank", device.use.through_other_rank}};
}

Json available_json(const std::vector<NcclDevice>& devices) {
  Json json = Json::array();
  for (const auto& device : devices) {
    json.push_back({{"index", device.index},
                    {"name", device.name},
                    {"port", json_or_null(device.port)},
                    {"linkLayer", device.link_layer}});
  }
  return json;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json rank_json(const NcclRank& rank) {
  Json json = {{"rank", json_or_null(rank.rank)},
               {"ranks", json_or_null(rank.size)},
               {"host", text_or_null(rank.host)},
               {"pid", rank.pid == 0 ? Json(nullptr) : Json(rank.pid)},
               {"gpu", json_or_null(rank.gpu)},
               {"verdict", to_string(rank.verdict)},
               {"why", rank.why},
               {"transport", text_or_null(rank.transport)},
               {"plugin", text_or_null(rank.plugin)},
               {"gpuDirect", to_string(rank.gpu_path)},
               {"gpuDirectRoute", text_or_null(rank.route)},
               {"channels", rank.channels},
               {"communicators", rank.communicators}};
  json["nics"] = Json::array();
  for (const auto& device : rank.devices) json["nics"].push_back(used_json(device));
  json["available"] = available_json(rank.available);
  json["relaxedOrdering"] = rank.relaxed_ordering;
  json["evidence"] = Json::array();
  for (const auto& quote : rank.evidence) json["evidence"].push_back(quote_json(quote));
  return json;
}

Json problem_json(const NcclProblem& problem) {
  return {{"severity", to_string(problem.severity)},
          {"meaning", text_or_null(problem.meaning)},
          {"count", problem.count},
          {"host", text_or_null(problem.host)},
          {"line", problem.first.line},
          {"text", problem.first.text}};
}

/// "mlx5_0,mlx5_1", else the network with the index: "Socket/0".
std::string nics_text(const NcclRank& rank) {
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

std::string path_text(const NcclRank& rank) {
  if (rank.gpu_path == NcclGpuPath::unknown) return "";
  const std::string path(to_string(rank.gpu_path));
  return rank.route.empty() ? path : path + " (" + rank.route + ")";
}

Table ranks_table(const NcclJob& job) {
  Table table{{{"RANK"},
               {"HOST"},
               {"PID", Column::Shown::wide},
               {"GPU"},
               {"VERDICT"},
               {"NETWORK"},
               {"NICS"},
               {"GPUDIRECT"},
               {"CHANNELS"},
               {"COMMUNICATORS", Column::Shown::wide},
               {"WHY"}},
              {}};
  for (const auto& rank : job.ranks) {
    table.rows.push_back({text_or_blank(rank.rank), rank.host,
                          rank.pid == 0 ? "" : std::to_string(rank.pid), text_or_blank(rank.gpu),
                          std::string(to_string(rank.verdict)), rank.transport, nics_text(rank),
                          path_text(rank), std::to_string(rank.channels),
                          std::to_string(rank.communicators), rank.why});
  }
  return table;
}

std::string rank_label(const NcclRank& rank) {
  const auto name =
      rank.rank ? "rank " + std::to_string(*rank.rank) : "pid " + std::to_string(rank.pid);
  return rank.host.empty() ? name : name + " on " + rank.host;
}

/// "rank 0 on node-a, line 12: Using network IB".
std::vector<std::string> evidence_lines(const NcclJob& job, ShownEvidence shown) {
  std::vector<std::string> lines;
  std::set<std::pair<NcclVerdict, NcclGpuPath>> seen;
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

std::vector<std::string> problem_lines(const NcclLog& log) {
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

Json summary_json(const NcclJob& job) {
  const auto count = [&](NcclVerdict verdict) {
    return std::count_if(job.ranks.begin(), job.ranks.end(),
                         [&](const auto& rank) { return rank.verdict == verdict; });
  };
  return {{"ranks", job.ranks.size()},
          {"RDMA", count(NcclVerdict::rdma)},
          {"TCP", count(NcclVerdict::tcp)},
          {"mixed", count(NcclVerdict::mixed)},
          {"unknown", count(NcclVerdict::unknown)}};
}

std::string headline(const NcclJob& job) {
  auto line = std::string(to_string(job.verdict)) + ": " + job.why;
  if (job.gpu_path != NcclGpuPath::unknown) {
    line += "; GPUDirect RDMA: " + std::string(to_string(job.gpu_path));
  }
  return line;
}

}  // namespace

Report nccl_log_report(const std::string& source, const NcclLog& log, const NcclJob& job,
                       ShownEvidence shown) {
  Report report;
  report.json = make_document("NcclLog");
  report.json["source"] = source;
  report.json["verdict"] = to_string(job.verdict);
  report.json["gpuDirect"] = to_string(job.gpu_path);
  report.json["why"] = job.why;
  report.json["versions"] = log.versions;
  report.json["summary"] = summary_json(job);
  report.json["ranks"] = Json::array();
  for (const auto& rank : job.ranks) report.json["ranks"].push_back(rank_json(rank));
  report.json["problems"] = Json::array();
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
  if (auto lines = problem_lines(log); !lines.empty()) {
    report.sections.push_back({"PROBLEMS", {}, std::move(lines)});
  }
  if (!job.warnings.empty()) report.sections.push_back({"WARNINGS", {}, job.warnings});
  return report;
}

}  // namespace railhead
