// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "snapshot/snapshot.h"

namespace railhead::snapshot {

struct Redacted {
  Snapshot snapshot;
  std::vector<std::string> replaced;  ///< "8 GPU UUIDs"; empty when there was nothing
};

/// Paths by which files were asked for, by those at which they are; see RecordingHost::asked().
using AskedPaths = std::map<std::string, std::string, std::less<>>;

/// A snapshot that may be shown to others: serial numbers, GPU and MIG UUIDs, GUIDs, GIDs, MAC and
/// IP addresses, asset tags and host names are replaced, in names too where those are made of an
/// address (enx…). What was equal stays equal and what was different stays different, wherever it
/// stands, so the reader finds the same machine. Vital product data become names without content,
/// and PCI configuration space keeps what parse_pci_config() looks at. What was replaced also
/// stands in the comments. Twice gives the same as once. What a file has is known by the path by
/// which it was asked for, where that is given.
Redacted redact(Snapshot snapshot, const AskedPaths& asked = {});

}  // namespace railhead::snapshot
