# SPDX-License-Identifier: Apache-2.0
"""More networks for pods: Debian's CNI plugins, and peers/meta_cni.py in place of Multus, which is in no
registry that a build may rely on. And netdevs for NICs that the machine of a test does not really have.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

from lib import paths
from lib.machine import Machine
from lib.process import wait_until

from .cluster import Cluster

DEVICE_INFO = "/var/run/k8s.cni.cncf.io/devinfo/dp"  # the agent's default
PCI = pathlib.Path("/sys/bus/pci/devices")
PLUGINS = ("host-device", "macvlan", "host-local")
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "network-attachment-definitions.k8s.cni.cncf.io"},
    "spec": {
        "group": "k8s.cni.cncf.io",
        "scope": "Namespaced",
        "names": {
            "plural": "network-attachment-definitions",
            "singular": "network-attachment-definition",
            "kind": "NetworkAttachmentDefinition",
            "shortNames": ["net-attach-def"],
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"config": {"type": "string"}}}
                        },
                    }
                },
            }
        ],
    },
}


def definition(name: str, config: dict, resource: str | None = None) -> dict:
    """A NetworkAttachmentDefinition."""
    about = {"k8s.v1.cni.cncf.io/resourceName": resource} if resource else {}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name, "annotations": about},
        "spec": {"config": json.dumps({"cniVersion": "0.4.0", "name": name} | config)},
    }


def ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def number_of_run() -> int:
    """Another one for each run on this machine: they share its network, and processes have the same numbers in each."""
    return os.stat("/proc/self/ns/pid").st_ino


def can_make(kind: str, link: str | None = None) -> bool:
    """Whether the kernel of this machine has such netdevs, and lets us."""
    below = ["link", link] if link else []
    name = f"rhprobe{number_of_run() % 1_000_000}"
    try:
        ip("link", "add", name, *below, "type", kind)
    except OSError:
        return False
    ip("link", "del", name)
    return True


@contextlib.contextmanager
def netdevs_of(machine: Machine, nics: list[str], folder: pathlib.Path) -> Iterator[None]:
    """For each of these NICs a netdev of its name: one end of a veth. Below /sys/bus/pci/devices, for
    the jail alone, are their functions with netdev and driver, which is where host-device looks."""
    drivers = folder / "drivers/mlx5_core"
    drivers.mkdir(parents=True)
    made = []
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(PCI)], check=True)
    try:
        for number, nic in enumerate(nics):
            function, netdev = machine.function(nic)
            wire = f"rhwire{number}"
            with contextlib.suppress(OSError):  # what a run that was killed has left
                ip("link", "del", wire)
            ip("link", "add", netdev, "type", "veth", "peer", "name", wire)
            made.append(wire)
            (PCI / function / "net" / netdev).mkdir(parents=True)
            (PCI / function / "driver").symlink_to(drivers)
        yield
    finally:
        for wire in made:  # its other end goes with it, wherever it is
            with contextlib.suppress(OSError):  # a pod that is being deleted may have taken both along
                ip("link", "del", wire)
        subprocess.run(["umount", "-l", str(PCI)], check=True)


@contextlib.contextmanager
def more_networks(cluster: Cluster, folder: pathlib.Path) -> Iterator[None]:
    """Pods get what their annotation asks for."""
    binaries = paths.fetch("cni")
    cni = cluster.runtime.dir / "cni"
    for name in PLUGINS:
        shutil.copy(binaries / name, cni / "bin")
    meta = cni / "bin/meta"
    meta.unlink(missing_ok=True)
    meta.symlink_to(paths.TREE / "tests/peers/meta_cni.py")
    (folder / "cni-state").mkdir()
    plugin = {
        "type": "meta",
        "delegate": {"type": "none"},
        "kubectl": [
            *(str(cluster.plane.bin / "kubectl"), "--kubeconfig", str(cluster.plane.kubeconfig))
        ],
        "podResources": "/var/lib/kubelet/pod-resources/kubelet.sock",
        "deviceInfoDir": DEVICE_INFO,
        "state": str(folder / "cni-state"),
    }
    conflist = cni / "conf/00-meta.conflist"
    conflist.write_text(json.dumps({"cniVersion": "1.0.0", "name": "meta", "plugins": [plugin]}))
    wait_until("the runtime has the network", lambda: cluster.runtime.cri.network() == "meta")
    cluster.plane.kubectl("apply", "-f", "-", text=json.dumps(CRD))
    cluster.plane.kubectl(
        *("wait", "--for=condition=established", "--timeout=30s"),
        "crd/network-attachment-definitions.k8s.cni.cncf.io",
    )
    try:
        yield
    finally:
        os.unlink(conflist)
        wait_until("the runtime has the other", lambda: cluster.runtime.cri.network() == "none")
