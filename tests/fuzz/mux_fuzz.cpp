// SPDX-License-Identifier: Apache-2.0
// A trunk taken apart gives the same slices whatever the pieces it comes in; what we write comes
// back whole.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/mux.h"

namespace {

using namespace railhead::wire;

struct Outcome {
  std::array<std::string, 3> streams;  // of connections 1, 2 and the others together
  bool malformed = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void require(bool condition) {
  if (!condition) std::abort();
}

Outcome take_apart(std::string_view trunk, std::size_t piece) {
  Outcome outcome;
  FrameReader reader;
  for (std::size_t at = 0; at < trunk.size(); at += piece) {
    std::string_view input = trunk.substr(at, piece);
    for (;;) {
      const auto slice = reader.next(input);
      if (!slice) {
        outcome.malformed = true;
        return outcome;
      }
      if (!slice->has_value()) break;
      const std::uint32_t connection = (*slice)->connection;
      outcome.streams[connection == 1 || connection == 2 ? connection : 0] += (*slice)->bytes;
    }
    require(input.empty());
  }
  return outcome;
}

void write_and_read(std::string_view body) {
  const auto framed = frame_message(kPluginConnection, 7, MessageType::response, std::string(body));
  require(static_cast<bool>(framed));
  const Outcome outcome = take_apart(std::string(framed->head()) + framed->body, 13);
  require(!outcome.malformed);
  MessageReader reader;
  std::string_view input = outcome.streams[1];
  require(reader.feed(input) && input.empty() && view_of(reader.message().body) == body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view trunk(reinterpret_cast<const char*>(data) + 1, size - 1);
  require(take_apart(trunk, piece) == take_apart(trunk, trunk.size() + 1));
  write_and_read(trunk);
  return 0;
}
