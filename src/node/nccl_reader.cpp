// SPDX-License-Identifier: Apache-2.0
#include "node/nccl_reader.h"

#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "node/kept_files.h"

namespace railhead::node {
namespace {

constexpr std::string_view kVariable = "NCCL_TOPO_FILE";
constexpr const char* kConf = "/etc/nccl.conf";
constexpr const char* kTopologyd = "/var/run/nvidia-topologyd/virtualTopology.xml";

/// A line that was meant to set the variable and does not: NCCL takes the blanks as part of the
/// name.
bool misses_by_blanks(std::string_view text) {
  for (const auto line : split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with('#')) continue;
    const auto name = line.substr(0, equals);
    if (name != kVariable && trim(name) == kVariable) return true;
  }
  return false;
}

std::string kept_conf(std::string_view content) {
  return host::keep_lines_if(content, [](std::string_view line) {
    const auto equals = line.find('=');
    return equals != std::string_view::npos && !line.starts_with('#') &&
           trim(line.substr(0, equals)) == kVariable;
  });
}

}  // namespace

std::optional<std::string_view> topo_file_of_nccl_conf(std::string_view text) {
  for (const auto line : split(text, '\n')) {
    if (line.starts_with('#')) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || line.substr(0, equals) != kVariable) continue;
    const auto path = line.substr(equals + 1);
    return path.ends_with('\r') ? path.substr(0, path.size() - 1) : path;
  }
  return std::nullopt;
}

std::optional<TextFile> read_nccl_file(Reader& reader) {
  std::string path = kTopologyd;
  const auto conf = reader.raw(kConf, kept_conf);
  const auto named = conf ? topo_file_of_nccl_conf(*conf) : std::nullopt;
  if (named) {
    if (!named->starts_with('/') || !is_plain_text(*named)) {
      reader.malformed(kConf, "NCCL_TOPO_FILE is " + in_quotes(*named) + ", not an absolute path");
      return std::nullopt;
    }
    path = std::string(*named);
  } else if (conf && misses_by_blanks(*conf)) {
    reader.malformed(kConf, "NCCL ignores NCCL_TOPO_FILE because of the blanks before the '='");
  }
  auto text = reader.raw(path, kept_nccl_topology);
  if (text) return TextFile{path, *std::move(text)};
  if (named) reader.malformed(kConf, "NCCL_TOPO_FILE names " + path + ", which cannot be read");
  return std::nullopt;
}

}  // namespace railhead::node
