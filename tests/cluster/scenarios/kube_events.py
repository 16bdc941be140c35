# SPDX-License-Identifier: Apache-2.0
"""Events of pods and of the node, posted by an agent that may create and patch events and nothing else."""

import json

from kube import account
from kube.case import ClusterCase
from kube.kubelet import NODE
from lib import paths
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import wait_until

RIGHTS = paths.TREE / "deploy/rbac/events.yaml"
REQUIRED = {"rdma.railhead.io/container.main": "required"}
POSTED = "railhead_kube_events_total"


class KubeEvents(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.cluster.offer_gpus(self.machine)
        account.make_account(self)
        self.addCleanup(self.kubectl, "delete", "events", "--field-selector", "reportingComponent=railhead")

    def start(self, kubeconfig: str) -> Agent:
        return self.agent(
            self.machine,
            *("--kubernetes-events", "true", "--node-name", NODE, "--kubeconfig", kubeconfig),
        )

    def described(self, kind: str, name: str) -> str:
        return self.kubectl("describe", kind, name)

    def counts(self, pod: str) -> list[int]:
        words = ("--field-selector", f"involvedObject.name={pod},reason=RdmaRequiredNotMet", "-o", "json")
        return [one["count"] for one in json.loads(self.kubectl("get", "events", *words))["items"]]

    def test_kubectl_describe_shows_a_refusal_with_its_count(self) -> None:
        account.grant(self, RIGHTS)
        agent = self.start(account.agents_kubeconfig(self))
        self.apply("must", annotations=REQUIRED)  # the kubelet tries again and again
        wait_until("an event of the pod", lambda: "RdmaRequiredNotMet" in self.described("pod", "must"))
        line = next(one for one in self.described("pod", "must").splitlines() if "RdmaRequiredNotMet" in one)
        self.assertRegex(line, r"Warning +RdmaRequiredNotMet .* railhead +container main: railhead: ")
        wait_until("one of the node", lambda: "RdmaRequiredNotMet" in self.described("node", NODE))
        self.assertIn("pod default/must, container main: its events say more", self.described("node", NODE))
        self.assertEqual(2, agent.metric(POSTED, outcome="posted"))
        self.assertEqual(0, agent.metric(POSTED, outcome="dropped"))

        first = self.counts("must")
        self.assertEqual(1, len(first))
        wait_until("both patched, a minute later", lambda: agent.metric(POSTED, outcome="posted") >= 4, 100)
        again = self.counts("must")
        self.assertEqual(1, len(again), "the same object")
        self.assertGreater(again[0], first[0])
        line = next(one for one in self.described("pod", "must").splitlines() if "RdmaRequiredNotMet" in one)
        self.assertIn(f"(x{again[0]} over ", line)
        self.assertEqual([], agent.events("events not posted"))
        self.assertNotIn("RdmaEvents ", self.described("node", NODE), "what is tried at the start is kept nowhere")

    def test_a_variable_that_contradicts_is_an_event_of_the_pod(self) -> None:
        account.grant(self, RIGHTS)
        self.start(account.agents_kubeconfig(self))
        self.apply("against", gpus=1, env={"NCCL_IB_DISABLE": "1"})
        self.wait_running("against")
        wait_until("an event", lambda: "RdmaEnvironmentContradicts" in self.described("pod", "against"))
        self.assertIn("NCCL_IB_DISABLE", self.described("pod", "against"))

    def test_without_the_right_the_agent_says_so_once_and_serves(self) -> None:
        agent = self.start(account.agents_kubeconfig(self))
        wait_until("it says so at the start", lambda: agent.events("events not posted"))
        for name in ("must-1", "must-2"):
            self.apply(name, annotations=REQUIRED)
        wait_until("a refusal", lambda: agent.metric(POSTED, outcome="failed") >= 2)
        said = agent.events("events not posted")
        self.assertEqual(1, len(said))
        self.assertIn("403 Forbidden", said[0]["why"])
        self.wait_running(self.apply("served", gpus=1))
        self.assertNotEqual({}, self.look("served").nodes)

    def test_without_an_api_server_containers_are_served(self) -> None:
        kubeconfig = account.agents_kubeconfig(self)
        gone = self.config("gone", open(kubeconfig).read().replace(self.cluster.plane.server, "https://127.0.0.1:9"))
        agent = self.start(gone)
        self.apply("must", annotations=REQUIRED)
        wait_until("it tried twice", lambda: agent.metric(POSTED, outcome="failed") >= 2)
        self.assertEqual(1, len(agent.events("events not posted", least=1)))
        self.wait_running(self.apply("served", gpus=1))
        self.assertEqual(0, agent.terminate())
