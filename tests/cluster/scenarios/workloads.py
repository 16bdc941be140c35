# SPDX-License-Identifier: Apache-2.0
"""The manifests of docs/workloads.md are accepted by a real API server."""

import json

import yaml
from kube.case import ClusterCase
from lib import paths

FOLDER = paths.TREE / "examples/workloads"


def as_pod(template: dict) -> dict:
    """A pod of the template of a kind that the cluster does not know."""
    metadata = template.get("metadata", {}) | {"generateName": "of-a-template-"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


class Workloads(ClusterCase):
    def test_the_api_server_takes_each_without_a_warning(self) -> None:
        files = sorted(FOLDER.glob("*.yaml"))
        self.assertGreaterEqual(len(files), 4)
        for path in files:
            for document in yaml.safe_load_all(path.read_text()):
                known = "volcano" not in document["apiVersion"]
                tasks = [] if known else document["spec"]["tasks"]
                for sent in [document] if known else [as_pod(task["template"]) for task in tasks]:
                    with self.subTest(path.name, kind=sent["kind"]):
                        self.kubectl("create", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", "-",
                                     text=json.dumps(sent))
