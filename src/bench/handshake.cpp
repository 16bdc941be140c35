// SPDX-License-Identifier: Apache-2.0
#include "bench/handshake.h"

#include <algorithm>
#include <utility>

namespace railhead::bench {
namespace {

std::string big_endian_16(std::uint16_t number) {
  return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
}

std::array<std::uint8_t, 32> array_of(std::string_view bytes) {
  std::array<std::uint8_t, 32> array{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), array.size()), array.begin());
  return array;
}

}  // namespace

Handshake::Handshake(Role role, std::string key, const Nonce& nonce)
    : role_(role),
      key_(std::move(key)),
      ours_(nonce) {}

std::string Handshake::hello() const {
  return std::string(kMagic) + big_endian_16(kProtocolVersion) + std::string(as_text(ours_));
}

std::string Handshake::opening() const {
  return role_ == Role::client ? hello() : std::string();
}

std::size_t Handshake::size_of_awaited() const {
  switch (awaits_) {
    case Awaits::hello: return kHelloBytes;
    case Awaits::proof: return kProofBytes;
    case Awaits::verdict: return kVerdictBytes;
    case Awaits::nothing: break;
  }
  return 0;
}

std::size_t Handshake::wants() const {
  return size_of_awaited() - pending_.size();
}

Result<std::string> Handshake::feed(std::string_view bytes) {
  std::string answer;
  while (!bytes.empty()) {
    if (awaits_ == Awaits::nothing) {
      return Error{ErrorCode::malformed, "bytes behind the end of the handshake"};
    }
    const auto taken = std::min(bytes.size(), wants());
    pending_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    // A stranger is known by its first bytes; it need not send a whole message.
    const auto seen = std::min(pending_.size(), kMagic.size());
    if (awaits_ == Awaits::hello && pending_.substr(0, seen) != kMagic.substr(0, seen)) {
      return Error{ErrorCode::malformed, "the other side does not speak this protocol"};
    }
    if (wants() > 0) break;
    answer += TRY(take_message());
  }
  return answer;
}

Result<std::string> Handshake::take_message() {
  const std::string message = std::exchange(pending_, {});
  if (awaits_ == Awaits::hello) {
    pending_ = message;
    TRY_STATUS(take_hello());
    pending_.clear();
    if (role_ == Role::server) {
      awaits_ = Awaits::proof;
      return hello();
    }
    awaits_ = Awaits::verdict;
    return std::string(as_text(proof_of(Role::client)));
  }
  if (awaits_ == Awaits::proof) {
    if (!same_mac(array_of(message), proof_of(Role::client))) {
      farewell_ = std::string(kVerdictBytes, '\0');
      return Error{ErrorCode::denied, "the other side has another key"};
    }
    make_keys();
    return std::string(1, '\1') + std::string(as_text(proof_of(Role::server)));
  }
  if (message.front() != '\1') {
    return Error{ErrorCode::denied, "the server does not accept this key"};
  }
  if (!same_mac(array_of(std::string_view(message).substr(1)), proof_of(Role::server))) {
    return Error{ErrorCode::denied, "the server cannot prove that it has the key"};
  }
  make_keys();
  return std::string();
}

Status Handshake::take_hello() {
  const auto high = static_cast<std::uint8_t>(pending_[4]);
  const auto low = static_cast<std::uint8_t>(pending_[5]);
  const auto version = static_cast<std::uint16_t>((high << 8) | low);
  if (version != kProtocolVersion) {
    if (role_ == Role::server) farewell_ = hello();
    return Error{ErrorCode::unsupported, "the other side speaks version " +
                                             std::to_string(version) +
                                             " of the protocol, this "
                                             "program version " +
                                             std::to_string(kProtocolVersion)};
  }
  theirs_ = array_of(std::string_view(pending_).substr(6));
  return {};
}

std::string Handshake::material(std::string_view label) const {
  const bool client = role_ == Role::client;
  return "railhead-bench " + std::string(label) + big_endian_16(kProtocolVersion) +
         std::string(as_text(client ? ours_ : theirs_)) +
         std::string(as_text(client ? theirs_ : ours_));
}

Mac Handshake::proof_of(Role role) const {
  return make_mac(key_, material(role == Role::client ? "client" : "server"));
}

void Handshake::make_keys() {
  awaits_ = Awaits::nothing;
  keys_ = SessionKeys{make_mac(key_, material("to server")), make_mac(key_, material("to client"))};
}

}  // namespace railhead::bench
