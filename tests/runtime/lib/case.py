# SPDX-License-Identifier: Apache-2.0
"""The base of every runtime test: one shared containerd, and what a test starts beside it."""

import pathlib
import re
import unittest

from peers.nri_plugin import NriPlugin

from .agent import Agent
from .containerd import HARD_MEMLOCK, SOFT_MEMLOCK, Containerd
from .cri import Inside, Pod
from .machine import Machine
from .runner import short_name

RAISED_KIB = str(HARD_MEMLOCK // 1024)  # `ulimit -l` of a container that we adjusted
UNTOUCHED_KIB = str(SOFT_MEMLOCK // 1024)


class RuntimeCase(unittest.TestCase):
    """Set by run.py for the whole run: `runtime`, and `folder` for what a failure leaves.

    `oci_runtime`: what runs the pods of a class, runc or crun.
    """

    runtime: Containerd
    folder: pathlib.Path
    oci_runtime = "runc"
    longMessage = True
    maxDiff = None

    def setUp(self) -> None:
        self.dir = self.folder / short_name(self)
        self.dir.mkdir(parents=True)
        self.addCleanup(self._remove_pods)
        self._agents: list[Agent] = []
        self.addCleanup(self._end_agents)

    def _remove_pods(self) -> None:
        self.runtime.cri.remove_all_pods()

    def _end_agents(self) -> None:
        for agent in self._agents:
            if agent.running():
                agent.kill()

    def agent(self, machine: Machine, *flags: str, ready: bool = True) -> Agent:
        """An agent on that machine beside the runtime; ended after the test."""
        log = self.dir / f"agent-{len(self._agents)}.log"
        agent = Agent(self.runtime.nri_socket, log, machine.snapshot, flags)
        self._agents.append(agent)
        return agent.start(ready)

    def plugin(self, name: str, index: str, adjustment: dict) -> NriPlugin:
        """Somebody else's NRI plugin, which adds the same to every container."""
        socket = str(self.runtime.nri_socket)
        plugin = NriPlugin(socket, name, index, lambda _pod, _container: adjustment)
        self.addCleanup(plugin.close)
        plugin.wait_synchronized()
        return plugin

    def pod(
        self,
        *,
        annotations: dict[str, str] | None = None,
        host_network: bool = True,
        privileged: bool = False,
    ) -> Pod:
        return self.runtime.cri.run_pod(
            annotations=annotations,
            host_network=host_network,
            privileged=privileged,
            handler=self.oci_runtime,
        )

    def gpu_nodes(self, machine: Machine, *indices: int) -> dict[str, str]:
        """CRI devices as NVIDIA's device plugin or CDI leave them: /dev/nvidiaN is 195:N."""
        minors = [machine.gpus[index].minor for index in indices]
        node = self.runtime.character_device
        nodes = {f"/dev/nvidia{minor}": node(195, minor) for minor in minors}
        return {**nodes, "/dev/nvidiactl": node(195, 255)}

    def assert_gets(self, inside: Inside, machine: Machine, nics: list[str]) -> None:
        """The nodes of exactly these NICs as the host has them, the raised limit, the variable."""
        wanted = machine.devices(nics)
        self.assertEqual(sorted(wanted), sorted(inside.nodes))
        for path, node in inside.nodes.items():
            self.assertEqual("character special file", node.kind, path)
            found = (node.major, node.minor, node.mode, node.owner)
            device = wanted[path]
            self.assertEqual((device.major, device.minor, device.mode, device.owner), found, path)
        self.assertEqual(RAISED_KIB, inside.memlock)
        self.assert_hca(inside, nics)

    def assert_hca(self, inside: Inside, nics: list[str]) -> None:
        value = inside.env.get("NCCL_IB_HCA", "")
        self.assertRegex(value, "^=", "an exact match, so that mlx5_1 is not mlx5_10, too")
        named = {re.sub(r":\d+$", "", entry) for entry in value.removeprefix("=").split(",")}
        self.assertEqual(set(nics), named, value)

    def assert_gets_nothing(self, inside: Inside) -> None:
        self.assertEqual({}, inside.nodes)
        self.assertEqual(UNTOUCHED_KIB, inside.memlock)
        self.assertEqual([], [name for name in inside.env if name.startswith("NCCL_")])
