# SPDX-License-Identifier: Apache-2.0
"""Ethernet NICs: only where the pod shares the node's network, else none, and the reason."""

from lib.case import RuntimeCase
from lib.cri import Refused
from lib.machine import ROCE, Machine

VISIBLE = "NVIDIA_VISIBLE_DEVICES"


class Roce(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(ROCE)
        self.gpu = {VISIBLE: self.machine.gpus[2].uuid}
        self.nics = self.machine.nearest(2)

    def test_a_pod_on_the_hosts_network_gets_its_nics(self) -> None:
        self.agent(self.machine)
        inside = self.pod(host_network=True).run(env=self.gpu, user=1000).look()
        self.assert_gets(inside, self.machine, self.nics)

    def test_a_pod_with_its_own_network_gets_none_and_the_reason_is_told(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod(host_network=False)
        self.assert_gets_nothing(pod.run(env=self.gpu).look())
        self.assertEqual("roce-own-network", agent.decision(pod.name)["reason"])
        decided = "railhead_nri_decisions_total"
        self.assertEqual(1, agent.metric(decided, outcome="untouched", reason="roce-own-network"))

    def test_the_operator_may_want_them_there_all_the_same(self) -> None:
        self.agent(self.machine, "--roce-without-host-network", "true")
        inside = self.pod(host_network=False).run(env=self.gpu).look()
        self.assert_gets(inside, self.machine, self.nics)

    def test_required_without_a_usable_nic_tells_the_kubelet_why(self) -> None:
        agent = self.agent(self.machine)
        pod = self.pod(host_network=False, annotations={"rdma.railhead.io/pod": "required"})
        with self.assertRaisesRegex(Refused, "railhead: .*network"):
            pod.create(env=self.gpu)
        self.assertEqual("refused", agent.decision(pod.name)["outcome"])
        pod.create("sidecar")  # the pod form reaches only containers with GPUs
