# SPDX-License-Identifier: Apache-2.0
"""Pods of kinds that the cluster does not know, as their controllers would make them: Volcano jobs, MPI jobs."""

import json
from collections.abc import Iterator

import yaml
from kube.case import ClusterCase
from lib import paths

FILES = [path for folder in ("volcano", "mpi") for path in sorted((paths.TREE / "examples" / folder).iterdir())]


def templates(spec: dict) -> Iterator[tuple[str, dict]]:
    for task in spec.get("tasks", []):
        yield task["name"], task["template"]
    for name, replica in spec.get("mpiReplicaSpecs", {}).items():
        yield name.lower(), replica["template"]


class OtherKinds(ClusterCase):
    def test_the_api_server_takes_the_pods_of_each_task(self) -> None:
        for path in FILES:
            found = list(templates(yaml.safe_load(path.read_text())["spec"]))
            self.assertEqual(2, len(found))
            for name, template in found:
                pod = {**template, "apiVersion": "v1", "kind": "Pod", "metadata": {**template.get("metadata", {}), "name": name}}
                with self.subTest(path.name, task=name):
                    self.kubectl("create", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", "-",
                                 text=json.dumps(pod))
