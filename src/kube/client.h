// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "kube/access.h"
#include "kube/messages.h"

namespace railhead::kube {

/// What one answer may take.
struct AnswerLimits {
  std::chrono::milliseconds time{15000};  ///< from the name of the server to the last byte
  std::size_t bytes = std::size_t{32} << 20;
};

/// Of a Node, which has its images and the annotations of others, 256 KiB of them at most.
inline constexpr AnswerLimits kNodeLimits{std::chrono::seconds(10), std::size_t{4} << 20};

/// A client of the Kubernetes API on one event loop. Each request reads the access anew and has a
/// connection of its own, so nothing has to be kept alive or found dead. The server's certificate
/// must be signed by the access' authorities, and be for its server name.
class Client {
 public:
  using ReadAccess = std::function<Result<Access>()>;
  using Done = std::function<void(Result<Answer>)>;

  /// `read_access` may look at files: the loop is one that may wait.
  Client(boost::asio::io_context& loop, ReadAccess read_access, AnswerLimits limits = {});

  /// `done` is called once, on the loop, unless the client has ended by then. An Error says that
  /// there is no answer: no access, connection, proof of identity, or a limit that was passed. An
  /// Answer may be a refusal.
  void send(const Request& request, const Done& done);

 private:
  boost::asio::io_context& loop_;
  ReadAccess read_access_;
  AnswerLimits limits_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

/// One request, for a thread that may wait: returns within the limits, and when the system's
/// resolver is done with a name.
Result<Answer> ask(const Access& access, const Request& request, AnswerLimits limits = {});

}  // namespace railhead::kube
