# SPDX-License-Identifier: Apache-2.0
"""What the two guides for AKS have in common."""

from seed import GPU_NODES, SeedCase

CLOUD = {"AZURE_RESOURCE_GROUP": "group", "CLUSTER_NAME": "cluster"}


class AksCase(SeedCase):
    machines = dict.fromkeys(GPU_NODES, "azure-nd-h100-v5")
    nics = [f"mlx5_ib{number}" for number in range(8)]
    kept = ("/nccl-topology.xml",)
    size = "Standard_ND96isr_H100_v5"
    profile = ""
    slot = ""
    slots = 0
    memlock = False  # whether the profile sets the memory lock of services
    pool = ""
    gpu_release = ""  # release and namespace of what brings GPUs
    gpu_namespace = ""

    def verify(self) -> None:
        self.assert_running("network-operator", "nvidia.com/ofed-driver", GPU_NODES)
        self.assert_prepared(self.memlock)
        self.assert_running("kube-system", "app.kubernetes.io/name=railhead", GPU_NODES)
        self.assert_fleet_and_doctor(self.slot, self.slots)

    def play_it(self, **env: str) -> None:
        """Twice with the same end, a pod on each node, and everything removed again."""
        env |= CLOUD | {"NODEPOOL_NAME": self.pool}
        self.play(self.profile, **env)
        self.verify()
        once = self.objects()
        self.play(self.profile, **env)
        self.assertEqual(once, self.objects(), "a second run ends where the first did")
        self.verify()
        self.assert_whole_node_gets_all(self.slot)
        self.take_away()
        self.assert_no_trace()

    def take_away(self) -> None:
        self.remove_railhead(self.profile)
        self.type(f"helm uninstall {self.gpu_release} --namespace {self.gpu_namespace}\n"
                  "kubectl delete nicclusterpolicy nic-cluster-policy\n"
                  "kubectl delete nodefeaturerule railhead-infiniband\n"
                  "kubectl --namespace network-operator delete deployment network-operator-node-feature-discovery-master")
        self.wait_without_labels()
        self.type("helm uninstall network-operator --namespace network-operator\n"
                  f"kubectl delete namespace {self.gpu_namespace} network-operator\n"
                  f"az aks nodepool delete --resource-group group --cluster-name cluster --name {self.pool}")
