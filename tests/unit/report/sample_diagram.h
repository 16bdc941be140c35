// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/diagram.h"

namespace railhead::test {

inline report::DiagramDevice upper(const std::string& title, std::size_t group) {
  report::DiagramDevice device;
  device.row = report::DiagramRow::upper;
  device.title = title;
  device.lines = {"0000:18:00.0", "model"};
  device.groups = {group};
  device.tag = "PIX";
  return device;
}

inline report::DiagramDevice lower(const std::string& title, std::vector<std::size_t> groups,
                                   std::size_t stack) {
  report::DiagramDevice device;
  device.row = report::DiagramRow::lower;
  device.title = title;
  device.lines = {"0000:1a:00.0", "InfiniBand 400G"};
  device.footer = "ACTIVE";
  device.groups = std::move(groups);
  device.stack = stack;
  return device;
}

/// A package with two hubs of two upper devices and one lower device that both are linked to, and
/// a bridge with two more lower devices of one card.
inline report::Diagram sample_diagram() {
  report::Diagram diagram;
  diagram.title = "sample";
  diagram.marks = {"0", "1", "2", "3"};
  for (std::size_t g = 0; g < 4; ++g)
    diagram.devices.push_back(upper("GPU " + std::to_string(g), g));
  diagram.devices.push_back(lower("mlx5_0", {0, 1}, 1));
  diagram.devices.push_back(lower("mlx5_1", {2, 3}, 2));
  diagram.devices.push_back(lower("mlx5_2", {}, 3));
  diagram.devices.push_back(lower("mlx5_3", {}, 3));
  for (std::size_t g = 0; g < 4; ++g)
    diagram.links.push_back({g, 4 + g / 2, g, report::DiagramLink::Kind::solid, "PIX"});
  report::DiagramBox package{report::DiagramBox::Kind::memory, {"Socket 0"}, "", {}, {}};
  package.boxes.push_back({report::DiagramBox::Kind::hub, {"switch a"}, "", {0, 1, 4}, {}});
  package.boxes.push_back({report::DiagramBox::Kind::hub, {"switch b"}, "", {2, 3, 5}, {}});
  package.boxes.push_back({report::DiagramBox::Kind::bridge, {"bridge"}, "", {6, 7}, {}});
  diagram.boxes.push_back(package);
  diagram.words = {{"PIX", "near"}, {"SYS", "far"}};
  diagram.meaning_of_links = "dealt";
  diagram.meaning_of_aside = "not dealt";
  diagram.meaning_of_broken = "not usable";
  diagram.meaning_of_stand_in = "stands in";
  return diagram;
}

}  // namespace railhead::test
