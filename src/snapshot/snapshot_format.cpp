// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "base/utf8.h"
#include "host/host_error.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_text.h"

namespace railhead::snapshot {
namespace {

/// The text of a `t` line, where the content is one. A text that ends in a space is written with
/// its length: editors and mail programs take such spaces away.
std::optional<std::string_view> one_line(std::string_view content) {
  if (content.empty() || content.back() != '\n') return std::nullopt;
  content.remove_suffix(1);
  if (!content.empty() && content.back() == ' ') return std::nullopt;
  if (!is_plain_text(content)) return std::nullopt;
  return content;
}

/// Appends the line of one entry.
struct Formatter {
  std::string& text;
  const std::string path;

  void operator()(const SnapshotFile& file) const {
    if (const auto line = one_line(file.content)) {
      text += "t " + path;
      if (!line->empty()) text += ' ';
      text += *line;
    } else {
      text += "f " + path + " " + std::to_string(file.content.size()) + "\n" + file.content;
    }
  }

  void operator()(const SnapshotLink& link) const {
    text += "l " + path + " -> " + escape_path(link.target);
  }

  void operator()(const SnapshotDirectory& /*directory*/) const { text += "d " + path; }

  void operator()(const host::DeviceNode& node) const {
    std::array<char, 96> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " %u:%u %04o %u:%u", node.major, node.minor,
                  node.mode, node.uid, node.gid);
    text += node.type;
    text += " " + path + numbers.data();
  }

  void operator()(const SnapshotUnreadable& unreadable) const {
    text += "e " + path + " ";
    text += host::errno_name(unreadable.error_number);
  }

  void operator()(const SnapshotName& /*name*/) const { text += "x " + path; }
};

}  // namespace

std::string format_snapshot(const Snapshot& snapshot) {
  std::string text{kSnapshotFirstLine};
  text += '\n';
  for (const std::string& comment : snapshot.comments) {
    text += (comment.empty() ? "#" : "# ") + without_controls(comment) + "\n";
  }
  for (const auto& [path, entry] : snapshot.entries) {
    std::visit(Formatter{text, escape_path(path)}, entry);
    text += '\n';
  }
  return text;
}

}  // namespace railhead::snapshot
