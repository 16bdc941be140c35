// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "kube/access.h"

namespace railhead::kube {

using TlsContext = boost::asio::ssl::context;
using TlsStream = boost::asio::ssl::stream<boost::beast::tcp_stream>;

/// TLS 1.2 or later, with the authorities, certificate and key of the access.
Status prepare(TlsContext& context, const Access& access);

/// The peer has to prove that it is this server: a name, or an IP address.
Status demand_identity(TlsStream& stream, const std::string& server_name);

/// Why the peer's certificate was refused; "" where it was not.
std::string certificate_problem(TlsStream& stream);

}  // namespace railhead::kube
