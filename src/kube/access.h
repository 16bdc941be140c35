// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "host/environment.h"
#include "host/input_file.h"

namespace railhead::kube {

/// How to reach an API server, and as whom. It is read anew for each request, because the kubelet
/// rotates tokens and authorities.
struct Access {
  std::string host;  ///< a name or an IP address, without brackets
  std::string port;
  std::string prefix;       ///< of every path: "" or "/k8s/clusters/c-1"
  std::string server_name;  ///< the name or IP address that the certificate has to be for
  std::string authorities;  ///< PEM, one certificate or more; "": those of the system
  std::string certificate;  ///< PEM, of the client; "": none
  std::string key;          ///< PEM, of `certificate`
  std::string token;        ///< "": none
};

/// Where the kubelet mounts a pod's service account. Source: Kubernetes
/// plugin/pkg/admission/serviceaccount/admission.go, DefaultAPITokenMountPath.
inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

/// Who says how to reach the API server.
struct AccessSource {
  std::string kubeconfig;  ///< path; "": KUBECONFIG, else the pod's service account
  host::Environment environment;
  std::string service_account = kServiceAccountFolder;
};

/// Looks at files. Fails where nobody says it (ErrorCode::unavailable), where a file cannot be
/// read, and where it asks for what is not done here; the error names the file.
Result<Access> read_access(const AccessSource& source, host::ReadFile read);

/// The access that the current context of a kubeconfig gives. `path` is for messages and for files
/// that it names relative to itself. Refused: no verification, a program or an auth provider that
/// makes the credentials, user and password, a proxy.
Result<Access> parse_kubeconfig(std::string_view text, const std::string& path,
                                host::ReadFile read);

/// "https://HOST[:PORT][/PREFIX]" into host, port, prefix and server name.
Result<Access> parse_server(const std::string& url);

}  // namespace railhead::kube
