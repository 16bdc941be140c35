// SPDX-License-Identifier: Apache-2.0
//
// The verdicts that the documents name are those that the program prints, none more and none less.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "proof/nccl_rank.h"
#include "proof/nfs_use.h"
#include "unit/source_dir.h"

namespace railhead::proof {
namespace {

using Words = std::set<std::string>;

/// The cells of the table below a head line, row by row.
std::vector<std::vector<std::string>> table(const std::string& document, const std::string& head) {
  std::ifstream file(test::source_dir() + "/docs/" + document);
  std::stringstream stream;
  stream << file.rdbuf();
  const auto text = stream.str();
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (const auto line : split(text, '\n')) {
    if (line.starts_with(head)) inside = true;
    if (inside && !line.starts_with('|')) break;
    if (!inside || line.starts_with(head) || line.starts_with("|--")) continue;
    std::vector<std::string> cells;
    for (const auto cell : split(line, '|')) cells.emplace_back(trim(cell));
    rows.push_back(std::move(cells));
  }
  return rows;
}

/// What stands between backticks.
void add_quoted(const std::string& cell, Words& words) {
  const auto parts = split(cell, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) words.emplace(parts[i]);
}

TEST(VerdictWords, those_of_nccl_logs_are_documented) {
  Words documented;
  for (const auto& row : table("nccl-log.md", "| exit code |")) add_quoted(row.at(2), documented);
  Words printed;
  for (const auto verdict : kNcclVerdicts) printed.emplace(to_string(verdict));
  EXPECT_EQ(documented, printed);
}

TEST(VerdictWords, those_of_nfs_are_documented) {
  Words documented;
  for (const auto& row : table("nfs.md", "| verdict |")) documented.insert(row.at(1));
  Words printed;
  for (const auto verdict : {NfsVerdict::rdma, NfsVerdict::tcp, NfsVerdict::fallback,
                             NfsVerdict::absent, NfsVerdict::unknown}) {
    printed.emplace(to_string(verdict));
  }
  EXPECT_EQ(documented, printed);
}

}  // namespace
}  // namespace railhead::proof
