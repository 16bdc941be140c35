// SPDX-License-Identifier: Apache-2.0
#include "system/node_runtime.h"

#include <gmock/gmock.h>

#include <functional>

#include "system/file_owner.h"
#include "system/runtime_answer.h"
#include "system/system.h"
#include "unit/node/hosts.h"

namespace railhead::test {
namespace {

using system::NodeRuntime;
using system::Part;

/// A process, with its arguments between spaces and the cgroup that it is in.
std::string process(int pid, const std::string& name, std::string command,
                    const std::string& cgroup = "") {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ranges::replace(command, ' ', '\0');
  std::string entries = file_entry(folder + "/comm", name + "\n") +
                        file_entry(folder + "/cmdline", command + std::string(1, '\0'));
  if (!cgroup.empty()) entries += file_entry(folder + "/cgroup", "0::" + cgroup + "\n");
  return entries;
}

NodeRuntime runtime_of(const std::string& entries) {
  const auto host = host_of(entries);
  return system::read_system(*host, node::read_node(*host), Part::services | Part::runtime).runtime;
}

const std::string kDockers =
    process(3, "containerd", "containerd", "/system.slice/containerd.service");

TEST(RuntimeFiles, a_named_file_in_a_folder_that_is_not_there_is_unknown) {
  using system::Known;
  const auto containerd = [](const std::string& entries) {
    const auto host = host_of(entries);
    const auto files = system::read_containerd_files(*host, "/srv/run/c.toml", true, {});
    return system::read_as(files, system::ContainerdRelease::v2_2).answer.starts;
  };
  const auto crio = [](const std::string& entries) {
    const auto host = host_of(entries);
    system::CrioFiles::Options options;
    options.config = "/srv/run/c.toml";
    options.is_named = true;
    return system::judge_crio(system::read_crio_files(*host, options, {})).starts;
  };
  for (const auto& starts : {std::function(containerd), std::function(crio)}) {
    EXPECT_EQ(starts("d /etc\n"), Known::unknown) << "a container sees a part of the folders";
    EXPECT_EQ(starts("d /srv/run\n"), Known::no);
    EXPECT_EQ(starts(file_entry("/srv/run/c.toml", "")), Known::yes);
  }
}

TEST(NodeRuntime, the_endpoint_of_the_kubelet_names_it) {
  const auto crio = process(9, "crio", "/usr/bin/crio", "/system.slice/crio.service");
  const auto used_by = [&](const std::string& arguments) {
    return runtime_of(kDockers + crio + process(12, "kubelet", "kubelet" + arguments));
  };
  for (const std::string arguments :
       {" --container-runtime-endpoint=unix:///var/run/crio/crio.sock",
        " --container-runtime-endpoint /run/crio/crio.sock --v 2"}) {
    const auto found = used_by(arguments);
    EXPECT_EQ(found.name, "crio") << arguments;
    EXPECT_EQ(found.pid, 9);
    EXPECT_EQ(found.unit, "crio");
    EXPECT_EQ(found.socket, "/run/crio/crio.sock");
    EXPECT_EQ(found.config, "/etc/crio/crio.conf");
    EXPECT_EQ(found.drop_in_folder, "/etc/crio/crio.conf.d");
    EXPECT_TRUE(found.is_by_endpoint);
  }
  EXPECT_EQ(used_by(" --v=2").name, "containerd") << "the kubelet's default";
  EXPECT_EQ(used_by(" --container-runtime-endpoint=unix:///run/x.sock").name, "");
  EXPECT_NE(used_by(" --container-runtime-endpoint=unix:///run/x.sock").unknown, "");
}

TEST(NodeRuntime, the_file_of_the_kubelet_says_it_where_no_flag_does) {
  const auto crio = process(9, "crio", "/usr/bin/crio");
  const auto kubelet = process(12, "kubelet", "kubelet --config=/etc/k.yaml --config-dir=/etc/k.d");
  const auto file =
      file_entry("/etc/k.yaml", "containerRuntimeEndpoint: unix:///run/crio/crio.sock\n");
  EXPECT_EQ(runtime_of(kDockers + crio + kubelet + file).name, "crio");
  EXPECT_EQ(runtime_of(kDockers + crio + kubelet + file_entry("/etc/k.yaml", "a: 1\n")).name,
            "containerd");
  EXPECT_EQ(runtime_of(kDockers + crio + kubelet + file +
                       file_entry("/etc/k.d/9.conf",
                                  "containerRuntimeEndpoint: /run/containerd/containerd.sock\n"))
                .name,
            "containerd");
  const auto unreadable =
      runtime_of(kDockers + crio + kubelet + file_entry("/etc/k.yaml", "a: [\n"));
  EXPECT_FALSE(unreadable.is_by_endpoint);
  EXPECT_EQ(unreadable.name, "crio") << "CRI-O serves a kubelet only";
}

TEST(NodeRuntime, a_distributions_containerd_is_found_beside_dockers) {
  const auto k3s =
      process(20, "k3s-server", "/usr/local/bin/k3s server", "/system.slice/k3s.service") +
      process(21, "containerd",
              "containerd -c=/data/k3s/c.toml -a /run/k3s/containerd/containerd.sock",
              "/system.slice/k3s.service");
  const auto found = runtime_of(kDockers + k3s);
  EXPECT_EQ(found.pid, 21);
  EXPECT_EQ(found.config, "/data/k3s/c.toml");
  EXPECT_EQ(found.unit, "k3s");
  EXPECT_TRUE(found.is_within_another);

  const auto microk8s =
      process(30, "kubelite", "/snap/microk8s/1/kubelite",
              "/system.slice/snap.microk8s.daemon-kubelite.service") +
      process(31, "containerd",
              "/snap/microk8s/1/bin/containerd --config /var/snap/microk8s/1/args/containerd.toml "
              "--address /var/snap/microk8s/common/run/containerd.sock",
              "/system.slice/snap.microk8s.daemon-containerd.service") +
      file_entry("/var/snap/microk8s/current/args/kubelet",
                 "--v=2\n--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n");
  EXPECT_EQ(runtime_of(kDockers + microk8s).pid, 31);
  EXPECT_EQ(runtime_of(kDockers + microk8s).unit, "snap.microk8s.daemon-containerd");

  const auto k0s =
      process(
          40, "kubelet",
          "/var/lib/k0s/bin/kubelet --container-runtime-endpoint=unix:///run/k0s/containerd.sock") +
      process(41, "containerd",
              "/var/lib/k0s/bin/containerd --address=/run/k0s/containerd.sock "
              "--config=/etc/k0s/containerd.toml",
              "/system.slice/k0sworker.service");
  EXPECT_EQ(runtime_of(kDockers + k0s).config, "/etc/k0s/containerd.toml");
  EXPECT_EQ(runtime_of(kDockers + k0s).unit, "k0sworker");
}

TEST(NodeRuntime, docker_serves_a_kubelet_without_nri) {
  const auto used_by = [&](const std::string& entries, const std::string& arguments) {
    return runtime_of(kDockers + entries + process(12, "kubelet", "kubelet" + arguments));
  };
  const auto adapter = [](const std::string& arguments) {
    return process(9, "cri-dockerd", "cri-dockerd" + arguments, "/system.slice/cri-docker.service");
  };
  const std::string endpoint = " --container-runtime-endpoint=unix:///var/run/cri-dockerd.sock";
  EXPECT_EQ(used_by(adapter(""), endpoint).name, "cri-dockerd");
  EXPECT_EQ(used_by(adapter(" --container-runtime-endpoint fd://"), endpoint).pid, 9);
  EXPECT_EQ(used_by(adapter(" --container-runtime-endpoint=unix:///run/x.sock"),
                    " --container-runtime-endpoint=/run/x.sock")
                .name,
            "cri-dockerd");
  const auto crio = process(10, "crio", "crio", "/system.slice/crio.service");
  EXPECT_EQ(used_by(adapter("") + crio, " --container-runtime-endpoint=/run/crio/crio.sock").pid,
            10);
  EXPECT_EQ(used_by("", " --container-runtime=docker").name, "");
  EXPECT_NE(used_by("", " --container-runtime=docker").unknown, "");
}

TEST(NodeRuntime, a_containerd_of_docker_alone_is_none_of_a_node) {
  const auto without_cri =
      file_entry("/etc/containerd/config.toml", "disabled_plugins = ['cri']\n");
  const auto own =
      process(4, "containerd", "containerd --config /var/run/docker/containerd/containerd.toml");
  EXPECT_EQ(runtime_of(own), NodeRuntime());
  EXPECT_EQ(runtime_of(process(4, "containerd",
                               "containerd --config /var/snap/docker/9/run/containerd.toml")),
            NodeRuntime());
  EXPECT_EQ(runtime_of(kDockers + without_cri), NodeRuntime());
  const auto hidden = process(12, "kubelet", "kubelet");
  EXPECT_NE(runtime_of(own + hidden).unknown, "");
  EXPECT_NE(runtime_of(kDockers + without_cri + hidden).unknown, "");
  EXPECT_EQ(runtime_of(kDockers + without_cri + process(12, "kubelet", "kubelet --v=2")).pid, 3)
      << "the kubelet says so";
  const auto unpacked = process(
      4, "containerd", "containerd --config /run/torcx/unpack/docker/usr/share/containerd/c.toml");
  EXPECT_EQ(runtime_of(unpacked).pid, 4) << "only a folder is called so";
}

TEST(NodeRuntime, crio_takes_its_files_from_its_environment_too) {
  const auto crio = [](const std::string& arguments, const std::string& environment) {
    return runtime_of(process(9, "crio", "crio" + arguments) +
                      file_entry("/proc/9/environ", environment));
  };
  std::string said = "PASSWORD=x CONTAINER_CONFIG=/a.conf CONTAINER_CONFIG_DIR=/a.d ";
  std::ranges::replace(said, ' ', '\0');
  EXPECT_EQ(crio("", said).config, "/a.conf");
  EXPECT_EQ(crio("", said).drop_in_folder, "/a.d");
  EXPECT_TRUE(crio("", said).is_config_named);
  EXPECT_EQ(crio(" -c /b.conf -d /b.d", said).config, "/b.conf");
  EXPECT_EQ(crio(" -c /b.conf -d /b.d", said).drop_in_folder, "/b.d");
  EXPECT_EQ(crio("", "A=b").config, "/etc/crio/crio.conf");
  EXPECT_FALSE(crio("", "A=b").is_config_named);
  EXPECT_NE(crio(" --config-dir=", "A=b").unknown, "");
}

TEST(NodeRuntime, a_relative_file_is_taken_against_the_folder_of_the_process) {
  const auto found = runtime_of(process(9, "containerd", "containerd --config conf/c.toml") +
                                "l /proc/9/cwd -> /srv/x\n");
  EXPECT_EQ(found.config, "/srv/x/conf/c.toml");
  EXPECT_EQ(found.unit, "") << "nothing says it";
  const auto hidden = runtime_of(process(9, "containerd", "containerd --config conf/c.toml"));
  EXPECT_NE(hidden.unknown, "");
}

TEST(NodeRuntime, the_address_may_stand_in_the_file) {
  const auto other = process(9, "containerd", "containerd -c /b.toml", "/system.slice/b.service") +
                     file_entry("/b.toml", "[grpc]\naddress = '/run/b/b.sock'\n");
  const auto kubelet = process(12, "kubelet", "kubelet --container-runtime-endpoint=/run/b/b.sock");
  EXPECT_EQ(runtime_of(kDockers + other + kubelet).pid, 9);
}

TEST(NodeRuntime, the_kernel_decides_between_two_of_one_address) {
  const auto kubelet = process(12, "kubelet", "kubelet --v=2");
  const auto two = kDockers + process(9, "containerd", "containerd", "/system.slice/b.service");
  EXPECT_NE(runtime_of(two + kubelet).unknown, "");
  const auto table = file_entry("/proc/1/net/unix",
                                "Num       RefCount Protocol Flags    Type St Inode Path\n"
                                "0000000000000000: 00000002 00000000 00010000 0001 01 4711 "
                                "/run/containerd/containerd.sock\n");
  EXPECT_EQ(runtime_of(two + kubelet + table + "l /proc/9/fd/7 -> socket:[4711]\n").unit, "b");
}

TEST(NodeRuntime, a_containerd_in_a_pod_is_not_the_nodes) {
  EXPECT_EQ(
      runtime_of(process(2, "containerd", "containerd", "/kubepods.slice/kubepods-pod1.slice/x") +
                 kDockers)
          .pid,
      3);
}

TEST(NodeRuntime, a_machine_may_itself_be_in_a_pod) {
  const std::string in_pod = "/kubepods.slice/kubepods-pod1.slice/cri-1.scope/init.scope";
  EXPECT_EQ(runtime_of(process(1, "systemd", "systemd", in_pod) +
                       process(2, "containerd", "containerd", in_pod))
                .pid,
            2);
}

TEST(NodeRuntime, without_a_kubelet_several_are_ambiguous) {
  const auto found =
      runtime_of(kDockers + process(9, "containerd", "containerd -c /b.toml -a /run/b.sock"));
  EXPECT_EQ(found.name, "");
  EXPECT_NE(found.unknown, "");
  EXPECT_EQ(runtime_of(kDockers +
                       process(9, "containerd",
                               "containerd --config /var/run/docker/containerd/containerd.toml"))
                .pid,
            3);
}

TEST(NodeRuntime, in_a_tree_without_processes_units_and_files_say_it) {
  const auto unit = [](const std::string& name) {
    return file_entry("/usr/lib/systemd/system/" + name + ".service", "[Service]\n");
  };
  const auto containerd = file_entry("/etc/containerd/config.toml", "version = 2\n");
  const auto crio = file_entry("/etc/crio/crio.conf.d/10.conf", "");
  EXPECT_EQ(runtime_of("").name, "");
  EXPECT_EQ(runtime_of("").unknown, "");
  EXPECT_EQ(runtime_of(crio).name, "crio");
  EXPECT_EQ(runtime_of(containerd).name, "containerd");
  EXPECT_NE(runtime_of(containerd + crio).unknown, "");
  EXPECT_EQ(runtime_of(containerd + crio + unit("containerd")).name, "containerd");
  EXPECT_EQ(runtime_of(containerd + unit("containerd") + unit("crio")).name, "containerd");
  EXPECT_EQ(runtime_of(containerd + crio +
                       file_entry("/var/lib/kubelet/kubeadm-flags.env",
                                  "KUBELET_KUBEADM_ARGS=\"--container-runtime-endpoint=unix:///var/"
                                  "run/crio/crio.sock --v=2\"\n"))
                .name,
            "crio");
  EXPECT_EQ(runtime_of(containerd +
                       file_entry("/var/lib/rancher/rke2/agent/etc/containerd/config.toml", "") +
                       unit("rke2-agent"))
                .unit,
            "rke2-agent");
  EXPECT_EQ(runtime_of(process(9, "containerd", "containerd") + crio).name, "containerd")
      << "what is left over decides nothing";
}

TEST(FileOwner, is_named_by_the_first_lines_the_place_or_the_unit) {
  const auto owner = [](const std::string& path, const std::string& text,
                        const std::string& unit = "containerd") {
    return system::owner_of_file(path, text, unit).name;
  };
  const std::string usual = "/etc/containerd/config.toml";
  EXPECT_EQ(owner(usual, "version = 2\n"), "");
  EXPECT_EQ(owner(usual, "# made by `containerd config default`, generated by hand\n"), "");
  EXPECT_EQ(owner(usual, "# k0s_managed=true\n"), "k0s");
  EXPECT_EQ(owner("/data/x.toml",
                  "\n# File generated by k3s. DO NOT EDIT. Use config.toml.tmpl instead.\n"),
            "K3s");
  EXPECT_EQ(owner(usual, "# Code generated by bosh. DO NOT EDIT.\n"), "another program");
  EXPECT_EQ(owner(usual, "version = 2\nx = '# do not edit'\n"), "");
  EXPECT_EQ(owner("/data/x.toml", "", "k3s-agent"), "K3s");
  EXPECT_EQ(owner("/etc/cri/containerd.toml", ""), "Talos");
  EXPECT_EQ(owner("/var/snap/microk8s/7/args/containerd.toml", ""), "MicroK8s");
  EXPECT_EQ(owner("/run/k0s/containerd-cri.toml", ""), "another program");
  EXPECT_EQ(owner("/usr/share/containerd/config.toml", ""), "the system's packages");
}

}  // namespace
}  // namespace railhead::test
