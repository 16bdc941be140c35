// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_pod.h"

#include <algorithm>
#include <utility>

#include "base/find.h"
#include "base/text.h"
#include "cli/command.h"
#include "host/bounded_host.h"
#include "host/directory_host.h"
#include "options/options.h"
#include "proof/container_records.h"
#include "proof/pods.h"

namespace railhead::cli {
namespace {

/// What `railhead pods` would say of these containers by one look.
std::vector<proof::PodUse> uses_of(const std::vector<system::Container>& containers,
                                   host::Host& host, const config::Config& config) {
  const auto& settings = config.settings();
  const auto table = load_table(config);
  proof::PodsView view;
  if (table) {
    const auto use =
        usage::read_usage(host, settings.host.proc, options::listed_queue_pairs(settings));
    const proof::ProofOptions options{
        static_cast<double>(settings.pods.grace.count()), true, settings.pods.ignore, {}};
    view =
        proof::judge_pods(use, nullptr, (*table)->node(), proof::records_of(use, **table), options);
  }
  const auto why = table ? "its use of RDMA could not be read" : table.error().message;
  std::vector<proof::PodUse> uses;
  for (const auto& container : containers) {
    if (container.id.empty()) continue;  // a process of the host
    const auto* known = find_where(
        view.pods, [&](const auto& pod) { return pod.record.container_id == container.id; });
    auto& use = uses.emplace_back(known == nullptr ? proof::PodUse() : *known);
    if (known != nullptr) continue;
    use.record.container_id = container.id;
    use.why = why;
  }
  return uses;
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

Status add_containers(const PodTarget& target, const config::Config& config, const node::Node& node,
                      const ReadingTime& time, checks::MoreFacts& into) {
  const auto origin = TRY(options::machine_origin(config.settings()));
  const auto root = origin.snapshot.empty() ? origin.root : std::string("/");
  const auto host = TRY(options::open_machine({root, ""}));
  host::BoundedHost bounded(*host, time.clock, time.limit, &time.now);
  using Opened = Result<std::unique_ptr<host::Host>>;
  const auto open_root = [&](const std::string& path) -> Opened {
    time.now.set(path);
    auto tree = TRY(host::DirectoryHost::open_foreign((root == "/" ? "" : root) + path));
    return Opened(
        std::make_unique<host::BoundedHost>(std::move(tree), time.clock, time.limit, &time.now));
  };
  const system::ContainerSource source{bounded, config.settings().host.proc, open_root};
  const auto pids = TRY(pids_of(target, source));
  for (const auto pid : pids) {
    into.containers.push_back(TRY(system::read_container(source, node, pid)));
  }
  into.uses = uses_of(into.containers, bounded, config);
  return {};
}

}  // namespace railhead::cli
