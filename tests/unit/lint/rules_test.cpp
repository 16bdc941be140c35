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

std::string sriov_network(const std::string& resource) {
  return object("SriovNetwork", "  resourceName: " + resource + "\n  networkNamespace: ai\n",
                "net");
}

/// With the file of one plugin in a section.
std::string nic_policy(const std::string& section, const std::string& list) {
  return object("NicClusterPolicy",
                "  " + section + ":\n    image: i\n    config: |\n      {\"" + list +
                    "\": [{\"resourceName\": \"a\", \"rdmaHcaMax\": 9, \"selectors\": "
                    "{\"ifNames\": [\"i\"], \"pfNames\": [\"i\"]}}]}\n",
                "nic-cluster-policy");
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

/// A policy in one line of flow.
std::string sriov(const std::string& spec, const std::string& name = "n") {
  return "kind: SriovNetworkNodePolicy\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n";
}

std::string nodes(const std::string& name, const std::string& selector) {
  return object("NicNodePolicy", "  nodeSelector: " + selector + "\n", name);
}

/// A TrainJob, and the runtime that it takes.
std::string training(const std::string& limits) {
  return "kind: TrainJob\nmetadata: {name: j}\nspec: {runtimeRef: {name: r}, trainer: "
         "{resourcesPerNode: {limits: {" +
         limits +
         "}}}}\n---\nkind: TrainingRuntime\nmetadata: {name: r}\nspec: {template: {spec: "
         "{replicatedJobs: [{name: node, template: {metadata: {labels: "
         "{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: "
         "{containers: [{name: node, resources: {limits: {rdma/ib: 1}}, securityContext: "
         "{capabilities: {add: [IPC_LOCK]}}}]}}}}}]}}}\n";
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
      {"pod.capability-prefix",
       pod(asks("rdma/ib: 1") + "    securityContext: {capabilities: {add: [CAP_IPC_LOCK]}}\n"),
       pod(asks("rdma/ib: 1") + kLock)},
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
      {"resource.replaced", training("nvidia.com/gpu: 8"), training("rdma/ib: 1")},
      {"resource.many-slots",
       pod(asks("rdma/ib: 8") + kLock) + shared_file("f", "\"ifNames\": [\"ib0\"]"),
       pod(asks("rdma/ib: 1") + kLock) + shared_file("f", "\"ifNames\": [\"ib0\"]")},
      {"annotation.container", pod("", "", "    rdma.railhead.io/container.d: required\n"),
       pod("", "", "    rdma.railhead.io/container.c: required\n")},
      {"annotation.value", pod("", "", "    rdma.railhead.io/pod: perhaps\n"),
       pod("", "", "    rdma.railhead.io/pod: required\n")},
      {"annotation.near-miss", pod("", "", "    railhead.io/rdma: required\n"),
       pod("", "", "    rdma.railhead.io/pod: required\n    example.com/rdma: required\n")},
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
      {"env.fixed-choice", pod(with_env("NCCL_IB_GID_INDEX", "3")),
       pod(with_env("NCCL_IB_GID_INDEX", "-1"))},
      {"env.gdr-level", pod(with_env("NCCL_NET_GDR_LEVEL", "5")),
       pod(with_env("NCCL_NET_GDR_LEVEL", "PXB"))},
      {"env.nic-beginning", pod(with_env("NCCL_IB_HCA", "mlx5_1")),
       pod(with_env("NCCL_IB_HCA", "=mlx5_1"))},
      {"env.ucx-release", pod(with_env("UCX_NET_DEVICES", "mlx5_0,mlx5_1")),
       pod(with_env("UCX_NET_DEVICES", "mlx5_0:1,eth0"))},
      {"env.nic-name", pod(with_env("NCCL_IB_HCA", "mlx5_0, mlx5_1")),
       pod(with_env("NCCL_IB_HCA", "mlx5_0,mlx5_1"))},
      {"env.nic-name", pod(with_env("NCCL_IB_HCA", "mlx5_[0-3]")),
       pod(with_env("NCCL_IB_HCA", "^=mlx5_0:1"))},
      {"env.visible-devices",
       pod("    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n" + asks("nvidia.com/gpu: 1")),
       pod("    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]\n")},
      {"env.socket-interface", pod(with_env("NCCL_SOCKET_IFNAME", "net1")),
       pod(with_env("NCCL_SOCKET_IFNAME", "eth0"))},
      {"plugin.file", shared_file("f", "\"vendors\": 5"), shared_file("f", "\"ifNames\": [\"i\"]")},
      {"plugin.file", nic_policy("rdmaSharedDevicePlugin", "resourceList"),
       nic_policy("sriovDevicePlugin", "resourceList")},
      {"plugin.file", nic_policy("sriovDevicePlugin", "configList"),
       nic_policy("rdmaSharedDevicePlugin", "configList")},
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
      {"operator.image", gpu("image: a/driver, repository: a"),
       gpu("image: driver, repository: a")},
      {"operator.chart-value", object("ClusterPolicy", "  nfd: {enabled: true}\n"),
       "nfd: {enabled: false}\ndriver: {rdma: {enabled: true}}\n"},
      {"operator.two-nfd",
       "nfd: {enabled: true, deployNodeFeatureRules: true}\n---\ndriver: {rdma: {enabled: true}}\n",
       "nfd: {enabled: true, deployNodeFeatureRules: true}\n---\ndriver: {rdma: {enabled: "
       "true}}\nnfd: {enabled: false}\n"},
      {"operator.same-section",
       ofed("") + object("NicNodePolicy", "  ofedDriver: {image: a}\n", "pool"),
       ofed("") + object("NicNodePolicy", "  sriovDevicePlugin: {image: a}\n", "pool")},
      {"operator.same-nodes", nodes("a", "{pool: x}") + nodes("b", "{zone: y, pool: x}"),
       nodes("a", "{pool: x}") + nodes("b", "{pool: y}")},
      {"operator.dead-value", "rdmaSharedDevicePlugin: {deploy: true}\n",
       "rdmaSharedDevicePlugin: {image: a}\n"},
      {"operator.value", "driver: {rdma: {enabled: true, useHostMOFED: true}}\n",
       "driver: {rdma: {enabled: true, useHostMofed: true}}\n"},
      {"schema.key", "apiVersion: sriovnetwork.openshift.io/v1\n" + sriov("isRDMA: true"),
       "apiVersion: sriovnetwork.openshift.io/v1\n" + sriov("isRdma: true")},
      {"schema.old-key",
       "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nspec: {psp: {enabled: true}}\n",
       "apiVersion: example.com/v1\nkind: NicClusterPolicy\nspec: {psp: {enabled: true}}\n"},
      {"schema.value", "apiVersion: sriovnetwork.openshift.io/v1\n" + sriov("linkType: Ib"),
       "apiVersion: sriovnetwork.openshift.io/v1\n" + sriov("linkType: ib")},
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
      {"sriov.selector", sriov("nicSelector: {vendor: Mellanox}"),
       sriov("nicSelector: {vendor: 15b3}")},
      {"sriov.refused", sriov("numVfs: 4, nicSelector: {pfNames: [\"a#2-4\"]}"),
       sriov("numVfs: 4, nicSelector: {pfNames: [\"a#2-3\"]}")},
      {"sriov.refused", sriov("resourceName: nvidia.com/vf"), sriov("resourceName: vf_1")},
      {"sriov.refused", sriov("resourceName: vf-with-dashes"),
       sriov("resourceName: \"${RES-OURCE}\"")},
      {"sriov.refused", sriov("numVfs: 4, nicSelector: {pfNames: [\"a#3-1\"]}"),
       sriov("numVfs: 4, nicSelector: {pfNames: [a]}")},
      {"sriov.refused", sriov("numVfs: 4, nicSelector: {pfNames: [\"a#0,3\"]}"),
       sriov("numVfs: 4, nicSelector: {pfNames: [\"a#0\"]}")},
      {"resource.fraction", pod(asks("rdma/ib: 0.5")), pod(asks("rdma/ib: 1.0, cpu: 0.5"))},
      {"resource.fraction", pod(asks("nvidia.com/gpu: 500m")), pod(asks("cpu: 500m"))},
      {"operator.name",
       "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nmetadata: {name: mine}\n",
       "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\n"
       "metadata: {name: nic-cluster-policy}\n"},
      {"sriov.overlap",
       sriov("nicSelector: {pfNames: [\"a#0-3\"]}") + "---\n" +
           sriov("nicSelector: {pfNames: [\"a#3-5\"]}", "b"),
       sriov("nicSelector: {pfNames: [\"a#0-3\"]}") + "---\n" +
           sriov("nicSelector: {pfNames: [\"a#4-5\"]}", "b")},
      {"sriov.link-type", sriov("resourceName: vf, linkType: ib") + network(""),
       sriov("resourceName: vf, linkType: eth") + network("")},
      {"sriov.no-policy", sriov("resourceName: other") + network(""),
       sriov("resourceName: vf") + network("")},
      {"sriov.prefix", sriov_network("nvidia.com/vf"), sriov_network("vf")},
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
    EXPECT_TRUE(std::ranges::any_of(
        found, [&](const lint::Finding& finding) { return finding.rule == one.rule; }))
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

std::set<std::string> rules_of(const std::string& text) {
  std::set<std::string> rules;
  for (const auto& one : lint_text(text)) rules.emplace(one.rule);
  return rules;
}

/// Pods of a network, and what they ask for; the domain is said by `more`, or by nobody.
std::set<std::string> with_domain(const std::string& domain, const std::string& name_space,
                                  const std::string& more = "") {
  auto operators =
      policy("  isRdma: true\n") +
      object("SriovNetwork", "  resourceName: vf_rdma\n  networkNamespace: ai\n", "net");
  for (auto at = operators.find("namespace: ai}"); at != std::string::npos;
       at = operators.find("namespace: ai}", at + 1)) {
    operators.replace(at, 14, "namespace: " + name_space + "}");
  }
  return rules_of(
      pod(asks(domain + "/vf_rdma: 1") + kLock, "", "    k8s.v1.cni.cncf.io/networks: net\n") +
      operators + more);
}

/// NVIDIA's chart of the SR-IOV operator has nvidia.com where upstream and OpenShift have
/// openshift.io.
TEST(LintRules, the_domain_of_virtual_functions_is_that_of_their_operator) {
  const std::set<std::string> none;
  const std::set<std::string> both = {"annotation.network-resource", "resource.no-pool"};
  EXPECT_EQ(with_domain("openshift.io", "ops"), none);
  EXPECT_EQ(with_domain("nvidia.com", "ops"), none);
  EXPECT_EQ(with_domain("intel.com", "ops"), both);
  EXPECT_EQ(with_domain("nvidia.com", "openshift-sriov-network-operator"), both);
  const std::string values = "---\noperator: {resourcePrefix: a.example}\n";
  EXPECT_EQ(with_domain("a.example", "ops", values), none);
  EXPECT_EQ(with_domain("nvidia.com", "ops", values), both);
  const std::string chart =
      "---\nsriov-network-operator: {operator: {resourcePrefix: b.example}}\n";
  EXPECT_EQ(with_domain("b.example", "ops", chart), none);
  const std::string deployment =
      "---\nkind: Deployment\nmetadata: {name: o}\nspec: {template: {spec: {containers: [{name: "
      "c, env: [{name: RESOURCE_PREFIX, value: c.example}]}]}}}\n";
  EXPECT_EQ(with_domain("c.example", "openshift-ops", deployment), none);
  EXPECT_EQ(with_domain("openshift.io", "ops", deployment), both);
}

TEST(LintRules, what_is_misplaced_may_be_misspelt_too) {
  const auto job = [](const std::string& own, const std::string& of_pods) {
    return rules_of("kind: Job\nmetadata: {name: j, annotations: {" + own +
                    "}}\nspec: {template: {metadata: {annotations: {" + of_pods +
                    "}}, spec: {containers: [{name: c}]}}}\n");
  };
  for (const auto* own : {"rdma: required", "railhead.io/rdma: required",
                          "rdma.railhaed.io/pod: required", "railhead.io/what: x"}) {
    EXPECT_EQ(job(own, "a: b"), std::set<std::string>{"annotation.misplaced"}) << own;
    EXPECT_EQ(job(own, own), std::set<std::string>{"annotation.near-miss"}) << own;
  }
  EXPECT_EQ(job("example.com/rdma: required", "a: b"), std::set<std::string>());
}

TEST(LintRules, a_network_of_several_interfaces_is_complained_of_once) {
  const auto count = [](const std::string& list) {
    const auto text = pod("", "", "    k8s.v1.cni.cncf.io/networks: '" + list + "'\n") +
                      network("") + object("SriovNetwork", "  networkNamespace: ai\n", "other");
    return lint_text(text).size();
  };
  EXPECT_EQ(count("net,net,ai/net@net7"), 1U);
  EXPECT_EQ(count(R"([{"name": "net"}, {"name": "net", "namespace": "ai"}])"), 1U);
  EXPECT_EQ(count("lost,lost,net"), 2U);
}

TEST(LintRules, nics_are_known_by_the_names_of_published_resources) {
  for (const auto* name :
       {"rdma/ib", "nvidia.com/hostdev", "openshift.io/mellanoxnics", "mellanox.com/mlnx_rdma",
        "intel.com/intel_rdma", "vpc.amazonaws.com/efa", "networking.gke.io.networks/rdma-0"}) {
    EXPECT_EQ(rules_of(pod(asks(std::string(name) + ": 1"))), std::set<std::string>{"pod.memlock"})
        << name;
  }
  EXPECT_EQ(rules_of(pod(asks("nvidia.com/v100: 1, google.com/tpu: 4"))), std::set<std::string>());
}

TEST(LintRules, a_network_may_stand_in_another_file) {
  const auto text = pod("", "", "    k8s.v1.cni.cncf.io/networks: lost\n") + network("");
  EXPECT_THAT(said_of(text), testing::HasSubstr("WARN annotation.network 7:34\n"));
  lint::Objects objects;
  read_objects({"m.yaml", text}, objects);
  const auto found = lint::lint(lint::give(std::move(objects), {}, true));
  EXPECT_TRUE(std::ranges::any_of(found, [](const lint::Finding& one) {
    return one.rule == "annotation.network" && one.severity == lint::Severity::fail;
  }));
}

TEST(LintRules, an_id_of_a_device_is_no_whole_vendor) {
  const auto text = shared_file("f", R"("vendors": ["15b3"], "deviceIDs": ["1021"])");
  EXPECT_EQ(rules_of(text), std::set<std::string>());
}

TEST(LintRules, a_section_that_is_empty_and_alone_has_lost_nothing) {
  EXPECT_EQ(rules_of("kind: Configuration\nmetadata: {name: c}\nspec:\n"), std::set<std::string>());
  EXPECT_EQ(rules_of("kind: ConfigMap\nmetadata: {name: c}\ndata:\n"), std::set<std::string>());
  EXPECT_EQ(rules_of("kind: ConfigMap\nmetadata: {name: c}\ndata:\na.json: x\n"),
            std::set<std::string>{"manifest.indentation"});
}

TEST(LintRules, an_image_below_a_mirror_repeats_nothing) {
  const auto policy_of = [](const std::string& image) {
    return rules_of(object(
        "ClusterPolicy", "  driver: {repository: mirror.example/nvidia, image: " + image + "}\n"));
  };
  EXPECT_FALSE(policy_of("cloud-native/driver").contains("operator.image"));
  EXPECT_TRUE(policy_of("mirror.example/nvidia/driver").contains("operator.image"));
  EXPECT_TRUE(policy_of("nvcr.io/nvidia/driver").contains("operator.image"));
  EXPECT_TRUE(policy_of("localhost/driver").contains("operator.image"));
}

TEST(LintRules, behind_the_number_0_no_digit_follows) {
  const auto found_of = [](const std::string& list) {
    return rules_of(pod(with_env("NCCL_IB_HCA", list))).contains("env.nic-beginning");
  };
  EXPECT_FALSE(found_of("mlx5_0"));
  EXPECT_FALSE(found_of("mlx5_bond_0:1"));
  EXPECT_FALSE(found_of("mlx5"));
  EXPECT_TRUE(found_of("mlx5_0,mlx5_10"));
  EXPECT_TRUE(found_of("mlx5_2"));
}

TEST(LintRules, a_plugin_for_two_kinds_of_nodes_runs_once_on_each) {
  const auto on = [](const std::string& name, const std::string& nodes) {
    auto text = daemon(name, "k8s-rdma-shared-dev-plugin");
    return text.insert(text.find("      containers:"), nodes);
  };
  const auto affinity = [](const std::string& value) {
    return "      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
           "{nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [" +
           value + "]}]}]}}}\n";
  };
  EXPECT_FALSE(rules_of(on("d", affinity("a")) + on("e", affinity("b"))).contains("daemon.twice"));
  EXPECT_TRUE(rules_of(on("d", affinity("a")) + on("e", affinity("a"))).contains("daemon.twice"));
  const std::string pool_a = "      nodeSelector: {x: y, pool: a}\n";
  const std::string a_pool = "      nodeSelector: {pool: a, x: y}\n";
  EXPECT_TRUE(rules_of(on("d", pool_a) + on("e", a_pool)).contains("daemon.twice"));
}

std::string graph(const std::string& service) {
  return "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: g, "
         "namespace: ai}\nspec:\n  services:\n    worker:\n" +
         service;
}

TEST(LintRules, services_of_dynamo_are_pods) {
  const std::string limits =
      "      resources: {limits: {cpu: 4, gpu: \"8\", custom: {rdma/ibb: \"1\"}}}\n";
  const std::string main =
      "      extraPodSpec: {mainContainer: {image: a, env: [{name: "
      "NCCL_NET_GDR_LEVEL, value: \"5\"}]}}\n";
  const auto file = shared_file("f", "\"ifNames\": [\"ib0\"]");
  EXPECT_EQ(said_of(graph(limits + main) + file),
            "FAIL resource.no-pool 7:55\nNOTE pod.memlock 8:37\nWARN env.gdr-level 8:88\n");
  const std::string locked =
      "      extraPodMetadata: {annotations: {memlock.railhead.io/pod: unlimited}}\n"
      "      envs: [{name: NCCL_IB_HCA, value: mlx5_1}]\n"
      "      extraPodSpec: {mainContainer: {securityContext: {privileged: true}}}\n";
  EXPECT_EQ(rules_of(graph(limits + locked)),
            (std::set<std::string>{"env.fixed-choice", "env.nic-beginning", "pod.privileged"}));
}

TEST(LintRules, containers_are_found_whatever_the_section_is_called) {
  EXPECT_EQ(rules_of("decode:\n  containers:\n  - name: c\n" + asks("nvidia.com/gpu: 1") +
                     "    securityContext: {privileged: true}\n"),
            std::set<std::string>{"pod.privileged"});
}

/// E20 to E26. Each rule has a case above, and golden.txt what is found in the guides themselves.
TEST(LintRules, find_every_error_of_the_guides_manifests) {
  for (int error = 20; error <= 26; ++error) {
    const auto id = "E" + std::to_string(error);
    const auto& rules = lint::all_rules();
    EXPECT_TRUE(std::ranges::any_of(rules, [&](const lint::Rule* rule) {
      return contains(split_words(rule->covers), id);
    })) << id;
  }
}

}  // namespace
}  // namespace railhead::test
