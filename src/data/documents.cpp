// SPDX-License-Identifier: Apache-2.0
#include "data/documents.h"

#include <algorithm>

namespace railhead::data {
namespace {

bool separates_documents(std::string_view line) {
  return line.starts_with("---") &&
         (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

}  // namespace

std::vector<Document> documents_in(std::string_view text) {
  std::vector<Document> documents;
  Document document;
  std::size_t begin = 0;
  std::size_t at = 0;
  unsigned lines = 0;
  while (at < text.size()) {
    const auto line = text.substr(at, text.find('\n', at) - at);
    if (separates_documents(line)) {
      document.text = text.substr(begin, at - begin);
      documents.push_back(document);
      document.before = lines;
      begin = at + std::min(line.find_first_not_of(" \t", 3), line.size());
    }
    at = std::min(at + line.size() + 1, text.size());
    ++lines;
  }
  document.text = text.substr(begin);
  documents.push_back(document);
  return documents;
}

void move_down(Value& value, unsigned lines) {
  if (value.mark.line > 0) value.mark.line += lines;
  for (auto& item : value.items) move_down(item, lines);
  for (auto& entry : value.entries) {
    if (entry.mark.line > 0) entry.mark.line += lines;
    move_down(entry.value, lines);
  }
}

}  // namespace railhead::data
