# SPDX-License-Identifier: Apache-2.0
"""A pod of one unprivileged container `main`, as a manifest for kubectl."""

from lib import image

GPU_RESOURCE = "nvidia.com/gpu"
UNTIL_RELEASED = ["sh", "-c", "until [ -e /tmp/go ]; do sleep 0.1; done"]


def manifest(
    name: str,
    *,
    limits: dict[str, int] | None = None,
    gpus: int = 0,
    env: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    host_network: bool = True,
    waits: bool = False,
    command: list[str] = image.IDLE,
) -> dict:
    """With `waits`, `main` starts after an init container that runs UNTIL_RELEASED."""
    limits = dict(limits or {})
    if gpus:
        limits[GPU_RESOURCE] = gpus
    common = {
        "image": image.NAME,
        "imagePullPolicy": "Never",
        "securityContext": {
            "runAsUser": 1000,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    variables = [{"name": key, "value": value} for key, value in (env or {}).items()]
    main = {"name": "main", "command": command, "env": variables, "resources": {"limits": limits}}
    spec = {
        "hostNetwork": host_network,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "containers": [main | common],
    }
    if waits:
        spec["initContainers"] = [{"name": "init", "command": UNTIL_RELEASED} | common]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": spec,
    }
