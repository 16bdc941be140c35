# SPDX-License-Identifier: Apache-2.0
"""The kubelet hands out the nodes where NRI is off."""

from kube.case import ClusterCase
from kube.host_nodes import host_nodes
from lib.machine import SEED, Machine

HCA = "rdma.io/hca"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class HandOut(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def test_device_specs_are_in_the_container_and_nothing_else(self) -> None:
        self.agent(self.machine, "--nri", "false")  # which makes it device-specs
        self.cluster.wait_allocatable(HCA, 100)
        with host_nodes(self.machine.devices(ALL)):
            inside = self.run_pod("specs", limits={HCA: 1})
            self.assertEqual(set(self.machine.devices(ALL)), set(inside.nodes))
            self.assertEqual("64", inside.memlock)  # only NRI can raise it
            self.assert_gets_nothing(self.run_pod("none"))

    def test_a_device_spec_that_the_host_does_not_have_is_named(self) -> None:
        self.agent(self.machine, "--handout", "device-specs", "--nri", "false")
        self.cluster.wait_allocatable(HCA, 100)
        self.apply("specs", limits={HCA: 1})
        self.wait_event("specs", "/dev/infiniband")

    def test_by_cdi_names_the_runtime_adds_the_nodes(self) -> None:
        folder = str(self.cluster.runtime.cdi)
        self.agent(self.machine, "--handout", "cdi", "--cdi-dir", folder, "--nri", "false")
        self.cluster.wait_allocatable(HCA, 100)
        wanted = {p: (d.major, d.minor) for p, d in self.machine.devices(ALL).items()}
        inside = self.run_pod("cdi", limits={HCA: 1})
        self.assertEqual(wanted, {p: (n.major, n.minor) for p, n in inside.nodes.items()})
        self.assert_gets_nothing(self.run_pod("none"))
