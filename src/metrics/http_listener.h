// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "host/local_socket.h"
#include "loop/mailbox.h"
#include "metrics/http_address.h"
#include "metrics/http_connections.h"

namespace railhead::metrics {

/// What becomes of a place where pages are served; for the log, each once and not at every try.
struct HttpNews {
  enum class Kind : std::uint8_t {
    listening,
    not_listening,  ///< it is tried again
    pausing,        ///< out of descriptors or memory: nothing is accepted for a while
  };
  Kind kind = Kind::listening;
  std::string address;  ///< "127.0.0.1:9479", "unix:/run/railhead/agent.sock"
  std::string why;
};

struct HttpTimes {
  std::chrono::milliseconds first_retry{1000};
  std::chrono::milliseconds longest_retry{30000};
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds longest_pause{1000};
};

/// One place where connections are accepted. A failure is reported, and the place is tried again
/// after pauses that grow.
class HttpListener : public std::enable_shared_from_this<HttpListener> {
 public:
  using Report = std::function<void(const HttpNews&)>;

  struct Parts {
    boost::asio::io_context& loop;
    HttpTimes times;
    Report report;
    std::shared_ptr<HttpConnections> connections;
  };

  virtual ~HttpListener() = default;

  void start() { try_listen(); }

  virtual void stop();

  /// "" until it listens.
  [[nodiscard]] const std::string& address() const { return address_; }

  /// Why it does not listen; "" while it does.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// What it was asked to listen on.
  [[nodiscard]] const std::string& wanted() const { return wanted_; }

 protected:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  HttpListener(Parts parts, std::string wanted);

  /// Tries once; ends in opened() or failed().
  virtual void try_listen() = 0;

  void opened(Acceptor acceptor, std::string address);
  void failed(const std::string& why);

  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

  [[nodiscard]] boost::asio::io_context& loop() const { return parts_.loop; }

 private:
  void accept();
  void pause(const std::string& why);
  void refuse_waiting();

  Parts parts_;
  std::string wanted_;
  Acceptor acceptor_;
  HttpConnections::Socket reserve_;  ///< gives way so that who waits can be refused
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer report_timer_;
  std::chrono::milliseconds retry_in_;
  std::chrono::milliseconds pause_;
  std::string address_;
  std::string problem_;
  bool is_stopped_ = false;
  bool was_pause_reported_ = false;
};

/// On a TCP port.
class TcpListener final : public HttpListener {
 public:
  /// `has_ipv6`: false stands for a kernel without it, in tests.
  TcpListener(Parts parts, HttpAddress address, bool has_ipv6);

 private:
  void try_listen() override;

  HttpAddress listen_on_;
  bool has_ipv6_;
};

/// On a Unix socket (LocalSocket), whose folder is made, mode 0755, where it is not there.
class UnixListener final : public HttpListener {
 public:
  /// `files`: a thread that may wait for the file system, used until stop(); `mail`: this loop's.
  /// Without them the file system is looked at here.
  UnixListener(Parts parts, std::string path, loop::Mailbox* files, loop::Mailbox* mail);

  void stop() override;

 private:
  void try_listen() override;
  void take(Result<host::UniqueFd> listener);

  std::string path_;
  loop::Mailbox* files_;
  loop::Mailbox* mail_;
  /// The socket's path and lock, of the thread `files`: to remove them may take as long as to make
  /// them.
  std::shared_ptr<std::optional<host::LocalSocket>> place_;
};

}  // namespace railhead::metrics
