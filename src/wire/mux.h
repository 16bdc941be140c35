// SPDX-License-Identifier: Apache-2.0
// The NRI multiplexer: several byte streams ("connections") over one unix socket, the trunk.
// Facts: containerd/nri pkg/net/multiplex; the reader's traps were tried on NRI 0.8.0 and 0.12.2.
//
// Invariants
// * A frame is connection id and length, 4 bytes each in network order, and a slice of that
//   connection's stream. Frames on connections that nobody opened are dropped.
// * Frame borders are not message borders when reading.
// * When writing they matter: the Go side reads a connection through a 4096-byte buffer, takes one
//   whole frame at a time, and a frame that is larger than the room it offers is lost with ENOMEM.
//   The plugin is then dropped and the container created unmodified, without an error. So there is
//   one rule: a message of at most 4096 bytes (ttrpc header and data) is one frame, as Go itself
//   writes it; a longer one is a frame with the header alone and a frame with all data, for which
//   Go then offers exactly that much room. The small case could be split too; one frame costs the
//   reader half the system calls and wake-ups and counts once in its queue of 256 frames.
// * No frame is empty, and none exceeds 4 MiB + 10 (NRI 0.12.5 closes the trunk above that).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/header_bytes.h"
#include "wire/ttrpc.h"

namespace railhead::wire {

inline constexpr std::uint32_t kPluginConnection = 1;   ///< the runtime calls, we serve
inline constexpr std::uint32_t kRuntimeConnection = 2;  ///< we call, the runtime serves

inline constexpr std::size_t kMuxHeaderBytes = 8;
/// Largest frame accepted: NRI before 0.7 wrote up to 16 MiB.
inline constexpr std::size_t kMuxMaxReadBytes = (std::size_t{16} << 20U) + kTtrpcHeaderBytes;
/// Largest message that goes out as one frame.
inline constexpr std::size_t kMuxSingleFrameBytes = 4096;

/// A piece of one connection's stream.
struct Slice {
  std::uint32_t connection = 0;
  std::string_view bytes;
};

/// Takes a trunk apart. Holds at most one frame header: payload is passed on as it arrives.
class FrameReader {
 public:
  /// The next slice at the front of `input`, which is shortened by it; absent when `input` is used
  /// up. Malformed when a frame claims more than kMuxMaxReadBytes: the trunk is then useless.
  Result<std::optional<Slice>> next(std::string_view& input);

 private:
  HeaderBytes<kMuxHeaderBytes> header_;
  std::uint32_t connection_ = 0;
  std::size_t payload_left_ = 0;
};

/// One ttrpc message as it goes to the trunk: `head`, then `body`, to be written without anything
/// in between.
struct FramedMessage {
  std::array<char, 2 * kMuxHeaderBytes + kTtrpcHeaderBytes> head_bytes{};
  std::size_t head_size = 0;
  std::size_t frames = 1;  ///< 1 or 2
  std::string body;

  [[nodiscard]] std::string_view head() const { return {head_bytes.data(), head_size}; }

  [[nodiscard]] std::size_t size() const { return head_size + body.size(); }
};

/// Frames a message by the rule above; too_large above 4 MiB of data.
Result<FramedMessage> frame_message(std::uint32_t connection, std::uint32_t stream,
                                    MessageType type, std::string body);

}  // namespace railhead::wire
