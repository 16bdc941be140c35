// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <unordered_set>

#include "base/text.h"
#include "base/utf8.h"
#include "host/host_error.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_text.h"

namespace railhead::snapshot {
namespace {

/// Takes the word up to the next space and the space itself off `rest`.
std::string_view take_word(std::string_view& rest) {
  const std::size_t space = rest.find(' ');
  const std::string_view word = rest.substr(0, space);
  rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
  return word;
}

Result<std::uint32_t> parse_number32(std::string_view text, int base) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{ErrorCode::malformed, "not a number: " + in_quotes(text)};
  }
  return value;
}

/// "<a>:<b>"
Result<std::pair<std::uint32_t, std::uint32_t>> parse_number_pair(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{ErrorCode::malformed, "two numbers with a colon expected, not " + in_quotes(text)};
  }
  const std::uint32_t first = TRY(parse_number32(text.substr(0, colon), 10));
  const std::uint32_t second = TRY(parse_number32(text.substr(colon + 1), 10));
  return std::pair{first, second};
}

/// "<major>:<minor> <mode> <uid>:<gid>"
Result<SnapshotEntry> parse_device(char type, std::string_view rest) {
  const auto [major, minor] = TRY(parse_number_pair(take_word(rest)));
  const std::uint32_t mode = TRY(parse_number32(take_word(rest), 8));
  if (mode > 07777) return Error{ErrorCode::malformed, "the mode has more than permission bits"};
  const auto [uid, gid] = TRY(parse_number_pair(rest));
  return SnapshotEntry{host::DeviceNode{type, major, minor, mode, uid, gid}};
}

Result<SnapshotEntry> parse_link(std::string_view rest) {
  if (take_word(rest) != "->") return Error{ErrorCode::malformed, "'->' expected after the path"};
  auto target = unescape_path(rest);
  if (!target || target->empty() || rest.find(' ') != std::string_view::npos) {
    return Error{ErrorCode::malformed, "not a link target: " + in_quotes(rest)};
  }
  if (target->size() > SnapshotLimits::kPathBytes) {
    return Error{ErrorCode::too_large, "a link target of more than 4096 bytes"};
  }
  return SnapshotEntry{SnapshotLink{*std::move(target)}};
}

Result<SnapshotEntry> parse_text(std::string_view rest) {
  if (!is_plain_text(rest)) {
    return Error{ErrorCode::malformed,
                 "a text with control characters or bytes that are not UTF-8"};
  }
  if (rest.size() >= host::Host::kMaxFileBytes) {
    return Error{ErrorCode::too_large, "a text of more than 1 MiB"};
  }
  return SnapshotEntry{SnapshotFile{std::string(rest) + "\n"}};
}

Result<SnapshotEntry> parse_unreadable(std::string_view rest) {
  const auto number = host::errno_number(rest);
  if (!number || host::means_absent(*number)) {
    return Error{ErrorCode::malformed, "not the name of a read error: " + in_quotes(rest)};
  }
  return SnapshotEntry{SnapshotUnreadable{*number}};
}

Result<SnapshotEntry> nothing_after(SnapshotEntry entry, std::string_view rest) {
  if (!rest.empty()) return Error{ErrorCode::malformed, "more than a path: " + in_quotes(rest)};
  return entry;
}

bool may_have_entries_below(const SnapshotEntry& entry) {
  return std::holds_alternative<SnapshotDirectory>(entry) ||
         std::holds_alternative<SnapshotUnreadable>(entry);
}

class Parser {
 public:
  explicit Parser(std::string_view text)
      : rest_(text),
        directories_{"/"} {}

  Result<Snapshot> parse() {
    if (rest_.size() > SnapshotLimits::kBytes) {
      return Error{ErrorCode::too_large, "snapshot: more than 64 MiB"};
    }
    while (!rest_.empty()) {
      ++line_;
      const std::size_t first_line = line_;
      if (const Status status = parse_line(); !status) {
        return status.error().context("snapshot line " + std::to_string(first_line));
      }
    }
    if (line_ == 0) return Error{ErrorCode::malformed, "snapshot: empty"};
    return std::move(snapshot_);
  }

 private:
  Status parse_line() {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    if (line_ == 1 && line.starts_with("\x1f\x8b")) {
      return Error{ErrorCode::malformed, "compressed by gzip: zcat makes it text"};
    }
    if (line_ == 1 && line != kSnapshotFirstLine) {
      return Error{ErrorCode::malformed,
                   in_quotes(kSnapshotFirstLine) + " expected, not " + in_quotes(line)};
    }
    if (end == std::string_view::npos) {
      return Error{ErrorCode::malformed, "no newline at its end: the snapshot is cut off"};
    }
    rest_.remove_prefix(end + 1);
    if (line_ == 1) return {};
    if (!line.empty() && line.front() == '#') {
      keep_comment(line.substr(1));
      return {};
    }
    return parse_entry(line);
  }

  void keep_comment(std::string_view comment) {
    if (!snapshot_.entries.empty()) return;
    if (!comment.empty() && comment.front() == ' ') comment.remove_prefix(1);
    snapshot_.comments.push_back(without_controls(comment));
  }

  Status parse_entry(std::string_view line) {
    if (line.size() < 3 || line[1] != ' ') {
      return Error{ErrorCode::malformed, "a letter and a path expected, not " + in_quotes(line)};
    }
    std::string_view rest = line.substr(2);
    const std::string_view word = take_word(rest);
    auto path = unescape_path(word);
    if (!path || !is_canonical_path(*path)) {
      return Error{ErrorCode::malformed, "not an absolute plain path: " + in_quotes(word)};
    }
    if (path->size() > SnapshotLimits::kPathBytes) {
      return Error{ErrorCode::too_large, "a path of more than 4096 bytes"};
    }
    auto entry = TRY(parse_kind(line.front(), rest));
    return add(*std::move(path), std::move(entry));
  }

  Result<SnapshotEntry> parse_kind(char letter, std::string_view rest) {
    switch (letter) {
      case 't': return parse_text(rest);
      case 'f': return parse_file(rest);
      case 'l': return parse_link(rest);
      case 'd': return nothing_after(SnapshotDirectory{}, rest);
      case 'c':
      case 'b': return parse_device(letter, rest);
      case 'e': return parse_unreadable(rest);
      case 'x': return nothing_after(SnapshotName{}, rest);
      default:
        return Error{ErrorCode::malformed, "unknown letter " + in_quotes(std::string(1, letter))};
    }
  }

  /// The content stands after the line, so this moves on in the text.
  Result<SnapshotEntry> parse_file(std::string_view rest) {
    const auto length = parse_unsigned(rest);
    if (!length) return length.error().context("length");
    if (*length > host::Host::kMaxFileBytes) {
      return Error{ErrorCode::too_large, "a file of more than 1 MiB"};
    }
    if (*length >= rest_.size() || rest_[*length] != '\n') {
      return Error{ErrorCode::malformed, "the content does not end after " + std::string(rest) +
                                             " bytes: wrong length, or the snapshot is cut off"};
    }
    const std::string_view content = rest_.substr(0, *length);
    rest_.remove_prefix(*length + 1);
    for (const char c : content) line_ += c == '\n' ? 1 : 0;
    ++line_;
    return SnapshotEntry{SnapshotFile{std::string(content)}};
  }

  Status add(std::string path, SnapshotEntry&& entry) {
    if (snapshot_.entries.size() >= SnapshotLimits::kEntries) {
      return Error{ErrorCode::too_large, "more than 500000 entries"};
    }
    auto& entries = snapshot_.entries;
    const std::size_t before = entries.size();
    const auto at = entries.try_emplace(entries.end(), std::move(path), std::move(entry));
    const std::string_view key = at->first;
    if (entries.size() == before) {
      return Error{ErrorCode::malformed, "a second entry for " + in_quotes(key, 256)};
    }
    if (!may_have_entries_below(at->second) && directories_.count(key) != 0) {
      return Error{ErrorCode::malformed, in_quotes(key, 256) + " has entries below it already"};
    }
    return add_parents(key);
  }

  /// Notes the directories above an entry; each only once, so the work is bounded by their number.
  Status add_parents(std::string_view path) {
    while (path.size() > 1) {
      const std::size_t slash = path.rfind('/');
      path = path.substr(0, slash == 0 ? 1 : slash);
      if (!directories_.insert(path).second) return {};
      if (directories_.size() > SnapshotLimits::kDirectories) {
        return Error{ErrorCode::too_large, "more than 500000 directories"};
      }
      const auto above = snapshot_.entries.find(path);
      if (above != snapshot_.entries.end() && !may_have_entries_below(above->second)) {
        return Error{ErrorCode::malformed, in_quotes(path, 256) + " is not a directory"};
      }
    }
    return {};
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  Snapshot snapshot_;
  std::unordered_set<std::string_view> directories_;  ///< views of keys of snapshot_.entries
};

}  // namespace

Result<Snapshot> parse_snapshot(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace railhead::snapshot
