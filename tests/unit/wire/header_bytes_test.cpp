// SPDX-License-Identifier: Apache-2.0
#include "wire/header_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace railhead::wire {
namespace {

TEST(HeaderBytes, is_complete_whatever_the_pieces_and_begins_again) {
  for (std::size_t piece = 1; piece <= 7; ++piece) {
    HeaderBytes<4> header;
    std::string seen;
    const std::string_view stream = "abcdefgh";
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      auto input = stream.substr(at, piece);
      while (!input.empty()) {
        if (header.feed(input)) seen += std::string(header.bytes().data(), 4) + " ";
      }
    }
    EXPECT_EQ(seen, "abcd efgh ") << piece;
  }
}

}  // namespace
}  // namespace railhead::wire
