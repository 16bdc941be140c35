# SPDX-License-Identifier: Apache-2.0
"""Deploying llm-d on Azure Kubernetes Service (github.com/llm-d/llm-d docs/infra-providers/aks): its end state by the
script of aks-llm-d with the GPU driver of AKS, its verification, and the resources of its pods."""

import re

from aks import AksCase
from seed import GPU_NODES


class LlmD(AksCase):
    profile = "aks-llm-d"
    slot = "rdma/ib"
    slots = 8
    pool = "gpupool"
    gpu_release, gpu_namespace = "nvidia-device-plugin", "gpu-resources"

    def verify(self) -> None:
        """The guide's own look: kubectl describe node."""
        super().verify()
        for node in GPU_NODES:
            capacity = self.type(f"kubectl describe node {node}").split("Capacity:")[1].split("Allocatable:")[0]
            self.assertEqual({"nvidia.com/gpu": "8", "rdma/ib": "8"}, dict(re.findall(r"(nvidia.com/gpu|rdma/ib): +(\d+)", capacity)))

    def test_llm_d_on_aks(self) -> None:
        self.play_it(DRIVER="aks")
