// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_pod.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "host/bounded_host.h"
#include "host/directory_host.h"
#include "options/options.h"
#include "proof/container_records.h"
#include "proof/pods.h"

namespace railhead::cli {
namespace {

using Kind = system::TransportVerdict::Kind;

Kind kind_of(proof::Verdict verdict) {
  switch (verdict) {
    case proof::Verdict::rdma: return Kind::rdma;
    case proof::Verdict::tcp: return Kind::tcp;
    case proof::Verdict::idle: return Kind::idle;
    case proof::Verdict::unknown: break;
  }
  return Kind::unknown;
}

/// What `railhead pods` would say of these containers by one look.
void add_verdicts(host::Host& host, const config::Config& config,
                  std::vector<system::Container>& containers) {
  const auto& settings = config.settings();
  const auto unknown = [](std::string why) {
    return system::TransportVerdict{Kind::unknown, false, std::move(why), {}};
  };
  const auto table = load_table(config);
  if (!table) {
    for (auto& container : containers) container.transport = unknown(table.error().message);
    return;
  }
  const auto use =
      usage::read_usage(host, settings.host.proc, options::listed_queue_pairs(settings));
  const proof::ProofOptions options{
      static_cast<double>(settings.pods.grace.count()), true, settings.pods.ignore, {}};
  const auto view =
      proof::judge_pods(use, nullptr, (*table)->node(), proof::records_of(use, **table), options);
  for (auto& container : containers) {
    if (container.id.empty()) continue;  // a process of the host
    const auto at = std::find_if(view.pods.begin(), view.pods.end(), [&](const auto& pod) {
      return pod.record.container_id == container.id;
    });
    if (at == view.pods.end()) {
      container.transport = unknown("its use of RDMA could not be read");
      continue;
    }
    auto& verdict = container.transport.emplace();
    verdict.kind = kind_of(at->verdict);
    verdict.silent_fallback = at->silent_fallback;
    verdict.why = at->why;
    for (const auto& one : at->evidence) verdict.evidence.emplace_back(one.source, one.value);
  }
}

Result<std::vector<int>> pids_of(const PodTarget& target, const system::ContainerSource& source) {
  if (target.pid != 0) return std::vector<int>{target.pid};
  const auto slash = target.pod.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == target.pod.size()) {
    return Error{ErrorCode::usage, "--pod " + in_quotes(target.pod) + ": not NAMESPACE/NAME"};
  }
  const std::string_view pod(target.pod);
  return system::find_pod(source, pod.substr(0, slash), pod.substr(slash + 1));
}

}  // namespace

Result<std::vector<system::Container>> read_containers(const PodTarget& target,
                                                       const config::Config& config,
                                                       const node::Node& node, host::Clock& clock,
                                                       std::chrono::milliseconds limit) {
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto root = origin.snapshot.empty() ? origin.root : std::string("/");
  const auto host = TRY(options::open_machine({root, ""}));
  host::BoundedHost bounded(*host, clock, limit);
  const system::ContainerSource source{
      bounded, config.settings().host.proc, [&root](const std::string& path) {
        return host::DirectoryHost::open_foreign((root == "/" ? "" : root) + path);
      }};
  std::vector<system::Container> containers;
  const auto pids = TRY(pids_of(target, source));
  for (const auto pid : pids) {
    containers.push_back(TRY(system::read_container(source, node, pid)));
  }
  add_verdicts(bounded, config, containers);
  return containers;
}

}  // namespace railhead::cli
