// SPDX-License-Identifier: Apache-2.0
#include "nri/messages.h"

#include <gtest/gtest.h>

#include "nri/api.h"
#include "recording_handler.h"
#include "runtime_bytes.h"

namespace railhead::nri {
namespace {

TEST(Messages, register_plugin_says_name_index_and_version) {
  SessionOptions options;
  options.plugin_name = "railhead";
  options.plugin_index = "90";
  EXPECT_EQ(encode_register_plugin(options),
            peer::text(1, "railhead") + peer::text(2, "90") + peer::text(3, "v0.12.5"));
}

TEST(Messages, configure_names_the_runtime_and_its_timeouts) {
  const auto peer =
      decode_configure(peer::text(2, "containerd") + peer::text(3, "v2.4.2") +
                       peer::number(4, 7000) + peer::number(5, 3000) + peer::text(6, "v0.12.3"));
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->name, "containerd");
  EXPECT_EQ(peer->version, "v2.4.2");
  EXPECT_EQ(peer->nri_version, "v0.12.3");
  EXPECT_EQ(peer->registration_timeout.count(), 7000);
  EXPECT_EQ(peer->request_timeout.count(), 3000);
}

TEST(Messages, timeouts_of_old_runtimes_are_the_defaults) {
  for (const std::string& payload :
       {std::string(), peer::number(4, 0) + peer::number(5, 0),
        peer::number(4, ~std::uint64_t{0}) + peer::number(5, ~std::uint64_t{0})}) {
    const auto peer = decode_configure(payload);
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->registration_timeout.count(), 5000);
    EXPECT_EQ(peer->request_timeout.count(), 2000);
  }
}

TEST(Messages, an_absurd_timeout_is_bounded) {
  const auto peer = decode_configure(peer::number(5, 0x7FFFFFFFFFFFFFFFU));
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->request_timeout, std::chrono::hours(24));
}

TEST(Messages, a_configure_that_is_no_message_is_malformed) {
  EXPECT_FALSE(decode_configure("\x0a\x05x"));
}

TEST(Messages, subscribes_sandboxes_that_run_and_create_container) {
  // events is field 2; failure_policy is field 3 with keep_connected 2 and fail_request 1.
  EXPECT_EQ(encode_configure_response(false), std::string("\x10\x09\x1a\x02\x10\x01", 6));
  EXPECT_EQ(encode_configure_response(true), std::string("\x10\x09\x1a\x04\x08\x01\x10\x01", 8));
}

TEST(Messages, synchronize_echoes_more) {
  EXPECT_EQ(encode_synchronize_response(true), std::string("\x10\x01", 2));
  EXPECT_EQ(encode_synchronize_response(false), "");
}

TEST(Messages, nothing_to_add_is_an_empty_response) {
  EXPECT_EQ(encode_create_response({}), "");
}

TEST(Messages, an_adjustment_carries_device_environment_and_limit) {
  const std::string device = peer::text(1, "/dev/infiniband/uverbs0") + peer::text(2, "c") +
                             peer::number(3, 231) + peer::number(4, 192) +
                             peer::text(5, peer::number(1, 0666)) + peer::text(6, "") +
                             peer::text(7, "");
  const std::uint64_t unlimited = ~std::uint64_t{0};
  const std::string adjust =
      peer::text(4, peer::text(1, "NCCL_IB_HCA") + peer::text(2, "=mlx5_0:1")) +
      peer::text(6, peer::text(1, device)) +
      peer::text(7, peer::text(1, "RLIMIT_MEMLOCK") + peer::number(2, unlimited) +
                        peer::number(3, unlimited));
  EXPECT_EQ(encode_create_response(sample_adjustment()), peer::text(1, adjust));
}

TEST(Messages, a_mode_holds_permission_bits_only) {
  container::Adjustment adjustment;
  adjustment.devices = {{"/d", 1, 2, 020600, 1000, 27}};
  const std::string device = peer::text(1, "/d") + peer::text(2, "c") + peer::number(3, 1) +
                             peer::number(4, 2) + peer::text(5, peer::number(1, 0600)) +
                             peer::text(6, peer::number(1, 1000)) +
                             peer::text(7, peer::number(1, 27));
  EXPECT_EQ(encode_create_response(adjustment),
            peer::text(1, peer::text(6, peer::text(1, device))));
}

TEST(Messages, a_mount_is_a_read_only_bind_of_a_file_that_runs_nothing) {
  container::Adjustment adjustment;
  adjustment.mounts = {{"/host/topo.xml", "/in/topo.xml"}};
  std::string mount =
      peer::text(1, "/in/topo.xml") + peer::text(2, "bind") + peer::text(3, "/host/topo.xml");
  for (const char* option : {"bind", "ro", "nosuid", "nodev", "noexec"}) {
    mount += peer::text(4, option);
  }
  EXPECT_EQ(encode_create_response(adjustment), peer::text(1, peer::text(3, mount)));
}

api::LinuxDevice generated(const container::NewDevice& device) {
  api::LinuxDevice out;
  out.set_path(device.path);
  out.set_type("c");
  out.set_major(device.major);
  out.set_minor(device.minor);
  out.mutable_file_mode()->set_value(device.mode);
  out.mutable_uid()->set_value(device.uid);
  out.mutable_gid()->set_value(device.gid);
  return out;
}

TEST(Messages, an_adjustment_is_what_the_generated_types_write) {
  container::Adjustment adjustment = sample_adjustment();
  adjustment.devices.push_back({"/dev/infiniband/r\u00e4il", -1, 1U << 20U, 0, 0, ~0U});
  adjustment.devices.push_back({});
  adjustment.mounts = {{"/host/topo.xml", "/in/topo.xml"}, {}};
  adjustment.env.emplace_back("LONG", std::string(300, 'x'));
  adjustment.env.emplace_back("", "");
  for (const auto memlock : {std::uint64_t{0}, std::uint64_t{65536}, container::kUnlimited}) {
    adjustment.memlock_bytes = memlock;
    api::CreateContainerResponse response;
    auto& adjust = *response.mutable_adjust();
    for (const auto& device : adjustment.devices) {
      *adjust.mutable_linux()->add_devices() = generated(device);
    }
    for (const auto& mount : adjustment.mounts) {
      auto& out = *adjust.add_mounts();
      out.set_source(mount.source);
      out.set_destination(mount.destination);
      out.set_type("bind");
      for (const char* option : {"bind", "ro", "nosuid", "nodev", "noexec"}) {
        out.add_options(option);
      }
    }
    for (const auto& [name, value] : adjustment.env) {
      auto& out = *adjust.add_env();
      out.set_key(name);
      out.set_value(value);
    }
    auto& limit = *adjust.add_rlimits();
    limit.set_type("RLIMIT_MEMLOCK");
    limit.set_hard(memlock);
    limit.set_soft(memlock);
    EXPECT_EQ(encode_create_response(adjustment), response.SerializeAsString());
  }
}

TEST(Messages, a_value_that_is_not_utf8_leaves_the_answer_readable) {
  container::Adjustment adjustment;
  adjustment.env = {{"K", "\xFF"}};
  EXPECT_EQ(encode_create_response(adjustment),
            peer::text(1, peer::text(4, peer::text(1, "K") + peer::text(2, "?"))));
}

}  // namespace
}  // namespace railhead::nri
