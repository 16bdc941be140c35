// SPDX-License-Identifier: Apache-2.0
// What a runtime sends, byte by byte, sharing no encoder with src/: a mistake there must not cancel
// itself out here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace railhead::nri::peer {

inline std::string be32(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((value >> static_cast<unsigned>(shift)) & 255U));
  }
  return out;
}

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 127; value >>= 7U) out.push_back(static_cast<char>(128U | (value & 127U)));
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string number(unsigned field, std::uint64_t value) {
  return varint(field * 8U) + varint(value);
}

inline std::string text(unsigned field, const std::string& value) {
  return varint(field * 8U + 2U) + varint(value.size()) + value;
}

inline std::string entry(unsigned field, const std::string& key, const std::string& value) {
  return text(field, text(1, key) + text(2, value));
}

inline std::string frame(std::uint32_t connection, const std::string& payload) {
  return be32(connection) + be32(static_cast<std::uint32_t>(payload.size())) + payload;
}

inline std::string message(std::uint32_t stream, unsigned type, const std::string& data) {
  return be32(static_cast<std::uint32_t>(data.size())) + be32(stream) +
         std::string{static_cast<char>(type), '\0'} + data;
}

inline std::string envelope(const std::string& method, const std::string& payload,
                            std::uint64_t timeout_nano = 0) {
  return text(1, "nri.pkg.api.v1alpha1.Plugin") + text(2, method) + text(3, payload) +
         (timeout_nano > 0 ? number(4, timeout_nano) : std::string());
}

/// A call of the Plugin service in as many frames as Go writes.
inline std::string call(std::uint32_t stream, const std::string& method, const std::string& payload,
                        std::uint64_t timeout_nano = 0) {
  const std::string whole = message(stream, 1, envelope(method, payload, timeout_nano));
  if (whole.size() <= 4096) return frame(1, whole);
  return frame(1, whole.substr(0, 4096)) + frame(1, whole.substr(4096));
}

inline std::string registered() {
  return frame(2, message(1, 2, ""));
}

inline std::string configure(const std::string& version = "v2.4.2", std::uint64_t request_ms = 0) {
  return text(2, "containerd") + text(3, version) +
         (request_ms > 0 ? number(4, 5000) + number(5, request_ms) : std::string());
}

inline std::string pod(const std::string& id, const std::string& name) {
  return text(1, id) + text(2, name) + text(3, "uid-" + name) + text(4, "default") +
         entry(5, "label", "x") + entry(6, "rdma.railhead.io/pod", "required") + text(7, "nvidia") +
         text(8, text(3, "/kubepods") + text(5, text(1, "network")) +
                     text(5, text(1, "ipc") + text(2, "/proc/1/ns/ipc")));
}

inline std::string container(const std::string& id, const std::string& pod_id,
                             const std::string& more = {}) {
  return text(1, id) + text(2, pod_id) + text(3, "main") + number(4, 1) + text(8, "PATH=/bin") +
         more;
}

inline std::string create(const std::string& id, const std::string& more = {}) {
  return text(1, pod("p1", "job")) + text(2, container(id, "p1", more));
}

/// Trunk bytes taken apart again.
struct Frame {
  std::uint32_t connection;
  std::string payload;
};

inline std::uint32_t read_be32(const std::string& from, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value * 256 + static_cast<unsigned char>(from[i]);
  }
  return value;
}

/// Whole frames at the front of `trunk`, which keeps the rest.
inline std::vector<Frame> take_frames(std::string& trunk) {
  std::vector<Frame> frames;
  while (trunk.size() >= 8 && trunk.size() >= 8 + std::size_t{read_be32(trunk, 4)}) {
    const std::size_t length = read_be32(trunk, 4);
    frames.push_back({read_be32(trunk, 0), trunk.substr(8, length)});
    trunk.erase(0, 8 + length);
  }
  return frames;
}

struct Reply {
  std::uint32_t connection;
  std::uint32_t stream;
  unsigned type;
  std::string data;

  friend bool operator==(const Reply&, const Reply&) = default;
};

/// Frames put together to messages.
inline std::vector<Reply> take_replies(std::string& trunk) {
  std::vector<Reply> replies;
  std::string streams[3];
  for (const Frame& piece : take_frames(trunk)) streams[piece.connection % 3] += piece.payload;
  for (std::uint32_t connection = 1; connection <= 2; ++connection) {
    std::string& stream = streams[connection];
    while (stream.size() >= 10) {
      const std::size_t length = read_be32(stream, 0);
      replies.push_back({connection, read_be32(stream, 4), static_cast<unsigned char>(stream[8]),
                         stream.substr(10, length)});
      stream.erase(0, 10 + length);
    }
  }
  return replies;
}

/// The status code of a ttrpc Response, 0 for success.
inline int status_code(const std::string& data) {
  if (data.empty() || data[0] != 0x0a) return 0;
  const std::size_t at = (static_cast<unsigned char>(data[1]) & 0x80U) != 0 ? 3 : 2;
  return data[at] == 0x08 ? data[at + 1] : 0;
}

}  // namespace railhead::nri::peer
