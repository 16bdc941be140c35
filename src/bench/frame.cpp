// SPDX-License-Identifier: Apache-2.0
#include "bench/frame.h"

#include <algorithm>

namespace railhead::bench {
namespace {

constexpr std::size_t kHeader = 4;
constexpr std::size_t kTrailer = std::tuple_size_v<Mac>;

std::string big_endian(std::uint64_t number, unsigned bytes) {
  std::string text;
  for (unsigned i = bytes; i-- > 0;) text += static_cast<char>((number >> (8 * i)) & 0xff);
  return text;
}

Mac mac_of(const Mac& key, std::uint64_t number, std::string_view body) {
  return make_mac(as_text(key), big_endian(number, 8) + std::string(body));
}

std::size_t length_in(std::string_view header) {
  std::size_t length = 0;
  for (const char byte : header.substr(0, kHeader)) {
    length = (length << 8) | static_cast<std::uint8_t>(byte);
  }
  return length;
}

Error too_long(std::size_t length) {
  return {ErrorCode::too_large, "a message of " + std::to_string(length) + " bytes, more than " +
                                    std::to_string(kMaxBody)};
}

}  // namespace

Result<std::string> FrameWriter::frame(std::string_view body) {
  if (body.size() > kMaxBody) return too_long(body.size());
  const auto mac = mac_of(key_, number_++, body);
  return big_endian(body.size(), kHeader) + std::string(body) + std::string(as_text(mac));
}

Result<std::optional<std::string>> FrameReader::next() {
  if (buffer_.size() < kHeader) return std::optional<std::string>();
  const auto length = length_in(buffer_);
  if (length > kMaxBody) return too_long(length);
  if (buffer_.size() < kHeader + length + kTrailer) return std::optional<std::string>();
  std::string body = buffer_.substr(kHeader, length);
  Mac mac{};
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(kHeader + length), kTrailer,
              mac.begin());
  buffer_.erase(0, kHeader + length + kTrailer);
  if (!same_mac(mac, mac_of(key_, number_++, body))) {
    return Error{ErrorCode::denied, "a message that the other side did not write"};
  }
  return std::optional(std::move(body));
}

std::size_t FrameReader::wants() const {
  if (buffer_.size() < kHeader) return kHeader - buffer_.size();
  const auto whole = kHeader + std::min(length_in(buffer_), kMaxBody) + kTrailer;
  return whole - std::min(whole, buffer_.size());
}

}  // namespace railhead::bench
