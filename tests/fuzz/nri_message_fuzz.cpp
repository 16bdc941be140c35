// SPDX-License-Identifier: Apache-2.0
// The in-place readers of container requests and of events against the generated ones: where both
// accept a message, they agree. (They may differ in what they accept: the generated ones check
// UTF-8 and skip groups.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>

#include "nri/api.h"
#include "nri/messages.h"
#include "nri/request_view.h"

namespace {

using namespace railhead;
using namespace railhead::nri;

void require(bool condition) {
  if (!condition) std::abort();
}

// Of equal keys, which a runtime never sends, a map keeps the last.
template <typename Map>
bool same(const container::KeyValues& ours, const Map& theirs) {
  std::map<std::string_view, std::string_view> last;
  for (const auto& [key, value] : ours) last[key] = value;
  if (last.size() != theirs.size()) return false;
  for (const auto& [key, value] : theirs) {
    const auto found = last.find(key);
    if (found == last.end() || found->second != value) return false;
  }
  return true;
}

void compare_pod(const container::Request& ours, const api::PodSandbox& theirs) {
  require(ours.pod_name == theirs.name() && ours.pod_namespace == theirs.namespace_() &&
          ours.pod_uid == theirs.uid() && ours.runtime_handler == theirs.runtime_handler());
  require(same(ours.pod_annotations, theirs.annotations()));
  require(ours.pod_namespaces.size() == static_cast<std::size_t>(theirs.linux().namespaces_size()));
}

void compare_devices(const container::Request& ours, const api::Container& theirs) {
  require(ours.devices.size() == static_cast<std::size_t>(theirs.linux().devices_size()));
  for (std::size_t i = 0; i < ours.devices.size(); ++i) {
    const auto& device = theirs.linux().devices(static_cast<int>(i));
    require(ours.devices[i].path == device.path() && ours.devices[i].major == device.major() &&
            ours.devices[i].minor == device.minor());
  }
}

void compare_container(const container::Request& ours, const api::Container& theirs) {
  require(ours.id == theirs.id() && ours.name == theirs.name());
  require(same(ours.annotations, theirs.annotations()));
  require(ours.env.size() == static_cast<std::size_t>(theirs.env_size()));
  require(ours.container_namespaces.size() ==
          static_cast<std::size_t>(theirs.linux().namespaces_size()));
  require(ours.cdi_devices.size() == static_cast<std::size_t>(theirs.cdi_devices_size()));
  require(ours.mounts.size() == static_cast<std::size_t>(theirs.mounts_size()));
  for (std::size_t i = 0; i < ours.mounts.size(); ++i) {
    require(ours.mounts[i].destination == theirs.mounts(static_cast<int>(i)).destination());
  }
  require(ours.rlimits.size() == static_cast<std::size_t>(theirs.rlimits_size()));
  for (std::size_t i = 0; i < ours.rlimits.size(); ++i) {
    require(ours.rlimits[i].hard == theirs.rlimits(static_cast<int>(i)).hard());
  }
  compare_devices(ours, theirs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  container::Request ours;
  api::CreateContainerRequest theirs;
  const bool read = static_cast<bool>(read_create_request(bytes, ours));
  if (theirs.ParseFromArray(data, static_cast<int>(size)) && read) {
    compare_pod(ours, theirs.pod());
    compare_container(ours, theirs.container());
  }
  api::StateChangeEvent event;
  const auto runs = read_sandbox_runs(bytes, ours);
  if (event.ParseFromArray(data, static_cast<int>(size)) && runs) {
    require(*runs == (event.event() == api::EVENT_RUN_POD_SANDBOX));
    compare_pod(ours, event.pod());
  }
  (void)decode_configure(bytes);
  return 0;
}
