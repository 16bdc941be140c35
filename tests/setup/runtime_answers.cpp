// SPDX-License-Identifier: Apache-2.0
// Says what system::read_as() makes of the trees that are named on standard input, a line of JSON
// for each release of a tree: for tests/setup/containerd_trees.py.
#include <iostream>
#include <string>

#include "base/text.h"
#include "host/directory_host.h"
#include "system/runtime_answer.h"

int main() {
  using railhead::system::kContainerdReleases;
  std::string line;
  while (std::getline(std::cin, line)) {
    const bool is_named = !line.starts_with("default:");
    const auto host = railhead::host::DirectoryHost::open("/").value();
    const auto files = railhead::system::read_containerd_files(
        *host, is_named ? line : line.substr(std::string_view("default:").size()), is_named);
    std::string all;
    for (std::size_t i = 0; i < std::size(kContainerdReleases); ++i) {
      const auto [answer, version] =
          railhead::system::read_as(files, static_cast<railhead::system::ContainerdRelease>(i));
      std::string codes;
      for (const auto& reason : answer.reasons)
        codes += (codes.empty() ? "\"" : ", \"") + std::string(reason.code) + "\"";
      all += (all.empty() ? "" : ", ");
      all += "\"" + std::string(kContainerdReleases[i]) + "\": {\"starts\": \"" +
             std::string(to_string(answer.starts)) + "\", \"nri\": \"" +
             std::string(to_string(answer.nri)) +
             "\", \"socket\": " + railhead::in_quotes(answer.socket, 4096) +
             ", \"version\": " + std::to_string(version) + ", \"codes\": [" + codes + "]}";
    }
    std::cout << "{" << all << "}\n";
  }
  return 0;
}
