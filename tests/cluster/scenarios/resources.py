# SPDX-License-Identifier: Apache-2.0
"""Pods that ask for RDMA resources, in our own words."""

from kube.case import ClusterCase
from lib.machine import SEED, Machine

HCA = "rdma.io/hca"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class Resources(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def test_a_slot_of_the_default_pool_admits_to_every_compute_nic(self) -> None:
        self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        inside = self.run_pod("slot", limits={HCA: 1})
        self.assert_gets(inside, self.machine, ALL)
        self.assert_gets_nothing(self.run_pod("none"))

    def test_a_slot_beside_gpus_does_not_widen_what_the_gpus_get(self) -> None:
        self.cluster.offer_gpus(self.machine)
        self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        inside = self.run_pod("two", gpus=2, limits={HCA: 1})
        order = [gpu.uuid for gpu in self.machine.gpus]
        uuids = inside.env["NVIDIA_VISIBLE_DEVICES"].split(",")
        nics = sorted({ALL[order.index(uuid) // 2] for uuid in uuids})
        self.assert_gets(inside, self.machine, nics)
        self.delete("two")
        self.assert_gets(self.run_pod("eight", gpus=8, limits={HCA: 1}), self.machine, ALL)

    def test_an_exclusive_function_belongs_to_one_pod(self) -> None:
        pools = (
            "pools:\n  - name: example.com/nic\n    mode: exclusive\n"
            "    include: {names: [mlx5_1, mlx5_3]}\n"
        )
        self.agent(self.machine, "--config", self.config("pools.yaml", pools))
        self.cluster.wait_allocatable("example.com/nic", 2)
        first = self.run_pod("first", limits={"example.com/nic": 1})
        second = self.run_pod("second", limits={"example.com/nic": 1})
        names = [inside.env["NCCL_IB_HCA"] for inside in (first, second)]
        self.assertEqual(["=mlx5_1:1", "=mlx5_3:1"], sorted(names))
        for inside, name in zip((first, second), names):
            self.assert_gets(inside, self.machine, [name[1:-2]])

    def test_gpus_of_the_environment_count_for_pods_that_hold_gpus(self) -> None:
        self.agent(self.machine)
        forged = {"NVIDIA_VISIBLE_DEVICES": "0,1,2,3"}
        self.assert_gets_nothing(self.run_pod("forged", env=forged))
