# SPDX-License-Identifier: Apache-2.0
"""One node, its control plane, and GPUs of a machine in the box as the kubelet counts them."""

import pathlib
import sys

from lib import paths
from lib.containerd import Containerd
from lib.machine import Machine
from lib.process import PATIENCE_S, Daemon, wait_until

from .control_plane import ControlPlane
from .kubelet import NODE, ROOT, Kubelet
from .pod import GPU_RESOURCE


class Cluster:
    def __init__(
        self, version: str, programs: pathlib.Path, runtime: str, folder: pathlib.Path
    ) -> None:
        self.version = version
        self.folder = folder
        self.runtime = Containerd(runtime, folder / "c")
        self.plane = ControlPlane(programs, folder / "plane")
        self.kubelet = Kubelet(self.plane, self.runtime, folder, version)
        self._gpus: Daemon | None = None

    def start(self) -> None:
        self.runtime.start()
        self.runtime.load_image()
        self.plane.start()
        self.kubelet.start()

    def offer_gpus(self, machine: Machine) -> None:
        """The machine's GPUs become allocatable, by UUID, with their NUMA nodes; those offered
        before are gone."""
        if self._gpus is not None:
            self._gpus.end()
        plugin = paths.TREE / "tests/peers/gpu_plugin.py"
        log = self.folder / "gpu-plugin.log"
        log.unlink(missing_ok=True)
        identities = [f"{gpu.uuid}@{machine.numa_node(gpu.pci)}" for gpu in machine.gpus]
        self._gpus = Daemon(
            [sys.executable, str(plugin), str(ROOT / "device-plugins"), GPU_RESOURCE, *identities],
            log,
        )
        # The node's status may still be that of the plugin before.
        wait_until("the kubelet has the list of GPUs", lambda: "listed" in self._gpus.log_text())
        self.wait_allocatable(GPU_RESOURCE, len(identities))

    def allocatable(self, resource: str) -> int:
        return self._count("allocatable", resource)

    def capacity(self, resource: str) -> int:
        return self._count("capacity", resource)

    def _count(self, what: str, resource: str) -> int:
        path = resource.replace(".", "\\.")
        text = self.plane.kubectl("get", "node", NODE, "-o", f"jsonpath={{.status.{what}.{path}}}")
        return int(text.replace("k", "000") or 0)  # the API server writes 1000 as 1k

    def wait_allocatable(self, resource: str, count: int, timeout_s: float = PATIENCE_S) -> None:
        what = f"{count} {resource} allocatable"
        wait_until(what, lambda: self.allocatable(resource) == count, timeout_s)

    def remove(self) -> None:
        """The jail ends what is left; this is for mounts, control groups and files."""
        self.kubelet.stop()
        self.plane.stop()
        if self._gpus is not None:
            self._gpus.end()
        self.runtime.remove()
