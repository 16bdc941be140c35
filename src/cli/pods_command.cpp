// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>

#include "agent/container_records.h"
#include "agent/options.h"
#include "base/text.h"
#include "cli/command.h"
#include "host/clock.h"
#include "proof/pods.h"
#include "proof/pods_json.h"

namespace railhead::cli {
namespace {

struct PodsFlags {
  double interval_seconds = 1;
  bool all = false;
  bool explain = false;
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
  if (total.moving == 0U && total.ready > 0) return "quiet";
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
    const auto gpu = std::find_if(node.gpus.begin(), node.gpus.end(), [&](const node::Gpu& one) {
      return one.uuid == name || one.pci.str() == name;
    });
    const bool numbered = gpu != node.gpus.end() && gpu->index;
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
          {"POD", pod.record.pod.empty() ? pod.record.pod_uid : pod.record.pod},
          {"CONTAINER", pod.record.container},
          {"GPUS", gpus_text(pod.record.gpus, node)},
          {"NICS", join(pod.record.nics, ",")},
          {"QPS IN RTS", std::to_string(total.ready)},
          {"REGISTERED", registered_text(total)},
          {"TRAFFIC", traffic_text(total)},
          {"VERDICT", verdict},
          {"QPS", std::to_string(total.queue_pairs), report::kWide},
          {"CONNECTED", std::to_string(total.connected), report::kWide},
          {"TCP", pod.network ? std::to_string(pod.network->connections) : "", report::kWide},
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
                           const PodsFlags& flags) {
  report::Report report;
  report.json = report::make_document("Pods");
  proof::add_pods(report.json, view, node);
  report::Table rows;
  std::vector<std::string> evidence;
  for (const auto& pod : view.pods) {
    rows.add(line_of(pod, node));
    for (auto& line : evidence_lines(pod)) evidence.push_back(std::move(line));
  }
  report.add(std::move(rows), "no container holds a GPU, an RDMA NIC or RDMA objects");
  if (flags.explain) report.add("EVIDENCE", std::move(evidence));
  if (view.host_queue_pairs > 0) {
    report.add("", {"processes of the host hold " + std::to_string(view.host_queue_pairs) +
                    " more queue pairs"});
  }
  report.add("WARNINGS", view.warnings);
  return report;
}

int exit_code(const proof::PodsView& view) {
  const auto& pods = view.pods;
  if (std::any_of(pods.begin(), pods.end(), [](const auto& pod) { return pod.silent_fallback; })) {
    return kExitProblem;
  }
  const bool unknown = std::any_of(pods.begin(), pods.end(), [](const auto& pod) {
    return pod.verdict == proof::Verdict::unknown;
  });
  return unknown || (pods.empty() && !view.complete) ? kExitCannotTell : kExitOk;
}

Result<int> show_pods(const Invocation& invocation, const PodsFlags& flags,
                      const config::Config& config) {
  const auto origin = TRY(agent::machine_origin(config.settings()));
  const auto host = TRY(agent::open_machine(origin));
  const auto table = TRY(load_table(config));
  const auto& proc_dir = config.settings().host.proc;
  std::optional<usage::Usage> before;
  if (flags.interval_seconds > 0 && origin.snapshot.empty()) {
    before = usage::read_usage(*host, proc_dir);
    host::SystemClock().wait(
        std::chrono::milliseconds(static_cast<std::int64_t>(flags.interval_seconds * 1000)));
  }
  const auto now = usage::read_usage(*host, proc_dir);
  const proof::ProofOptions proof{static_cast<double>(config.settings().pods.grace.count()),
                                  flags.all, config.settings().pods.ignore};
  const auto view = proof::judge_pods(now, before ? &*before : nullptr, table->node(),
                                      agent::records_of(now, *table), proof);
  return invocation.print(pods_report(view, table->node(), flags), exit_code(view));
}

}  // namespace

void add_pods_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "pods", "Show which containers use RDMA, as the kernel sees it, and which fell back to TCP");
  auto flags = std::make_shared<PodsFlags>();
  add_settings(*app, invocation,
               {"host.root", "host.snapshot", "host.proc", "pods.graceSeconds", "pods.ignore"});
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->add_option("--interval", flags->interval_seconds,
                  "time between two readings, for traffic; 0: one reading [1]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 60.0));
  app->add_flag("-A,--all", flags->all, "containers without GPUs, NICs and RDMA objects, too");
  app->add_flag("--explain", flags->explain, "show the evidence for each verdict");
  app->footer("Exit codes: 0 ok, 1 a container fell back to TCP silently, 2 a verdict is unknown.");
  invocation.answer_with_config(*app, [&invocation, flags](const config::Config& config) {
    return show_pods(invocation, *flags, config);
  });
}

}  // namespace railhead::cli
