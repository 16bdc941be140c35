# SPDX-License-Identifier: Apache-2.0
"""What RDMA needs beside the nodes: rights, the memory-lock limit, the environment."""

from lib.case import RAISED_KIB, RuntimeCase
from lib.machine import H100, Machine

VISIBLE = "NVIDIA_VISIBLE_DEVICES"


class Permissions(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(H100)
        self.gpu = {VISIBLE: self.machine.gpus[0].uuid}
        self.nics = self.machine.nearest(0)

    def test_a_user_without_capabilities_sees_nodes_and_raised_memlock(self) -> None:
        self.agent(self.machine)
        inside = self.pod().run(env=self.gpu, user=1000).look()
        self.assertEqual(1000, inside.uid)
        self.assert_gets(inside, self.machine, self.nics)

    def test_the_device_cgroup_lets_the_nodes_be_opened(self) -> None:
        self.agent(self.machine)
        container = self.pod().run(env=self.gpu, user=1000)
        for path in self.machine.devices(self.nics):
            said = container.exec("cat", path)
            # No driver here: ENXIO or ENODEV, if the cgroup lets us through to the driver.
            self.assertNotIn("not permitted", said)
            self.assertNotIn("denied", said)

    def test_memlock_is_clamped_to_what_the_runtime_can_set_and_says_so(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod()
        self.assertEqual(RAISED_KIB, pod.run(env=self.gpu).look().memlock)
        self.assertIn("remark.memlock-clamped", agent.decision(pod.name))
        self.assertEqual(1, agent.warnings("memlock-clamped"))

    def test_the_operators_cap_on_memlock_holds(self) -> None:
        self.agent(self.machine, "--memlock-cap", "1048576")
        self.assertEqual("1024", self.pod().run(env=self.gpu).look().memlock)

    def test_a_variable_that_the_user_set_is_left(self) -> None:
        self.agent(self.machine)
        env = {**self.gpu, "NCCL_IB_HCA": "mlx5_7"}
        inside = self.pod().run(env=env).look()
        self.assertEqual("mlx5_7", inside.env["NCCL_IB_HCA"])
        self.assertEqual(sorted(self.machine.devices(self.nics)), sorted(inside.nodes))

    def test_a_node_that_is_there_already_is_not_added_again(self) -> None:
        agent = self.agent(self.machine)
        verbs = self.machine.uverbs(self.nics[0])
        host = self.runtime.character_device(verbs.major, verbs.minor)
        pod = self.pod()
        inside = pod.run(env=self.gpu, devices={verbs.path: host}).look()
        self.assertIn(verbs.path, inside.nodes)
        self.assertNotEqual("refused", agent.decision(pod.name)["outcome"])

    def test_a_privileged_container_gets_memlock_and_environment_only(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod(privileged=True)
        inside = pod.run(env=self.gpu, privileged=True).look()
        self.assertEqual("privileged", agent.decision(pod.name)["reason"])
        self.assertNotIn(self.machine.uverbs(self.nics[0]).path, inside.nodes)
        self.assertEqual(RAISED_KIB, inside.memlock)
        self.assert_hca(inside, self.nics)
