// SPDX-License-Identifier: Apache-2.0
//
// Pages of what people read of each fault, for review.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "unit/checks/patient.h"
#include "unit/source_dir.h"

namespace railhead::test {

/// All that is said of these complaints, each as "FAIL link.rate mlx5_3/1".
inline std::string described(const std::vector<std::string>& complaints,
                             const std::vector<checks::Finding>& findings) {
  std::string page;
  for (const auto& line : complaints) {
    page += line + "\n";
    if (line.starts_with("SKIP")) continue;
    const auto words = split_words(line);
    const auto one =
        finding_of(findings, words[1], line.substr(words[0].size() + words[1].size() + 2));
    for (const auto& [label, text] :
         {std::pair{"found", one.observed}, std::pair{"expected", one.expected},
          std::pair{"reason", one.reason}, std::pair{"so", one.effect},
          std::pair{"fix", one.remedy}}) {
      if (!text.empty()) page += "  " + std::string(label) + ": " + text + "\n";
    }
  }
  return page;
}

/// RAILHEAD_BLESS=1 writes the page anew, as ./dev bless does.
inline void expect_page(const std::string& name, const std::string& page) {
  const auto path = source_dir() + "/tests/checks/" + name;
  if (std::getenv("RAILHEAD_BLESS") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  const std::string golden((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_TRUE(page == golden) << "./dev bless, and read what git says of tests/checks/" << name;
}

}  // namespace railhead::test
