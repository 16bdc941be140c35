// SPDX-License-Identifier: Apache-2.0
//
// An HTTPS server for tests. It knows nothing of the client under test: plain sockets and OpenSSL.
#pragma once

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "unit/kube/certificates.h"

namespace railhead::test {

/// What the server does with a request.
struct Reply {
  enum class Then : std::uint8_t {
    close,   ///< as it should be
    cut,     ///< the connection ends without TLS's word that it does
    hang,    ///< nothing more comes
    repeat,  ///< the last piece comes again and again
  };
  std::string bytes;
  Then then = Then::close;
  std::string piece = {};
};

inline Reply reply(int status, const std::string& body, const std::string& headers = "") {
  return {"HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" +
          headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

class HttpsServer {
 public:
  /// Gets a whole request, head and body; called on the server's thread.
  using Answer = std::function<Reply(const std::string&)>;

  HttpsServer(const Certificate& certificate, Answer answer, const Certificate* clients = nullptr)
      : answer_(std::move(answer)),
        tls_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate(tls_, certificate.x509());
    SSL_CTX_use_PrivateKey(tls_, certificate.key());
    if (clients != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_), clients->x509());
      SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }

  ~HttpsServer() {
    is_ending_ = true;
    thread_.join();
    ::close(listener_);
    SSL_CTX_free(tls_);
  }

  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  [[nodiscard]] const std::string& port() const { return port_; }

  /// All that were read, in their order.
  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static bool is_readable(int fd) {
    pollfd wait{fd, POLLIN, 0};
    return ::poll(&wait, 1, 20) > 0;
  }

  void serve() {
    while (!is_ending_) {
      if (!is_readable(listener_)) continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const timeval patience{5, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      SSL* stream = SSL_new(tls_);
      SSL_set_fd(stream, fd);
      if (SSL_accept(stream) == 1) talk(stream, fd);
      SSL_free(stream);
      ::close(fd);
    }
  }

  void talk(SSL* stream, int fd) {
    const auto request = read(stream);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const auto reply = answer_(request);
    if (!reply.bytes.empty()) {
      SSL_write(stream, reply.bytes.data(), static_cast<int>(reply.bytes.size()));
    }
    // Until the client goes.
    const auto is_open = [&] {
      return !is_ending_ && !(is_readable(fd) && SSL_read(stream, gone_, 1) <= 0);
    };
    if (reply.then == Reply::Then::hang) {
      while (is_open()) {
      }
    }
    if (reply.then == Reply::Then::repeat) {
      while (!is_ending_ &&
             SSL_write(stream, reply.piece.data(), static_cast<int>(reply.piece.size())) > 0) {
      }
    }
    if (reply.then == Reply::Then::close) SSL_shutdown(stream);
  }

  static std::string read(SSL* stream) {
    std::string text;
    char buffer[4096];
    std::size_t whole = std::string::npos;
    while (text.size() < whole) {
      const int got = SSL_read(stream, buffer, sizeof buffer);
      if (got <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(got));
      const auto head = text.find("\r\n\r\n");
      if (head == std::string::npos || whole != std::string::npos) continue;
      const auto length = text.find("Content-Length: ");
      whole = head + 4 + (length < head ? std::stoul(text.substr(length + 16)) : 0);
    }
    return text;
  }

  Answer answer_;
  SSL_CTX* tls_;
  int listener_ = -1;
  std::string port_;
  char gone_[1] = {};
  std::atomic<bool> is_ending_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace railhead::test
