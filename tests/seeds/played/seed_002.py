# SPDX-License-Identifier: Apache-2.0
"""Running LLM inference on K8s, of k8s-rdma-device-plugin (github.com/jiusanzhou/k8s-rdma-device-plugin): its helm command
and its two pods, with Railhead in place of the plugin."""

import json

from lib import image
from lib.machine import SEED
from seed import GPU_NODES, SeedCase

# As the post prints it.
INSTALL = """helm install rdma-device-plugin ./deploy/charts \\
  --namespace kube-system \\
  --set rdma.resourceName="rdma.io/hca" \\
  --set rdma.resourceCount=100 \\
  --set gpuRdmaAutoInject=true"""
INJECT_ONLY = """helm upgrade rdma-device-plugin ./deploy/charts \\
  --namespace kube-system \\
  --set rdma.enableDevicePlugin=false \\
  --set gpuRdmaAutoInject=true"""
PODS = {"vllm": ("0,1,2,3,4,5,6,7", 8), "sglang-prefill": ("0,1,2,3", 4)}


class DevicePlugin(SeedCase):
    machines = dict.fromkeys(GPU_NODES, SEED)
    LABEL = "example.com/gpus"
    nics = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]

    def helm(self, command: str) -> None:
        self.type(f"{command} --set image.repository=$IMAGE_REPOSITORY -f {self.values} "
                  f"--set-json 'nodeSelector={{\"{self.LABEL}\": \"yes\"}}'")
        self.type("kubectl --namespace kube-system rollout status daemonset/rdma-device-plugin-railhead --timeout=180s")

    def pod(self, name: str) -> dict:
        """As the post has it, but for the program that it runs."""
        visible, gpus = PODS[name]
        container = {"name": "main", "image": image.NAME, "imagePullPolicy": "Never",
                     "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": visible}],
                     "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}

    def nics_in(self, name: str) -> list[str]:
        self._pods.append(name)
        self.kubectl("apply", "-f", "-", text=json.dumps(self.pod(name)))
        self.wait_running(name)
        inside = self.look(name)
        return sorted(nic for nic in self.nics if self.machine.uverbs(nic).path in inside.nodes)

    def test_the_plugin_replaced(self) -> None:
        self.kubectl("label", "node", *GPU_NODES, f"{self.LABEL}=yes")
        for node in GPU_NODES:
            self.cluster.node(node).offer_gpus(self.machine)
        self.helm(INSTALL)
        for node in GPU_NODES:
            self.cluster.node(node).wait_allocatable("rdma.io/hca", 100)
        self.assertEqual(self.nics, self.nics_in("vllm"), "without asking for rdma.io/hca")
        found = self.nics_in("sglang-prefill")
        self.assertTrue(found)
        self.assertLessEqual(set(found), set(self.nics))
        self._delete_pods()
        self.helm(INJECT_ONLY)
        for node in GPU_NODES:
            self.cluster.node(node).wait_allocatable("rdma.io/hca", 0)
        self.assertEqual(self.nics, self.nics_in("vllm"), "only injected")
        self._delete_pods()
        self.type("helm uninstall rdma-device-plugin --namespace kube-system --wait")
        for node in GPU_NODES:
            self.cluster.node(node).withdraw_gpus()
        self.kubectl("label", "node", *GPU_NODES, f"{self.LABEL}-")
        self.assert_no_trace()
