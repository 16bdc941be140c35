# SPDX-License-Identifier: Apache-2.0
"""A configuration that changes while the agent runs."""

from kube.case import ClusterCase
from lib.machine import SEED, Machine
from lib.process import wait_until

HCA = "rdma.io/hca"
NEW = "example.com/nic"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class Reload(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def write(self, pools: str) -> str:
        return self.config("config.yaml", "pools:\n" + pools)

    def test_pools_come_change_and_go(self) -> None:
        agent = self.agent(self.machine, "--config", self.write(f"  - {{name: {HCA}, slots: 3}}\n"))
        self.cluster.wait_allocatable(HCA, 3)
        new = f"  - {{name: {NEW}, slots: 2, include: {{names: mlx5_1}}}}\n"
        self.write(f"  - {{name: {HCA}, slots: 5}}\n" + new)
        self.cluster.wait_allocatable(HCA, 5)
        self.cluster.wait_allocatable(NEW, 2)
        self.assert_gets(self.run_pod("new", limits={NEW: 1}), self.machine, ["mlx5_1"])
        self.write("  - {nam: broken}\n")
        refused = {"name": "railhead_config_reloads_total", "outcome": "refused"}
        wait_until("the broken file refused", lambda: agent.metric(**refused) >= 1)
        self.assert_gets(self.run_pod("still", limits={HCA: 1}), self.machine, ALL)
        self.write(new)
        self.cluster.wait_allocatable(HCA, 0)
