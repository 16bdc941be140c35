// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/find.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "host/clock.h"
#include "host/input_file.h"
#include "options/options.h"
#include "proof/container_records.h"
#include "proof/count.h"
#include "proof/nccl_job.h"
#include "proof/nccl_log.h"
#include "proof/pods.h"
#include "proof/pods_json.h"

namespace railhead::cli {
namespace {

struct PodsFlags {
  std::chrono::milliseconds interval{1000};
  bool all = false;
  bool all_namespaces = false;
  std::string name_space;  ///< "": all
  bool explain = false;
  std::vector<std::string> before;  ///< snapshots, the oldest first
  std::vector<std::string> logs;    ///< POD=FILE
};

/// How often to look, and at what.
struct MachineLook {
  std::vector<std::string> before;
  std::chrono::milliseconds interval;
  bool living;
};

std::string scaled(double number, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (number >= 1000 && prefix + 1 < kPrefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), number < 10 && prefix > 0 ? "%.1f" : "%.0f", number);
  return std::string(text.data()) + " " + std::string(kPrefixes[prefix]) + std::string(unit);
}

/// Traffic of the ports of its devices, with a mark where others use them, too.
std::string traffic_text(const proof::DeviceShare& total) {
  std::string text;
  if (total.bytes_per_second) {
    text = scaled(*total.bytes_per_second, "B/s");
  } else if (total.packets_per_second) {
    text = scaled(*total.packets_per_second, "pkt/s");
  }
  if (!text.empty() && !total.sole_user) text += " shared";
  if (total.moving == 0U && total.ready > 0 && !total.moves_alone) return "quiet";
  if (text.empty() && total.moving.value_or(0) > 0) return "moving";
  return text;
}

std::string registered_text(const proof::DeviceShare& total) {
  if (total.implicit_regions > 0) return "all (ODP)";
  if (total.regions == 0) return "0";
  return scaled(static_cast<double>(total.registered_bytes), "B");
}

/// Indexes where the node knows them, else what they are called.
std::string gpus_text(const std::vector<std::string>& gpus, const node::Node& node) {
  std::vector<std::string> words;
  for (const auto& name : gpus) {
    const auto* gpu = find_where(
        node.gpus, [&](const auto& one) { return one.uuid == name || one.pci.str() == name; });
    const bool numbered = gpu != nullptr && gpu->index;
    words.push_back(numbered ? std::to_string(*gpu->index) : name);
  }
  return join(words, ",");
}

std::vector<report::Cell> line_of(const proof::PodUse& pod, const node::Node& node) {
  const auto total = pod.total();
  std::string verdict(to_string(pod.verdict));
  if (pod.silent_fallback) verdict += " (fallback)";
  std::vector<std::string> pids;
  for (const auto process : pod.processes) pids.push_back(std::to_string(process));
  return {{"NAMESPACE", pod.record.pod_namespace},
          {"POD", pod.record.pod.empty() ? pod.record.pod_uid : pod.record.pod, report::kKept},
          {"CONTAINER", pod.record.container},
          {"GPUS", gpus_text(pod.record.gpus, node)},
          {"NICS", join(pod.record.nics, ",")},
          {"QPS IN RTS", std::to_string(total.ready)},
          {"REGISTERED", registered_text(total)},
          {"PROOF", std::string(to_string(pod.rung))},
          {"TRAFFIC", traffic_text(total)},
          {"VERDICT", verdict, report::kKept, pod.silent_fallback},
          {"QPS", std::to_string(total.queue_pairs), report::kWide},
          {"CONNECTED", std::to_string(total.connected), report::kWide},
          {"TCP", pod.network ? std::to_string(pod.network->connections) : "", report::kWide},
          {"TCP B/S", pod.tcp_bytes_per_second ? scaled(*pod.tcp_bytes_per_second, "B/s") : "",
           report::kWide},
          {"AGE", pod.age_seconds ? scaled(*pod.age_seconds, "s") : "", report::kWide},
          {"PIDS", join(pids, ","), report::kWide},
          {"ID", pod.record.container_id.substr(0, 12), report::kWide},
          {"BECAUSE", pod.why, report::kWide}};
}

std::vector<std::string> evidence_lines(const proof::PodUse& pod) {
  std::vector<std::string> lines = {pod.record.pod_namespace + "/" + pod.record.pod + " " +
                                    pod.record.container + ": " +
                                    std::string(to_string(pod.verdict)) + ": " + pod.why};
  for (const auto& one : pod.evidence) lines.push_back("  " + one.source + ": " + one.value);
  return lines;
}

report::Report pods_report(const proof::PodsView& view, const node::Node& node,
                           const data::Json& time, const PodsFlags& flags) {
  report::Report report;
  report.json = report::make_document("Pods");
  report.json["time"] = time;
  proof::add_pods(report.json, view, node);
  report::Table rows;
  std::vector<std::string> evidence;
  for (const auto& pod : view.pods) {
    rows.add(line_of(pod, node));
    for (auto& line : evidence_lines(pod)) evidence.push_back(std::move(line));
  }
  report.add(std::move(rows),
             "no container" +
                 (flags.name_space.empty() ? "" : " of namespace " + flags.name_space) +
                 " holds a GPU, an RDMA NIC or RDMA objects");
  report.note("", no_rdma_lines(node));
  if (flags.explain) report.add("EVIDENCE", std::move(evidence));
  if (view.host_queue_pairs > 0) {
    report.note("", {"processes of the host hold " + std::to_string(view.host_queue_pairs) +
                     " more queue pairs"});
  }
  report.note("WARNINGS", view.warnings);
  return report;
}

bool any_fallback(const proof::PodsView& view) {
  return std::ranges::any_of(view.pods, [](const auto& pod) { return pod.silent_fallback; });
}

/// Whether a third look may prove what two do not.
bool wants_third_look(const proof::PodsView& view) {
  return any_fallback(view) || std::ranges::any_of(view.pods, [](const auto& pod) {
           return pod.verdict == proof::Verdict::unknown && pod.total().moves_alone;
         });
}

int exit_code(const proof::PodsView& view, const node::Node& node) {
  if (any_fallback(view)) return kExitProblem;
  const auto has = [](proof::Verdict verdict) {
    return [verdict](const auto& pod) { return pod.verdict == verdict; };
  };
  if (std::ranges::any_of(view.pods, has(proof::Verdict::unknown))) return kExitCannotTell;
  // RDMA that is proved stays proved, whatever else could not be seen.
  const bool is_proved =
      !view.pods.empty() && std::ranges::all_of(view.pods, has(proof::Verdict::rdma));
  return view.complete || is_proved ? exit_code_for(node, true) : kExitCannotTell;
}

/// A rank that says RDMA is evidence, also where another line of the log may say TCP.
std::string what_says(const proof::NcclJob& job) {
  using enum proof::NcclVerdict;
  const bool is_in_part =
      job.verdict == unknown &&
      std::any_of(job.ranks.begin(), job.ranks.end(), [](const proof::NcclRank& rank) {
        return rank.verdict == rdma || rank.verdict == rdma_chosen;
      });
  return (is_in_part ? "RDMA in part" : std::string(to_string(job.verdict))) + ": " + job.why;
}

/// What the NCCL logs of `--log POD=FILE` say of their pods.
Result<std::map<std::string, std::string>> read_logs(const std::vector<std::string>& flags) {
  std::map<std::string, std::string> logs;
  for (const auto& flag : flags) {
    const auto equals = flag.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::usage, "--log " + in_quotes(flag) + ": not POD=FILE"};
    }
    proof::NcclLogReader reader;
    TRY_STATUS(host::stream_input_file(flag.substr(equals + 1),
                                       [&](std::string_view bytes) { reader.feed(bytes); }));
    const auto log = reader.finish();
    const auto job = proof::judge(log);
    logs[flag.substr(0, equals)] = what_says(job);
  }
  return logs;
}

/// Reads a machine, and says what was found since it read it before.
class Looker {
 public:
  Looker(host::Host& host, const config::Settings& settings, const inject::DecisionTable& table,
         proof::ProofOptions options)
      : host_(host),
        settings_(settings),
        table_(table),
        options_(std::move(options)) {}

  proof::PodsView look_at(host::Host& host) {
    auto now = usage::read_usage(host, settings_.host.proc, options::listed_queue_pairs(settings_));
    auto view = proof::judge_pods(now, before_ ? &*before_ : nullptr, table_.node(),
                                  proof::records_of(now, table_), options_);
    proof::note_who_moved_alone(now, view);
    before_ = std::move(now);
    return view;
  }

  proof::PodsView look() { return look_at(host_); }

 private:
  host::Host& host_;
  const config::Settings& settings_;
  const inject::DecisionTable& table_;
  proof::ProofOptions options_;
  std::optional<usage::Usage> before_;
};

/// A fallback has to be found twice.
void keep_what_both_found(proof::PodsView& view, const proof::PodsView& earlier) {
  for (auto& pod : view.pods) {
    if (!pod.silent_fallback) continue;
    const auto* same = find_where(earlier.pods, [&](const auto& one) {
      return one.record.container_id == pod.record.container_id;
    });
    pod.silent_fallback = same != nullptr && same->silent_fallback;
    if (!pod.silent_fallback) pod.why += " (by one look alone)";
  }
}

Result<proof::PodsView> look_at(const MachineLook& what, Looker& looker) {
  const auto wait = [&] { host::SystemClock().wait(what.interval); };
  for (const auto& file : what.before) {
    const auto earlier = TRY(options::open_machine({"/", file}));
    looker.look_at(*earlier);
  }
  auto view = looker.look();
  if (!what.living || what.interval.count() <= 0) return view;
  wait();
  view = looker.look();
  if (!wants_third_look(view)) return view;
  wait();
  auto again = looker.look();
  keep_what_both_found(again, view);
  return again;
}

Result<int> show_pods(const Invocation& invocation, const PodsFlags& flags,
                      const config::Config& config) {
  const auto& settings = config.settings();
  const auto origin = TRY(options::machine_origin(settings));
  if (!flags.before.empty() && origin.snapshot.empty()) {
    return Error{ErrorCode::usage, "--before goes with --snapshot"};
  }
  const auto host = TRY(options::open_machine(origin));
  const auto table = TRY(load_table(config));
  const auto logs = TRY(read_logs(flags.logs));
  const proof::ProofOptions proof{static_cast<double>(settings.pods.grace.count()), flags.all,
                                  settings.pods.ignore, logs};
  Looker looker(*host, settings, *table, proof);
  auto view = TRY(look_at({flags.before, flags.interval, origin.snapshot.empty()}, looker));
  // A snapshot does not say when it was taken.
  const auto time = origin.snapshot.empty()
                        ? data::Json(host::utc_text(host::SystemClock().calendar()))
                        : data::Json(nullptr);
  if (!flags.name_space.empty()) {
    std::erase_if(view.pods, [&](const proof::PodUse& pod) {
      return pod.record.pod_namespace != flags.name_space;
    });
  }
  return invocation.print(pods_report(view, table->node(), time, flags),
                          exit_code(view, table->node()));
}

}  // namespace

void add_pods_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "pods", "Show which containers use RDMA, as the kernel sees it, and which fell back to TCP");
  auto flags = std::make_shared<PodsFlags>();
  add_settings(*app, invocation,
               {"host.root", "host.snapshot", "host.proc", "pods.graceSeconds", "pods.ignore",
                "pods.queuePairs"});
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  add_watch_option(*app, invocation);
  auto* name_space = app->add_option("-n,--namespace", flags->name_space, "pods of this namespace")
                         ->type_name("NAMESPACE");
  app->add_flag("-A,--all-namespaces", flags->all_namespaces, "pods of all namespaces; the default")
      ->excludes(name_space);
  add_duration_option(*app, "--interval", flags->interval, std::chrono::seconds(1),
                      "time between two readings, for traffic; 0: one reading [1s]");
  app->add_option(
         "--before", flags->before,
         "an earlier snapshot of the same machine, for traffic; twice: the older one first; "
         "with --snapshot")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
  app->add_option("--log", flags->logs, "the NCCL log of a pod: what it says is evidence, too")
      ->type_name("POD=FILE")
      ->expected(1)
      ->take_all();
  app->add_flag("--all", flags->all, "containers without GPUs, NICs and RDMA objects, too");
  app->add_flag("--explain", flags->explain, "show the evidence for each verdict");
  app->footer(
      "Exit codes: 0 ok, 1 a container fell back to TCP silently, 2 a verdict is unknown,\n"
      "or not everything could be seen.\n"
      "Examples: railhead pods -n training --explain\n"
      "          railhead pods -w -o wide");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return show_pods(invocation, *flags, config);
  });
}

}  // namespace railhead::cli
