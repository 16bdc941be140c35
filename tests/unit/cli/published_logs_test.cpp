// SPDX-License-Identifier: Apache-2.0
//
// The logs of tests/logs get the verdict and the exit code that a person gives.
#include <gtest/gtest.h>

#include <fstream>

#include "base/text.h"
#include "unit/cli/program.h"
#include "unit/cli/text_file.h"
#include "unit/source_dir.h"

namespace railhead::test {
namespace {

struct PublishedLog {
  std::string thread;
  std::string verdict;
  int code = 0;
  std::string text;
};

/// "=== thread | verdict | code", and its lines up to the next.
std::vector<PublishedLog> published_logs(const std::string& name) {
  std::vector<PublishedLog> logs;
  std::ifstream file(source_dir() + "/tests/logs/" + name);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      const auto parts = split(std::string_view(line).substr(4), '|');
      if (parts.size() != 3) continue;
      const auto code = parse_unsigned(trim(parts[2]));
      logs.push_back({std::string(trim(parts[0])), std::string(trim(parts[1])),
                      code ? static_cast<int>(*code) : -1, ""});
    } else if (!logs.empty()) {
      logs.back().text += line + "\n";
    }
  }
  return logs;
}

/// Of these, how many are right; each that is not is said.
void expect_right(const std::string& name, std::size_t count, std::size_t right) {
  const auto logs = published_logs(name);
  EXPECT_EQ(logs.size(), count);
  std::size_t found = 0;
  for (const auto& log : logs) {
    const TextFile file(log.text);
    const auto said = run({"nccl-log", file.path(), "-o", "json"});
    const auto verdict = said.json()["verdict"].get<std::string>();
    const bool is_right = verdict == log.verdict && said.code == log.code;
    if (is_right) {
      ++found;
    } else {
      std::cout << log.thread << ": " << verdict << ", " << said.code << " in place of "
                << log.verdict << ", " << log.code << "\n";
    }
    const bool is_rdma = verdict == "RDMA" || verdict == "RDMA (chosen)";
    EXPECT_FALSE(is_rdma && log.verdict == "TCP") << log.thread;
  }
  EXPECT_EQ(found, right);
}

TEST(PublishedLogs, have_the_verdict_that_a_person_gives) {
  expect_right("published.txt", 70, 70);
}

TEST(PublishedLogs, which_were_held_out_have_it_too) {
  // Two are of one node, and what was published of them does not say so.
  expect_right("held_out.txt", 65, 63);
  expect_right("held_out_2.txt", 25, 25);
  expect_right("held_out_3.txt", 51, 51);
  // The line that would say it was cut.
  expect_right("held_out_4.txt", 26, 25);
  expect_right("held_out_5.txt", 41, 41);
  // A person has put words in the place of the ranks.
  expect_right("held_out_6.txt", 21, 20);
  // One has a person's own arrows, of one the line of the fourth rank was cut.
  expect_right("held_out_7.txt", 36, 34);
  // The program that ran says that there are four tasks, and NCCL does not.
  expect_right("held_out_8.txt", 15, 14);
  // The second rank of two was cut.
  expect_right("held_out_9.txt", 30, 29);
  expect_right("held_out_10.txt", 30, 30);
  // A plugin without a name of its own, and a ring that nobody counts.
  expect_right("held_out_11.txt", 39, 37);
  // One rank, which NCCL of its time does not say is on one node.
  expect_right("held_out_12.txt", 14, 13);
  // One rank likewise, and one whose ids are dots.
  expect_right("held_out_13.txt", 78, 76);
  // One rank likewise.
  expect_right("held_out_14.txt", 35, 34);
  // An endpoint that does not say whether its peer is on another node.
  expect_right("held_out_15.txt", 43, 42);
}

}  // namespace
}  // namespace railhead::test
