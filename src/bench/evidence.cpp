// SPDX-License-Identifier: Apache-2.0
#include "bench/evidence.h"

#include "bench/expected.h"
#include "report/report.h"

namespace railhead::bench {

data::Json place_json(const Place& place) {
  data::Json json = {{"nic", place.nic}, {"port", place.port}};
  json["linkLayer"] = place.infiniband ? "InfiniBand" : "Ethernet";
  json["rateGbps"] = report::json_or_null(place.rate_gbps);
  json["gidIndex"] = report::json_or_null(place.gid_index);
  json["gid"] = report::json_or_null(place.gid);
  json["gidType"] = report::json_or_null(place.gid_type);
  json["pci"] = report::json_or_null(place.pci);
  json["numaNode"] = report::json_or_null(place.numa_node);
  json["pcie"] = nullptr;
  if (place.pcie_gts && place.pcie_width) {
    json["pcie"] = {{"gts", *place.pcie_gts},
                    {"width", *place.pcie_width},
                    {"payloadGbps", pcie_payload_gbps(*place.pcie_gts, *place.pcie_width)}};
  }
  json["firmware"] = report::json_or_null(place.firmware);
  json["driver"] = report::json_or_null(place.driver);
  return json;
}

data::Json gpu_json(const GpuFacts& facts) {
  data::Json json = {{"pci", facts.pci}, {"cudaDriver", facts.driver_version}};
  json["gpuDirect"] = report::json_or_null(facts.gpudirect);
  json["dmabuf"] = report::json_or_null(facts.dmabuf);
  return json;
}

Place place_of(const data::Json& lane) {
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

const data::Json* lanes_of(const data::Json& evidence) {
  if (!evidence.is_object()) return nullptr;
  const auto lanes = evidence.find("lanes");
  return lanes == evidence.end() || !lanes->is_array() ? nullptr : &*lanes;
}

}  // namespace railhead::bench
