# SPDX-License-Identifier: Apache-2.0
"""Pods of a kind that the cluster does not know, as its controller would make them."""

import json

import yaml
from kube.case import ClusterCase
from lib import paths

FILES = paths.TREE / "examples/volcano"


class Volcano(ClusterCase):
    def test_the_api_server_takes_the_pods_of_each_task(self) -> None:
        for path in FILES.iterdir():
            for task in yaml.safe_load(path.read_text())["spec"]["tasks"]:
                pod = task["template"] | {"apiVersion": "v1", "kind": "Pod"}
                pod["metadata"]["name"] = task["name"]
                with self.subTest(path.name, task=task["name"]):
                    self.kubectl("create", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", "-",
                                 text=json.dumps(pod))
