// SPDX-License-Identifier: Apache-2.0
#include "kube/access.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::kube {
namespace {

/// Of a token, a bundle of authorities or a kubeconfig.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::string_view kScheme = "https://";

/// It becomes a header, so no byte of it may end one.
Result<std::string> token_in(std::string_view text, const std::string& where) {
  std::string token(trim(text));
  const bool is_plain = std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; });
  if (token.empty() || !is_plain) {
    return Error{ErrorCode::malformed, where + ": is not a token: it is empty, or has characters " +
                                           "that a token cannot have"};
  }
  return token;
}

std::string value_of(const host::Environment& environment, const char* name) {
  const auto at = environment.find(name);
  return at == environment.end() ? "" : at->second;
}

/// Source: Kubernetes staging/src/k8s.io/client-go/rest/config.go, InClusterConfig().
Result<Access> in_cluster(const AccessSource& source, host::ReadFile read) {
  Access access;
  access.host = value_of(source.environment, "KUBERNETES_SERVICE_HOST");
  access.port = value_of(source.environment, "KUBERNETES_SERVICE_PORT");
  if (access.host.empty() || access.port.empty()) {
    return Error{ErrorCode::unavailable,
                 "no API server is known: there is no --kubeconfig, no KUBECONFIG, and not both "
                 "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT"};
  }
  access.server_name = access.host;
  const auto path = source.service_account + "/token";
  const auto token = TRY(read(path, kMaxFileBytes));
  access.token = TRY(token_in(token, path));
  access.authorities = TRY(read(source.service_account + "/ca.crt", kMaxFileBytes));
  return access;
}

}  // namespace

Result<Access> parse_server(const std::string& url) {
  const auto bad = [&](std::string_view why) {
    return Error{ErrorCode::malformed, in_quotes(url) + ": " + std::string(why)};
  };
  if (!url.starts_with(kScheme)) return bad("a server must begin with https://");
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  const auto slash = std::min(rest.find('/'), rest.size());
  const auto place = rest.substr(0, slash);
  Access access;
  access.prefix = rest.substr(slash);
  while (access.prefix.ends_with('/')) access.prefix.pop_back();
  const bool in_brackets = place.starts_with('[');
  const auto end = in_brackets ? place.find(']') : std::min(place.find(':'), place.size());
  if (end == std::string_view::npos) return bad("a bracket is open");
  access.host = place.substr(in_brackets ? 1 : 0, end - (in_brackets ? 1 : 0));
  const auto after = place.substr(end + (in_brackets ? 1 : 0));
  if (!after.empty() && after.front() != ':') return bad("expected https://HOST:PORT");
  const auto port = after.empty() ? Result<std::uint64_t>(443) : parse_unsigned(after.substr(1));
  if (!port || *port == 0 || *port > 65535) return bad("the port is not 1 to 65535");
  access.port = std::to_string(*port);
  const bool is_plain = std::ranges::all_of(access.host, [&](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || (in_brackets && c == ':');
  });
  if (access.host.empty() || !is_plain) return bad("the host is neither a name nor an IP address");
  if (access.prefix.find_first_of("?# \t\r\n") != std::string::npos) {
    return bad("the path has characters that a path cannot have");
  }
  access.server_name = access.host;
  return access;
}

Result<Access> read_access(const AccessSource& source, host::ReadFile read) {
  auto path = source.kubeconfig;
  if (path.empty()) path = value_of(source.environment, "KUBECONFIG");
  if (path.empty()) return in_cluster(source, read);
  if (source.kubeconfig.empty() && path.find(':') != std::string::npos) {
    return Error{ErrorCode::unsupported,
                 "KUBECONFIG names several files: name one of them by --kubeconfig"};
  }
  const auto text = TRY(read(path, kMaxFileBytes));
  auto access = TRY(parse_kubeconfig(text, path, read));
  if (!access.token.empty()) access.token = TRY(token_in(access.token, path));
  return access;
}

}  // namespace railhead::kube
