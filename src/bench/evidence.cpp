// SPDX-License-Identifier: Apache-2.0
#include "bench/evidence.h"

#include "bench/expected.h"
#include "report/report.h"

namespace railhead::bench {

Json place_json(const Place& place) {
  Json json = {{"nic", place.nic}, {"port", place.port}};
  json["linkLayer"] = place.infiniband ? "InfiniBand" : "Ethernet";
  json["rateGbps"] = json_or_null(place.rate_gbps);
  json["gidIndex"] = json_or_null(place.gid_index);
  json["gid"] = json_or_null(place.gid);
  json["gidType"] = json_or_null(place.gid_type);
  json["pci"] = json_or_null(place.pci);
  json["numaNode"] = json_or_null(place.numa_node);
  json["pcie"] = nullptr;
  if (place.pcie_gts && place.pcie_width) {
    json["pcie"] = {{"gts", *place.pcie_gts},
                    {"width", *place.pcie_width},
                    {"payloadGbps", pcie_payload_gbps(*place.pcie_gts, *place.pcie_width)}};
  }
  json["firmware"] = json_or_null(place.firmware);
  json["driver"] = json_or_null(place.driver);
  return json;
}

Json gpu_json(const GpuFacts& facts) {
  Json json = {{"pci", facts.pci}, {"cudaDriver", facts.driver_version}};
  json["gpuDirect"] = json_or_null(facts.gpudirect);
  json["dmabuf"] = json_or_null(facts.dmabuf);
  return json;
}

Place place_of(const Json& lane) {
  Place place;
  place.nic = field<std::string>(lane, "nic").value_or("?");
  place.infiniband = field<std::string>(lane, "linkLayer") == "InfiniBand";
  place.gid = field<std::string>(lane, "gid");
  place.pci = field<std::string>(lane, "pci");
  place.rate_gbps = field<double>(lane, "rateGbps");
  if (const auto pcie = lane.find("pcie"); pcie != lane.end() && pcie->is_object()) {
    place.pcie_gts = field<double>(*pcie, "gts");
    place.pcie_width = field<unsigned>(*pcie, "width");
  }
  return place;
}

const Json* lanes_of(const Json& evidence) {
  if (!evidence.is_object()) return nullptr;
  const auto lanes = evidence.find("lanes");
  return lanes == evidence.end() || !lanes->is_array() ? nullptr : &*lanes;
}

}  // namespace railhead::bench
