// SPDX-License-Identifier: Apache-2.0
#include "bench/evidence.h"

#include "bench/expected.h"
#include "report/report.h"

namespace railhead::bench {
namespace {

data::Json pcie_json(const std::optional<PcieLink>& link) {
  if (!link) return nullptr;
  return {{"gts", link->gts}, {"width", link->width}, {"payloadGbps", pcie_payload_gbps(*link)}};
}

std::optional<PcieLink> pcie_of(const data::Json& lane, const char* key) {
  const auto json = lane.find(key);
  if (json == lane.end() || !json->is_object()) return std::nullopt;
  const PcieLink link{field<double>(*json, "gts").value_or(0),
                      field<unsigned>(*json, "width").value_or(0)};
  return link.speed() > 0 ? std::optional(link) : std::nullopt;
}

}  // namespace

data::Json place_json(const Place& place) {
  data::Json json = {{"nic", place.nic}, {"port", place.port}};
  json["linkLayer"] = place.infiniband ? "InfiniBand" : "Ethernet";
  json["rateGbps"] = report::json_or_null(place.rate_gbps);
  json["gidIndex"] = report::json_or_null(place.gid_index);
  json["gid"] = report::json_or_null(place.gid);
  json["gidType"] = report::json_or_null(place.gid_type);
  json["pci"] = report::json_or_null(place.pci);
  json["numaNode"] = report::json_or_null(place.numa_node);
  json["pcie"] = pcie_json(place.pcie);
  json["pcieDegraded"] = place.pcie_is_degraded();
  json["pciePossible"] = pcie_json(place.pcie_possible);
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
  place.pcie = pcie_of(lane, "pcie");
  place.pcie_possible = pcie_of(lane, "pciePossible");
  return place;
}

const data::Json* lanes_of(const data::Json& evidence) {
  if (!evidence.is_object()) return nullptr;
  const auto lanes = evidence.find("lanes");
  return lanes == evidence.end() || !lanes->is_array() ? nullptr : &*lanes;
}

}  // namespace railhead::bench
