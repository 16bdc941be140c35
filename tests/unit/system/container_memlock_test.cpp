// SPDX-License-Identifier: Apache-2.0
#include "system/container_memlock.h"

#include <gmock/gmock.h>

#include "system/kept_files.h"
#include "system/system.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using system::Part;

constexpr std::uint64_t kUnlimited = host::ProcessFacts::kUnlimited;

auto memlock_of(const std::string& entries) {
  const auto host = host_of(entries);
  return system::read_system(*host, node::read_node(*host), Part::services | Part::runtime)
      .container_memlock;
}

auto of_containerd(const std::string& config, const std::string& spec = "") {
  return memlock_of(file_entry("/etc/containerd/config.toml", config) +
                    (spec.empty() ? "" : file_entry("/etc/base.json", spec)));
}

std::string spec(const std::string& limits) {
  return "{\"ociVersion\": \"1.1.0\", \"process\": {\"rlimits\": [" + limits + "]}}";
}

const std::string kMemlock =
    "{\"type\": \"RLIMIT_MEMLOCK\", \"hard\": 18446744073709551615, \"soft\": "
    "18446744073709551615}";
const std::string kRunc = ".containerd.runtimes.runc]\nbase_runtime_spec = '/etc/base.json'\n";

TEST(ContainerMemlock, a_base_spec_of_containerd_decides_it) {
  for (const std::string version :
       {"version = 2\n[plugins.'io.containerd.grpc.v1.cri'",
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'", "[plugins.cri"}) {
    const auto found = of_containerd(version + kRunc, spec(kMemlock));
    ASSERT_TRUE(found) << version;
    EXPECT_EQ(found->path, "/etc/base.json");
    EXPECT_EQ(found->soft_bytes, kUnlimited);
    EXPECT_TRUE(found->others.empty());
  }
  EXPECT_FALSE(of_containerd("version = 2\n"));
}

TEST(ContainerMemlock, a_spec_that_does_not_say_it_decides_nothing) {
  const std::string config = "version = 2\n[plugins.'io.containerd.grpc.v1.cri'" + kRunc;
  EXPECT_FALSE(of_containerd(config, spec("{\"type\": \"RLIMIT_NOFILE\", \"soft\": 1}")));
  EXPECT_EQ(of_containerd(config)->error, "it is not there");
  EXPECT_NE(of_containerd(config, "{")->error, "");
  EXPECT_NE(of_containerd(config, spec("{\"type\": \"RLIMIT_MEMLOCK\"}"))->error, "");
}

TEST(ContainerMemlock, runtimes_without_it_are_named) {
  const std::string nvidia =
      "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.nvidia]\n"
      "base_runtime_spec = '/etc/base.json'\n";
  EXPECT_THAT(of_containerd(nvidia, spec(kMemlock))->others, testing::ElementsAre("runc"))
      << "the default is there without a table";
  EXPECT_THAT(of_containerd(nvidia + "[plugins.'io.containerd.grpc.v1.cri'.containerd]\n"
                                     "default_runtime_name = 'nvidia'\n",
                            spec(kMemlock))
                  ->others,
              testing::IsEmpty());
}

TEST(ContainerMemlock, the_last_list_of_crio_decides_it) {
  const auto of_crio = [](const std::string& first, const std::string& second) {
    return memlock_of(file_entry("/etc/crio/crio.conf", "[crio.runtime]\n" + first) +
                      file_entry("/etc/crio/crio.conf.d/9.conf", "[crio.runtime]\n" + second));
  };
  const std::string any = "default_ulimits = ['nofile=1:1', 'memlock=-1:-1']\n";
  EXPECT_EQ(of_crio(any, "")->soft_bytes, kUnlimited);
  EXPECT_EQ(of_crio(any, "")->path, "/etc/crio/crio.conf");
  EXPECT_EQ(of_crio(any, "default_ulimits = ['memlock=65536']\n")->soft_bytes, 65536U);
  EXPECT_FALSE(of_crio(any, "default_ulimits = []\n"));
  EXPECT_NE(of_crio("", "default_ulimits = ['memlock=x']\n")->error, "");
}

TEST(ContainerMemlock, what_a_recording_keeps_gives_the_same_answer) {
  const std::string config =
      "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.registry]\npassword = 'secret'\n"
      "[plugins.'io.containerd.grpc.v1.cri'.containerd]\ndefault_runtime_name = 'mine'\n"
      "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.mine]\n"
      "base_runtime_spec = '/etc/base.json'\nBinaryName = '/opt/secret'\n";
  const std::string base =
      "{\"process\": {\"env\": [\"T=secret\"], \"rlimits\": [" + kMemlock + "]}}";
  const auto kept_config = system::kept_runtime_settings(config);
  const auto kept_base = system::kept_spec(base);
  EXPECT_EQ((kept_config + kept_base).find("secret"), std::string::npos);
  EXPECT_EQ(kept_config.find("mine"), std::string::npos);
  EXPECT_EQ(of_containerd(kept_config, kept_base), of_containerd(config, base));
  EXPECT_EQ(of_containerd(config, base)->soft_bytes, kUnlimited);
  EXPECT_EQ(system::kept_spec("{"), "[\n");
  EXPECT_THAT(
      system::kept_runtime_settings("[crio.runtime]\ndefault_ulimits = ['memlock=-1:-1', 'a b']\n"),
      testing::HasSubstr("'memlock=-1:-1'"));
}

}  // namespace
}  // namespace railhead::test
