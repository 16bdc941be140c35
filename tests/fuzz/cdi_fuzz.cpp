// SPDX-License-Identifier: Apache-2.0
// CDI specs are files of other programs: as JSON and as YAML, alone and beside each other.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "inject/cdi.h"
#include "node/kept_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<railhead::node::Problem> problems;
  const auto registry = railhead::inject::CdiRegistry::from_files(
      {{"/etc/cdi/a.json", text}, {"/etc/cdi/b.yaml", text}, {"/var/run/cdi/c.yaml", text}},
      problems);
  (void)registry.device_paths("nvidia.com/gpu=0");
  // What a snapshot keeps of it names the same nodes.
  using namespace railhead::node;
  const auto json = kept_cdi_json(text);
  const auto yaml = kept_cdi_yaml(text);
  const auto xml = kept_nccl_topology(text);
  if (kept_cdi_json(json) != json || kept_cdi_yaml(yaml) != yaml || kept_nccl_topology(xml) != xml)
    std::abort();
  return 0;
}
