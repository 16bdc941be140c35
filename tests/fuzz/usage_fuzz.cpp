// SPDX-License-Identifier: Apache-2.0
//
// Who uses RDMA, on a machine that a snapshot makes up: reading and judging it takes whatever
// stands there.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/node.h"
#include "proof/count.h"
#include "proof/pods.h"
#include "snapshot/snapshot_host.h"
#include "usage/usage.h"

namespace {

using railhead::proof::Verdict;

void require(bool holds) {
  if (!holds) std::abort();
}

void judge(const railhead::usage::Usage& usage, const railhead::usage::Usage* before,
           const railhead::node::Node& node) {
  railhead::proof::ProofOptions options;
  options.all = true;
  for (const auto& pod : railhead::proof::judge_pods(usage, before, node, {}, options).pods) {
    const auto total = pod.total();
    const bool proved = total.connected > 0 || total.proved_by_traffic;
    require((pod.verdict == Verdict::rdma) == proved);
    require(!pod.silent_fallback || pod.verdict == Verdict::tcp || pod.verdict == Verdict::idle);
    require(!pod.why.empty());
    require(usage.processes_known);
    const bool was_sole = before != nullptr && before->containers.contains(pod.record.container_id);
    require(!total.moves_alone || was_sole);
    require(!total.proved_by_traffic || total.moves_alone);
  }
}

/// What is kept of a reading to compare the next with says the same as all of it.
void compare(const railhead::usage::Usage& usage, const railhead::node::Node& node) {
  railhead::proof::ProofOptions options;
  options.all = true;
  auto kept = usage;
  railhead::proof::forget_what_is_not_compared(kept);
  const auto whole = railhead::proof::judge_pods(usage, &usage, node, {}, options).pods;
  const auto less = railhead::proof::judge_pods(usage, &kept, node, {}, options).pods;
  require(whole.size() == less.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    require(whole[i].verdict == less[i].verdict && whole[i].devices == less[i].devices);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto host = railhead::snapshot::SnapshotHost::parse(text);
  if (!host) return 0;
  const auto node = railhead::node::read_node(**host);
  const auto usage = railhead::usage::read_usage(**host);
  judge(usage, nullptr, node);
  judge(usage, &usage, node);
  compare(usage, node);
  return 0;
}
