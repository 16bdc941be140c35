# SPDX-License-Identifier: Apache-2.0
"""`railhead doctor --pod`: what a real container may do, seen from outside through procfs."""

import json
import subprocess

from lib import paths
from lib.case import RuntimeCase
from lib.cri import Pod
from lib.machine import SEED, Machine


class Doctor(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def examine(self, pod: Pod, name: str) -> dict[str, list[dict]]:
        """Findings by check."""
        command = [paths.railhead(), "doctor", "--snapshot", paths.machine(SEED), "--pod", name, "-o", "json"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertIn(said.returncode, (0, 1, 2), said.stderr)
        self.assertTrue(said.stdout, said.stderr)
        by_id: dict[str, list[dict]] = {}
        for finding in json.loads(said.stdout)["findings"]:
            by_id.setdefault(finding["id"], []).append(finding)
        return by_id

    def states(self, found: dict[str, list[dict]], check: str) -> list[str]:
        return [one["state"] for one in found[check]]

    def test_a_container_that_the_agent_injected_is_well(self) -> None:
        self.agent(self.machine)
        pod = self.pod()
        pod.run(devices=self.gpu_nodes(self.machine, 4))
        found = self.examine(pod, f"default/{pod.name}")
        self.assertEqual(["PASS"], self.states(found, "pod.devices"), found["pod.devices"])
        self.assertEqual("mlx5_2", found["pod.devices"][0]["observed"])
        for check in ("pod.device-access", "pod.management-nodes", "pod.privileged", "pod.environment", "pod.affinity"):
            self.assertEqual({"PASS"}, set(self.states(found, check)), found[check])
        self.assertTrue(found["pod.devices"][0]["evidence"][0]["path"].endswith("/root/dev/infiniband/uverbs2"))

    def test_a_container_without_an_agent_has_no_device(self) -> None:
        pod = self.pod()
        pod.run(devices=self.gpu_nodes(self.machine, 4))
        found = self.examine(pod, f"default/{pod.name}")
        self.assertEqual(["WARN"], self.states(found, "pod.devices"), found["pod.devices"])
        self.assertIn("NCCL takes TCP", found["pod.devices"][0]["effect"])

    def test_a_bind_mount_of_nodes_grants_nothing(self) -> None:
        node = self.machine.uverbs("mlx5_2")
        outside = self.runtime.character_device(node.major, node.minor)
        pod = self.pod()
        pod.run(mounts={"/dev/infiniband/uverbs2": outside})
        found = self.examine(pod, f"default/{pod.name}")
        self.assertEqual(["FAIL"], self.states(found, "pod.device-access"), found["pod.device-access"])
        self.assertIn("EPERM", found["pod.device-access"][0]["effect"])
