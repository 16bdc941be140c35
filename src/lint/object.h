// SPDX-License-Identifier: Apache-2.0
// The objects that are looked at, however they came: out of files, or from the API server.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/below.h"

namespace railhead::lint {

/// A file as read: its name for messages, and its text.
struct Input {
  std::string name;
  std::string text;
};

/// A document of a file. All items of a List share it.
struct Source {
  std::string file;
  std::string text;     ///< of the document, for texts in it that are files of their own
  unsigned before = 0;  ///< lines of the file that stand before that text
};

/// A Kubernetes object, Helm values, or a part of either.
struct Object {
  std::shared_ptr<const Source> source;  ///< nullptr where it came from the API server
  std::string kind;                      ///< "" for Helm values and parts
  std::string api;
  std::string name;
  std::string name_space;
  data::Value root;

  /// "DaemonSet kube-system/ib-node-config"; "values" where it has no kind.
  [[nodiscard]] std::string label() const;
  /// "" where it came from the API server.
  [[nodiscard]] std::string file() const;
};

/// Whether a text has what a tool puts another text in place of: "${NAME}", "{{ name }}", "<name>".
bool is_template(std::string_view text);

/// The object that this value is, without a source.
Object object_of(data::Value root);

/// What cannot be read of a file.
struct Unread {
  std::string file;
  data::Mark mark;
  std::string what;
  bool is_wrong = false;  ///< false: it may be right, and this program does not read it
};

struct Objects {
  std::vector<Object> all;
  std::vector<Unread> unread;
};

/// Of one file.
inline constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxDocuments = 1024;

/// Every document of the file, and every item of a List. What does not parse stands in `unread`;
/// the other documents are read nevertheless.
void read_objects(const Input& input, Objects& objects);

/// Its entry with this key, which has the place of the key.
const data::Value::Entry* entry_of(const data::Value* map, std::string_view key);

/// "line 3 column 5: what" in two; line 0 where the message names no place.
std::pair<data::Mark, std::string> place_and_words(std::string_view message);

}  // namespace railhead::lint
