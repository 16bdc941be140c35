// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/crypto.h"

namespace railhead::bench {

// How the two sides of a control connection learn that both hold the key, before either says
// anything else. Invariants:
//   1. The connecting side proves first: the listening port never answers a stranger with anything
//      that depends on the key, so it cannot be used to try keys.
//   2. Each proof covers both nonces and the role, so neither can be replayed or reflected.
//   3. Every message has one fixed size; a byte too many or another magic ends the connection.
//   4. Versions are compared before proofs; the answer to another version says ours.
//   5. All later frames are authenticated with keys made of this one and both nonces.
//
//   client -> server   magic(4) version(2) nonce(32)
//   server -> client   magic(4) version(2) nonce(32)
//   client -> server   HMAC(key, "client" version nonces)
//   server -> client   1 and HMAC(key, "server" version nonces), or 0 and 32 zeroes

inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::string_view kMagic = "RHBN";
inline constexpr std::size_t kHelloBytes = 4 + 2 + 32;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kVerdictBytes = 1 + 32;

/// Keys of a session's two directions.
struct SessionKeys {
  Mac client_to_server{};
  Mac server_to_client{};
};

enum class Role : std::uint8_t { client, server };

/// One side of it, without a socket: bytes in, bytes out.
class Handshake {
 public:
  Handshake(Role role, std::string key, const Nonce& nonce);

  /// What to send before anything was received: the client's first message, nothing of a server.
  [[nodiscard]] std::string opening() const;

  /// Takes received bytes, in pieces of any size, and returns what is to be sent now. Errors end
  /// the connection: denied (wrong key), unsupported (other version), malformed (something else
  /// talks). What refuses a peer politely is in farewell() then.
  Result<std::string> feed(std::string_view bytes);

  [[nodiscard]] const std::string& farewell() const { return farewell_; }

  /// Present once both sides have proved that they hold the key.
  [[nodiscard]] const std::optional<SessionKeys>& keys() const { return keys_; }

  /// How many bytes are still missing of the message that is awaited.
  [[nodiscard]] std::size_t wants() const;

 private:
  enum class Awaits : std::uint8_t { hello, proof, verdict, nothing };

  [[nodiscard]] std::string hello() const;
  [[nodiscard]] std::size_t size_of_awaited() const;
  Result<std::string> take_message();
  Status take_hello();
  [[nodiscard]] Mac proof_of(Role role) const;
  [[nodiscard]] std::string material(std::string_view label) const;
  void make_keys();

  Role role_;
  std::string key_;
  Nonce ours_;
  Nonce theirs_{};
  Awaits awaits_ = Awaits::hello;
  std::string pending_;
  std::string farewell_;
  std::optional<SessionKeys> keys_;
};

}  // namespace railhead::bench
