// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted is written back to the same value, answers without failing badly, and can be
// redacted into something that is accepted again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "snapshot/recording_host.h"
#include "snapshot/redact.h"
#include "snapshot/snapshot_host.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void ask_everything(railhead::Host& host, const railhead::Snapshot& snapshot) {
  for (const auto& [path, entry] : snapshot.entries) {
    (void)host.read(path);
    (void)host.readlink(path);
    (void)host.list(path);
    (void)host.device(path + "/../x");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto snapshot =
      railhead::parse_snapshot(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!snapshot) return 0;
  const auto again = railhead::parse_snapshot(railhead::format_snapshot(*snapshot));
  require(again.has_value() && *again == *snapshot);
  railhead::SnapshotHost host(*snapshot);
  railhead::RecordingHost recorder(host);
  ask_everything(recorder, *snapshot);
  require(railhead::parse_snapshot(railhead::format_snapshot(recorder.recorded())).has_value());
  const auto redacted = railhead::redact(*snapshot).snapshot;
  require(railhead::parse_snapshot(railhead::format_snapshot(redacted)).has_value());
  return 0;
}
