# SPDX-License-Identifier: Apache-2.0
"""A node that joins with the startup taint while pods wait for it."""

import itertools
import json
import pathlib

from kube import account
from kube.case import ClusterCase
from kube.kubelet import NODE
from lib import paths
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until

TAINT = {"key": "railhead.io/not-ready", "effect": "NoSchedule"}
OTHER = {"key": "example.com/kept", "value": "yes", "effect": "PreferNoSchedule"}
RIGHTS = paths.TREE / "deploy/rbac/startup-taint.yaml"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class FreshNode(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.addCleanup(self.join)
        self.addCleanup(self._delete_pods)  # while their kubelet knows them
        self.join(TAINT, OTHER)
        self.cluster.offer_gpus(self.machine)
        account.make_account(self)

    def join(self, *taints: dict) -> None:
        """The node comes anew, as a kubelet with --register-with-taints makes it."""
        self.cluster.kubelet.stop()
        self.kubectl("delete", "node", NODE)
        self.cluster.kubelet.start(registerWithTaints=list(taints))

    def grant(self) -> None:
        account.grant(self, RIGHTS)

    def agents_kubeconfig(self) -> str:
        return account.agents_kubeconfig(self)

    def start(self, kubeconfig: str, *flags: str) -> Agent:
        return self.agent(
            self.machine,
            *("--startup-taint", "true", "--node-name", NODE, "--kubeconfig", kubeconfig, *flags),
        )

    def taints(self) -> list[str]:
        node = json.loads(self.kubectl("get", "node", NODE, "-o", "json"))
        return [taint["key"] for taint in node["spec"].get("taints", [])]

    def wait_untainted(self) -> None:
        wait_until("the startup taint gone", lambda: TAINT["key"] not in self.taints())
        self.assertIn(OTHER["key"], self.taints())

    def waiting_pods(self) -> None:
        """One holds GPUs, one nothing; the scheduler says why they wait."""
        self.apply("early-gpus", gpus=8)
        self.apply("early-bird", gpus=0)
        for pod in ("early-gpus", "early-bird"):
            wait_until(f"the scheduler looked at {pod}", lambda pod=pod: self.why_pending(pod))
            self.assertIn("untolerated taint", self.why_pending(pod))

    def why_pending(self, pod: str) -> str:
        status = self.status(pod)
        self.assertEqual("Pending", status["phase"])
        return " ".join(c.get("message", "") for c in status.get("conditions", []))

    def test_pods_wait_until_the_agent_serves(self) -> None:
        self.grant()
        self.waiting_pods()
        agent = self.start(self.agents_kubeconfig())
        self.wait_untainted()
        for pod in ("early-gpus", "early-bird"):
            self.wait_running(pod)
        self.assert_gets(self.look("early-gpus"), self.machine, ALL)
        self.assert_gets_nothing(self.look("early-bird"))
        self.assertEqual([NODE], [event["node"] for event in agent.events("startup taint removed", least=1)])
        self.assertIn("startup taint: not on the node\n", agent.page("/readyz")[1])

    def test_an_agent_without_the_runtime_keeps_pods_away(self) -> None:
        self.grant()
        self.waiting_pods()
        kubeconfig = self.agents_kubeconfig()
        lost = Agent(
            pathlib.Path("/nowhere/nri.sock"),
            self.dir / "agent-lost.log",
            self.machine.snapshot,
            ("--startup-taint", "true", "--node-name", NODE, "--kubeconfig", kubeconfig),
        )
        self._agents.append(lost)
        lost.start(ready=False)
        self.cluster.wait_allocatable("rdma.io/hca", 100)  # it has got as far as the kubelet
        wait_until("pages", lambda: lost.page("/readyz")[0] == 503)
        self.assertIn(TAINT["key"], self.taints())
        self.assertEqual(0, lost.metric("railhead_startup_taint_looks_total"))
        lost.terminate()
        self.start(kubeconfig)
        self.wait_untainted()
        self.wait_running("early-gpus")

    def test_without_the_right_to_it_the_taint_stays(self) -> None:
        self.waiting_pods()
        agent = self.start(self.agents_kubeconfig())  # ready: containers need no API server
        said = wait_until("a refusal", lambda: agent.events("startup taint stays"))
        self.assertEqual("warn", said[0]["level"])
        self.assertIn(f"GET /api/v1/nodes/{NODE}: 403 Forbidden: ", said[0]["why"])
        self.assertIn(f"system:serviceaccount:{account.ACCOUNT}:{account.ACCOUNT}", said[0]["why"])
        self.assertIn("startup taint: stays if it is there, ", agent.page("/readyz")[1])
        self.assertIn("untolerated taint", self.why_pending("early-gpus"))
        self.grant()
        self.wait_untainted()
        self.wait_running("early-gpus")
        self.assert_gets(self.look("early-gpus"), self.machine, ALL)
        said = agent.events("startup taint stays")
        self.assertEqual(len(said), len({event["why"] for event in said}))

    def test_the_policy_leaves_the_token_nothing_else(self) -> None:
        self.grant()
        kubeconfig = self.agents_kubeconfig()
        other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-2"}}
        self.kubectl("apply", "-f", "-", text=json.dumps(other | {"spec": {"taints": [TAINT]}}))
        self.addCleanup(self.kubectl, "delete", "node", "node-2")

        def patch(node: str, body: dict) -> str:
            words = ("--kubeconfig", kubeconfig, "patch", "node", node, "--type=merge", "-p")
            try:
                return self.kubectl(*words, json.dumps(body))
            except Failed as failure:
                return str(failure)

        numbers = itertools.count()

        def label() -> dict:
            return {"metadata": {"labels": {"try": str(next(numbers))}}}

        only_ours = "may take off only the taint railhead.io/not-ready"
        wait_until("the policy is in force", lambda: only_ours in patch(NODE, label()))
        self.assertIn(only_ours, patch(NODE, {"spec": {"taints": []}}))
        self.assertIn(only_ours, patch(NODE, {"spec": {"taints": [OTHER, {**TAINT, "key": "x"}]}}))
        self.assertIn("only the node that its pod runs on", patch("node-2", {"spec": {"taints": []}}))
        self.assertIn("patched", patch(NODE, {"spec": {"taints": [OTHER]}}))
        nothing_else = "may change nothing of a node but its taints"
        self.assertIn(nothing_else, patch(NODE, label()))
        self.assertIn(nothing_else, patch(NODE, {"spec": {"unschedulable": True}}))
        self.assertIn("may take off only", patch(NODE, {"spec": {"taints": [OTHER, TAINT]}}))
