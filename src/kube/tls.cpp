// SPDX-License-Identifier: Apache-2.0
//
// As client-go, and so as the API server's certificate is meant: a certificate of the bundle is
// trusted whether or not it signed itself, and a name counts where it is a subjectAltName. Source:
// Go crypto/x509/verify.go.
#include "kube/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>

namespace railhead::kube {

using boost::system::error_code;

Status prepare(TlsContext& context, const Access& access) {
  const auto failed = [](const char* what, const error_code& failure) {
    return Error{ErrorCode::malformed, std::string(what) + ": " + failure.message()};
  };
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  error_code failure;
  if (access.authorities.empty()) {
    context.set_default_verify_paths(failure);
  } else {
    context.add_certificate_authority(boost::asio::buffer(access.authorities), failure);
  }
  if (failure) return failed("certificate authorities", failure);
  if (access.certificate.empty()) return {};
  context.use_certificate_chain(boost::asio::buffer(access.certificate), failure);
  if (failure) return failed("client certificate", failure);
  // OpenSSL would ask the terminal for the password of an encrypted key.
  context.set_password_callback([](auto, auto) { return std::string(); }, failure);
  context.use_private_key(boost::asio::buffer(access.key), TlsContext::pem, failure);
  if (failure) return failed("client key", failure);
  return {};
}

Status demand_identity(TlsStream& stream, const std::string& server_name) {
  auto* tls = stream.native_handle();
  auto* wanted = SSL_get0_param(tls);
  X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(
      wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  SSL_set_verify(tls, SSL_VERIFY_PEER, nullptr);
  error_code is_name;
  (void)boost::asio::ip::make_address(server_name, is_name);
  std::string name = server_name;  // the macro for SNI, SSL_set_tlsext_host_name, casts const away
  const bool is_set = is_name ? SSL_set1_host(tls, name.c_str()) == 1 &&
                                    SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME,
                                             TLSEXT_NAMETYPE_host_name, name.data()) == 1
                              : X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1;
  if (is_set && !name.empty()) return {};
  return Error{ErrorCode::malformed, "no name that a certificate can be for: " + server_name};
}

std::string certificate_problem(TlsStream& stream) {
  const auto result = SSL_get_verify_result(stream.native_handle());
  return result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
}

}  // namespace railhead::kube
