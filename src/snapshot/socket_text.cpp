// SPDX-License-Identifier: Apache-2.0
#include "snapshot/socket_text.h"

#include "base/text.h"
#include "host/tcp_diag.h"

namespace railhead::snapshot {
namespace {

constexpr std::string_view kNotKnown = "-";

std::string word_of(const std::optional<std::uint64_t>& bytes) {
  return bytes ? std::to_string(*bytes) : std::string(kNotKnown);
}

/// Whether the word is a number or says that there is none.
bool take_word(std::string_view word, std::optional<std::uint64_t>& bytes) {
  if (word == kNotKnown) return true;
  const auto number = parse_unsigned(word);
  if (!number) return false;
  bytes = *number;
  return true;
}

}  // namespace

std::string text_of_sockets(const std::vector<host::TcpSocket>& sockets) {
  std::string text;
  for (const auto& socket : sockets) {
    text += std::to_string(socket.inode) + " " + word_of(socket.sent_bytes) + " " +
            word_of(socket.received_bytes) + "\n";
  }
  return text;
}

std::optional<std::vector<host::TcpSocket>> sockets_of_text(std::string_view text) {
  std::vector<host::TcpSocket> sockets;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto words = split_words(line);
    if (words.empty()) continue;
    host::TcpSocket socket;
    const auto inode = parse_unsigned(words[0]);
    if (words.size() != 3 || !inode || sockets.size() == host::kMaxTcpSockets) return std::nullopt;
    socket.inode = *inode;
    if (!take_word(words[1], socket.sent_bytes) || !take_word(words[2], socket.received_bytes)) {
      return std::nullopt;
    }
    sockets.push_back(socket);
  }
  return sockets;
}

}  // namespace railhead::snapshot
