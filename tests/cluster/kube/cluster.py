# SPDX-License-Identifier: Apache-2.0
"""A control plane and its nodes: one in this mount namespace, or several with a namespace each."""

import pathlib
import subprocess
from concurrent import futures

from lib.containerd import Containerd
from lib.machine import Machine
from lib.process import PATIENCE_S

from .control_plane import ControlPlane
from .kubelet import NODE, Kubelet
from .node import Node
from .space import Space


class Cluster:
    def __init__(
        self, version: str, programs: pathlib.Path, runtime: str, folder: pathlib.Path, names: tuple[str, ...] = (NODE,)
    ) -> None:
        self.version = version
        self.folder = folder
        self.plane = ControlPlane(programs, folder / "plane")
        # kubectl exec asks the API server, and that asks the node by its name.
        hosts = folder / "hosts"
        hosts.write_text(f"127.0.0.1 localhost {' '.join(names)}\n")
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
        if len(names) == 1:
            self.nodes = [self._node(names[0], runtime, folder / "c", folder, None)]
        else:
            self.nodes = [self._apart(name, runtime, hosts) for name in names]
        self.runtime = self.nodes[0].runtime
        self.kubelet = self.nodes[0].kubelet

    def _apart(self, name: str, runtime: str, hosts: pathlib.Path) -> Node:
        space = Space(self.folder / name, hosts)
        return self._node(name, runtime, self.folder / f"c-{name}", self.folder / name, space)

    def _node(self, name: str, version: str, runtime_dir: pathlib.Path, folder: pathlib.Path, space: Space | None) -> Node:
        runtime = Containerd(version, runtime_dir, under=tuple(space.enter) if space else ())
        return Node(name, self.plane, runtime, Kubelet(self.plane, runtime, folder, self.version, name, space), folder, space)

    def start(self) -> None:
        if len(self.nodes) == 1:
            self.plane.start()
            self.nodes[0].start()
            return
        with futures.ThreadPoolExecutor(len(self.nodes)) as threads:
            self.plane.start()
            list(threads.map(Node.start, self.nodes))

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    # Of a cluster with one node

    def offer_gpus(self, machine: Machine) -> None:
        self.nodes[0].offer_gpus(machine)

    def allocatable(self, resource: str) -> int:
        return self.nodes[0].allocatable(resource)

    def capacity(self, resource: str) -> int:
        return self.nodes[0].capacity(resource)

    def wait_allocatable(self, resource: str, count: int, timeout_s: float = PATIENCE_S) -> None:
        self.nodes[0].wait_allocatable(resource, count, timeout_s)

    def remove(self) -> None:
        """The jail ends what is left; this is for mounts, control groups and files."""
        for node in self.nodes:
            node.kubelet.stop()
        self.plane.stop()
        for node in self.nodes:
            node.remove()
