// SPDX-License-Identifier: Apache-2.0
#include "bench/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace railhead::bench {
namespace {

struct AddressesDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

using Addresses = std::unique_ptr<addrinfo, AddressesDeleter>;

std::string text_of(const HostPort& where) {
  return where.host + ":" + where.port;
}

Result<Addresses> resolve(const HostPort& where, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int wrong = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &list);
  if (wrong != 0) {
    return Error{ErrorCode::usage, text_of(where) + ": " + ::gai_strerror(wrong)};
  }
  return Addresses(list);
}

Error failed(const HostPort& where, const char* call) {
  return {ErrorCode::unavailable, text_of(where) + ": " + call + ": " + std::strerror(errno)};
}

void set_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// 0, or the error of the connection.
int connect_within(int socket, const addrinfo& address, Limit limit) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd polled{socket, POLLOUT, 0};
  const int count = ::poll(&polled, 1, static_cast<int>(limit.count()));
  if (count <= 0) return count == 0 ? ETIMEDOUT : errno;
  int wrong = 0;
  socklen_t length = sizeof wrong;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &wrong, &length);
  return wrong;
}

}  // namespace

Result<HostPort> HostPort::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  const Error wrong{ErrorCode::usage, in_quotes(text) + " is no HOST:PORT"};
  if (colon == std::string_view::npos) return wrong;
  auto host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong;
  }
  const auto port = parse_unsigned(text.substr(colon + 1));
  if (host.empty() || !port || *port > 65535) return wrong;
  return HostPort{std::string(host), std::to_string(*port)};
}

Result<host::UniqueFd> listen_tcp(const HostPort& where) {
  const auto addresses = TRY(resolve(where, AI_PASSIVE | AI_NUMERICHOST));
  host::UniqueFd socket(
      ::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return failed(where, "socket");
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.get(), addresses->ai_addr, addresses->ai_addrlen) != 0) {
    return failed(where, "bind");
  }
  if (::listen(socket.get(), static_cast<int>(Listener::kPending)) != 0) {
    return failed(where, "listen");
  }
  return Result<host::UniqueFd>(std::move(socket));
}

std::string local_address(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(socket, generic, &length) != 0 ||
      ::getnameinfo(generic, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  const std::string name(host.data());
  const bool ipv6 = name.find(':') != std::string::npos;
  return (ipv6 ? "[" + name + "]" : name) + ":" + port.data();
}

void prepare_connection(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 20000);
}

Result<host::UniqueFd> connect_to(const HostPort& where, Limit limit) {
  const auto addresses = TRY(resolve(where, 0));
  int wrong = EADDRNOTAVAIL;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    host::UniqueFd socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) continue;
    wrong = connect_within(socket.get(), *one, limit);
    if (wrong != 0) continue;
    prepare_connection(socket.get());
    return Result<host::UniqueFd>(std::move(socket));
  }
  errno = wrong;
  return failed(where, "connect");
}

}  // namespace railhead::bench
