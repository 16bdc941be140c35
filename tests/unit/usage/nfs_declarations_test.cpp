// SPDX-License-Identifier: Apache-2.0
#include "usage/nfs_declarations.h"

#include <gtest/gtest.h>

#include "host/directory_host.h"
#include "unit/node/hosts.h"
#include "usage/nfs_mounts.h"

namespace railhead::usage {
namespace {

constexpr std::string_view kUnit =
    "[Unit]\nAfter=network-online.target openibd.service\n"
    "[Mount]\nWhat=nas.example.com:/exports/ai-data\nWhere=/mnt/ai-data\nType=nfs\n"
    "Options=rdma,port=20049,vers=4.1,nconnect=16\n[Install]\nWantedBy=multi-user.target\n";
constexpr std::string_view kOptions = "rdma,port=20049,vers=4.1,nconnect=16";
constexpr const char* kName = "mnt-ai\\x2ddata.mount";

NfsDeclaration ai_data(const std::string& where, bool deferred = false) {
  return {
      where, "nas.example.com", "/exports/ai-data", "/mnt/ai-data", std::string(kOptions), deferred,
      ""};
}

TEST(NfsDeclarations, fstab_has_what_is_of_nfs_and_says_what_is_deferred) {
  EXPECT_EQ(parse_fstab("# nas:/c /c nfs4 rdma\n/dev/sda / ext4 rw 0 0\n"
                        "[fd00::1]:/b //data/my\\040b/ nfs4 rdma,nofail 0 0\nnas:/d /d nfs\n"
                        "nas:/e /e nfs rdma,noauto 0 0\nnas:/f /f nfs x-systemd.automount 0 0\n"),
            (std::vector<NfsDeclaration>{
                {"/etc/fstab", "[fd00::1]", "/b", "/data/my b", "rdma,nofail", false, ""},
                {"/etc/fstab", "nas", "/e", "/e", "rdma,noauto", true, ""},
                {"/etc/fstab", "nas", "/f", "/f", "x-systemd.automount", true, ""}}));
}

TEST(NfsDeclarations, a_units_name_is_made_of_its_place) {
  EXPECT_EQ(mount_unit_name("/mnt/ai-data"), kName);
  EXPECT_EQ(mount_unit_name("/"), "-.mount");
  EXPECT_EQ(mount_unit_name("/.a b/c_d:e.f/"), "\\x2ea\\x20b-c_d:e.f.mount");
}

TEST(NfsDeclarations, a_mount_unit_says_what_where_and_how) {
  EXPECT_EQ(parse_mount_unit("u", kName, kUnit), ai_data("u"));
  const auto later =
      parse_mount_unit("u", kName, std::string(kUnit) + "[Mount]\nOptions=proto=tcp\n");
  EXPECT_EQ(later->options, "proto=tcp");  // a drop-in
  const auto joined =
      parse_mount_unit("u", "a.mount", "[Mount]\nWhat=n:/a\nWhere=/a\nOptions=rdma,\\\n  port=1\n");
  EXPECT_EQ(joined->options, "rdma, port=1");
}

TEST(NfsDeclarations, a_unit_of_another_type_or_with_specifiers_is_not_ours) {
  for (const std::string text :
       {"[Mount]\nWhat=/dev/sda\nWhere=/a\nType=ext4\n", "[Mount]\nWhat=/dev/sda\nWhere=/a\n",
        "[Mount]\nWhat=n:/%i\nWhere=/a\nType=nfs\n", "[Mount]\nWhat=n:/a\nType=nfs\n",
        "[Unit]\nWhat=n:/a\nWhere=/a\nType=nfs\n", "", "nonsense"}) {
    EXPECT_FALSE(parse_mount_unit("u", "a.mount", text)) << text;
  }
}

TEST(NfsDeclarations, a_unit_that_systemd_refuses_says_why) {
  const auto unit = parse_mount_unit("u", "mnt-ai\\\\x2ddata.mount", kUnit);
  EXPECT_EQ(unit->refused,
            "systemd refuses the unit: for /mnt/ai-data its name has to be mnt-ai\\x2ddata.mount");
}

TEST(NfsDeclarations, a_machines_units_count_where_something_wants_them) {
  const std::string unit =
      test::file_entry("/etc/systemd/system/mnt-ai\\x2ddata.mount", std::string(kUnit));
  const auto read = [](const std::string& entries) {
    std::vector<std::string> unknown;
    auto found = read_nfs_declarations(*test::host_of(entries), unknown);
    EXPECT_TRUE(unknown.empty());
    return found;
  };
  const std::string where = "/etc/systemd/system/mnt-ai\\x2ddata.mount";
  EXPECT_EQ(read(unit), std::vector{ai_data(where, true)});
  const auto wanted = unit +
                      "l /etc/systemd/system/multi-user.target.wants/mnt-ai\\x2ddata.mount -> " +
                      where + "\n";
  EXPECT_EQ(read(wanted), std::vector{ai_data(where)});
  const auto automatic =
      wanted + "l /etc/systemd/system/multi-user.target.wants/mnt-ai\\x2ddata.automount -> x\n";
  EXPECT_EQ(read(automatic), std::vector{ai_data(where, true)});
  const auto changed = test::file_entry(where + ".d/10-tcp.conf", "[Mount]\nOptions=proto=tcp\n");
  EXPECT_EQ(read(changed + wanted).at(0).options, "proto=tcp");
}

TEST(NfsDeclarations, of_two_folders_the_one_that_systemd_takes_counts) {
  const auto entries =
      test::file_entry("/etc/systemd/system/a.mount",
                       "[Mount]\nWhat=n:/a\nWhere=/a\nType=nfs\nOptions=rdma\n") +
      test::file_entry("/usr/lib/systemd/system/a.mount",
                       "[Mount]\nWhat=n:/a\nWhere=/a\nType=nfs\nOptions=proto=tcp\n");
  std::vector<std::string> unknown;
  const auto found = read_nfs_declarations(*test::host_of(entries), unknown);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].options, "rdma");
}

TEST(NfsDeclarations, a_drop_in_of_etc_hides_that_of_the_package) {
  const auto entries =
      test::file_entry("/usr/lib/systemd/system/a.mount",
                       "[Mount]\nWhat=n:/a\nWhere=/a\nType=nfs\n") +
      test::file_entry("/etc/systemd/system/a.mount.d/10.conf", "[Mount]\nOptions=rdma\n") +
      test::file_entry("/usr/lib/systemd/system/a.mount.d/10.conf", "[Mount]\nOptions=proto=tcp\n");
  std::vector<std::string> unknown;
  const auto found = read_nfs_declarations(*test::host_of(entries), unknown);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].options, "rdma");
}

TEST(NfsDeclarations, machine_configs_have_units_and_volumes_options) {
  const auto found = parse_nfs_manifests("all.yaml", R"(# what kubectl prints
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 99-nfs}
spec:
  config:
    systemd:
      units:
      - name: openibd.service
        contents: "[Service]"
      - name: data.mount
        enabled: true
        contents: |
          [Mount]
          What=nas:/data
          Where=/data
          Type=nfs
          Options=rdma
---
apiVersion: v1
kind: List
items:
- kind: PersistentVolume
  metadata: {name: models}
  spec:
    nfs: {server: nas, path: /models/}
    mountOptions: [rdma, port=20049, nconnect=16]
- kind: PersistentVolume
  metadata: {name: csi}
  spec:
    csi: {driver: nfs.csi.k8s.io, volumeAttributes: {server: nas, share: /csi}}
- kind: PersistentVolume
  metadata: {name: disk}
  spec: {hostPath: {path: /x}}
)");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found,
            (std::vector<NfsDeclaration>{
                {"MachineConfig 99-nfs, data.mount", "nas", "/data", "/data", "rdma", false, ""},
                {"PersistentVolume models", "nas", "/models", "", "rdma,port=20049,nconnect=16",
                 true, ""},
                {"PersistentVolume csi", "nas", "/csi", "", "", true, ""}}));
}

TEST(NfsDeclarations, of_files_nothing_is_kept_but_what_is_of_nfs) {
  EXPECT_EQ(kept_fstab("//nas/x /x cifs username=u,password=p 0 0 # was nfs\n"
                       "nas:/a /a nfs rdma,password=p,port=1 0 0 # of alice\n"),
            "nas:/a /a nfs rdma,port=1 0 0\n");
  EXPECT_EQ(kept_mountinfo("36 23 0:30 / /a rw - nfs4 nas:/a rw,addr=10.0.0.1,token=t\n"
                           "37 23 0:31 / /b rw - cifs //n/b rw,pass=p\n"),
            "36 23 0:30 / /a rw - nfs4 nas:/a rw,addr=10.0.0.1\n");
  EXPECT_EQ(
      kept_mountstats("device x mounted on /x with fstype ext4\n"
                      "device n:/ mounted on /n with fstype nfs4\n\topts:\trw,secret=s\n\tage:\t3\n"
                      "\txprt:\ttcp 0 1"),
      "device n:/ mounted on /n with fstype nfs4\n\topts:\trw\n\txprt:\ttcp 0 1");
  const std::string unit =
      "[Unit]\nX=secret\n[Mount]\nWhat=n:/a\nWhere=/a\n# secret\nOptions=rdma,\\\n port=1,"
      "secret=s\n";
  const auto kept = kept_mount_unit(unit);
  EXPECT_EQ(kept, "[Mount]\nWhat=n:/a\nWhere=/a\nOptions=rdma,port=1\n");
  EXPECT_EQ(kept_mount_unit(kept), kept);
}

TEST(NfsDeclarations, of_options_numbers_words_and_single_addresses_are_kept) {
  EXPECT_EQ(kept_options("rw,sec=krb5:krb5p,vers=4.2,timeo=600,x-systemd.mount-timeout=5min"),
            "rw,sec=krb5:krb5p,vers=4.2,timeo=600,x-systemd.mount-timeout=5min");
  EXPECT_EQ(kept_options("addr=10.0.0.1,clientaddr=fe80::1%eth0,mountaddr=2001:db8::1"),
            "addr=10.0.0.1,clientaddr=fe80::1%eth0,mountaddr=2001:db8::1");
  EXPECT_EQ(kept_options("mounthost=nas.corp,remoteports=10.0.0.1-10.0.0.8,fsc=secret,port=secret,"
                         "localports=10.0.0.1~10.0.0.2,secret=x"),
            "mounthost=?,remoteports=?,fsc=?,port=?,localports=?");
  EXPECT_EQ(kept_options(kept_options("port=secret,ro")), "port=?,ro");
  EXPECT_EQ(kept_source("nas.corp:/a"), "nas.corp:/a");
  EXPECT_EQ(kept_source("[fe80::1%eth0]:/a"), "[fe80::1%eth0]:/a");
  EXPECT_EQ(kept_source("nas-a,nas-b:/a"), "?:/a");
  EXPECT_EQ(kept_source("jdoe:secret@nas:/a"), "?:/a");
  EXPECT_EQ(kept_fstab("nas-a,nas-b:/a /a nfs rdma 0 0\n"), "?:/a /a nfs rdma 0 0\n");
}

TEST(NfsDeclarations, what_is_no_server_and_path_is_not_of_nfs) {
  for (const std::string what :
       {"10.0.0.1:6789:/", "10.0.0.1,10.0.0.2:/", "https://jdoe:secret@dav.example.com/x",
        "jdoe@host:/home", "//n/secret"}) {
    EXPECT_EQ(kept_mount_unit("[Mount]\nWhat=" + what + "\nWhere=/a\n"), "") << what;
    EXPECT_FALSE(parse_mount_unit("", "a.mount", "[Mount]\nWhat=" + what + "\nWhere=/a\n")) << what;
  }
  for (const std::string type : {"ceph", "cifs", "fuse.sshfs"}) {
    EXPECT_EQ(
        kept_mount_unit("[Mount]\nWhat=n:/a\nWhere=/a\nType=" + type + "\nOptions=secret=s\n"), "");
  }
  for (const std::string what : {"nas:/a", "10.0.0.1:/", "[fd00::1]:/a", "nas.example.com:/a b"}) {
    EXPECT_TRUE(is_nfs_source(what)) << what;
  }
}

TEST(NfsDeclarations, a_manifest_that_cannot_be_read_names_file_and_line) {
  EXPECT_EQ(
      parse_nfs_manifests("a.yaml", "kind: Pod\n---\nkind: [\n").error().message.substr(0, 13),
      "a.yaml: line ");
  EXPECT_TRUE(parse_nfs_manifests("a.yaml", "")->empty());
  EXPECT_TRUE(parse_nfs_manifests("a.yaml", "- 1\n- 2\n")->empty());
  EXPECT_TRUE(parse_nfs_manifests("a.yaml", "kind: MachineConfig\nspec: 7\n")->empty());
}

TEST(NfsDeclarations, a_manifest_of_too_many_documents_is_refused) {
  std::string text;
  for (int i = 0; i < 1024; ++i) text += "---\n";
  EXPECT_TRUE(parse_nfs_manifests("pv.yaml", text.substr(4)));
  const auto refused = parse_nfs_manifests("pv.yaml", text + "---\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "pv.yaml: more than 1024 documents");
}

}  // namespace
}  // namespace railhead::usage
