# SPDX-License-Identifier: Apache-2.0
"""One node: a containerd, a kubelet beside it, and GPUs of a machine in the box as the kubelet counts them."""

import pathlib
import sys

from lib import paths
from lib.containerd import Containerd
from lib.machine import Machine
from lib.process import PATIENCE_S, Daemon, wait_until

from .control_plane import ControlPlane
from .kubelet import ROOT, Kubelet
from .pod import GPU_RESOURCE
from .space import Space


class Node:
    def __init__(self, name: str, plane: ControlPlane, runtime: Containerd, kubelet: Kubelet,
                 folder: pathlib.Path, space: Space | None = None) -> None:
        """Without a space it is the one node of this mount namespace."""
        self.name = name
        self.runtime = runtime
        self.kubelet = kubelet
        self.space = space
        self._plane = plane
        self._folder = folder
        self._gpus: Daemon | None = None

    def start(self) -> None:
        self.runtime.start()
        self.runtime.load_image()
        self.kubelet.start()

    @property
    def enter(self) -> list[str]:
        return self.space.enter if self.space else []

    def at(self, path: pathlib.Path | str) -> pathlib.Path:
        return self.space.at(path) if self.space else pathlib.Path(path)

    def offer_gpus(self, machine: Machine) -> None:
        """The machine's GPUs become allocatable, by UUID, with their NUMA nodes; those offered
        before are gone."""
        self.withdraw_gpus()
        plugin = paths.TREE / "tests/peers/gpu_plugin.py"
        log = self._folder / "gpu-plugin.log"
        log.unlink(missing_ok=True)
        identities = [f"{gpu.uuid}@{machine.numa_node(gpu.pci)}" for gpu in machine.gpus]
        self._gpus = Daemon(
            [*self.enter, sys.executable, str(plugin), str(ROOT / "device-plugins"), GPU_RESOURCE, *identities],
            log,
        )
        # The node's status may still be that of the plugin before.
        wait_until("the kubelet has the list of GPUs", lambda: "listed" in self._gpus.log_text())
        self.wait_allocatable(GPU_RESOURCE, len(identities))

    def withdraw_gpus(self) -> None:
        if self._gpus is not None:
            self._gpus.end()
            self._gpus = None

    def allocatable(self, resource: str) -> int:
        return self._count("allocatable", resource)

    def capacity(self, resource: str) -> int:
        return self._count("capacity", resource)

    def _count(self, what: str, resource: str) -> int:
        path = resource.replace(".", "\\.")
        text = self._plane.kubectl("get", "node", self.name, "-o", f"jsonpath={{.status.{what}.{path}}}")
        return int(text.replace("k", "000") or 0)  # the API server writes 1000 as 1k

    def wait_allocatable(self, resource: str, count: int, timeout_s: float = PATIENCE_S) -> None:
        what = f"{count} {resource} allocatable on {self.name}"
        wait_until(what, lambda: self.allocatable(resource) == count, timeout_s)

    def remove(self) -> None:
        self.kubelet.stop()
        self.withdraw_gpus()
        self.runtime.remove()
        if self.space:
            self.space.end()
