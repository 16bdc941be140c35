// SPDX-License-Identifier: Apache-2.0
//
// Each rule with the least that breaks it, and the same put right.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/contains.h"
#include "base/text.h"
#include "unit/lint/lint_text.h"

namespace railhead::test {
namespace {

/// A container's lines in a pod with a network of its own name.
std::string pod(const std::string& container, const std::string& more = "",
                const std::string& annotations = "") {
  std::string text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: ai\n";
  if (!annotations.empty()) text += "  annotations:\n" + annotations;
  return text + "spec:\n" + more + "  containers:\n  - name: c\n" + container;
}

std::string asks(const std::string& resources) {
  return "    resources: {limits: {" + resources + "}}\n";
}

std::string with_env(const std::string& name, const std::string& value) {
  return "    env: [{name: " + name + ", value: \"" + value + "\"}]\n" + asks("rdma/ib: 1") +
         "    securityContext: {capabilities: {add: [IPC_LOCK]}}\n";
}

std::string object(const std::string& kind, const std::string& spec,
                   const std::string& name = "n") {
  return "---\napiVersion: x/v1\nkind: " + kind + "\nmetadata: {name: " + name +
         ", namespace: ai}\nspec:\n" + spec;
}

std::string daemon(const std::string& name, const std::string& image,
                   const std::string& script = "true") {
  return "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " + name +
         ", namespace: ai}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n"
         "        image: " +
         image + "\n        args: [\"" + script + "\"]\n";
}

std::string shared_file(const std::string& name, const std::string& selectors) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
         "}\ndata:\n  config.json: |\n    {\"configList\": [{\"resourceName\": \"ib\", "
         "\"rdmaHcaMax\": 9, \"selectors\": {" +
         selectors + "}}]}\n";
}

std::string network(const std::string& text) {
  return object("SriovNetwork", "  resourceName: vf\n  networkNamespace: ai\n" + text, "net");
}

std::string policy(const std::string& more) {
  return object("SriovNetworkNodePolicy",
                "  resourceName: vf_rdma\n  nicSelector: {vendor: 15b3, deviceID: \"1021\", "
                "pfNames: [a, b]}\n" +
                    more);
}

std::string unit(const std::string& name, const std::string& options,
                 const std::string& after = "network-online.target") {
  return object("MachineConfig",
                "  config:\n    systemd:\n      units:\n      - name: '" + name +
                    "'\n        contents: |\n          [Unit]\n          After=" + after +
                    "\n          [Mount]\n          Where=/mnt/a-b\n"
                    "          Options=" +
                    options + "\n");
}

const std::string kLock = "    securityContext: {capabilities: {add: [IPC_LOCK]}}\n";

struct Case {
  std::string rule;
  std::string wrong;
  std::string right;
};

std::vector<Case> cases() {
  const std::string vf_pod =
      pod(asks("openshift.io/vf: 1") + kLock, "", "    k8s.v1.cni.cncf.io/networks: net\n");
  const std::string range = "  ipam: '{\"type\": \"whereabouts\", \"range\": \"10.0.0.0/16\"}'\n";
  const std::string owners =
      policy("  isRdma: true\n  numVfs: 2\n") +
      object("NicClusterPolicy",
             "  sriovDevicePlugin:\n    config: |\n      {\"resourceList\": [{\"resourceName\": "
             "\"v\", \"selectors\": {\"vendors\": [\"VENDOR\"], \"devices\": [\"101e\"], "
             "\"isRdma\": true}}]}\n");
  const auto for_vendor = [&](const std::string& vendor) {
    auto text = owners;
    return text.replace(text.find("VENDOR"), 6, vendor);
  };
  const auto ofed = [](const std::string& more) {
    return object("NicClusterPolicy", "  ofedDriver:\n    image: doca-driver\n" + more);
  };
  const auto gpu = [](const std::string& driver) {
    return object("ClusterPolicy", "  driver: {" + driver + "}\n");
  };
  const std::string port = "rdma,port=20049";
  const std::string mount = "mnt-a\\x2db.mount";
  return {
      {"manifest.syntax", "a: {", "a: {}"},
      {"manifest.unread", "a: &x 1", "a: 1"},
      {"manifest.indentation", "kind: Pod\nspec:\ncontainers: []\n", "kind: Pod\nspec: {}\n"},
      {"manifest.name", "kind: Pod\nmetadata: {namespace: a.}\n",
       "kind: Pod\nmetadata: {namespace: a}\n"},
      {"manifest.placeholder", "kind: Pod\nmetadata: {name: <your pod>}\n",
       "kind: Pod\nmetadata: {name: p}\n"},
      {"pod.privileged",
       pod(asks("nvidia.com/gpu: 1") + "    securityContext: {privileged: true}\n"),
       pod(asks("cpu: 1") + "    securityContext: {privileged: true}\n")},
      {"pod.host-path",
       pod("    volumeMounts: [{name: v}]\n",
           "  volumes: [{name: v, hostPath: {path: /dev/infiniband/uverbs0}}]\n"),
       pod("    volumeMounts: [{name: v}]\n", "  volumes: [{name: v, hostPath: {path: /data}}]\n")},
      {"pod.ipc-lock-without-root", pod(kLock, "  securityContext: {runAsUser: 1000}\n"),
       pod(kLock, "  securityContext: {runAsUser: 0}\n")},
      {"pod.memlock", pod(asks("rdma/ib: 1")), pod(asks("rdma/ib: 1") + kLock)},
      {"pod.shared-memory", pod(asks("nvidia.com/v100: 4")),
       pod(asks("nvidia.com/v100: 4") + "    volumeMounts: [{name: s, mountPath: /dev/shm}]\n")},
      {"pod.security-level",
       pod("    image: a\n", "  hostNetwork: true\n") +
           "---\nkind: Namespace\nmetadata: {name: ai, labels: "
           "{pod-security.kubernetes.io/enforce: restricted}}\n",
       pod("    image: a\n", "  hostNetwork: true\n") +
           "---\nkind: Namespace\nmetadata: {name: ai, labels: "
           "{pod-security.kubernetes.io/enforce: privileged}}\n"},
      {"resource.no-pool", pod(asks("rdma/ibb: 1") + kLock) + policy("  isRdma: true\n"),
       pod(asks("openshift.io/vf_rdma: 1, nvidia.com/v100: 1") + kLock) +
           policy("  isRdma: true\n")},
      {"resource.name", pod(asks("rdma/-ib: 1") + kLock), pod(asks("rdma/ib: 1") + kLock)},
      {"resource.limit", pod("    resources: {requests: {nvidia.com/gpu: 1}}\n"),
       pod("    resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}\n")},
      {"resource.one-nic-for-many-gpus",
       pod(asks("nvidia.com/gpu: 8, openshift.io/vf_rdma: 1") + kLock) + policy("  isRdma: true\n"),
       pod(asks("nvidia.com/gpu: 8, openshift.io/vf_rdma: 8") + kLock) +
           policy("  isRdma: true\n")},
      {"resource.many-slots",
       pod(asks("rdma/ib: 8") + kLock) + shared_file("f", "\"ifNames\": [\"ib0\"]"),
       pod(asks("rdma/ib: 1") + kLock) + shared_file("f", "\"ifNames\": [\"ib0\"]")},
      {"annotation.container", pod("", "", "    rdma.railhead.io/container.d: required\n"),
       pod("", "", "    rdma.railhead.io/container.c: required\n")},
      {"annotation.value", pod("", "", "    rdma.railhead.io/pod: perhaps\n"),
       pod("", "", "    rdma.railhead.io/pod: required\n")},
      {"annotation.device-number",
       pod("", "",
           "    devices.nri.io/pod: '[{path: /dev/infiniband/uverbs0, type: c, major: 231, minor: "
           "0}]'\n"),
       pod("", "",
           "    devices.nri.io/pod: '[{path: /dev/infiniband/uverbs0, type: c, major: 231, minor: "
           "192}]'\n")},
      {"annotation.management-device",
       pod("", "",
           "    devices.nri.io/pod: '[{path: /dev/infiniband/umad0, type: c, major: 231, minor: "
           "0}]'\n"),
       pod("", "", "    devices.nri.io/pod: '[{path: /dev/infiniband/rdma_cm}]'\n")},
      {"annotation.misplaced",
       "kind: Job\nmetadata: {name: j, annotations: {rdma.railhead.io/pod: required}}\nspec: "
       "{template: {spec: {containers: [{name: c}]}}}\n",
       "kind: Job\nmetadata: {name: j}\nspec: {template: {metadata: {annotations: "
       "{rdma.railhead.io/pod: required}}, spec: {containers: [{name: c}]}}}\n"},
      {"annotation.network",
       pod("", "", "    k8s.v1.cni.cncf.io/networks: other\n") + network(range),
       vf_pod + network(range)},
      {"annotation.network-resource",
       pod("", "", "    k8s.v1.cni.cncf.io/networks: net\n") + network(range),
       vf_pod + network(range)},
      {"env.contradiction", pod(with_env("NCCL_IB_DISABLE", "1")),
       pod(with_env("NCCL_IB_DISABLE", "0"))},
      {"env.gdr-level", pod(with_env("NCCL_NET_GDR_LEVEL", "5")),
       pod(with_env("NCCL_NET_GDR_LEVEL", "PXB"))},
      {"env.nic-beginning", pod(with_env("NCCL_IB_HCA", "mlx5_1")),
       pod(with_env("NCCL_IB_HCA", "=mlx5_1"))},
      {"env.visible-devices",
       pod("    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n" + asks("nvidia.com/gpu: 1")),
       pod("    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n")},
      {"env.socket-interface", pod(with_env("NCCL_SOCKET_IFNAME", "net1")),
       pod(with_env("NCCL_SOCKET_IFNAME", "eth0"))},
      {"plugin.file", shared_file("f", "\"vendors\": 5"), shared_file("f", "\"ifNames\": [\"i\"]")},
      {"plugin.key", shared_file("f", "\"ifNames\": [\"i\"], \"colour\": [\"red\"]"),
       shared_file("f", "\"ifNames\": [\"i\"]")},
      {"plugin.any-nic", shared_file("f", "\"vendors\": [\"15b3\"]"),
       shared_file("f", "\"vendors\": [\"15b3\"], \"deviceIDs\": [\"101e\"]")},
      {"plugin.vf-ids",
       shared_file("f", "\"ifNames\": [\"i\"], \"deviceIDs\": [\"101e\", \"1021\"]"),
       shared_file("f", "\"ifNames\": [\"i\"], \"deviceIDs\": [\"1021\"]")},
      {"plugin.same-resource",
       shared_file("f", "\"ifNames\": [\"i\"]") + shared_file("g", "\"ifNames\": [\"j\"]"),
       shared_file("f", "\"ifNames\": [\"i\"]")},
      {"plugin.two-owners", for_vendor("15b3"), for_vendor("8086")},
      {"plugin.env",
       object("NicClusterPolicy", "  rdmaSharedDevicePlugin: {env: [{name: A, value: b}]}\n"),
       ofed("    env: [{name: A, value: b}]\n")},
      {"operator.host-ofed", ofed("") + gpu("rdma: {enabled: true, useHostMofed: true}"),
       ofed("") + gpu("rdma: {enabled: true, useHostMofed: false}")},
      {"operator.image", gpu("image: a/driver, repository: b"),
       gpu("image: driver, repository: b")},
      {"operator.chart-value", object("ClusterPolicy", "  nfd: {enabled: true}\n"),
       "nfd: {enabled: false}\ndriver: {rdma: {enabled: true}}\n"},
      {"operator.two-nfd",
       "nfd: {enabled: true, deployNodeFeatureRules: true}\n---\ndriver: {rdma: {enabled: true}}\n",
       "nfd: {enabled: true, deployNodeFeatureRules: true}\n---\ndriver: {rdma: {enabled: "
       "true}}\nnfd: {enabled: false}\n"},
      {"operator.no-gpudirect", gpu("kernelModuleType: proprietary"),
       gpu("kernelModuleType: open")},
      {"operator.open-modules", gpu("useOpenKernelModules: true"), gpu("kernelModuleType: open")},
      {"operator.driver-variable", ofed("    env: [{name: NFSRDMA_ENABLE, value: \"true\"}]\n"),
       ofed("    env: [{name: ENABLE_NFSRDMA, value: \"true\"}]\n")},
      {"operator.forced-upgrade",
       ofed("    upgradePolicy: {autoUpgrade: true, drain: {enable: true, force: true}}\n"),
       ofed("    upgradePolicy: {autoUpgrade: false, drain: {enable: true, force: true}}\n")},
      {"network.json", network("  ipam: '{'\n"), network(range)},
      {"network.host-local", network("  ipam: '{\"type\": \"host-local\"}'\n"), network(range)},
      {"network.range", network("  ipam: '{\"range\": \"10.0.x.0/16\"}'\n"), network(range)},
      {"network.rdma-capability", network("  capabilities: '{\"rdma\": true}'\n"),
       network("  capabilities: '{\"rdma\": true}'\n  metaPlugins: '{\"type\": \"rdma\"}'\n")},
      {"sriov.device-id", object("SriovNetworkNodePolicy", "  nicSelector: {deviceID: \"101e\"}\n"),
       object("SriovNetworkNodePolicy", "  nicSelector: {deviceID: \"1021\"}\n")},
      {"sriov.vfio", policy("  isRdma: true\n  deviceType: vfio-pci\n"),
       policy("  isRdma: true\n  deviceType: netdevice\n")},
      {"sriov.rdma", policy("  numVfs: 1\n"), policy("  isRdma: true\n")},
      {"sriov.mtu", policy("  isRdma: true\n  mtu: 1500\n"),
       policy("  isRdma: true\n  mtu: 4192\n")},
      {"sriov.one-link",
       object("SriovNetworkNodePolicy",
              "  isRdma: true\n  numVfs: 8\n  nicSelector: {pfNames: [a]}\n"),
       policy("  isRdma: true\n  numVfs: 8\n")},
      {"storage.unit-name", unit("mnt-a-b.mount", port), unit(mount, port)},
      {"storage.openibd", unit(mount, port, "openibd.service"), unit(mount, port)},
      {"storage.nconnect", unit(mount, port + ",nconnect=16"), unit(mount, "tcp,nconnect=16")},
      {"storage.port", object("PersistentVolume", "  mountOptions: [rdma]\n"),
       object("PersistentVolume", "  mountOptions: [rdma, port=20049]\n")},
      {"storage.protocol", unit(mount, port + ",proto=tcp"), unit(mount, port)},
      {"daemon.restarts-services", daemon("d", "a", "systemctl restart kubelet"), daemon("d", "a")},
      {"daemon.wrong-limit", daemon("d", "a", "vi /etc/security/limits.d/a"),
       daemon("d", "a", "vi /etc/security/access.conf")},
      {"daemon.obsolete-module", daemon("d", "a", "modprobe ib_ucm"),
       daemon("d", "a", "modprobe rdma_ucm")},
      {"daemon.twice",
       daemon("d", "x/k8s-rdma-shared-dev-plugin:v1") + daemon("e", "k8s-rdma-shared-dev-plugin"),
       daemon("d", "x/k8s-rdma-shared-dev-plugin:v1")},
      {"daemon.idle-adjuster", pod("") + daemon("d", "x/nri-ulimit-adjuster:v1"),
       pod("", "", "    ulimits.noderesource.dev/pod: '[{type: memlock, hard: 9, soft: 9}]'\n") +
           daemon("d", "x/nri-ulimit-adjuster:v1")},
      {"daemon.peermem-twice",
       daemon("nvidia-peermem-reloader", "a") + gpu("rdma: {enabled: true}"),
       daemon("nvidia-peermem-reloader", "a") + gpu("enabled: false, rdma: {enabled: true}")},
      {"daemon.ofed-label", object("PodMonitor", "  selector: {matchLabels: {app: mofed-u}}\n"),
       object("PodMonitor", "  selector: {matchLabels: {app: other}}\n")},
  };
}

TEST(LintRules, each_finds_what_is_wrong_and_only_that) {
  for (const auto& one : cases()) {
    const auto found = lint_text(one.wrong);
    EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                            [&](const lint::Finding& finding) { return finding.rule == one.rule; }))
        << one.rule << "\n"
        << one.wrong << said_of(one.wrong);
    const auto rest = lint_text(one.right);
    for (const auto& finding : rest) {
      EXPECT_NE(finding.rule, one.rule) << finding.what << "\n" << one.right;
    }
  }
}

TEST(LintRules, every_rule_has_a_case) {
  std::set<std::string> tried;
  for (const auto& one : cases()) tried.insert(one.rule);
  std::set<std::string_view> seen;
  for (const auto* rule : lint::all_rules()) {
    EXPECT_TRUE(tried.contains(std::string(rule->id))) << rule->id;
    EXPECT_TRUE(seen.insert(rule->id).second) << rule->id << " stands twice";
    EXPECT_EQ(rule->what.back(), '.') << rule->id;
    EXPECT_EQ(rule->why.back(), '.') << rule->id;
    EXPECT_EQ(rule->remedy.back(), '.') << rule->id;
  }
}

/// E20 to E26. Each rule has a case above, and golden.txt what is found in the guides themselves.
TEST(LintRules, find_every_error_of_the_guides_manifests) {
  for (int error = 20; error <= 26; ++error) {
    const auto id = "E" + std::to_string(error);
    const auto& rules = lint::all_rules();
    EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [&](const lint::Rule* rule) {
      return contains(split_words(rule->covers), id);
    })) << id;
  }
}

}  // namespace
}  // namespace railhead::test
