# SPDX-License-Identifier: Apache-2.0
"""What an installation can leave behind: on the host, and as objects of the cluster."""

import hashlib
import json
import os
import pathlib
import socket
import stat

from .cluster import Cluster
from .kubelet import ROOT
from .node import Node

# Where the agent is let write, where its pods are made, and where a set-up would write.
FOLDERS = ("/run", "/etc", "/opt", "/usr/local", str(ROOT))
# What the cluster itself writes meanwhile.
OF_OTHERS = ("/run/containerd", "/run/netns", "/run/runc", f"{ROOT}/pods", "kubelet_internal_checkpoint", "_pods_state",
             "_manager_state", "stand-in.sock")
# Written by the control plane all the time, and kept for an hour.
KINDS_OF_OTHERS = ("events", "events.events.k8s.io", "leases.coordination.k8s.io")


def _what(path: str) -> str:
    """Kind, mode, owner and content; "" once it has gone."""
    try:
        facts = os.lstat(path)
        kind = f"{stat.filemode(facts.st_mode)} {facts.st_uid}:{facts.st_gid}"
        if stat.S_ISLNK(facts.st_mode):
            return f"{kind} -> {os.readlink(path)}"
        if stat.S_ISREG(facts.st_mode):
            return f"{kind} {hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()}"
        return kind
    except FileNotFoundError:
        return ""


def of_host(node: Node) -> dict[str, str]:
    """Each file and folder, mount, netdev and kernel module, with what it is; and processes of ours."""
    found = {}
    for top in FOLDERS:
        for folder, folders, files in os.walk(node.at(top)):
            below = f"{top}{folder.removeprefix(str(node.at(top)))}"
            found |= {f"{below}/{name}": _what(f"{folder}/{name}") for name in folders + files}
    mountinfo = node.space.mountinfo if node.space else pathlib.Path("/proc/self/mountinfo")
    for line in mountinfo.read_text().splitlines():
        words = line.split()
        found[f"mount {words[4]}"] = words[5]
    # /sys has the netdevs of the network namespace that mounted it, where other tests make theirs.
    found |= {f"netdev {name}": "" for _, name in socket.if_nameindex()}
    found |= {f"module {name}": "" for name in os.listdir("/sys/module")}
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().startswith("railhead"):
                found[f"process {path.parent.name}"] = path.read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return {name: what for name, what in found.items() if not any(other in name for other in OF_OTHERS)}


def of_cluster(cluster: Cluster) -> dict[str, str]:
    """Each object, and what each node has of labels, annotations, taints and resources that a pod may get: the kubelet
    goes on counting a plugin's devices for five minutes, as its capacity."""
    kubectl = cluster.plane.kubectl
    kinds = [kind for kind in kubectl("api-resources", "--verbs=list", "-o", "name").split() if kind not in KINDS_OF_OTHERS]
    listed = kubectl("get", ",".join(kinds), "--all-namespaces", "--ignore-not-found", "-o",
                     'jsonpath={range .items[*]}{.kind}{" "}{.metadata.namespace}/{.metadata.name}{"\\n"}{end}')
    found = dict.fromkeys(listed.splitlines(), "")
    for node in json.loads(kubectl("get", "nodes", "-o", "json"))["items"]:
        name = node["metadata"]["name"]
        for kind in ("labels", "annotations"):
            found |= {f"{name} {kind} {key}": value for key, value in node["metadata"].get(kind, {}).items()}
        found |= {f"{name} taint {taint['key']}": taint["effect"] for taint in node["spec"].get("taints", [])}
        found |= {f"{name} resource {what}": count for what, count in node["status"]["allocatable"].items() if count != "0"}
    return found


def difference(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """As a diff has it: + has come, - has gone, ~ is another."""
    marks = [("+", name) for name in after.keys() - before.keys()]
    marks += [("-", name) for name in before.keys() - after.keys()]
    marks += [("~", name) for name in before.keys() & after.keys() if before[name] != after[name]]
    return [f"{mark} {name}" for mark, name in sorted(marks, key=lambda one: one[1])]
