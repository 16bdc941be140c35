// SPDX-License-Identifier: Apache-2.0
// Damaged topology files: over the machines in the box as they are written, and over the published
// files where they are at hand ($RAILHEAD_CORPUS, else ../shared/corpus beside the source tree). A
// damaged file is an error that names the line, or a machine with all its relations; what is cut
// off is always an error. The damage is the same in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "topology/layout.h"
#include "topology/topology.h"
#include "unit/node/hosts.h"
#include "unit/source_dir.h"

namespace railhead::topology {
namespace {

using ::testing::HasSubstr;

struct File {
  std::string name;
  std::string text;
};

class Damage {
 public:
  explicit Damage(const File& file)
      : dice_(static_cast<std::uint32_t>(file.text.size())) {}

  std::size_t below(std::size_t end) { return dice_() % end; }

 private:
  std::mt19937 dice_;
};

/// The machine and its relations can be had, and every address stands once.
void expect_total(const NcclTopology& topology, const std::string& what) {
  const node::Node node = node_from(topology);
  std::set<node::PciAddress> addresses;
  for (const auto& device : node.pci) {
    EXPECT_TRUE(addresses.insert(device.address).second) << what << ": " << device.address.str();
  }
  const auto relations = make_topology(node);
  EXPECT_TRUE(relations.warnings.empty()) << what << ": " << relations.warnings.front();
  ASSERT_EQ(relations.gpu_nic.size(), node.gpus.size()) << what;
  for (const auto& row : relations.gpu_nic) ASSERT_EQ(row.size(), node.nics.size()) << what;
  EXPECT_TRUE(parse_nccl_topology(to_xml(nccl_topology_of(node)), "again")) << what;
}

/// An error with a line, or a machine; whether it is one.
bool judge(const std::string& text, const std::string& what) {
  const auto topology = parse_nccl_topology(text, "damaged.xml");
  if (topology) {
    expect_total(*topology, what);
    return true;
  }
  EXPECT_THAT(topology.error().message, testing::StartsWith("damaged.xml: ")) << what;
  EXPECT_THAT(topology.error().message, HasSubstr("line ")) << what;
  return false;
}

void cut_off(const File& file) {
  Damage damage(file);
  const std::size_t end = file.text.rfind("</system>") + std::string_view("</system>").size();
  for (int i = 0; i < 40; ++i) {
    const auto size = damage.below(end);
    EXPECT_FALSE(judge(file.text.substr(0, size), file.name + " cut to " + std::to_string(size)));
  }
}

/// A piece of a text.
struct Place {
  std::size_t at = 0;
  std::size_t length = 0;
};

using Places = std::vector<Place>;
using Finder = Places (*)(const std::string& text);

/// All that stands behind `before` and in front of one of `after`.
Places between(const std::string& text, const std::string& before, const std::string& after) {
  Places places;
  for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    const auto end = std::min(text.find_first_of(after, at), text.size());
    places.push_back({at, end - at});
  }
  return places;
}

Places values(const std::string& text) {
  return between(text, "=\"", "\"");
}

Places bus_ids(const std::string& text) {
  return between(text, "busid=\"", "\"");
}

Places element_names(const std::string& text) {
  return between(text, "<", " >/");
}

/// Whole lines: elements in elements where they do not belong, most of them no XML.
Places lines(const std::string& text) {
  return between(text, "\n", "\n");
}

/// name="value"
Places attributes(const std::string& text) {
  Places places = between(text, " ", "\"");
  for (auto& place : places) {
    const auto end = text.find('"', place.at + place.length + 1);
    place.length = end == std::string::npos ? 0 : end + 1 - place.at;
  }
  return places;
}

/// The text with what stands at one place put to the other and the other way round.
std::string exchanged(const std::string& text, Place a, Place b) {
  if (a.at > b.at) std::swap(a, b);
  const auto middle = a.at + a.length;
  if (middle > b.at) return text;
  return text.substr(0, a.at) + text.substr(b.at, b.length) + text.substr(middle, b.at - middle) +
         text.substr(a.at, a.length) + text.substr(b.at + b.length);
}

/// Exchanges two of what the finder finds, many times over.
void exchange(const File& file, const std::string& what, Finder find) {
  Damage damage(file);
  std::string text = file.text;
  for (int i = 0; i < 20; ++i) {
    const auto places = find(text);
    if (places.size() < 2) return;
    const auto& one = places[damage.below(places.size())];
    text = exchanged(text, one, places[damage.below(places.size())]);
    judge(text, file.name + " with " + std::to_string(i + 1) + " exchanges of " + what);
  }
}

void replace_values(const File& file) {
  Damage damage(file);
  const std::vector<std::string> odd = {"",
                                        "-1",
                                        "0",
                                        "0x",
                                        "0xffffffffffffffffff",
                                        "18446744073709551616",
                                        "1e9",
                                        "nan",
                                        "Unknown",
                                        "ffffffff:ff:1f.7",
                                        "0000:00:00.0",
                                        "&amp;",
                                        "&#1;",
                                        "\xff\xfe",
                                        std::string(5000, '1')};
  for (int i = 0; i < 30; ++i) {
    std::string text = file.text;
    for (int times = 0; times <= i / 10; ++times) {
      const auto places = values(text);
      const auto& place = places[damage.below(places.size())];
      text.replace(place.at, place.length, odd[damage.below(odd.size())]);
    }
    judge(text, file.name + " with odd values, number " + std::to_string(i));
  }
}

/// Bus ids of the file for other bus ids: duplicates, and functions that are their own ancestors.
void repeat_addresses(const File& file) {
  Damage damage(file);
  std::string text = file.text;
  for (int i = 0; i < 20; ++i) {
    const auto places = bus_ids(text);
    const auto& from = places[damage.below(places.size())];
    const auto& to = places[damage.below(places.size())];
    const std::string address = text.substr(from.at, from.length);
    text.replace(to.at, to.length, address);
    const auto what = file.name + " with repeated addresses, number " + std::to_string(i);
    EXPECT_TRUE(judge(text, what)) << what;
  }
}

void damage_in_every_way(const File& file) {
  ASSERT_TRUE(judge(file.text, file.name));
  cut_off(file);
  exchange(file, "values", values);
  exchange(file, "attributes", attributes);
  exchange(file, "element names", element_names);
  exchange(file, "lines", lines);
  replace_values(file);
  repeat_addresses(file);
}

TEST(NcclBadInput, of_machines_in_the_box) {
  std::size_t files = 0;
  for (const std::string name : {"dgx-h100", "amd-mi300x", "seed-8gpu-4nic", "renamed-devices"}) {
    node::Node node = test::machine(name);
    if (!node.cpu.arch) node.cpu = {"x86_64", "GenuineIntel", 6, 143};
    damage_in_every_way({name, to_xml(nccl_topology_of(node))});
    ++files;
  }
  EXPECT_EQ(files, 4U);
}

TEST(NcclBadInput, of_published_files) {
  const char* given = std::getenv("RAILHEAD_CORPUS");
  const std::string corpus = given != nullptr ? given : test::source_dir() + "/../shared/corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus at " << corpus;
  std::size_t files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(corpus)) {
    const auto path = folder.path() / "nccl-topo.xml";
    if (!std::filesystem::exists(path)) continue;
    std::ifstream in(path, std::ios::binary);
    damage_in_every_way({folder.path().filename(), {std::istreambuf_iterator<char>(in), {}}});
    ++files;
  }
  EXPECT_GT(files, 0U);
}

}  // namespace
}  // namespace railhead::topology
