# SPDX-License-Identifier: Apache-2.0
"""RDMA / InfiniBand on AKS, of NVIDIA Dynamo (docs.nvidia.com/dynamo): its end state by the script of aks-dynamo, its
verification, and the resources of its pods."""

import json

from aks import AksCase
from seed import GPU_NODES

# As the guide prints it.
LOOK = """kubectl get nodes -o json | jq '.items[] | select(.status.allocatable["rdma/hca_shared_devices_a"] != null) | \
{name: .metadata.name, rdma: .status.allocatable["rdma/hca_shared_devices_a"], gpu: .status.allocatable["nvidia.com/gpu"]}'"""


class Dynamo(AksCase):
    profile = "aks-dynamo"
    slot = "rdma/hca_shared_devices_a"
    slots = 1000
    memlock = True
    pool = "ndh100pool"
    gpu_release = gpu_namespace = "gpu-operator"

    def verify(self) -> None:
        """The guide's five: OFED, the nodes' preparation, the plugin, the resource, the GPU operator."""
        super().verify()
        self.assertEqual([{"name": node, "rdma": "1k", "gpu": "8"} for node in GPU_NODES], self.answers(LOOK))
        self.assert_running("gpu-operator", "app=gpu-operator")
        policy = json.loads(self.kubectl("get", "clusterpolicy", "cluster-policy", "-o", "json"))["spec"]
        self.assertEqual({"enabled": True, "useHostMofed": False}, policy["driver"]["rdma"])

    def test_dynamo_on_aks(self) -> None:
        self.play_it()
