// SPDX-License-Identifier: Apache-2.0
// ttrpc messages in a byte stream. Facts: containerd/ttrpc PROTOCOL.md and channel.go.
//
// Invariants
// * A message is a 10-byte header (length and stream id in network order, type, flags) and `length`
//   bytes of data. There is no handshake, ping, cancel or reset.
// * What we send has at most 4 MiB of data. What we read may have more (`max_data_bytes`): ttrpc
//   before 1.2.6 sends larger messages.
// * Memory follows what is accepted, never what is claimed: data above the limit is not stored.
// * The data of a message above kStreamAboveBytes need not be held: a sink that wants it gets it
//   piece by piece. All other data lies in one piece, to be viewed in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/header_bytes.h"

namespace railhead::wire {

/// Bytes whose address survives a move (a short std::string's does not), so views into them do too.
using Bytes = std::vector<char>;

inline std::string_view view_of(const Bytes& bytes) {
  return {bytes.data(), bytes.size()};
}

inline constexpr std::size_t kTtrpcHeaderBytes = 10;
inline constexpr std::size_t kTtrpcMaxDataBytes = std::size_t{4} << 20U;  ///< inclusive

/// Message types we know; streams (3) are never used by NRI, higher ones are for the future.
enum class MessageType : std::uint8_t { request = 1, response = 2, data = 3 };

struct MessageHeader {
  std::uint32_t length = 0;  ///< of the data, without this header
  std::uint32_t stream = 0;
  MessageType type{};  ///< any byte: check before use
  std::uint8_t flags = 0;

  friend bool operator==(const MessageHeader&, const MessageHeader&) = default;
};

MessageHeader decode_header(const std::array<char, kTtrpcHeaderBytes>& bytes);
std::array<char, kTtrpcHeaderBytes> encode_header(const MessageHeader& header);

/// Messages up to this size are never offered to a sink.
inline constexpr std::size_t kStreamAboveBytes = std::size_t{64} << 10U;
/// As much of a larger message is there when it is offered.
inline constexpr std::size_t kOfferedBytes = 512;

/// Takes the data of large messages as it arrives.
class MessageSink {
 public:
  MessageSink() = default;
  MessageSink(const MessageSink&) = delete;
  MessageSink& operator=(const MessageSink&) = delete;
  virtual ~MessageSink() = default;

  /// `beginning`: the first kOfferedBytes of the data. True: take() gets all of it, these included.
  virtual bool wants(const MessageHeader& header, std::string_view beginning) = 0;
  virtual void take(std::string_view piece) = 0;
};

struct Message {
  MessageHeader header;
  /// The data exceeded the reader's limit and was, or will be, dropped: `body` is empty.
  bool oversized = false;
  /// The sink has had the data: `body` is empty.
  bool streamed = false;
  Bytes body;
};

/// Puts messages together from pieces of a stream, whatever the pieces' borders.
class MessageReader {
 public:
  /// A `sink` outlives the reader.
  explicit MessageReader(std::size_t max_data_bytes = kTtrpcMaxDataBytes,
                         MessageSink* sink = nullptr);

  /// Takes bytes from the front of `input` up to the end of a message. True when message() is
  /// complete (an oversized one as soon as its header is); false when `input` was used up before.
  bool feed(std::string_view& input);

  /// The last complete message, until the next feed(). Its body may be moved or swapped away; what
  /// is left in it is used again as a buffer.
  Message& message() { return message_; }

 private:
  bool feed_body(std::string_view& input, std::size_t size);
  void start_body();
  void offer();
  /// False while data of the message is missing.
  bool pass_on(std::string_view& input);

  enum class State : std::uint8_t { header, offer, body, stream, discard };

  std::size_t max_data_bytes_;
  MessageSink* sink_;
  State state_ = State::header;
  HeaderBytes<kTtrpcHeaderBytes> header_;
  std::size_t left_ = 0;  // data of a message that is streamed or discarded
  Message message_;
};

}  // namespace railhead::wire
