# SPDX-License-Identifier: Apache-2.0
"""Who keeps resources known to the kubelet, whatever starts, ends or overlaps."""

import time

from kube.case import ClusterCase
from kube.kubelet import ROOT
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import wait_until

HCA = "rdma.io/hca"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class Registration(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def wait_back(self, when: str, began: float, agent: Agent, enrolments: int = 1) -> None:
        """All slots are allocatable, by this agent."""
        asked = {"name": "railhead_kubelet_registrations_total", "pool": HCA}
        wait_until("registered", lambda: agent.metric(**asked) >= enrolments)
        # The node's status may still be that of before.
        wait_until("watched", lambda: agent.metric("railhead_kubelet_enrolled", pool=HCA) == 1)
        self.cluster.wait_allocatable(HCA, 100)
        self.measured(f"capacity back {when}", time.monotonic() - began)

    def test_capacity_is_back_after_a_restart_of_the_kubelet(self) -> None:
        agent = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        self.run_pod("before", limits={HCA: 1})
        began = time.monotonic()
        self.cluster.kubelet.restart()
        self.wait_back("after the kubelet was ended, its start included", began, agent, 2)
        self.assert_gets(self.run_pod("after", limits={HCA: 1}), self.machine, ALL)
        self.assert_gets(self.look("before"), self.machine, ALL)

    def test_capacity_is_back_after_the_agent_was_killed(self) -> None:
        agent = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        agent.kill()
        self.cluster.wait_allocatable(HCA, 0)
        began = time.monotonic()
        agent.start()
        self.wait_back("after the start of an agent that was killed", began, agent)
        self.assert_gets(self.run_pod("next", limits={HCA: 1}), self.machine, ALL)

    def test_a_successor_stands_by_and_takes_over(self) -> None:
        old = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        new = self.agent(self.machine)  # ready although the other one holds the registration
        self.assertEqual(0, new.metric("railhead_kubelet_enrolled", pool=HCA))
        self.assert_gets(self.run_pod("overlap", limits={HCA: 1}), self.machine, ALL)
        began = time.monotonic()
        self.assertEqual(0, old.terminate())
        self.wait_back("in the hands of the successor", began, new)
        self.assert_gets(self.run_pod("after", limits={HCA: 1}), self.machine, ALL)

    def test_the_kubelet_finds_our_socket_in_its_plugin_registry(self) -> None:
        agent = self.agent(self.machine, "--registration", "found")
        self.cluster.wait_allocatable(HCA, 100)
        self.assertEqual([], list((ROOT / "device-plugins").glob("railhead-*.sock")))
        self.assert_gets(self.run_pod("found", limits={HCA: 1}), self.machine, ALL)
        self.cluster.kubelet.restart()
        self.cluster.wait_allocatable(HCA, 100)
        agent.kill()
        self.cluster.wait_allocatable(HCA, 0)
        agent.start()
        self.cluster.wait_allocatable(HCA, 100)
        self.assert_gets(self.run_pod("again", limits={HCA: 1}), self.machine, ALL)
