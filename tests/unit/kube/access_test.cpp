// SPDX-License-Identifier: Apache-2.0
#include "kube/access.h"

#include <gmock/gmock.h>

#include "unit/host/temporary_directory.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

Result<kube::Access> parsed(const std::string& cluster, const std::string& user) {
  const std::string text =
      "current-context: c\n"
      "contexts:\n- {name: other, context: {cluster: o, user: o}}\n"
      "- {name: c, context: {cluster: k, user: u}}\n"
      "clusters:\n- {name: k, cluster: {" +
      cluster +
      "}}\n"
      "users:\n- {name: u, user: {" +
      user + "}}\n";
  return kube::parse_kubeconfig(text, "/etc/kube/config", [](const std::string& path, std::size_t) {
    return Result<std::string>("content of " + path + "\n");
  });
}

TEST(ParseServer, has_host_port_and_prefix) {
  struct Case {
    std::string url, host, port, prefix;
  };

  for (const auto& [url, host, port, prefix] :
       {Case{"https://10.0.0.1:6443", "10.0.0.1", "6443", ""},
        {"https://[fd00::1]:6443", "fd00::1", "6443", ""},
        {"https://[fd00::1]", "fd00::1", "443", ""},
        {"https://api.example.com", "api.example.com", "443", ""},
        {"https://r.example.com:8443/k8s/c-1/", "r.example.com", "8443", "/k8s/c-1"}}) {
    const auto access = kube::parse_server(url);
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->host, host);
    EXPECT_EQ(access->port, port);
    EXPECT_EQ(access->prefix, prefix);
    EXPECT_EQ(access->server_name, host);
  }
}

TEST(ParseServer, refuses_what_is_none) {
  for (const auto* url : {"", "http://10.0.0.1:8080", "https://", "https://:6443", "https://[::1",
                          "https://a:0", "https://a:65536", "https://a:x", "https://[::1]6443",
                          "https://a b", "https://u:p@host", "https://a/\r\nX: y"}) {
    EXPECT_FALSE(kube::parse_server(url)) << url;
  }
}

TEST(Kubeconfig, current_context_names_cluster_and_user) {
  const auto access = parsed(
      "server: 'https://10.0.0.1:6443', certificate-authority-data: aGVsbG8K, tls-server-name: "
      "kubernetes",
      "token: t0");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->host, "10.0.0.1");
  EXPECT_EQ(access->server_name, "kubernetes");
  EXPECT_EQ(access->authorities, "hello\n");
  EXPECT_EQ(access->token, "t0");
}

TEST(Kubeconfig, files_are_beside_it_and_data_wins) {
  const auto access = parsed(
      "server: 'https://a', certificate-authority: ca.crt",
      "client-certificate: /pki/me.crt, client-key: me.key, client-key-data: aGk=, tokenFile: tok");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->authorities, "content of /etc/kube/ca.crt\n");
  EXPECT_EQ(access->certificate, "content of /pki/me.crt\n");
  EXPECT_EQ(access->key, "hi");
  EXPECT_EQ(access->token, "content of /etc/kube/tok");
}

TEST(Kubeconfig, what_is_not_done_here_is_refused_by_name) {
  const std::string server = "server: 'https://a'";
  for (const auto* key : {"exec: {command: x}", "auth-provider: {name: gcp}", "username: u",
                          "password: p", "as: admin"}) {
    const auto access = parsed(server, key);
    ASSERT_FALSE(access) << key;
    EXPECT_EQ(access.error().code, ErrorCode::unsupported);
    const std::string name = std::string(key).substr(0, std::string(key).find(':'));
    EXPECT_EQ(access.error().message, "/etc/kube/config: " + name + " is not supported");
  }
  EXPECT_FALSE(parsed(server + ", insecure-skip-tls-verify: true", ""));
  EXPECT_TRUE(parsed(server + ", insecure-skip-tls-verify: false", ""));
  EXPECT_FALSE(parsed(server + ", proxy-url: 'http://p'", ""));
}

TEST(Kubeconfig, what_is_wrong_is_named) {
  EXPECT_THAT(parsed("server: 'http://a'", "").error().message,
              HasSubstr("/etc/kube/config: server: \"http://a\": a server must begin with"));
  EXPECT_THAT(parsed("server: 'https://a', certificate-authority-data: '?'", "").error().message,
              HasSubstr("certificate-authority-data: is not base64"));
  const auto no_read = [](const std::string&, std::size_t) { return Result<std::string>(""); };
  for (const auto* text : {"", "current-context: x", "[]", "- x", "contexts: 1", "a: &b 1"}) {
    EXPECT_FALSE(kube::parse_kubeconfig(text, "f", no_read)) << text;
  }
}

class ReadAccessTest : public testing::Test {
 protected:
  ReadAccessTest() {
    source_.service_account = folder_.path().string();
    source_.environment = {{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                           {"KUBERNETES_SERVICE_PORT", "443"}};
    write("ca.crt", "authorities");
    write("token", "first\n");
    write("config",
          "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
          "clusters: [{name: k, cluster: {server: 'https://named'}}]\n");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  Result<kube::Access> read() { return kube::read_access(source_, host::read_file_at_once); }

  TemporaryDirectory folder_;
  kube::AccessSource source_;
};

TEST_F(ReadAccessTest, a_pod_has_its_service_account) {
  auto access = read();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->host, "fd00::1");
  EXPECT_EQ(access->server_name, "fd00::1");
  EXPECT_EQ(access->port, "443");
  EXPECT_EQ(access->authorities, "authorities");
  EXPECT_EQ(access->token, "first");
  write("token", "rotated\n");
  EXPECT_EQ(read()->token, "rotated");
}

TEST_F(ReadAccessTest, a_kubeconfig_wins_over_the_pod) {
  source_.environment["KUBECONFIG"] = folder_ / "config";
  EXPECT_EQ(read()->host, "named");
  source_.environment["KUBECONFIG"] = "/a:/b";
  EXPECT_EQ(read().error().code, ErrorCode::unsupported);
  source_.kubeconfig = folder_ / "config";
  EXPECT_EQ(read()->host, "named");
}

TEST_F(ReadAccessTest, what_is_missing_is_named) {
  write("token", "two words\n");
  EXPECT_THAT(read().error().message, HasSubstr("/token: is not a token"));
  write("token", "\n");
  EXPECT_THAT(read().error().message, HasSubstr("/token: is not a token"));
  source_.service_account = "/nowhere";
  EXPECT_THAT(read().error().message, HasSubstr("/nowhere/token"));
  source_.environment.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_THAT(read().error().message, HasSubstr("no API server is known"));
}

}  // namespace
}  // namespace railhead::test
