// SPDX-License-Identifier: Apache-2.0
#include "bench/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace railhead::bench {

Mac make_mac(std::string_view key, std::string_view bytes) {
  Mac mac{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), mac.data(), &length);
  return mac;
}

bool same_mac(const Mac& one, const Mac& other) {
  return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Result<Nonce> random_nonce() {
  Nonce nonce;
  if (::getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size())) {
    return Error{ErrorCode::unavailable, std::string("getrandom: ") + std::strerror(errno)};
  }
  return nonce;
}

Result<std::string> generate_key() {
  const auto nonce = TRY(random_nonce());
  std::string key;
  for (std::size_t i = 0; i < 16; ++i) key += to_hex(nonce.at(i), 2);
  return key;
}

Result<std::string> check_key(std::string_view text) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 4096;
  const auto key = trim(text);
  if (key.size() < kShortest || key.size() > kLongest) {
    return Error{ErrorCode::usage, "a key of " + std::to_string(key.size()) +
                                       " bytes: it must have between 16 and 4096 (openssl rand "
                                       "-hex 16 makes one)"};
  }
  return std::string(key);
}

std::string_view as_text(const std::array<std::uint8_t, 32>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace railhead::bench
