# SPDX-License-Identifier: Apache-2.0
"""What cannot be had is refused with a reason that the user sees, and tried again."""

from kube.case import ClusterCase
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import wait_until

HCA = "rdma.io/hca"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
REQUIRED = {"rdma.railhead.io/pod": "required"}


class Refusals(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def test_required_that_cannot_be_met_is_an_event_with_the_reason(self) -> None:
        machine = Machine("gpus-only")
        self.cluster.offer_gpus(machine)
        self.agent(machine)
        self.apply("must", gpus=1, annotations=REQUIRED)
        self.wait_event("must", "railhead: ")
        self.assertEqual("Pending", self.status("must")["phase"])
        self.assert_gets_nothing(self.run_pod("may", gpus=1))

    def test_a_start_is_refused_while_the_runtime_is_not_connected(self) -> None:
        path = self.folder / "deaf.sock"
        agent = Agent(path, self.dir / "agent-deaf.log", self.machine.snapshot)
        self._agents.append(agent)
        agent.start(ready=False)
        wait_until("enrolled", lambda: agent.metric("railhead_kubelet_enrolled", pool=HCA) == 1)
        self.cluster.wait_allocatable(HCA, 100)
        self.apply("waits", limits={HCA: 1})
        self.wait_event("waits", "railhead: the agent cannot give this container its RDMA devices")
        self.assertEqual("Pending", self.status("waits")["phase"])
        path.symlink_to(self.cluster.runtime.nri_socket)
        agent.wait_ready()
        self.wait_running("waits")
        self.assert_gets(self.look("waits"), self.machine, ALL)

    def test_killed_after_allocate_the_container_waits_for_the_agent(self) -> None:
        agent = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        self.apply("allocated", limits={HCA: 1}, waits=True)
        self.wait_initializing("allocated")
        agent.kill()
        self.release("allocated")
        self.wait_event("allocated", "PreStartContainer")
        self.assertEqual("Pending", self.status("allocated")["phase"])
        agent.start()
        self.wait_running("allocated")
        self.assert_gets(self.look("allocated"), self.machine, ALL)
