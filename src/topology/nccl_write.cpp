// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's own reader of such a file demands (src/graph/xml.cc): no XML declaration, no tabs
// between elements, at most 16 attributes an element and 254 bytes a value, a <system version> of
// its own.
#include <array>
#include <cstdio>

#include "data/xml.h"
#include "topology/layout.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {
namespace {

class Element {
 public:
  explicit Element(std::string name) { element_.name = std::move(name); }

  Element& set(std::string name, std::string value) {
    element_.attributes.push_back({std::move(name), std::move(value)});
    return *this;
  }

  Element& set_text(std::string name, const std::string& value) {
    return value.empty() ? *this : set(std::move(name), value);
  }

  template <typename Number>
  Element& set_number(const std::string& name, const std::optional<Number>& value) {
    return value ? set(name, std::to_string(*value)) : *this;
  }

  Element& set_hex(std::string name, const std::optional<std::uint32_t>& value, int digits) {
    if (!value) return *this;
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%0*x", digits, *value);
    return set(std::move(name), text.data());
  }

  Element& add(data::XmlElement child) {
    element_.children.push_back(std::move(child));
    return *this;
  }

  data::XmlElement done() { return std::move(element_); }

 private:
  data::XmlElement element_;
};

/// As Linux prints it since 5.7: NCCL looks the whole text up in a list of known speeds.
std::string speed_text(double gts) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GT/s PCIe", gts);
  return text.data();
}

data::XmlElement nic_element(const std::vector<NcclNet>& nets) {
  Element nic("nic");
  for (const auto& net : nets) {
    Element element("net");
    element.set("name", net.name);
    element.set_number("dev", net.dev);
    element.set_number("speed", net.speed_mbps);
    element.set_number("port", net.port);
    if (net.guid) element.set("guid", *net.guid);
    if (net.gdr) element.set("gdr", *net.gdr ? "1" : "0");
    nic.add(element.done());
  }
  return nic.done();
}

/// NCCL fills in the link of a function that it looks up by its address. It never looks at one with
/// a <net>, which it finds by name, nor at a switch above only such ones, and wants the attributes
/// there: empty and 0 are its own words for unknown.
void set_link(Element& element, const NcclPci& pci) {
  const bool needed = pci.is_switch() || !pci.nets.empty();
  if (pci.link_gts) {
    element.set("link_speed", speed_text(*pci.link_gts));
  } else if (needed) {
    element.set("link_speed", "");
  }
  if (pci.link_width || needed) {
    element.set("link_width", std::to_string(pci.link_width.value_or(0)));
  }
}

/// What a switch lacks NCCL takes from sysfs, in each process for those above its own GPU alone.
/// The processes of a node then fuse what they have, and switches with unlike attributes stay two,
/// each with a copy of its NICs (src/graph/xml.cc: ncclTopoGetXmlFromSys(), ncclTopoFuseXml(),
/// since 2.22). So nothing is left to it, also not what reads zero. An invented switch is in no
/// sysfs.
void set_ids(Element& element, const NcclPci& pci) {
  const bool needed = pci.is_switch() && !is_invented(pci.address);
  const auto set = [&](const char* name, std::optional<std::uint32_t> value) {
    element.set_hex(name, needed ? value.value_or(0) : value, 4);
  };
  set("vendor", pci.vendor);
  set("device", pci.device);
  set("subsystem_vendor", pci.subsystem_vendor);
  set("subsystem_device", pci.subsystem_device);
}

data::XmlElement pci_element(const NcclPci& pci) {
  Element element("pci");
  element.set("busid", pci.address.str());
  element.set_hex("class", pci.class_code, 6);
  set_ids(element, pci);
  set_link(element, pci);
  if (pci.gpu) {
    Element gpu("gpu");
    gpu.set_number("dev", pci.gpu->dev).set_number("sm", pci.gpu->sm);
    element.add(gpu.done());
  }
  if (!pci.nets.empty()) element.add(nic_element(pci.nets));
  for (const auto& below : pci.below) element.add(pci_element(below));
  return element.done();
}

data::XmlElement cpu_element(const NcclCpu& cpu) {
  Element element("cpu");
  element.set("numaid", std::to_string(cpu.numa_node.value_or(-1)));
  element.set("affinity", cpu.affinity);  // also if empty: see set_ids()
  element.set_text("arch", cpu.arch);
  element.set_text("vendor", cpu.vendor);
  element.set_number("familyid", cpu.family);
  element.set_number("modelid", cpu.model);
  for (const auto& pci : cpu.pci) element.add(pci_element(pci));
  if (!cpu.nets.empty()) element.add(nic_element(cpu.nets));
  return element.done();
}

}  // namespace

std::string to_xml(const NcclTopology& topology) {
  Element root("system");
  root.set("version", std::to_string(topology.version));
  for (const auto& cpu : topology.cpus) root.add(cpu_element(cpu));
  return data::to_xml_text(root.done());
}

}  // namespace railhead::topology
