# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Open GPU + GPUDirect RDMA + DOCA-OFED + SR-IOV Stack (kubernetes.recipes), on OpenShift: each object of the script of
openshift-full-stack, of the MachineConfig that it makes, and of the chart with its values is taken by an API server that has the
definitions of OpenShift and of the operators. The script itself is not run: nothing here stands in for OLM."""

import json
import os
import pathlib
import re

import yaml
from kube.case import ClusterCase
from lib import paths
from lib.process import output, wait_until

PROFILE = "openshift-full-stack"
# As the guide has them.
SITE = {
    "ROLE": "gpu-worker", "PF_NAME": "ens8f0", "NUM_VFS": "8", "VF_RANGE": "192.168.100.0/24", "JOBS_NAMESPACE": "ai-training",
    "OFED_VERSION": "doca3.4.0-26.04-0.8.6.0-0",
}
NFS = ('nfs:\n  - {what: "nfs-server.internal.example.com:/exports/ai-data", where: /mnt/ai-data, '
       'options: "vers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,nconnect=16"}\n')
# Arguments of the script's functions, as it calls them.
FUNCTION = {"namespace": "nvidia-network-operator", "package": "nvidia-network-operator", "channel": "v26.4", "catalog": "certified-operators"}
OFED_ENVIRONMENT = '[{name: ENABLE_NFSRDMA, value: "true"}]'
DEFINITIONS = ("operatorgroups", "subscriptions", "machineconfigpools", "machineconfigs", "securitycontextconstraints", "nicclusterpolicies",
               "clusterpolicies", "sriovnetworknodepolicies", "network-attachment-definitions")
# Kinds whose definitions are in no Go module that is to be had.
NOT_KNOWN = {"NodeFeatureDiscovery"}


class OpenShift(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        files = [pathlib.Path(os.environ["RAILHEAD_CRDS"], f"{name}.yaml") for name in DEFINITIONS]
        for file in files:
            self.kubectl("apply", "--server-side", "-f", str(file))
            self.addCleanup(self.kubectl, "delete", "--ignore-not-found", "-f", str(file))
        for namespace in ("nvidia-network-operator", "openshift-sriov-network-operator", SITE["JOBS_NAMESPACE"]):
            self.kubectl("create", "namespace", namespace)
            self.addCleanup(self.kubectl, "delete", "namespace", namespace)

    def objects_of(self, script: str) -> list[dict]:
        """What its here-documents say, as its shell reads them."""
        found = []
        for quote, tag, text in re.findall(r"<<('?)([A-Z_]+)'?\n(.*?)\n\2\n", script, re.DOTALL):
            expanded = text if quote else output("bash", "-euc", f"set -- '{OFED_ENVIRONMENT}'\ncat <<{tag}\n{text}\n{tag}\n",
                                                  env={**os.environ, **SITE, **FUNCTION})
            found += [one for one in yaml.safe_load_all(expanded) if one]
        return found

    def assert_taken(self, objects: list[dict]) -> None:
        for one in objects:
            with self.subTest(f"{one['kind']} {one['metadata']['name']}"):
                taken = ("apply", "--dry-run=server", "--validate=strict", "-f", "-")
                wait_until("its kind is served", lambda kind=one["apiVersion"]: self._is_served(kind))
                self.kubectl(*taken, text=json.dumps(one))

    def _is_served(self, version: str) -> bool:
        return f"{version}\n" in self.kubectl("api-versions")

    def test_each_object_is_taken(self) -> None:
        self.script()
        self.machine_config()
        self.chart()

    def script(self) -> None:
        objects = self.objects_of(output(paths.railhead(), "setup", "profile", PROFILE, "--rest"))
        kinds = {one["kind"] for one in objects}
        self.assertLessEqual(
            {"Namespace", "OperatorGroup", "Subscription", "MachineConfigPool", "NicClusterPolicy", "SriovNetworkNodePolicy",
             "NetworkAttachmentDefinition", "ClusterPolicy"}, kinds)
        self.assertLessEqual(NOT_KNOWN, kinds)
        self.assert_taken([one for one in objects if one["kind"] not in NOT_KNOWN])
        policy = next(one for one in objects if one["kind"] == "NicClusterPolicy")
        self.assertEqual([{"name": "ENABLE_NFSRDMA", "value": "true"}], policy["spec"]["ofedDriver"]["env"])

    def machine_config(self) -> None:
        wanted = self.config("wanted.yaml", output(paths.railhead(), "setup", "profile", PROFILE) + NFS)
        config = yaml.safe_load(output(paths.railhead(), "setup", "machine-config", "--from", wanted, "--role", SITE["ROLE"]))
        self.assert_taken([config])
        units = {one["name"]: one.get("contents", "") for one in config["spec"]["config"]["systemd"]["units"]}
        self.assertRegex(units["mnt-ai\\x2ddata.mount"], r"(?m)^Options=.*\brdma\b")

    def chart(self) -> None:
        helm = f"{paths.fetch('go-tool', 'helm')}/helm"
        made = output(helm, "template", "railhead", paths.TREE / "deploy/charts", "--namespace", "kube-system", "-f",
                      paths.TREE / f"deploy/charts/profiles/{PROFILE}.yaml", "--set", "image.repository=localhost/railhead")
        self.assert_taken([one for one in yaml.safe_load_all(made) if one])
