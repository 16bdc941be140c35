# SPDX-License-Identifier: Apache-2.0
"""What the operators of others do once they are installed: a thread that looks at the cluster, and brings what they
bring. node-feature-discovery labels nodes by the rules that are in the cluster, the network operator makes OFED's
DaemonSet of a NicClusterPolicy, the GPU operator offers GPUs once there is a ClusterPolicy and OFED."""

import json
import threading
import traceback

from kube.cluster import Cluster
from lib import image
from lib.machine import Machine
from lib.process import Failed

PCI_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
# Mellanox/network-operator pkg/nodeinfo/attributes.go
WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
GPU_LABEL = "nvidia.com/gpu.present"
# What node-feature-discovery labels without a rule: the worker's deviceClassWhitelist and deviceLabelFields in
# Mellanox/network-operator deployment/network-operator/values.yaml. No NIC is in it.
GPU = [{"vendor": "10de", "class": "0300"}, {"vendor": "10de", "class": "0302"}]
GPU_FEATURE = "feature.node.kubernetes.io/pci-10de.present"
LOOK_S = 0.5
NO_SUCH_KIND = ("the server doesn't have a resource type", "the server could not find the requested resource")


def functions(machine: Machine) -> list[dict[str, str]]:
    """Vendor and class of each PCI function, as node-feature-discovery's rules see them (source/pci/utils.go)."""
    found = []
    for uevent in machine.uevents():
        facts = dict(line.split("=", 1) for line in uevent.splitlines())
        found.append({"vendor": facts["PCI_ID"][:4].lower(), "class": f"{int(facts['PCI_CLASS'], 16) >> 8:04x}"})
    return found


def matches(rule: dict, machine: Machine) -> bool:
    """Of the operators the ones that are used: In, on features of PCI."""
    for term in rule["matchFeatures"]:
        if term["feature"] != "pci.device":
            raise ValueError(f"a feature that is not played: {term['feature']}")
        wanted = term["matchExpressions"]
        if any(one["op"] != "In" for one in wanted.values()):
            raise ValueError(f"an operator that is not played: {wanted}")
        if not any(all(each[key] in one["value"] for key, one in wanted.items()) for each in functions(machine)):
            return False
    return True


class Operators(threading.Thread):
    def __init__(self, cluster: Cluster, machines: dict[str, Machine | None]) -> None:
        super().__init__(daemon=True)
        self._cluster = cluster
        self._machines = machines
        self._kubectl = cluster.plane.kubectl
        self._ended = threading.Event()
        self._labels: dict[str, set[str]] = {name: set() for name in machines}
        self._gpus: set[str] = set()
        self.trouble = ""  # a fault of the stand-in itself: it has ended
        self.last_failure = ""

    def run(self) -> None:
        while not self._ended.wait(LOOK_S):
            try:
                self._look()
            except Failed as failure:  # as controllers do, it looks again
                self.last_failure = str(failure)
            except Exception:  # a stand-in that cannot be is a fault of the test, which looks at it
                self.trouble = traceback.format_exc()
                return

    def end(self) -> None:
        self._ended.set()
        self.join()
        for node in self._cluster.nodes:
            node.withdraw_gpus()

    def _list(self, kind: str) -> list[dict]:
        """Nothing, where the cluster has no such kind, or has it no longer."""
        try:
            return json.loads(self._kubectl("get", kind, "--all-namespaces", "-o", "json"))["items"]
        except Failed as failure:
            if any(text in str(failure) for text in NO_SUCH_KIND):
                return []
            raise

    def _label(self, node: str, key: str, value: str | None) -> None:
        has = key in self._labels[node]
        if value is not None and f"{key}={value}" not in self._labels[node]:
            self._kubectl("label", "--overwrite", "node", node, f"{key}={value}")
            self._labels[node] |= {key, f"{key}={value}"}
        elif value is None and has:
            self._kubectl("label", "node", node, f"{key}-")
            self._labels[node] = {one for one in self._labels[node] if one.split("=")[0] != key}

    def _look(self) -> None:
        rules = [rule for one in self._list("nodefeaturerules.nfd.k8s-sigs.io") for rule in one["spec"]["rules"]]
        discovers = bool(self._ready_on("app.kubernetes.io/name=node-feature-discovery"))
        for name, machine in self._machines.items():
            self._label(name, PCI_LABEL, "true" if machine and any(matches(rule, machine) for rule in rules) else None)
            has_gpu = discovers and machine is not None and any(one in GPU for one in functions(machine))
            self._label(name, GPU_FEATURE, "true" if has_gpu else None)
        ready = self._ofed(self._list("nicclusterpolicies.mellanox.com"))
        for name in self._machines:
            self._label(name, WAIT_LABEL, "false" if name in ready else None)
        policies = self._list("clusterpolicies.nvidia.com")
        served = ready if policies else self._ready_on("app.kubernetes.io/name=nvidia-device-plugin")
        self._offer(served)
        for name in self._machines:
            self._label(name, GPU_LABEL, "true" if policies and name in self._gpus else None)
        if policies and self._gpus and policies[0].get("status", {}).get("state") != "ready":
            self._set_state("clusterpolicies.nvidia.com", policies[0])

    def _ready_on(self, label: str) -> set[str]:
        """Nodes on which such a pod is ready."""
        pods = json.loads(self._kubectl("get", "pods", "--all-namespaces", "-l", label, "-o", "json"))["items"]
        return {pod["spec"].get("nodeName", "") for pod in pods
                if any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", []))}

    def _offer(self, served: set[str]) -> None:
        """The GPUs of these nodes, and of no other. With rdma.enabled and without useHostMofed the GPU operator's driver waits
        for OFED's (NVIDIA/gpu-operator cmd/nvidia-validator/main.go)."""
        for name, machine in self._machines.items():
            wanted = name in served and machine is not None and bool(machine.gpus)
            if wanted and name not in self._gpus:
                self._cluster.node(name).offer_gpus(machine)
                self._gpus.add(name)
            elif not wanted and name in self._gpus:
                self._cluster.node(name).withdraw_gpus()
                self._gpus.discard(name)

    def _ofed(self, policies: list[dict]) -> set[str]:
        """Nodes on which OFED's pod is ready. Its labels: manifests/state-ofed-driver/0050_ofed-driver-ds.yaml."""
        namespace, name = "network-operator", "mofed-ubuntu22.04-5d7bd8b4f5-ds"
        if not policies or "ofedDriver" not in policies[0]["spec"]:
            self._kubectl("--namespace", namespace, "delete", "daemonset", name, "--ignore-not-found")
            return set()
        policy = policies[0]
        labels = {"app": name, "nvidia.com/ofed-driver": ""}
        driver = policy["spec"]["ofedDriver"]
        container = {"name": "mofed-container", "image": image.NAME, "imagePullPolicy": "Never", "env": driver.get("env", [])}
        spec = {"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False, "containers": [container],
                "nodeSelector": {PCI_LABEL: "true"}, "affinity": {"nodeAffinity": policy["spec"].get("nodeAffinity", {})}}
        self._kubectl("apply", "-f", "-", text=json.dumps({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"selector": {"matchLabels": {"app": name}}, "updateStrategy": {"type": "OnDelete"},
                     "template": {"metadata": {"labels": labels}, "spec": spec}}}))
        ready = self._ready_on("nvidia.com/ofed-driver")
        if ready and policy.get("status", {}).get("state") != "ready":
            self._set_state("nicclusterpolicies.mellanox.com", policy)
        return ready

    def _set_state(self, kind: str, policy: dict) -> None:
        patch = {"status": {"state": "ready"} | ({"namespace": "gpu-operator"} if kind.startswith("clusterpolicies") else {})}
        self._kubectl("patch", kind, policy["metadata"]["name"], "--subresource=status", "--type=merge", "-p", json.dumps(patch))
