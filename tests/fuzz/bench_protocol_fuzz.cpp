// SPDX-License-Identifier: Apache-2.0
// What a stranger, and then an authenticated peer, may send to railhead-bench: the first byte
// chooses.
#include <cstdint>
#include <string_view>

#include "bench/frame.h"
#include "bench/handshake.h"
#include "bench/messages.h"

using namespace railhead;
using namespace railhead::bench;

namespace {

void read_message(std::string_view text) {
  const auto value = data::parse_json(text, data::ParseLimits{kMaxBody, 12, 16384});
  if (!value) return;
  (void)type_of(*value);
  if (const auto plan = parse_offer(*value)) {
    if (!check(*plan) || Layout::of(*plan).length_bytes() > kMaxLaneBytes) __builtin_trap();
  }
  if (const auto step = parse_step(*value)) (void)check(*step, Plan());
  if (const auto lanes = parse_addresses(*value)) {
    if (parse_addresses(*data::parse_json(data::to_json_text(addresses_message(*lanes)))).value() !=
        *lanes) {
      __builtin_trap();
    }
  }
  (void)parse_done(*value);
  if (parse_failed(*value).ok()) __builtin_trap();
}

void shake_hands(Role role, std::string_view bytes) {
  Handshake handshake(role, "0123456789abcdef", Nonce{});
  while (!bytes.empty()) {
    const auto piece = bytes.substr(0, 7);
    bytes.remove_prefix(piece.size());
    if (!handshake.feed(piece)) return;
  }
  // Nobody guesses a proof.
  if (handshake.keys()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: shake_hands(Role::server, bytes); break;
    case 1: shake_hands(Role::client, bytes); break;
    case 2: {
      FrameReader reader(Mac{});
      reader.feed(bytes);
      if (const auto body = reader.next(); body && *body) __builtin_trap();
      break;
    }
    default: read_message(bytes);
  }
  return 0;
}
