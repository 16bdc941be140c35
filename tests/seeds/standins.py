#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""az, and helm for charts that are not ours, by the name under which it is started. It refuses what arguments.py does
not have, keeps what it was told in STANDINS/state.json, and brings to the cluster what the real one brings:
labels of nodes, CustomResourceDefinitions as their makers wrote them, and the operator's Deployment; operators.py
does what that operator then does. Charts of ours go to the real helm, which REAL_HELM names.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import arguments
from arguments import CHARTS, Refused

FOLDER = pathlib.Path(os.environ["STANDINS"])
CRDS = pathlib.Path(os.environ["RAILHEAD_CRDS"])
POOL_LABEL = "kubernetes.azure.com/agentpool"
SIZE_LABEL = "node.kubernetes.io/instance-type"
# Chart -> CustomResourceDefinitions, and Deployments with the labels of their pods. Sources: the charts' templates/operator.yaml,
# and deployment/helm/node-feature-discovery/templates/master.yaml of node-feature-discovery.
BRINGS = {
    "nvidia/network-operator": (
        ("nicclusterpolicies", "hostdevicenetworks", "nodefeatures"),
        {"network-operator": {"app.kubernetes.io/name": "network-operator"},
         "network-operator-node-feature-discovery-master": {"app.kubernetes.io/name": "node-feature-discovery"}}),
    "nvidia/gpu-operator": (("clusterpolicies",), {"gpu-operator": {"app": "gpu-operator", "app.kubernetes.io/name": "gpu-operator"}}),
    "nvdp/nvidia-device-plugin": ((), {}),
}


class State:
    """What was told so far."""

    def __init__(self) -> None:
        self.path = FOLDER / "state.json"
        self.values = json.loads(self.path.read_text()) if self.path.exists() else {}

    def of(self, key: str) -> dict:
        return self.values.setdefault(key, {})

    def write(self) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.values))
        new.rename(self.path)


def kubectl(*words: str, text: str | None = None) -> str:
    done = subprocess.run(["kubectl", *words], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def is_established(path: pathlib.Path) -> bool:
    told = json.loads(kubectl("get", "-f", str(path), "-o", "json"))
    definitions = told["items"] if told["kind"] == "List" else [told]
    return all({"Established": "True"}.items() <= {one["type"]: one["status"] for one in each.get("status", {}).get("conditions") or []}.items()
               for each in definitions)


def wait_established(path: pathlib.Path) -> None:
    """kubectl wait fails where there are no conditions yet."""
    end = time.monotonic() + 120
    while not is_established(path):
        if time.monotonic() > end:
            sys.exit(f"not established: {path}")
        time.sleep(0.1)


def pool_nodes(size: str, count: int) -> list[str]:
    """Machines that this cloud has of that size, as many as are asked for."""
    machines = json.loads((FOLDER / "machines.json").read_text())
    free = [name for name, kind in machines.items() if kind == size]
    if len(free) < count:
        raise Refused(f"the quota of {size} is {len(free)}")
    return free[:count]


def az(words: tuple[str, ...], options: dict[str, list[str]], state: State) -> None:
    if words == ("feature", "register"):
        state.of("feature")["registered"] = True
    elif words == ("feature", "show"):
        print("Registered" if state.of("feature").get("registered") else "NotRegistered")
    elif words[:2] == ("aks", "nodepool"):
        nodepool(words[2], {name: values[0] for name, values in options.items()}, state.of("pools"))


def nodepool(verb: str, options: dict[str, str], pools: dict) -> None:
    name = options["--name"]
    if verb == "add":
        if name in pools:
            raise Refused(f"there is a pool {name}")
        size = options["--node-vm-size"]
        nodes = pool_nodes(size, int(options["--node-count"]))
        pools[name] = {"name": name, "osSku": options["--os-sku"], "gpuDriver": options.get("--gpu-driver", "Install"), "nodes": nodes}
        kubectl("label", "node", *nodes, f"{POOL_LABEL}={name}", f"{SIZE_LABEL}={size}")
        return
    if name not in pools:
        sys.exit(f"(NotFound) {name}")
    if verb == "delete":
        kubectl("label", "node", *pools.pop(name)["nodes"], f"{POOL_LABEL}-", f"{SIZE_LABEL}-")
    else:
        print(pools[name][options["--query"]])


def workload(kind: str, name: str, namespace: str, labels: dict[str, str], **more: object) -> dict:
    """`more` is of its pods."""
    image = "localhost/railhead-busybox:1"
    spec = {"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": image, "imagePullPolicy": "Never"}]}
    return {"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec | more}}}


def device_plugin(name: str, namespace: str) -> dict:
    """Where node-feature-discovery found a GPU, as the chart's values.yaml has it (affinity)."""
    term = {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    return workload("DaemonSet", name, namespace, {"app.kubernetes.io/name": "nvidia-device-plugin"},
                    affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


def cluster_policy(settings: list[str]) -> str:
    """What NVIDIA's own chart makes of these values."""
    words = [os.environ["REAL_HELM"], "template", "gpu-operator", str(CRDS / "gpu-operator"), "--show-only", "templates/clusterpolicy.yaml"]
    for setting in settings:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr)
    return done.stdout


def upgrade(words: tuple[str, ...], options: dict[str, list[str]], state: State) -> None:
    name, chart, namespace = words[1], words[2], options["--namespace"][0]
    settings = options.get("--set", [])
    if chart not in CHARTS or state.of("repositories").get(chart.split("/")[0]) != CHARTS[chart].repository:
        raise Refused(f"no repository has {chart}")
    arguments.check_values(chart, settings)
    if "--create-namespace" not in options:
        kubectl("get", "namespace", namespace)
    definitions, deployments = BRINGS[chart]
    for definition in definitions:
        kubectl("apply", "--server-side", "-f", str(CRDS / f"{definition}.yaml"))
        wait_established(CRDS / f"{definition}.yaml")
    for each, labels in deployments.items():
        kubectl("apply", "-f", "-", text=json.dumps(workload("Deployment", each, namespace, labels)))
        kubectl("--namespace", namespace, "rollout", "status", f"deployment/{each}", "--timeout=180s")
    if chart == "nvidia/gpu-operator":
        kubectl("apply", "-f", "-", text=cluster_policy(settings))
    if chart == "nvdp/nvidia-device-plugin":
        kubectl("apply", "-f", "-", text=json.dumps(device_plugin(name, namespace)))
        kubectl("--namespace", namespace, "rollout", "status", f"daemonset/{name}", "--timeout=180s")
    state.of("releases")[name] = {"chart": chart, "namespace": namespace, "settings": settings, "version": options["--version"][0]}


def uninstall(name: str, state: State) -> None:
    """The definitions go, too, as people do then by hand; and with them their objects."""
    release = state.of("releases").pop(name)
    definitions, deployments = BRINGS[release["chart"]]
    for definition in definitions:
        kubectl("delete", "--ignore-not-found", "-f", str(CRDS / f"{definition}.yaml"))
    for each in deployments:
        kubectl("--namespace", release["namespace"], "delete", "deployment", each, "--ignore-not-found")
    kubectl("--namespace", release["namespace"], "delete", "daemonset", name, "--ignore-not-found")


def helm(words: tuple[str, ...], options: dict[str, list[str]], state: State) -> None:
    if words[:2] == ("repo", "add"):
        state.of("repositories")[words[2]] = words[3]
    elif words[0] == "upgrade":
        upgrade(words, options, state)
    elif words[0] == "uninstall":
        uninstall(words[1], state)


def is_ours(given: list[str], state: State) -> bool:
    if given[:1] == ["repo"]:
        return False
    if given[:1] == ["uninstall"]:
        return given[1] not in state.of("releases")
    return not any(one.startswith(("nvidia/", "nvdp/")) for one in given)


def main() -> None:
    program, given = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
    state = State()
    if program == "helm" and is_ours(given, state):
        os.execv(os.environ["REAL_HELM"], ["helm", *given])
    try:
        words, options = arguments.parsed(program, given)
        {"az": az, "helm": helm}[program](words, options, state)
    except Refused as refused:
        sys.exit(f"{program}: {refused}")
    state.values.setdefault("calls", []).append([program, *given])
    state.write()


if __name__ == "__main__":
    main()
