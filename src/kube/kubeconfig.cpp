// SPDX-License-Identifier: Apache-2.0
//
// Source of the keys: Kubernetes staging/src/k8s.io/client-go/tools/clientcmd/api/v1/types.go.
#include <openssl/evp.h>

#include <algorithm>

#include "base/text.h"
#include "data/below.h"
#include "kube/access.h"

namespace railhead::kube {
namespace {

constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

/// A kubeconfig, with its path for messages.
class Kubeconfig {
 public:
  Kubeconfig(const std::string& path, host::ReadFile read)
      : path_(path),
        read_(read) {}

  Result<Access> access(const data::Value& document) const {
    const auto name = TRY(text(document, "current-context"));
    const auto* context = TRY(named(document, "contexts", "context", name));
    const auto cluster_name = TRY(text(*context, "cluster"));
    const auto* cluster = TRY(named(document, "clusters", "cluster", cluster_name));
    TRY_STATUS(refuse(*cluster, {"proxy-url"}));
    if (const auto* skip = cluster->find("insecure-skip-tls-verify"); skip != nullptr) {
      const auto skips = skip->as_bool();
      if (!skips || *skips) return cannot("insecure-skip-tls-verify");
    }
    const auto server = TRY(text(*cluster, "server"));
    auto parsed = parse_server(server);
    if (!parsed) return parsed.error().context(path_ + ": server");
    auto access = std::move(parsed).value();
    const auto server_name = TRY(text(*cluster, "tls-server-name"));
    if (!server_name.empty()) access.server_name = server_name;
    access.authorities = TRY(pem(*cluster, "certificate-authority"));
    const auto user_name = TRY(text(*context, "user"));
    if (user_name.empty()) return access;
    const auto* user = TRY(named(document, "users", "user", user_name));
    TRY_STATUS(refuse(*user, {"exec", "auth-provider", "username", "password", "as", "as-groups",
                              "as-uid", "as-user-extra"}));
    access.certificate = TRY(pem(*user, "client-certificate"));
    access.key = TRY(pem(*user, "client-key"));
    access.token = TRY(text(*user, "token"));
    // A file wins over the text, since it may be rotated.
    const auto token_file = TRY(text(*user, "tokenFile"));
    if (token_file.empty()) return access;
    const auto token = TRY(read_(beside(token_file), kMaxPemBytes));
    access.token = trim(token);
    return access;
  }

 private:
  [[nodiscard]] Error cannot(std::string_view key) const {
    return {ErrorCode::unsupported, path_ + ": " + std::string(key) + " is not supported"};
  }

  [[nodiscard]] Error bad(const std::string& why) const {
    return {ErrorCode::malformed, path_ + ": " + why};
  }

  /// The text of a key; "" without it.
  [[nodiscard]] Result<std::string> text(const data::Value& map, std::string_view key) const {
    const auto* value = data::below(map, {key});
    if (value == nullptr) return std::string();
    auto said = value->as_string();
    return said ? said : said.error().context(path_ + ": " + std::string(key));
  }

  [[nodiscard]] Status refuse(const data::Value& map,
                              std::initializer_list<const char*> keys) const {
    for (const auto* key : keys) {
      if (data::below(map, {key}) != nullptr) return cannot(key);
    }
    return {};
  }

  /// The `what` of the entry of this name.
  [[nodiscard]] Result<const data::Value*> named(const data::Value& document, std::string_view list,
                                                 std::string_view what,
                                                 const std::string& name) const {
    for (const auto& entry : data::items_below(document, {list})) {
      if (name.empty() || TRY(text(entry, "name")) != name) continue;
      if (const auto* value = entry.find(what); value != nullptr) return value;
    }
    return bad("no entry " + in_quotes(name) + " with a " + std::string(what) + " in " +
               std::string(list));
  }

  /// The PEM text of "KEY-data", in base64, else of the file that KEY names; "" without both.
  [[nodiscard]] Result<std::string> pem(const data::Value& map, const std::string& key) const {
    const auto encoded = TRY(text(map, key + "-data"));
    if (!encoded.empty()) return decoded(encoded, key + "-data");
    const auto file = TRY(text(map, key));
    return file.empty() ? Result<std::string>("") : read_(beside(file), kMaxPemBytes);
  }

  [[nodiscard]] Result<std::string> decoded(const std::string& text, const std::string& key) const {
    std::string out(text.size() / 4 * 3 + 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    if (size < 0) return bad(key + ": is not base64");
    out.resize(static_cast<std::size_t>(size));
    while (out.ends_with('\0')) out.pop_back();  // padding counts as bytes; PEM has no zero
    return out;
  }

  [[nodiscard]] std::string beside(const std::string& file) const {
    if (file.starts_with('/')) return file;
    return path_.substr(0, path_.rfind('/') + 1) + file;
  }

  const std::string& path_;
  host::ReadFile read_;
};

}  // namespace

Result<Access> parse_kubeconfig(std::string_view text, const std::string& path,
                                host::ReadFile read) {
  const auto document = data::parse_yaml(text);
  if (!document) return document.error().context(path);
  return Kubeconfig(path, read).access(*document);
}

}  // namespace railhead::kube
