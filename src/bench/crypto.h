// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::bench {

/// HMAC-SHA256 (RFC 2104, FIPS 180-4), from OpenSSL.
using Mac = std::array<std::uint8_t, 32>;
Mac make_mac(std::string_view key, std::string_view bytes);

/// In a time that does not tell where they differ.
bool same_mac(const Mac& one, const Mac& other);

/// A number that nobody has seen before.
using Nonce = std::array<std::uint8_t, 32>;
Result<Nonce> random_nonce();

/// 128 random bits as 32 hexadecimal digits.
Result<std::string> generate_key();

/// A key as it is used: white space around it is not part of it. Refused below 16 bytes, where
/// trying all of them becomes possible, and above 4096.
Result<std::string> check_key(std::string_view text);

std::string_view as_text(const std::array<std::uint8_t, 32>& bytes);

}  // namespace railhead::bench
