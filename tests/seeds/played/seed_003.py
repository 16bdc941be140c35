# SPDX-License-Identifier: Apache-2.0
"""RDMA Support, of Crater (raids-lab.github.io/crater): two fabrics in one cluster, each with a resource of its own, by the
NicClusterPolicy of the page, with Railhead in place of the shared device plugin."""

import json

from seed import GPU_NODES, SeedCase

V100, A100 = GPU_NODES
# The page hides the names of its netdevs; these are those of the machines.
CONFIG = {"configList": [
    {"resourceName": "rdma_v100", "rdmaHcaMax": 63, "selectors": {"ifNames": ["ibp5s0", "ibp12s0"], "linkTypes": ["infiniband"]}},
    {"resourceName": "rdma_a100", "rdmaHcaMax": 63, "selectors": {"ifNames": ["ib0", "ib1"], "linkTypes": ["infiniband"]}},
]}
POLICY = {
    "apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy"},
    "spec": {"rdmaSharedDevicePlugin": {"repository": "ghcr.io/mellanox", "image": "k8s-rdma-shared-dev-plugin", "version": "v1.5.2",
                                        "imagePullSecrets": [], "config": json.dumps(CONFIG)}},
}
# As the page prints it, for one resource and for the other.
LOOK = """kubectl get nodes -o json | jq -r '.items[] | {
    name: .metadata.name,
    "rdma/%s": .status.capacity["rdma/%s"]
} | select(.["rdma/%s"] != null)'"""


class Crater(SeedCase):
    machines = {V100: "dgx1-v100", A100: "mig-a100"}
    resources = {V100: "rdma_v100", A100: "rdma_a100"}
    LABEL = "example.com/infiniband"

    def test_two_fabrics(self) -> None:
        self.kubectl("label", "node", *GPU_NODES, f"{self.LABEL}=yes")
        policy = self.config("policy.yaml", json.dumps(POLICY))
        config = self.config("config.yaml", self.type(f"{self.railhead} migrate {policy} -o config"))
        install = (f"helm upgrade --install railhead ./deploy/charts --namespace kube-system --set image.repository=$IMAGE_REPOSITORY "
                   f"-f {self.values} --set-file config={config} --set-json 'nodeSelector={{\"{self.LABEL}\": \"yes\"}}'")
        for _ in range(2):
            self.type(install)
            self.type("kubectl --namespace kube-system rollout status daemonset/railhead --timeout=180s")
            for node, resource in self.resources.items():
                self.cluster.node(node).wait_allocatable(f"rdma/{resource}", 63)
        for node, resource in self.resources.items():
            answer = self.answers(LOOK.replace("%s", resource))
            self.assertIn({"name": node, f"rdma/{resource}": "63"}, answer)
            self.assertNotIn("63", [one[f"rdma/{resource}"] for one in answer if one["name"] != node])
            self.apply(f"on-{node}", limits={f"rdma/{resource}": 1}, host_network=False)
            self.wait_running(f"on-{node}")
            self.assertEqual(node, self.kubectl("get", "pod", f"on-{node}", "-o", "jsonpath={.spec.nodeName}"))
            self.assert_gets(self.look(f"on-{node}"), self._machine_of(node), ["mlx5_0", "mlx5_1"])
        self._delete_pods()
        self.type("helm uninstall railhead --namespace kube-system --wait")
        self.kubectl("label", "node", *GPU_NODES, f"{self.LABEL}-")
        self.assert_no_trace()
