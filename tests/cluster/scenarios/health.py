# SPDX-License-Identifier: Apache-2.0
"""A machine that changes while pods run: the agent reads a tree of files that the test edits."""

import time

from kube.case import ClusterCase
from kube.pod import UNTIL_RELEASED
from lib.machine import SEED, Machine
from lib.process import wait_until

RAIL = "example.com/rail"
POOL = "pools: [{name: example.com/rail, slotsPerNic: 1}]\n"


class Health(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.tree = self.unpacked(self.machine)
        self.agent(self.tree, "--config", self.config("pools.yaml", POOL))
        self.cluster.wait_allocatable(RAIL, 4)

    def set_port(self, nic: str, state: str) -> None:
        self.tree.write(self.machine.port_state(nic), state)

    def test_a_slot_is_not_allocatable_while_its_port_is_down(self) -> None:
        began = time.monotonic()
        self.set_port("mlx5_1", "1: DOWN")
        self.cluster.wait_allocatable(RAIL, 3)
        self.measured("port down to allocatable", time.monotonic() - began)
        self.assertEqual(4, self.cluster.capacity(RAIL))
        inside = self.run_pod("three", limits={RAIL: 3})
        self.assert_gets(inside, self.machine, ["mlx5_0", "mlx5_2", "mlx5_3"])
        began = time.monotonic()
        self.set_port("mlx5_1", "4: ACTIVE")
        self.cluster.wait_allocatable(RAIL, 4)
        self.measured("port up to allocatable, 5 s of patience included", time.monotonic() - began)
        inside = self.run_pod("one", limits={RAIL: 1})
        self.assert_gets(inside, self.machine, ["mlx5_1"])

    def test_a_container_that_starts_again_gets_the_numbers_of_today(self) -> None:
        self.run_pod("all", limits={RAIL: 4}, command=UNTIL_RELEASED)
        self.tree.renumber("mlx5_0", "231:250")
        self.release("all", "main")

        def is_back() -> bool:
            main = self.status("all")["containerStatuses"][0]
            return main["restartCount"] == 1 and "running" in main["state"]

        # The kubelet allocates nothing anew here: it has kept the answer of the first time.
        wait_until("the container started again", is_back)
        node = self.look("all").nodes["/dev/infiniband/uverbs0"]
        self.assertEqual((231, 250), (node.major, node.minor))
