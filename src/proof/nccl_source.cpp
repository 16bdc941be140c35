// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_source.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace railhead::proof {
namespace {

/// Files whose functions set up connections and move data, of NCCL and nccl-rdma-sharp-plugins, by
/// the end of their paths. Not among them: those that try one network after the other (net.cc in
/// src/ and src/plugin), CollNet, NVLS and the topology, without all of which NCCL goes on.
constexpr std::array<std::string_view, 14> kCallers = {
    "transport/net.cc", "transport/net.cu",  "net_ib.cc",     "net_ib.cu", "net_ib/p2p.cc",
    "net_socket.cc",    "net_socket.cu",     "include/net.h", "proxy.cc",  "ib_plugin.c",
    "ucx_plugin.c",     "net_ib/connect.cc", "group.cc",      "enqueue.cc"};
constexpr std::array<std::string_view, 5> kConnectors = {
    "misc/socket.cc", "include/socket.h", "bootstrap.cc", "bootstrap.cu", "p2p_plugin.c"};
/// "Connection closed by remote peer" is none of them: so ends a job whose ranks do not end at
/// once.
constexpr std::array<std::string_view, 7> kFailures = {"ailed",  "rror",     "imeout", "imed out",
                                                       "efused", "nable to", "aborted"};

/// Those of them in which a warning tells of nothing but connections and data: each is an error,
/// unless it says that NCCL goes on.
constexpr std::array<std::string_view, 8> kTransports = {
    "net_ib.cc",     "net_ib.cu",         "net_ib/p2p.cc", "net_ib/p2p_resiliency.cc",
    "net_socket.cc", "net_ib/connect.cc", "ib_plugin.c",   "ucx_plugin.c"};
constexpr std::array<std::string_view, 11> kHarmless = {
    "real path",   "nable to open", "nable to query", "greater than the maximum",
    "gnoring",     "non-fatal",     "out of range",   "unknown event",
    "alling back", "OOO RQ",        "Continue"};

/// How warnings of these files begin, where their place was cut away.
constexpr std::array<std::string_view, 9> kBeginnings = {
    "NET/",           "Net : ",       "Call to ",  "Connect to ", "[Proxy ", "[Service thread",
    "socketProgress", "ncclOsSocket", "ncclProxyC"};

template <typename Files>
bool is_file_of(const Files& files, std::string_view path) {
  return std::any_of(files.begin(), files.end(),
                     [&](std::string_view file) { return path.ends_with(file); });
}

}  // namespace

bool nccl_network_call_failed(std::string_view message) {
  const auto arrow = message.find(" -> ");
  if (arrow == std::string_view::npos || arrow + 4 >= message.size()) return false;
  auto code = message.substr(arrow + 4);
  const auto end = std::min(code.find_first_not_of(kDecimalDigits), code.size());
  const auto number = code.substr(0, end);
  code.remove_prefix(end);
  const bool is_failure = number == "2" || number == "3" || number == "6";
  const bool is_end = code.empty() || code.front() == ' ';
  const auto words = split_words(message.substr(0, arrow));
  const bool is_frame = words.size() == 1 || (words.size() == 2 && words[1].starts_with('('));
  if (!is_failure || !is_end || !is_frame) return false;
  const auto colon = words[0].rfind(':');
  if (colon == std::string_view::npos || !parse_unsigned(words[0].substr(colon + 1))) return false;
  return is_file_of(kCallers, words[0].substr(0, colon));
}

bool nccl_is_network_failure(std::string_view place, std::string_view message) {
  if (place.find("ras/") != std::string_view::npos) return false;
  const auto words = split_words(place);
  const auto file = words.empty() ? "" : words[0].substr(0, words[0].find(':'));
  const bool is_begun = words.empty() && std::any_of(kBeginnings.begin(), kBeginnings.end(),
                                                     [&](std::string_view text) {
                                                       return message.starts_with(text);
                                                     });
  const bool is_network = is_file_of(kCallers, file) || is_file_of(kConnectors, file) || is_begun ||
                          file.starts_with("nccl_net_ofi") || message.starts_with("NET/");
  const bool is_refused = message.starts_with("NET/OFI") && message.find("ouldn't") != message.npos;
  const bool has_failed = std::any_of(
      kFailures.begin(), kFailures.end(),
      [&](std::string_view word) { return message.find(word) != std::string_view::npos; });
  const bool is_harmless = std::any_of(
      kHarmless.begin(), kHarmless.end(),
      [&](std::string_view word) { return message.find(word) != std::string_view::npos; });
  const bool is_of_transport = is_file_of(kTransports, file) && !is_harmless;
  return is_refused || is_of_transport || (is_network && has_failed);
}

bool nccl_made_queue_pair(std::string_view message) {
  if (message.find(" Ib Alloc Size ") != std::string_view::npos) return true;
  static constexpr std::array<std::string_view, 4> kNumbers = {" qpn ", "qpn=", " qp_num ",
                                                               "qp_num="};
  return message.starts_with("NET/IB") &&
         std::any_of(kNumbers.begin(), kNumbers.end(), [&](std::string_view word) {
           return message.find(word) != std::string_view::npos;
         });
}

bool nccl_used_sockets(std::string_view place, std::string_view message) {
  if (message.find("net_socket.cc:") != std::string_view::npos) {
    return message.find(" -> ") != std::string_view::npos;
  }
  if (place.find("net_socket.cc:") != std::string_view::npos) {
    return message.find("o interface found") == std::string_view::npos;
  }
  return message.starts_with("NET/Socket: Using ") &&
         message.find(" sockets per thread") != std::string_view::npos;
}

}  // namespace railhead::proof
