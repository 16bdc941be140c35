// SPDX-License-Identifier: Apache-2.0
// How the runtime reads what we write, written from its description and sharing nothing with
// src/wire: the multiplexer's queue of 256 frames per connection, whole frames handed out and lost
// with ENOMEM where they do not fit, behind bufio.Reader's 4096-byte buffer, behind ttrpc's
// ReadFull of 10 header bytes and then of the data. (containerd/nri pkg/net/multiplex/mux.go,
// Go's bufio.Reader.Read, containerd/ttrpc channel.go)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace railhead::wire {

class GoReader {
 public:
  struct Message {
    std::uint32_t stream;
    unsigned type;
    std::string data;
  };

  /// Trunk bytes arrive. Frames of connection 1 are queued, the rest is dropped.
  void arrive(const std::string& trunk) {
    trunk_ += trunk;
    while (trunk_.size() >= 8 && broken_.empty()) {
      const std::size_t length = number(trunk_, 4);
      if (length > (4U << 20U) + 10U) broken_ = "frame above 4 MiB + 10";
      if (length == 0) broken_ = "empty frame";
      if (trunk_.size() < 8 + length || !broken_.empty()) return;
      if (number(trunk_, 0) == 1) queue_.push_back(trunk_.substr(8, length));
      if (queue_.size() > 256) broken_ = "queue overflow";
      trunk_.erase(0, 8 + length);
    }
  }

  /// The next ttrpc message, absent when there is none yet or the connection is broken.
  std::optional<Message> read() {
    const auto header = read_full(10);
    if (!header) return std::nullopt;
    const std::size_t length = number(*header, 0);
    if (length > (4U << 20U)) broken_ = "message above 4 MiB";
    const auto data = read_full(length);
    if (!data) return std::nullopt;
    return Message{static_cast<std::uint32_t>(number(*header, 4)),
                   static_cast<unsigned char>((*header)[8]), *data};
  }

  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  static constexpr std::size_t kBuffer = 4096;

  static std::size_t number(const std::string& from, std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      value = value * 256 + static_cast<unsigned char>(from[i]);
    }
    return value;
  }

  // mux conn.Read: one whole frame, or nothing of it.
  std::string take_frame(std::size_t room) {
    if (queue_.empty() || !broken_.empty()) return {};
    std::string frame = queue_.front();
    queue_.pop_front();
    if (frame.size() <= room) return frame;
    broken_ = "ENOMEM: frame of " + std::to_string(frame.size()) + " for " + std::to_string(room);
    return {};
  }

  // bufio.Reader.Read: what is buffered, else straight into a large destination, else one fill.
  std::string read_some(std::size_t wanted) {
    if (buffered_.empty() && wanted >= kBuffer) return take_frame(wanted);
    if (buffered_.empty()) buffered_ = take_frame(kBuffer);
    const std::string out = buffered_.substr(0, wanted);
    buffered_.erase(0, out.size());
    return out;
  }

  // io.ReadFull. A message that is not there yet breaks the model's caller, not the model.
  std::optional<std::string> read_full(std::size_t wanted) {
    std::string out;
    while (out.size() < wanted) {
      const std::string piece = read_some(wanted - out.size());
      if (piece.empty()) return std::nullopt;
      out += piece;
    }
    return out;
  }

  std::string trunk_;
  std::deque<std::string> queue_;
  std::string buffered_;
  std::string broken_;
};

}  // namespace railhead::wire
