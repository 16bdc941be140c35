# SPDX-License-Identifier: Apache-2.0
"""A container's own variables of NCCL, UCX and NVSHMEM beside what it is given."""

from lib.case import RuntimeCase
from lib.cri import Inside, Refused
from lib.machine import SEED, Machine

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
WARNING = "environment-contradicts"
MANUAL_FIX = {VISIBLE: "4,5", "NCCL_IB_HCA": "mlx5_0"}  # seed 002: their NIC is mlx5_2


class Transports(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.running = self.agent(self.machine)

    def assert_nodes(self, inside: Inside, *nics: str) -> None:
        self.assertEqual(sorted(self.machine.devices(list(nics))), sorted(inside.nodes))
        self.assertEqual("mlx5_0", inside.env["NCCL_IB_HCA"])

    def test_the_manual_fix_of_seed_002_is_told_of(self) -> None:
        pod = self.pod()
        self.assert_nodes(pod.run(env=MANUAL_FIX).look(), "mlx5_2")
        told = self.running.decision(pod.name)[f"remark.{WARNING}"]
        self.assertRegex(told, 'NCCL_IB_HCA="mlx5_0" names no usable port .*mlx5_2:1')
        self.assertEqual(1, self.running.warnings(WARNING))

    def test_the_manual_fix_of_seed_002_is_refused_under_required(self) -> None:
        pod = self.pod(annotations={"rdma.railhead.io/pod": "required"})
        for env in (MANUAL_FIX, {VISIBLE: "4,5", "NCCL_IB_DISABLE": "1"}):
            name, value = list(env.items())[1]
            with self.subTest(name), self.assertRaisesRegex(
                Refused, f'railhead: .*{name}="{value}".*leave it out'
            ):
                pod.create(f"main-{name.lower().replace('_', '-')}", env=env)

    def test_a_slot_of_the_pool_gives_what_the_manual_fix_names(self) -> None:
        pod = self.pod()
        slot = {"allocation.railhead.io/rdma.io/hca": ""}
        inside = pod.run(env=MANUAL_FIX, annotations=slot).look()
        self.assert_nodes(inside, "mlx5_0", "mlx5_2")
        self.assertIn(f"remark.{WARNING}", self.running.decision(pod.name))

    def test_what_a_pod_says_of_allocations_leaves_no_slot_without_nodes(self) -> None:
        """Keys that the API server takes on a pod change nothing; the kubelet's own, which it refuses, is a refusal."""
        slot = {"allocation.railhead.io/rdma.io/hca": ""}
        many = {f"allocation.railhead.io/x{number}": "" for number in range(300)}
        inside = self.pod(annotations=many).run(annotations=many | slot).look()
        self.assertEqual("=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1", inside.env["NCCL_IB_HCA"])
        pod = self.pod(annotations=slot)
        with self.assertRaisesRegex(Refused, "railhead: .*also stands in the pod's annotations"):
            pod.create("main", annotations=slot)
        self.assertEqual("allocation-copied", self.running.decision(pod.name)["reason"])
