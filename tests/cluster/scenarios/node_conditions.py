# SPDX-License-Identifier: Apache-2.0
"""Conditions of the node, written by an agent that may read and patch the status of its own node and nothing else."""

import itertools
import json

from kube import account
from kube.case import ClusterCase
from kube.kubelet import NODE
from lib import paths
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until

RIGHTS = paths.TREE / "deploy/rbac/node-conditions.yaml"
COUNTED = "railhead_node_conditions_total"
LINK = "RDMALinkUnhealthy"


class NodeConditions(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.tree = self.unpacked(self.machine)
        account.make_account(self)
        self.addCleanup(self.forget)

    def forget(self) -> None:
        """As docs/doctor.md says."""
        types = [one["type"] for one in self.conditions() if "RDMA" in one["type"] or one["type"] == "Made"]
        gone = {"status": {"conditions": [{"$patch": "delete", "type": one} for one in types]}}
        self.cluster.plane.kubectl("patch", "node", NODE, "--subresource=status", "-p", json.dumps(gone))
        self.assertNotIn("RDMA", str([one["type"] for one in self.conditions()]))

    def start(self, kubeconfig: str) -> Agent:
        flags = ("--node-conditions", "true", "--doctor-interval", "1s", "--node-name", NODE)
        return self.agent(self.tree, *flags, "--kubeconfig", kubeconfig)

    def conditions(self) -> list[dict]:
        return json.loads(self.kubectl("get", "node", NODE, "-o", "json"))["status"]["conditions"]

    def condition(self, kind: str) -> dict:
        return next((one for one in self.conditions() if one["type"] == kind), {})

    def wait_status(self, kind: str, status: str) -> dict:
        wait_until(f"{kind} {status}", lambda: self.condition(kind).get("status") == status)
        return self.condition(kind)

    def set_port(self, text: str) -> None:
        self.tree.write(self.machine.port_state("mlx5_1"), text)

    def test_a_port_that_goes_down_is_a_condition_until_it_is_up(self) -> None:
        account.grant(self, RIGHTS)
        kubeconfig = account.agents_kubeconfig(self)
        agent = self.start(kubeconfig)
        before = {one["type"]: one["status"] for one in self.conditions() if "RDMA" not in one["type"]}
        good = self.wait_status(LINK, "False")
        self.assertEqual("RDMALinksAreUp", good["reason"])
        self.assertEqual({}, self.condition("RDMAMemoryLockTooLow"), "nothing is known of it")
        self.set_port("1: DOWN")
        bad = self.wait_status(LINK, "True")
        self.assertEqual("RDMALinkIsDown", bad["reason"])
        self.assertIn("link.port-state mlx5_1/1: DOWN", bad["message"])
        self.assertGreater(bad["lastTransitionTime"], good["lastTransitionTime"])
        self.assertEqual("False", self.condition("RDMADeviceMissing")["status"])
        self.assertRegex(self.kubectl("describe", "node", NODE), rf"{LINK} +True .* RDMALinkIsDown +link.port-state")
        written = agent.metric(COUNTED, outcome="written")
        self.assertLessEqual(written, 3, "looks each second, and writes where something changed")
        # Another agent goes on.
        self.assertEqual(0, agent.terminate())
        again = self.start(kubeconfig)
        wait_until("it has written", lambda: again.metric(COUNTED, outcome="written") >= 1)
        self.assertEqual(bad["lastTransitionTime"], self.condition(LINK)["lastTransitionTime"])
        self.assertGreater(self.condition(LINK)["lastHeartbeatTime"], bad["lastHeartbeatTime"])
        self.set_port("4: ACTIVE")
        self.wait_status(LINK, "False")
        after = {one["type"]: one["status"] for one in self.conditions() if "RDMA" not in one["type"]}
        self.assertEqual(before, after)
        self.assertEqual([], agent.events("node conditions not written") + again.events("node conditions not written"))

    def test_without_the_right_the_agent_says_so_once_and_serves(self) -> None:
        self.cluster.offer_gpus(self.machine)
        agent = self.start(account.agents_kubeconfig(self))
        wait_until("refusals", lambda: agent.metric(COUNTED, outcome="failed") >= 2)
        said = agent.events("node conditions not written", least=1)
        self.assertEqual(1, len(said))
        self.assertIn(f"GET /api/v1/nodes/{NODE}/status: 403 Forbidden: ", said[0]["why"])
        self.assertIn("node conditions: not written, trying again: ", agent.page("/readyz")[1])
        self.wait_running(self.apply("served", gpus=1))
        self.assertNotEqual({}, self.look("served").nodes)
        account.grant(self, RIGHTS)
        self.wait_status(LINK, "False")

    def test_without_an_api_server_the_agent_goes_on(self) -> None:
        kubeconfig = account.agents_kubeconfig(self)
        text = open(kubeconfig).read().replace(self.cluster.plane.server, "https://127.0.0.1:9")
        agent = self.start(self.config("gone", text))
        wait_until("it tried twice", lambda: agent.metric(COUNTED, outcome="failed") >= 2)
        self.assertEqual(1, len(agent.events("node conditions not written", least=1)))
        self.assertEqual(0, agent.terminate())

    def test_the_policy_leaves_the_token_nothing_else(self) -> None:
        account.grant(self, RIGHTS)
        kubeconfig = account.agents_kubeconfig(self)
        other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-2"}}
        self.kubectl("apply", "-f", "-", text=json.dumps(other))
        self.addCleanup(self.kubectl, "delete", "node", "node-2")

        def patch(node: str, body: dict, *words: str) -> str:
            words = ("--kubeconfig", kubeconfig, "patch", "node", node, *words, "-p", json.dumps(body))
            try:
                return self.kubectl(*words)
            except Failed as failure:
                return str(failure)

        def status(node: str, body: dict) -> str:
            return patch(node, {"status": body}, "--subresource=status")

        def condition(kind: str, message: str = "test") -> dict:
            when = "2026-11-23T10:00:00Z"
            return {"conditions": [{"type": kind, "status": "False", "reason": "Test", "message": message,
                                    "lastHeartbeatTime": when, "lastTransitionTime": when}]}

        only_ours = "may write only the conditions of RDMA"
        # Until then each try changes something: what is written already changes nothing and may be.
        tries = itertools.count()
        wait_until("the policy is in force", lambda: only_ours in status(NODE, condition("Made", str(next(tries)))))
        self.assertIn(only_ours, status(NODE, condition("Ready")))
        gone = {"conditions": [{"$patch": "delete", "type": "Ready"}]}
        self.assertIn(only_ours, status(NODE, gone))
        self.assertIn("only the node that its pod runs on", status("node-2", condition(LINK)))
        self.assertIn("patched", status(NODE, condition(LINK)))
        nothing_else = "may change nothing of a node but its conditions"
        self.assertIn(nothing_else, status(NODE, {"capacity": {"example.com/hca": "7"}}))
        self.assertIn(nothing_else, status(NODE, {"allocatable": {"cpu": "1m"}}))
        self.assertIn(nothing_else, status(NODE, {"addresses": [{"type": "ExternalIP", "address": "192.0.2.1"}]}))
        label = {"metadata": {"labels": {"try": "1"}}}
        self.assertIn(nothing_else, patch(NODE, label, "--subresource=status"))
        self.assertIn("forbidden", patch(NODE, label), "no right to the node itself")
