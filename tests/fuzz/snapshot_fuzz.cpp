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

void ask_everything(railhead::host::Host& host, const railhead::snapshot::Snapshot& snapshot) {
  for (const auto& [path, entry] : snapshot.entries) {
    (void)host.read(path);
    (void)host.readlink(path);
    (void)host.list(path);
    (void)host.device(path + "/../x");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto snapshot = railhead::snapshot::parse_snapshot(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!snapshot) return 0;
  const auto again =
      railhead::snapshot::parse_snapshot(railhead::snapshot::format_snapshot(*snapshot));
  require(again.has_value() && *again == *snapshot);
  railhead::snapshot::SnapshotHost host(*snapshot);
  railhead::snapshot::RecordingHost recorder(host);
  ask_everything(recorder, *snapshot);
  require(
      railhead::snapshot::parse_snapshot(railhead::snapshot::format_snapshot(recorder.recorded()))
          .has_value());
  const auto redacted = railhead::snapshot::redact(*snapshot).snapshot;
  require(railhead::snapshot::parse_snapshot(railhead::snapshot::format_snapshot(redacted))
              .has_value());
  return 0;
}
