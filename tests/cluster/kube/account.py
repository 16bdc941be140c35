# SPDX-License-Identifier: Apache-2.0
"""A service account of the agent, with the rights of a page and no others."""

import json
import pathlib

from .case import ClusterCase
from .control_plane import KUBECONFIG
from .kubelet import NODE
from .pod import manifest

ACCOUNT = "railhead"


def make_account(case: ClusterCase) -> None:
    """Without any right; it goes with the test."""
    case.kubectl("create", "namespace", ACCOUNT)
    case.addCleanup(case.kubectl, "delete", "namespace", ACCOUNT)
    case.kubectl("create", "serviceaccount", ACCOUNT, "-n", ACCOUNT)


def grant(case: ClusterCase, page: pathlib.Path) -> None:
    case.kubectl("apply", "-f", str(page))
    case.addCleanup(case.kubectl, "delete", "--ignore-not-found", "-f", str(page))


def agents_kubeconfig(case: ClusterCase) -> str:
    """What a pod of the service account on this node has: a token bound to the pod, which names its
    node, and the authority of the API server."""
    pod = manifest("agent")
    pod["metadata"]["namespace"] = ACCOUNT
    pod["spec"] |= {"serviceAccountName": ACCOUNT, "nodeName": NODE, "tolerations": [{"operator": "Exists"}]}
    case.kubectl("apply", "-f", "-", text=json.dumps(pod))
    token = case.kubectl(
        *("create", "token", ACCOUNT, "-n", ACCOUNT),
        *("--bound-object-kind", "Pod", "--bound-object-name", "agent"),
    )
    plane = case.cluster.plane
    authority = plane.dir / "certs/apiserver.crt"
    text = KUBECONFIG.format(server=plane.server, token=token.strip())
    return case.config(
        "agent-kubeconfig",
        text.replace("insecure-skip-tls-verify: true", f"certificate-authority: {authority}"),
    )
