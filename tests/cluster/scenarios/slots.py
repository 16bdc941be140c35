# SPDX-License-Identifier: Apache-2.0
"""Slots that are a NIC: identity, NUMA node, and what the Topology Manager makes of them."""

from kube.case import ClusterCase
from kube.numa import two_nodes
from lib.cri import Inside
from lib.machine import SEED, Machine

RAIL = "example.com/rail"
POOL = "pools: [{{name: example.com/rail, slotsPerNic: {}, include: {{names: [{}]}}}}]\n"


class SlotCase(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def offer(self, slots: int, *nics: str) -> None:
        pool = self.config("pools.yaml", POOL.format(slots, ", ".join(nics)))
        self.agent(self.machine, "--config", pool)
        self.cluster.wait_allocatable(RAIL, slots * len(nics))


class Slots(SlotCase):
    def nics_of(self, inside: Inside) -> list[str]:
        names = inside.env["NCCL_IB_HCA"].lstrip("=").split(",")
        return [name.removesuffix(":1") for name in names]

    def test_each_slot_is_one_nic_and_two_slots_are_two(self) -> None:
        self.offer(1, "mlx5_0", "mlx5_1", "mlx5_3")
        one = self.run_pod("one", limits={RAIL: 1})
        two = self.run_pod("two", limits={RAIL: 2})
        first, second = self.nics_of(one), self.nics_of(two)
        self.assertEqual([1, 2], [len(first), len(second)])
        self.assertEqual(["mlx5_0", "mlx5_1", "mlx5_3"], sorted(first + second))
        self.assert_gets(one, self.machine, first)
        self.assert_gets(two, self.machine, second)

    def test_two_slots_of_one_nic_go_to_two_pods(self) -> None:
        self.offer(2, "mlx5_2")
        for name in ("a", "b"):
            self.assert_gets(self.run_pod(name, limits={RAIL: 1}), self.machine, ["mlx5_2"])


class Numa(SlotCase):
    """On a kubelet with two NUMA nodes that wants everything of a container on one of them."""

    def setUp(self) -> None:
        super().setUp()
        kubelet = self.cluster.kubelet
        self.addCleanup(lambda: kubelet.restart(topologyManagerPolicy="none"))
        nodes = two_nodes(self.dir / "nodes")
        nodes.__enter__()
        self.addCleanup(nodes.__exit__, None, None, None)
        kubelet.restart(topologyManagerPolicy="single-numa-node")
        self.cluster.offer_gpus(self.machine)

    def nodes_of(self, inside: Inside) -> set[int]:
        """The NUMA nodes of the GPUs that a container holds."""
        mine = inside.env["NVIDIA_VISIBLE_DEVICES"].split(",")
        gpus = [gpu for gpu in self.machine.gpus if gpu.uuid in mine]
        return {self.machine.numa_node(gpu.pci) for gpu in gpus}

    def test_gpus_come_from_the_slots_numa_node_or_the_pod_is_rejected(self) -> None:
        self.offer(2, "mlx5_2", "mlx5_3")  # both on node 1, with four of the eight GPUs
        for name in ("a", "b"):
            inside = self.run_pod(name, gpus=2, limits={RAIL: 1})
            self.assertEqual({1}, self.nodes_of(inside))
        self.apply("unaligned", gpus=1, limits={RAIL: 1})
        self.wait_event("unaligned", "TopologyAffinityError")
        self.assertEqual("Failed", self.status("unaligned")["phase"])
        self.assertEqual({0}, self.nodes_of(self.run_pod("without-a-slot", gpus=4)))
