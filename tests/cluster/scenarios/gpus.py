# SPDX-License-Identifier: Apache-2.0
"""Pods that ask for GPUs and for nothing else."""

import re
import time

from kube.case import ClusterCase
from kube.pod import GPU_RESOURCE
from lib.machine import SEED, Machine

ANSWER_LIFE_S = 30  # kAnswerLife of src/agent/pod_answers.h
NICS = ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1", "mlx5_2", "mlx5_2", "mlx5_3", "mlx5_3"]


class Gpus(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.cluster.offer_gpus(self.machine)

    def nics_of(self, inside) -> list[str]:
        """The NICs that belong to the GPUs which the device plugin gave."""
        uuids = inside.env["NVIDIA_VISIBLE_DEVICES"].split(",")
        order = [gpu.uuid for gpu in self.machine.gpus]
        return sorted({NICS[order.index(uuid)] for uuid in uuids})

    def test_a_pod_gets_the_nics_of_the_gpus_that_the_kubelet_chose(self) -> None:
        self.agent(self.machine)
        for number in range(4):
            inside = self.run_pod(f"two-{number}", gpus=2)
            self.assert_gets(inside, self.machine, self.nics_of(inside))
            self.assertEqual(1000, inside.uid)

    def questions(self) -> int:
        """How often the kubelet's PodResources was asked what pods hold."""
        counter = r"^kubelet_pod_resources_endpoint_requests_(?:get|list)\{.*\} (\d+)$"
        return sum(map(int, re.findall(counter, self.cluster.kubelet.metrics(), re.M)))

    def test_a_pod_is_asked_for_once_before_its_containers_come(self) -> None:
        self.agent(self.machine)
        self.run_pod("first", gpus=1)  # asks itself; from then on pods are asked for ahead
        before = self.questions()
        began = time.monotonic()
        self.apply("next", gpus=2, waits=True)
        self.wait_initializing("next")
        self.assertEqual(before + 1, self.questions(), "its container with GPUs has not come")
        self.release("next")
        self.wait_running("next")
        inside = self.look("next")
        self.assert_gets(inside, self.machine, self.nics_of(inside))
        if time.monotonic() - began < ANSWER_LIFE_S:
            self.assertEqual(before + 1, self.questions())

    def test_eight_gpus_get_every_nic(self) -> None:
        self.agent(self.machine)
        inside = self.run_pod("eight", gpus=8)
        self.assert_gets(inside, self.machine, sorted(set(NICS)))

    def test_a_pod_without_gpus_gets_nothing(self) -> None:
        self.agent(self.machine)
        self.assert_gets_nothing(self.run_pod("plain"))

    def test_gpus_survive_a_restart_of_the_kubelet_and_so_do_their_nics(self) -> None:
        self.agent(self.machine)
        before = self.run_pod("before", gpus=2)
        self.cluster.kubelet.restart()
        self.cluster.wait_allocatable(GPU_RESOURCE, 8)
        self.assertEqual(before, self.look("before"))
        inside = self.run_pod("after", gpus=2)
        self.assert_gets(inside, self.machine, self.nics_of(inside))

    def test_a_killed_agent_that_is_back_serves_the_next_pod(self) -> None:
        agent = self.agent(self.machine)
        agent.kill()
        agent.start()
        inside = self.run_pod("next", gpus=1)
        self.assert_gets(inside, self.machine, self.nics_of(inside))
