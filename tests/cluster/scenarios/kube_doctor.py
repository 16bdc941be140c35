# SPDX-License-Identifier: Apache-2.0
"""`railhead doctor --kube` asks a real API server: a resource that is there, a pod that waits, and somebody without rights."""

import json
import os
import subprocess

from kube.case import ClusterCase
from kube.control_plane import KUBECONFIG, TOKEN
from kube.kubelet import NODE
from lib import paths
from lib.machine import SEED, Machine

HCA = "rdma.io/hca"


class KubeDoctor(ClusterCase):
    def doctor(self, token: str) -> tuple[int, list[dict]]:
        plane = self.cluster.plane
        authority = plane.dir / "certs/apiserver.crt"
        text = KUBECONFIG.format(server=plane.server, token=token.strip())
        kubeconfig = self.config(
            "doctor-kubeconfig",
            text.replace("insecure-skip-tls-verify: true", f"certificate-authority: {authority}"),
        )
        said = subprocess.run(
            [paths.railhead(), "doctor", "--kube", "-o", "json", "--time-limit", "60000"],
            env={**os.environ, "KUBECONFIG": kubeconfig},
            capture_output=True,
            text=True,
            timeout=90,
        )
        self.assertTrue(said.stdout, said.stderr)
        return said.returncode, json.loads(said.stdout)["findings"]

    def states(self, findings: list[dict], check: str) -> dict[str, str]:
        return {one["subject"]: one["state"] for one in findings if one["id"] == check}

    def test_it_sees_what_the_agent_offers_and_who_waits_for_more(self) -> None:
        self.agent(Machine(SEED))
        self.cluster.wait_allocatable(HCA, 100)
        self.apply("asks-too-much", limits={HCA: 1000})
        self.wait_event("asks-too-much", "Insufficient " + HCA)
        code, findings = self.doctor(TOKEN)
        self.assertEqual(1, code)
        self.assertEqual("PASS", self.states(findings, "kube.resources")[f"{NODE}/{HCA}"])
        self.assertEqual("FAIL", self.states(findings, "kube.pending")["default/asks-too-much"])
        self.assertEqual({"cluster": "PASS"}, self.states(findings, "kube.version"))
        self.assertEqual({"cluster": "PASS"}, self.states(findings, "kube.readable"))

    def test_who_may_not_look_gets_unknown_with_the_servers_words(self) -> None:
        self.kubectl("create", "namespace", "curious")
        self.addCleanup(self.kubectl, "delete", "namespace", "curious")
        self.kubectl("create", "serviceaccount", "curious", "-n", "curious")
        token = self.kubectl("create", "token", "curious", "-n", "curious")
        code, findings = self.doctor(token)
        self.assertEqual(2, code)
        reason = next(one["reason"] for one in findings if one["subject"] == "Node")
        self.assertIn("403 Forbidden", reason)
        self.assertIn("system:serviceaccount:curious:curious", reason)
        self.assertEqual([], [one for one in findings if one["state"] == "FAIL"])
