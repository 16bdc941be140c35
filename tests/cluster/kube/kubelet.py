# SPDX-License-Identifier: Apache-2.0
"""A kubelet beside a private containerd."""

import json
import pathlib
import socket
import ssl
import urllib.request

from lib.containerd import Containerd
from lib.process import Daemon, wait_until

from .control_plane import ControlPlane, free_port
from .space import Space

NODE = "node-1"
ROOT = pathlib.Path("/var/lib/kubelet")  # a tmpfs of the jail or of the space; the device-plugin folder is fixed
CONFIG = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "address": "127.0.0.1",
    "healthzPort": 0,
    "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
    "authorization": {"mode": "AlwaysAllow"},
    "cgroupDriver": "cgroupfs",
    "cgroupsPerQOS": False,
    "enforceNodeAllocatable": [],
    "localStorageCapacityIsolation": False,
    "failSwapOn": False,
    "evictionHard": {"memory.available": "1Mi"},
    "imageGCHighThresholdPercent": 100,
    "nodeStatusUpdateFrequency": "1s",
    "syncFrequency": "5s",
}


class Kubelet:
    def __init__(
        self, plane: ControlPlane, runtime: Containerd, folder: pathlib.Path, version: str,
        name: str = NODE, space: Space | None = None,
    ) -> None:
        self._plane = plane
        self._name = name
        self._space = space
        self._runtime = runtime
        self._log = folder / "kubelet.log"
        self._config = folder / "kubelet.json"
        self._daemon: Daemon | None = None
        values = dict(CONFIG)
        values["port"] = free_port()
        values["containerRuntimeEndpoint"] = f"unix://{runtime.dir}/containerd.sock"
        # A kubelet removes the logs of pods that it does not know, and two clusters run on one machine.
        values["podLogsDir"] = str(folder / "pod-logs")
        if version != "1.30":  # before, there was no such key, and control groups v1 were fine
            values["failCgroupV1"] = False
        self._values = values

    def start(self, **changes: object) -> None:
        """`changes` are keys of the kubelet's configuration file."""
        self._values |= changes
        self._config.write_text(json.dumps(self._values))
        self._daemon = Daemon(
            [
                *(self._space.enter if self._space else ()),
                str(self._plane.bin / "kubelet"),
                *("--config", str(self._config), "--kubeconfig", str(self._plane.kubeconfig)),
                *("--root-dir", str(ROOT), "--hostname-override", self._name, "-v", "2"),
            ],
            self._log,
        )
        wait_until(f"node ready, see {self._log}", self._ready)

    def _ready(self) -> bool:
        status = self._plane.kubectl(
            *("get", "node", self._name, "-o"),
            'jsonpath={.status.conditions[?(@.type=="Ready")].status}',
            check=False,
        )
        return status == "True" and self._answers()

    def _answers(self) -> bool:
        """The node's status may be that of the kubelet before."""
        with socket.socket() as probe:
            listening = probe.connect_ex(("127.0.0.1", self._values["port"])) == 0
        device_plugins = ROOT / "device-plugins/kubelet.sock"
        return listening and (self._space.at(device_plugins) if self._space else device_plugins).exists()

    def metrics(self) -> str:
        """Its page of metrics. It has signed its certificate itself."""
        page = f"https://127.0.0.1:{self._values['port']}/metrics"
        with urllib.request.urlopen(page, context=ssl._create_unverified_context(), timeout=10) as answer:
            return answer.read().decode()

    def log_text(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self) -> None:
        if self._daemon is not None and self._daemon.exit_code is None:
            self._daemon.end()

    def restart(self, **changes: object) -> None:
        self.stop()
        self.start(**changes)
