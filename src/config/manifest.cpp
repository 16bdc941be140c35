// SPDX-License-Identifier: Apache-2.0
#include "config/manifest.h"
#include "base/contains.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "data/below.h"

namespace railhead::config {
namespace {

constexpr std::string_view kConfigMap = "ConfigMap";
constexpr std::array<std::string_view, 3> kKinds{kConfigMap, "NicClusterPolicy", "NicNodePolicy"};

/// A text keeps so many empty lines above it. Of 256 texts they take 5 MiB.
constexpr unsigned kMostLinesAbove = 20'000;

/// A block (`key: |`) as it stands in the manifest, below as many empty lines as there are lines
/// before it. Absent for a text that is not written so. Reads no further than the text is long,
/// because a manifest may have many.
std::optional<std::string> block_in_place(std::span<const std::string_view> lines,
                                          const data::Value& scalar) {
  const auto wanted = trim(scalar.scalar);
  std::string block;
  std::string content;
  std::size_t indent = 0;
  auto first = std::string::npos;  // what is no white space
  for (std::size_t at = scalar.mark.line; at < lines.size(); ++at) {
    const auto line = lines[at];
    const auto begin = line.find_first_not_of(" \r");
    if (content.empty()) indent = begin;
    if (begin < indent) break;
    block.append(line).append("\n");
    const auto words = trim(line);
    if (!words.empty()) {
      const auto begin_of_words = content.size() + line.find(words.front()) - indent;
      first = std::min(first, begin_of_words);
      if (begin_of_words + words.size() - first > wanted.size()) return std::nullopt;
    }
    content.append(line.substr(std::min(indent, line.size()))).append("\n");
  }
  if (trim(content) != wanted || scalar.mark.line > kMostLinesAbove) return std::nullopt;
  return std::string(scalar.mark.line, '\n') + block;
}

}  // namespace

bool is_manifest(const data::Value& root) {
  return contains(kKinds, data::text_below(root, {"kind"}));
}

std::vector<ManifestText> texts_in_manifest(const data::Value& root) {
  std::vector<ManifestText> texts;
  if (data::text_below(root, {"kind"}) == kConfigMap) {
    const auto* files = data::below(root, {"data"});
    if (files == nullptr) return texts;
    for (const auto& [key, mark, value] : files->entries) {
      texts.push_back({"data." + key, key, &value});
    }
  } else {
    for (const auto* plugin : kPolicyPlugins) {
      const auto* text = data::below(root, {"spec", plugin, "config"});
      if (text != nullptr) {
        texts.push_back({"spec." + std::string(plugin) + ".config", "config", text});
      }
    }
  }
  std::erase_if(texts, [](const ManifestText& text) {
    return text.value->kind != data::Value::Kind::scalar;
  });
  return texts;
}

ConfigFile file_in_manifest(const std::string& manifest, std::span<const std::string_view> lines,
                            const ManifestText& text) {
  if (auto block = block_in_place(lines, *text.value)) return {manifest, *std::move(block)};
  return {data::place_in(manifest, text.value->mark) + ": " + text.path, text.value->scalar};
}

Result<std::vector<ConfigFile>> files_in_manifest(const ConfigFile& manifest,
                                                  const data::Value& root) {
  const auto texts = texts_in_manifest(root);
  const auto place = data::place_in(manifest.name, root.mark) + ": a " +
                     std::string(data::text_below(root, {"kind"}));
  if (texts.empty()) return Error{ErrorCode::malformed, place + " without a file for Railhead"};
  if (texts.size() > kMostManifestFiles) {
    return Error{ErrorCode::too_large,
                 place + " with more than " + std::to_string(kMostManifestFiles) + " files"};
  }
  const auto lines = split(manifest.text, '\n');
  std::vector<ConfigFile> files;
  for (const auto& text : texts) files.push_back(file_in_manifest(manifest.name, lines, text));
  return files;
}

}  // namespace railhead::config
