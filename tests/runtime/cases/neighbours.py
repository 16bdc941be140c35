# SPDX-License-Identifier: Apache-2.0
"""Other plugins on the node, and a second one of ours, as in a rolling update."""

from lib.case import RuntimeCase
from lib.containerd import HARD_MEMLOCK
from lib.cri import Refused
from lib.machine import H100, Machine
from peers.nri_plugin import device

VISIBLE = "NVIDIA_VISIBLE_DEVICES"


class Neighbours(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(H100)
        self.gpu = {VISIBLE: self.machine.gpus[3].uuid}
        self.nics = self.machine.nearest(3)
        verbs = self.machine.uverbs(self.nics[0])
        self.same_path = {"linux": {"devices": [device(verbs.path, verbs.major, verbs.minor)]}}

    def test_a_plugin_below_us_may_add_the_same_path(self) -> None:
        self.plugin("below", "10", self.same_path)
        agent = self.agent(self.machine)
        pod = self.pod()
        inside = pod.run(env=self.gpu).look()
        self.assertIn(self.machine.uverbs(self.nics[0]).path, inside.nodes)
        self.assertNotEqual("refused", agent.decision(pod.name)["outcome"])

    def test_a_plugin_below_us_may_set_the_limit_and_the_variable(self) -> None:
        limit = {"type": "RLIMIT_MEMLOCK", "hard": HARD_MEMLOCK, "soft": HARD_MEMLOCK}
        variable = {"key": "NCCL_IB_HCA", "value": "=mlx5_9"}
        self.plugin("below", "10", {"rlimits": [limit], "env": [variable]})
        self.agent(self.machine)
        inside = self.pod().run(env=self.gpu).look()
        self.assertEqual(sorted(self.machine.devices(self.nics)), sorted(inside.nodes))
        self.assertEqual("=mlx5_9", inside.env["NCCL_IB_HCA"])

    def test_the_runtime_names_a_later_plugin_with_the_same_path(self) -> None:
        agent = self.agent(self.machine)
        self.plugin("above", "95", self.same_path)
        pod = self.pod()
        path = self.machine.uverbs(self.nics[0]).path
        with self.assertRaisesRegex(Refused, f'"95-above" and "90-railhead" .* {path}'):
            pod.create(env=self.gpu)
        # What we did to that container stands in our log, for whoever reads that error.
        decision = agent.decision(pod.name)
        self.assertEqual(("adjusted", self.nics[0]), (decision["outcome"], decision["nics"]))
        # The kubelet asks again, and then the agent can say what is going on.
        with self.assertRaises(Refused):
            pod.create(env=self.gpu)
        (again,) = agent.events("container created again", least=1)
        self.assertIn("both tried to set", again["why"])
        self.assertEqual(1, agent.metric("railhead_nri_created_again_total"))

    def test_two_agents_add_each_device_once(self) -> None:
        for name, index in (("railhead", "90"), ("railhead", "89"), ("railhead-new", "90")):
            with self.subTest(name=name, index=index):
                agents = [
                    self.agent(self.machine),
                    self.agent(
                        self.machine, "--nri-plugin-name", name, "--nri-plugin-index", index
                    ),
                ]
                container = self.pod().run(env=self.gpu, user=1000)
                self.assert_gets(container.look(), self.machine, self.nics)
                paths = [d["path"] for d in container.spec()["linux"]["devices"]]
                self.assertEqual(len(set(paths)), len(paths))
                self.assertEqual(2, sum(a.metric("railhead_nri_connected") for a in agents))
                for agent in agents:
                    agent.kill()
