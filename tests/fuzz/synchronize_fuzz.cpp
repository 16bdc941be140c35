// SPDX-License-Identifier: Apache-2.0
// A Synchronize in pieces against the generated types: where both accept a chunk, every container
// is handed on once, with the first pod of its id, and the counts agree. The first byte chooses the
// pieces, the second where the payload is cut into two chunks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "nri/api.h"
#include "nri/session.h"
#include "nri/synchronize.h"

namespace {

using namespace railhead;
using namespace railhead::nri;

void require(bool condition) {
  if (!condition) std::abort();
}

// Pod name, uid, number of annotations and namespaces; container id, name, numbers of its parts.
using Seen = std::tuple<std::string, std::string, std::size_t, std::size_t, std::string,
                        std::string, std::size_t, std::size_t, std::size_t>;

// Of equal keys, which a runtime never sends, a map keeps one.
std::size_t keys_of(const container::KeyValues& map) {
  std::set<std::string_view> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys.size();
}

class Recorder final : public Handler {
 public:
  void configured(const RuntimePeer& /*peer*/) override {}

  void existing(const container::Request& container) override {
    seen.emplace(std::string(container.pod_name), std::string(container.pod_uid),
                 keys_of(container.pod_annotations), container.pod_namespaces.size(),
                 std::string(container.id), std::string(container.name), container.env.size(),
                 container.mounts.size(), container.devices.size());
  }

  void synchronized(const StateCounts& all) override { counts.emplace(all.pods, all.containers); }

  void create(const container::Request& /*request*/,
              std::function<void(const CreateAnswer&)> /*done*/) override {}

  CreateAnswer on_deadline(const container::Request& /*request*/) override { return {}; }

  void disconnected(const Error& /*why*/, std::chrono::milliseconds /*retry_in*/) override {}

  std::multiset<Seen> seen;
  std::set<std::pair<std::size_t, std::size_t>> counts;
};

Seen expected(const api::PodSandbox& pod, const api::Container& container) {
  return {pod.name(),
          pod.uid(),
          pod.annotations().size(),
          static_cast<std::size_t>(pod.linux().namespaces_size()),
          container.id(),
          container.name(),
          static_cast<std::size_t>(container.env_size()),
          static_cast<std::size_t>(container.mounts_size()),
          static_cast<std::size_t>(container.linux().devices_size())};
}

void compare(const Recorder& ours, const api::SynchronizeRequest& theirs) {
  std::map<std::string, const api::PodSandbox*> pods;
  for (const auto& pod : theirs.pods()) {
    if (!pod.id().empty()) pods.emplace(pod.id(), &pod);
  }
  std::multiset<Seen> all;
  for (const auto& container : theirs.containers()) {
    const auto pod = pods.find(container.pod_sandbox_id());
    all.insert(expected(pod == pods.end() ? api::PodSandbox::default_instance() : *pod->second,
                        container));
  }
  require(ours.seen == all);
  require(ours.counts == std::set{std::pair(static_cast<std::size_t>(theirs.pods_size()),
                                            static_cast<std::size_t>(theirs.containers_size()))});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t border = payload.size() * data[1] / 256;
  Recorder recorder;
  Synchronize state(recorder);
  api::SynchronizeRequest theirs;
  bool all_read = true;
  for (const std::string_view chunk : {payload.substr(0, border), payload.substr(border)}) {
    for (std::size_t at = 0; at < chunk.size(); at += piece) state.take(chunk.substr(at, piece));
    api::SynchronizeRequest part;
    const auto more = state.end_chunk();
    const bool parsed = part.ParseFromArray(chunk.data(), static_cast<int>(chunk.size()));
    if (more && parsed) require(*more == part.more());
    all_read = all_read && more && parsed;
    theirs.MergeFrom(part);
  }
  state.finish();
  require(state.kept_bytes() == 0);
  if (all_read) compare(recorder, theirs);
  return 0;
}
