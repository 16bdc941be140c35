// SPDX-License-Identifier: Apache-2.0
#include "snapshot/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "node/pci_config.h"
#include "unit/config_space.h"
#include "unit/source_dir.h"

namespace railhead::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string redacted(const std::string& lines) {
  const auto snapshot = parse_snapshot("railhead-snapshot 1\n" + lines);
  EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().message);
  Redacted result = redact(snapshot.value_or(Snapshot{}));
  result.snapshot.comments.clear();
  return format_snapshot(result.snapshot).substr(std::string("railhead-snapshot 1\n").size());
}

TEST(Redact, of_mounts_servers_addresses_and_pods_get_stand_ins) {
  const auto text = redacted(
      "t /etc/fstab nas.example.com:/a /a nfs4 rdma,addr=10.9.8.7 0 0\n"
      "t /proc/1/mountinfo 36 23 0:30 / "
      "/pods/12345678-1234-1234-1234-123456789abc/v rw - nfs4 [fd00::77]:/b "
      "rw,clientaddr=10.9.8.1\n");
  for (const char* secret :
       {"nas.example.com", "10.9.8.7", "10.9.8.1", "fd00::77", "12345678-1234"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(text, HasSubstr(":/a /a nfs4 rdma,addr="));
  EXPECT_THAT(text, HasSubstr("36 23 0:30 / /pods/"));
  EXPECT_THAT(text, HasSubstr("]:/b rw,clientaddr="));
}

TEST(Redact, a_guid_is_the_same_everywhere_and_formats_stay) {
  EXPECT_EQ(redacted("t /m0/gids/0 fe80:0000:0000:0000:b8ce:f603:0012:3456\n"
                     "t /m0/gids/1 0000:0000:0000:0000:0000:0000:0000:0000\n"
                     "t /m0/gids/2 fe80:0000:0000:0000:bace:f6ff:fe12:3456\n"
                     "t /m0/gids/3 0000:0000:0000:0000:0000:ffff:0a01:0203\n"
                     "t /m0/node_guid b8ce:f603:0012:3456\n"
                     "t /m0/sys_image_guid b8ce:f603:0012:3456\n"
                     "t /m1/node_guid b8ce:f603:0012:3457\n"
                     "t /m1/sys_image_guid b8ce:f603:0012:3456\n"
                     "t /net/a/address b8:ce:f6:12:34:56\n"
                     "t /net/ib0/address "
                     "00:00:10:48:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:12:34:57\n"),
            "t /m0/gids/0 fe80:0000:0000:0000:b8ce:f603:0000:0001\n"
            "t /m0/gids/1 0000:0000:0000:0000:0000:0000:0000:0000\n"
            "t /m0/gids/2 fe80:0000:0000:0000:bace:f6ff:fe00:0001\n"
            "t /m0/gids/3 0000:0000:0000:0000:0000:ffff:c000:0201\n"
            "t /m0/node_guid b8ce:f603:0000:0001\n"
            "t /m0/sys_image_guid b8ce:f603:0000:0001\n"
            "t /m1/node_guid b8ce:f603:0000:0002\n"
            "t /m1/sys_image_guid b8ce:f603:0000:0001\n"
            "t /net/a/address b8:ce:f6:00:00:01\n"
            "t /net/ib0/address 00:00:10:48:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:00:00:02\n");
}

TEST(Redact, gpu_uuids_are_the_same_in_procfs_and_in_cdi_specs) {
  const std::string unknown = std::string(8, '?') + "-" + std::string(4, '?') + "-";
  const std::string text = redacted(
      "t /etc/cdi/nvidia.yaml {devices: [{name: GPU-dba9f068-6eb0-dce2-79a8-ba0f941e0021}, "
      "{name: MIG-DBA9F068-6eb0-dce2-79a8-ba0f941e0099}]}\n"
      "f /proc/driver/nvidia/gpus/0000:1b:00.0/information 93\n"
      "Model: \t\t NVIDIA H100\nGPU UUID: \t GPU-dba9f068-6eb0-dce2-79a8-ba0f941e0021\n"
      "Device Minor: \t 0\n\n"
      "t /x GPU-" +
      unknown + "\n");
  EXPECT_THAT(text, HasSubstr("{name: GPU-00000000-0000-4000-8000-000000000001}"));
  EXPECT_THAT(text, HasSubstr("{name: MIG-00000000-0000-4000-8000-000000000002}"));
  EXPECT_THAT(text, HasSubstr("GPU UUID: \t GPU-00000000-0000-4000-8000-000000000001\nDevice"));
  EXPECT_THAT(text, HasSubstr("GPU-" + unknown));
  EXPECT_THAT(text, HasSubstr("information 93\n"));
}

TEST(Redact, guids_are_the_same_in_sysfs_and_in_a_topology_file) {
  const std::string text = redacted(
      "t /m0/sys_image_guid 58a2:e103:00e3:f804\n"
      "t /opt/topo <net guid=\"0x4f8e30003e1a258\"/><net port=\"1\" guid=\"0x0\"/><net "
      "guid=\"x\"/>\n");
  EXPECT_THAT(text, HasSubstr("sys_image_guid 58a2:e103:0000:0001\n"));
  EXPECT_THAT(text, HasSubstr("<net guid=\"0x100000003e1a258\"/>"));
  EXPECT_THAT(text, HasSubstr("guid=\"0x0\"/><net guid=\"x\"/>"));
}

TEST(Redact, names_made_of_an_address_change_with_it_everywhere) {
  EXPECT_EQ(redacted("l /sys/class/net/enxb8cef6123456 -> ../../devices/net/enxb8cef6123456\n"
                     "t /sys/devices/net/enxb8cef6123456/address b8:ce:f6:12:34:56\n"
                     "t /sys/devices/x/gid_attrs/ndevs/0 enxb8cef6123456\n"
                     "x /sys/class/net/enp1s0\n"
                     "x /sys/class/net/xenxb8cef6123456\n"
                     "x /sys/class/infiniband/rocexb8cef60300123456\n"),
            "x /sys/class/infiniband/rocexb8cef60300000001\n"
            "x /sys/class/net/enp1s0\n"
            "l /sys/class/net/enxb8cef6000001 -> ../../devices/net/enxb8cef6000001\n"
            "x /sys/class/net/xenxb8cef6123456\n"
            "t /sys/devices/net/enxb8cef6000001/address b8:ce:f6:00:00:01\n"
            "t /sys/devices/x/gid_attrs/ndevs/0 enxb8cef6000001\n");
}

TEST(Redact, routes_keep_their_columns) {
  const std::string routes =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
      "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\n"
      "eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\n";
  const std::string six =
      "26070001000000000000000000000000 40 00000000000000000000000000000000 00 "
      "fe80000000000000b8cef6fffe123456 00000400 00000001 00000000 00000003 eth0";
  const std::string text = redacted("f /proc/1/net/route " + std::to_string(routes.size()) + "\n" +
                                    routes + "\nt /proc/1/net/ipv6_route " + six + "\n");
  EXPECT_THAT(text, HasSubstr("eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\n"));
  EXPECT_THAT(text, HasSubstr("eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\n"));
  EXPECT_THAT(text, HasSubstr("20010db8000000010000000000000000 40 00000000"));
  EXPECT_THAT(text, HasSubstr(" fe80000000000000"));
  EXPECT_THAT(text, Not(HasSubstr("123456")));
}

TEST(Redact, host_names_serials_and_tags_are_replaced) {
  EXPECT_EQ(redacted("t /a/node_desc gpu17 mlx5_0\n"
                     "t /b/node_desc MT4129 ConnectX7   Mellanox Technologies\n"
                     "t /c/node_desc gpu17 HCA-1\n"
                     "t /proc/sys/kernel/hostname gpu17.corp\n"
                     "t /sys/class/dmi/id/board_serial .7XYZ.CN12\n"
                     "t /sys/class/dmi/id/chassis_asset_tag 7783-7084-3265-9085-8269-3286-77\n"
                     "t /sys/class/dmi/id/product_name DGXH100\n"
                     "t /sys/class/dmi/id/product_serial 1660224000123\n"
                     "f /sys/class/kfd/kfd/topology/nodes/1/properties 33\n"
                     "simd_count 4\nunique_id 987654321\n\n"
                     "f /proc/cpuinfo 46\n"
                     "processor\t: 0\nSerial\t\t: 00000000abcdef12\nx: y\n\n"),
            "t /a/node_desc node-1 mlx5_0\n"
            "t /b/node_desc MT4129 ConnectX7   Mellanox Technologies\n"
            "t /c/node_desc node-1 HCA-1\n"
            "f /proc/cpuinfo 46\n"
            "processor\t: 0\nSerial\t\t: 0000000000000001\nx: y\n\n"
            "t /proc/sys/kernel/hostname node-1.example\n"
            "t /sys/class/dmi/id/board_serial .0000.0002\n"
            "t /sys/class/dmi/id/chassis_asset_tag 7783-7084-3265-9085-8269-3286-77\n"
            "t /sys/class/dmi/id/product_name DGXH100\n"
            "t /sys/class/dmi/id/product_serial 0000000000003\n"
            "f /sys/class/kfd/kfd/topology/nodes/1/properties 33\n"
            "simd_count 4\nunique_id 000000004\n\n");
}

TEST(Redact, contents_that_hide_a_serial_number_become_names) {
  EXPECT_EQ(redacted("t /sys/devices/pci0000:00/0000:00:01.0/vpd SN123\n"
                     "t /sys/devices/pci0000:00/0000:00:01.0/config x\n"),
            "x /sys/devices/pci0000:00/0000:00:01.0/config\n"
            "x /sys/devices/pci0000:00/0000:00:01.0/vpd\n");
}

TEST(Redact, configuration_space_keeps_what_is_looked_at) {
  auto bytes = test::config_space(0x5930, 0x001d);
  bytes.replace(0x200, 4, "SN12");
  Snapshot snapshot;
  snapshot.entries["/sys/devices/pci0000:00/0000:00:01.0/config"] = SnapshotFile{bytes};
  const auto once = redact(snapshot).snapshot;
  const auto& kept = std::get<SnapshotFile>(once.entries.begin()->second).content;
  EXPECT_EQ(kept.find("SN12"), std::string::npos);
  EXPECT_EQ(node::parse_pci_config(kept)->acs_control, 0x1d);
  EXPECT_EQ(redact(once).snapshot, once);
}

TEST(Redact, an_address_keeps_its_interface) {
  EXPECT_EQ(redacted("t /etc/fstab nas:/a /a nfs addr=fe80::bace:f6ff:fe12:3456%eth0 0 0\n"),
            "t /etc/fstab node-1:/a /a nfs addr=fe80::bace:f6ff:fe00:1%eth0 0 0\n");
}

TEST(Redact, what_is_malformed_stays_malformed_and_tells_nothing) {
  EXPECT_EQ(redacted("t /a/gids/0 fe80::1\n"
                     "t /b/node_guid 0xb8cef60300123456\n"
                     "t /c/node_guid b8ce:f603:00zz:3456\n"
                     "t /d/net/tun0/address 0a:01:02:03\n"),
            "t /a/gids/0 0000::0\n"
            "t /b/node_guid 0x0000000000000000\n"
            "t /c/node_guid 0000:0000:00zz:0000\n"
            "t /d/net/tun0/address 00:00:00:00\n");
}

TEST(Redact, what_holds_no_identifier_stays_as_it_is) {
  const std::string lines =
      "e /a/gids/1 EINVAL\n"
      "x /a/gids/2\n"
      "d /a/node_guid\n"
      "t /b/sys_image_guid\n"
      "f /c/net/a/address 0\n\n"
      "t /c/net/b/address 00:00:00:00:00:00\n"
      "t /c/route short\n"
      "t /d/hostname localhost\n"
      "t /e/hostname\n"
      "t /f/node_desc\n"
      "t /g/serial\n"
      "t /sys/bus/pci/slots/1/address 0000:18:00\n";
  EXPECT_EQ(redacted(lines), lines);
}

TEST(Redact, says_what_was_replaced_and_twice_is_once) {
  const auto snapshot = parse_snapshot(
      "railhead-snapshot 1\n# a machine\n"
      "t /a/node_guid b8ce:f603:0012:3456\n"
      "t /b/node_guid b8ce:f603:0012:3457\n"
      "t /b/sys_image_guid b8ce:f603:0012:3456\n"
      "t /proc/sys/kernel/hostname gpu17\n");
  const Redacted once = redact(*snapshot);
  EXPECT_THAT(once.replaced, ElementsAre("2 GUIDs", "1 host name"));
  EXPECT_THAT(once.snapshot.comments,
              ElementsAre("a machine", "redacted: 2 GUIDs", "redacted: 1 host name"));
  const Redacted twice = redact(once.snapshot);
  EXPECT_EQ(twice.snapshot, once.snapshot);
  EXPECT_THAT(twice.replaced, IsEmpty());
}

std::vector<std::filesystem::path> machines() {
  std::vector<std::filesystem::path> paths;
  for (const auto& file :
       std::filesystem::directory_iterator(test::source_dir() + "/tests/nodes")) {
    if (file.path().extension() == ".node") paths.push_back(file.path());
  }
  return paths;
}

Snapshot load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto snapshot = parse_snapshot(text);
  EXPECT_TRUE(snapshot) << path << (snapshot ? "" : snapshot.error().message);
  return snapshot.value_or(Snapshot{});
}

TEST(Redact, every_machine_in_the_box_keeps_its_shape) {
  for (const auto& path : machines()) {
    const Snapshot original = load(path);
    const Redacted result = redact(original);
    ASSERT_EQ(result.snapshot.entries.size(), original.entries.size()) << path;
    std::map<std::string, std::string> forward;
    std::map<std::string, std::string> backward;
    auto after = result.snapshot.entries.begin();
    for (const auto& [name, entry] : original.entries) {
      const auto& [new_name, new_entry] = *after++;
      EXPECT_EQ(name, new_name);
      EXPECT_EQ(entry.index(), new_entry.index()) << name;
      const auto* file = std::get_if<SnapshotFile>(&entry);
      if (file == nullptr || !name.ends_with("_guid")) continue;
      const auto& content = std::get<SnapshotFile>(new_entry).content;
      EXPECT_EQ(forward.try_emplace(file->content, content).first->second, content);
      EXPECT_EQ(backward.try_emplace(content, file->content).first->second, file->content);
    }
    const auto again = parse_snapshot(format_snapshot(result.snapshot));
    ASSERT_TRUE(again) << path << again.error().message;
    EXPECT_EQ(redact(*again).snapshot, result.snapshot) << path;
  }
}

TEST(Redact, no_identifier_of_any_machine_in_the_box_is_left) {
  for (const auto& path : machines()) {
    const Snapshot original = load(path);
    const std::string text = format_snapshot(redact(original).snapshot);
    for (const auto& [name, entry] : original.entries) {
      const auto* file = std::get_if<SnapshotFile>(&entry);
      const bool identifies = name.ends_with("_guid") || name.ends_with("/address");
      if (file == nullptr || !identifies) continue;
      const std::string_view value = trim(file->content);
      if (value.find_first_not_of("0:") == std::string_view::npos || value.size() < 17) continue;
      EXPECT_EQ(text.find(value), std::string::npos) << path << " " << name;
    }
  }
}

}  // namespace
}  // namespace railhead::snapshot
