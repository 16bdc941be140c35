// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace railhead::test {

/// A file with this text, gone at the end of the test. A test with several gives them suffixes. The
/// same test of another clone may run at the same time.
class TextFile {
 public:
  explicit TextFile(const std::string& text, const std::string& suffix = "")
      : path_(testing::TempDir() + "railhead-" + std::to_string(getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + suffix) {
    std::ofstream(path_) << text;
  }

  ~TextFile() { std::filesystem::remove(path_); }

  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace railhead::test
