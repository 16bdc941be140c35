// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topology/nccl_topology.h"

namespace railhead::test {

/// Text of small topology files.
struct Cpu {
  std::string numa;
  std::string inside;
};

inline std::string pci(const std::string& busid, const std::string& class_code) {
  return "<pci busid='" + busid + "' class='" + class_code + "'/>\n";
}

inline std::string gpu(const std::string& busid) {
  return pci(busid, "0x030200");
}

inline std::string nic(const std::string& busid) {
  return pci(busid, "0x020700");
}

inline std::string net(const std::string& busid, const std::string& attributes) {
  return "<pci busid='" + busid + "' class='0x020700'><nic><net " + attributes + "/></nic></pci>\n";
}

inline std::string within(const std::string& busid, const std::string& inside) {
  return "<pci busid='" + busid + "' class='0x060400'>\n" + inside + "</pci>\n";
}

inline topology::NcclTopology topology_of(const std::vector<Cpu>& cpus) {
  std::string text = "<system version='1'>\n";
  for (const auto& cpu : cpus) {
    text += "<cpu numaid='" + cpu.numa + "'>\n" + cpu.inside + "</cpu>\n";
  }
  const auto topology = topology::parse_nccl_topology(text + "</system>\n", "topo.xml");
  EXPECT_TRUE(topology) << topology.error().message;
  return topology ? *topology : topology::NcclTopology{};
}

}  // namespace railhead::test
