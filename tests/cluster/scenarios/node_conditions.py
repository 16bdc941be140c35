# SPDX-License-Identifier: Apache-2.0
"""Conditions of the Node object, which the agent writes with a token that can do nothing else."""

import json

from kube.case import ClusterCase
from kube.control_plane import KUBECONFIG
from kube.kubelet import NODE
from kube.pod import manifest
from lib import paths
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until

ACCOUNT = "railhead"
RIGHTS = paths.TREE / "deploy/rbac/node-conditions.yaml"
OURS = {"RDMADeviceMissing", "RDMALinkUnhealthy", "RDMADriverUnhealthy", "RDMAMemoryLockTooLow", "GPUDirectRDMAUnusable"}


class NodeConditions(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.kubectl("create", "namespace", ACCOUNT)
        self.addCleanup(self.kubectl, "delete", "namespace", ACCOUNT)
        self.kubectl("create", "serviceaccount", ACCOUNT, "-n", ACCOUNT)

    def grant(self) -> None:
        self.kubectl("apply", "-f", str(RIGHTS))
        self.addCleanup(self.kubectl, "delete", "-f", str(RIGHTS))

    def agents_kubeconfig(self) -> str:
        """A token bound to a pod of the service account on this node, and the authority of the API server."""
        pod = manifest("agent")
        pod["metadata"]["namespace"] = ACCOUNT
        pod["spec"] |= {"serviceAccountName": ACCOUNT, "nodeName": NODE, "tolerations": [{"operator": "Exists"}]}
        self.kubectl("apply", "-f", "-", text=json.dumps(pod))
        token = self.kubectl(
            *("create", "token", ACCOUNT, "-n", ACCOUNT),
            *("--bound-object-kind", "Pod", "--bound-object-name", "agent"),
        )
        plane = self.cluster.plane
        text = KUBECONFIG.format(server=plane.server, token=token.strip())
        authority = f"certificate-authority: {plane.dir / 'certs/apiserver.crt'}"
        return self.config("agent-kubeconfig", text.replace("insecure-skip-tls-verify: true", authority))

    def start(self, kubeconfig: str) -> Agent:
        return self.agent(
            self.machine,
            *("--node-conditions", "true", "--node-name", NODE, "--kubeconfig", kubeconfig, "--doctor-interval", "1s"),
        )

    def conditions(self) -> dict[str, dict]:
        node = json.loads(self.kubectl("get", "node", NODE, "-o", "json"))
        return {one["type"]: one for one in node["status"]["conditions"]}

    def test_each_look_is_written_beside_what_the_kubelet_says(self) -> None:
        self.grant()
        agent = self.start(self.agents_kubeconfig())
        wait_until("all conditions", lambda: set(self.conditions()) >= OURS, 30)
        first = self.conditions()
        self.assertEqual("True", first["Ready"]["status"])
        self.assertEqual("False", first["RDMADeviceMissing"]["status"])
        self.assertEqual("RDMADevicesAreThere", first["RDMADeviceMissing"]["reason"])

        def beats() -> str:
            return self.conditions()["RDMADeviceMissing"]["lastHeartbeatTime"]

        wait_until("another look", lambda: beats() > first["RDMADeviceMissing"]["lastHeartbeatTime"], 30)
        now = self.conditions()["RDMADeviceMissing"]
        self.assertEqual(first["RDMADeviceMissing"]["lastTransitionTime"], now["lastTransitionTime"])
        self.assertFalse(agent.events("node conditions not set"))

    def test_without_the_right_to_it_the_agent_says_so_and_serves(self) -> None:
        agent = self.start(self.agents_kubeconfig())  # ready: containers need no API server
        said = wait_until("a refusal", lambda: agent.events("node conditions not set"), 30)
        self.assertIn("403 Forbidden: ", said[0]["why"])

    def test_the_policy_leaves_the_token_only_our_conditions(self) -> None:
        self.grant()
        kubeconfig = self.agents_kubeconfig()
        other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-2"}}
        self.kubectl("apply", "-f", "-", text=json.dumps(other))
        self.addCleanup(self.kubectl, "delete", "node", "node-2")

        def patch(node: str, status: dict) -> str:
            words = ("--kubeconfig", kubeconfig, "patch", "node", node, "--subresource=status", "--type=strategic", "-p")
            try:
                return self.kubectl(*words, json.dumps({"status": status}))
            except Failed as failure:
                return str(failure)

        def condition(kind: str, status: str) -> dict:
            return {"conditions": [{"type": kind, "status": status, "reason": "Tried", "message": "by a test"}]}

        only_ours = "may change only the conditions that the doctor writes"
        wait_until("the policy is in force", lambda: only_ours in patch(NODE, condition("Ready", "Unknown")), 30)
        self.assertIn("patched", patch(NODE, condition("RDMALinkUnhealthy", "True")))
        self.assertIn(only_ours, patch(NODE, condition("MemoryPressure", "True")))
        self.assertIn(only_ours, patch(NODE, condition("SomethingElse", "True")))
        self.assertIn("only the node that its pod runs on", patch("node-2", condition("RDMALinkUnhealthy", "True")))
        nothing_else = "may change nothing of a node's status but conditions"
        self.assertIn(nothing_else, patch(NODE, {"capacity": {"example.com/x": "1"}}))
        self.assertIn(nothing_else, patch(NODE, {"allocatable": {"example.com/x": "1"}}))
        self.assertIn(nothing_else, patch(NODE, {"addresses": [{"type": "InternalIP", "address": "10.9.9.9"}]}))
