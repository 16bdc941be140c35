// SPDX-License-Identifier: Apache-2.0
// Files of a runtime: a main one and a drop-in, divided by a NUL. Each release has an answer to
// them, and what all say is what each says, or unknown.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/toml.h"
#include "system/go_glob.h"
#include "system/runtime_answer.h"

namespace {

railhead::system::ConfigFile file_of(const char* path, std::string_view text) {
  railhead::system::ConfigFile file{path, std::string(text), {path, {}, {}}};
  auto parsed = railhead::data::parse_toml(text);
  if (parsed) file.content.value = *std::move(parsed);
  if (!parsed) file.content.error = "malformed: " + parsed.error().message;
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using railhead::system::Known;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\0');
  const auto main = text.substr(0, end);
  const auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  const railhead::system::ContainerdFiles files{
      .path = "/c", .files = {file_of("/c", main), file_of("/d", rest)}, .drop_in_folders = {}};
  const auto all = railhead::system::judge_containerd(files);
  for (const auto release : railhead::system::possible_releases(files)) {
    const auto one = railhead::system::read_as(files, release).answer;
    if (all.starts != Known::unknown && one.starts != all.starts) std::abort();
  }
  railhead::system::CrioFiles crio;
  crio.files = {file_of("/c", main), file_of("/d", rest)};
  if (railhead::system::judge_crio(crio).socket.empty()) std::abort();
  // What is a pattern is one for every name.
  const auto matches = railhead::system::go_match(main, rest);
  if (matches.has_value() != railhead::system::go_match(main, "").has_value()) std::abort();
  return 0;
}
