// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace railhead::report {

/// A picture as a value: devices in nested boxes, and links between them. It says what is to be
/// seen, not where: to_svg() and to_dot() place and paint it. Texts may hold anything; sinks
/// escape them and cut what is too long.

/// Links lead from a device of the upper row to one of the lower row.
enum class DiagramRow : std::uint8_t { upper, lower };

/// How a device is painted. Each look differs by more than its colour.
enum class DiagramLook : std::uint8_t {
  normal,
  aside,   ///< there, but no part of what the picture shows: grey, dashed
  broken,  ///< red, dashed
};

struct DiagramDevice {
  DiagramRow row = DiagramRow::upper;
  DiagramLook look = DiagramLook::normal;
  std::string title;
  std::vector<std::string> lines;   ///< below the title
  std::string footer;               ///< last line, a word or two
  std::string tooltip;              ///< whole story
  std::vector<std::size_t> groups;  ///< its colours: into Diagram::marks
  std::vector<std::size_t> guests;  ///< groups that it serves as a stand-in
  std::string tag;                  ///< what is written where its links begin
  DiagramLook tag_look = DiagramLook::normal;
  std::size_t stack = 0;  ///< equal in one box: drawn as one column
};

struct DiagramBox {
  enum class Kind : std::uint8_t { package, memory, bridge, hub };
  Kind kind = Kind::package;
  std::vector<std::string> titles;  ///< one line each
  std::string tooltip;
  std::vector<std::size_t> devices;  ///< into Diagram::devices, in the order to be drawn
  std::vector<DiagramBox> boxes;
};

struct DiagramLink {
  enum class Kind : std::uint8_t {
    solid,
    broken,    ///< leads to something that does not work
    stand_in,  ///< in place of a broken one
  };
  std::size_t from = 0;   ///< into Diagram::devices
  std::size_t to = 0;     ///< into Diagram::devices
  std::size_t group = 0;  ///< its colour
  Kind kind = Kind::solid;
  std::string label;
};

struct Diagram {
  std::string title;
  std::vector<std::string> subtitles;
  std::string description;         ///< for readers that do not see it
  std::vector<std::string> marks;  ///< of each group, a character or two: colour is never alone
  std::vector<DiagramDevice> devices;
  std::vector<DiagramBox> boxes;
  std::vector<DiagramLink> links;

  /// What signs of the picture mean; only those that occur are drawn.
  std::vector<std::pair<std::string, std::string>> words;  ///< tag and its meaning
  std::string meaning_of_links;
  std::string meaning_of_aside;
  std::string meaning_of_broken;
  std::string meaning_of_stand_in;

  struct Note {
    std::string heading;
    std::vector<std::string> lines;
  };

  std::vector<Note> notes;  ///< below the picture
};

// Both make the same bytes of the same diagram.

/// The diagram as a picture of its own: an SVG 1.1 document without scripts, references or fonts,
/// on a white ground, or a dark one where the viewer prefers that, with a legend and the notes
/// below.
std::string to_svg(const Diagram& diagram);

/// The diagram as a graph for Graphviz (`dot -Tsvg`): boxes are clusters, links are edges. Notes
/// are left out; of the legend, the marks are in the labels.
std::string to_dot(const Diagram& diagram);

}  // namespace railhead::report
