# SPDX-License-Identifier: Apache-2.0
"""RoCE pods with a network of their own: the netdev comes by CNI, the nodes come from us."""

import json

from kube.case import ClusterCase
from kube.networks import can_make, definition, more_networks, netdevs_of
from lib.machine import ROCE, Machine

HOSTDEV, HCA = "nvidia.com/hostdev", "rdma.io/hca"
STATUS = "k8s.v1.cni.cncf.io/network-status"
NICS = ["mlx5_0", "mlx5_3"]
# As printed for NVIDIA's Network Operator (sriovDevicePlugin), narrowed to two NICs.
HOSTDEV_POOL = {
    "resourcePrefix": "nvidia.com",
    "resourceName": "hostdev",
    "selectors": {"vendors": ["15b3"], "pciAddresses": [], "isRdma": True},
}


class Roce(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(ROCE)
        if not can_make("veth"):
            self.skipTest("this machine makes no veth")
        self.enter(netdevs_of(self.machine, NICS, self.dir))
        self.enter(more_networks(self.cluster, self.dir))

    def define(self, name: str, config: dict, resource: str | None = None) -> None:
        local = {"type": "host-local", "dataDir": str(self.dir / "ipam")}
        local["ranges"] = [[{"subnet": "198.51.100.0/24"}]]
        text = json.dumps(definition(name, config | {"ipam": local}, resource))
        self.kubectl("apply", "-f", "-", text=text)

    def sh(self, pod: str, command: str) -> str:
        return self.kubectl("exec", pod, "-c", "main", "--", "sh", "-c", command)

    def said(self, agent, pod: str) -> str:
        """What the decision says of a missing netdev."""
        return agent.decision(pod).get("remark.roce-needs-netdev", "")

    def test_testpod1_gets_net1_and_exactly_the_nodes_of_its_function(self) -> None:
        pool = json.loads(json.dumps(HOSTDEV_POOL))
        pool["selectors"]["pciAddresses"] = [self.machine.function(nic)[0] for nic in NICS]
        path = self.config("config.json", json.dumps({"resourceList": [pool]}))
        agent = self.agent(self.machine, "--config", path)
        self.cluster.offer_gpus(self.machine)
        self.cluster.wait_allocatable(HOSTDEV, len(NICS))
        self.define("hostdevice-net", {"type": "host-device"}, HOSTDEV)

        asks = {"k8s.v1.cni.cncf.io/networks": "hostdevice-net"}
        common = {"limits": {HOSTDEV: 1}, "gpus": 1, "host_network": False}
        inside = self.run_pod("testpod1", annotations=asks, **common)
        function = inside.env["PCIDEVICE_NVIDIA_COM_HOSTDEV"]
        nic = next(one for one in NICS if self.machine.function(one)[0] == function)
        self.assert_gets(inside, self.machine, [nic])
        self.assertIn("198.51.100.", self.sh("testpod1", "ip address show net1"))
        self.assertEqual("", self.said(agent, "testpod1"))
        found = json.loads(self.kubectl("get", "pod", "testpod1", "-o", "json"))
        status = json.loads(found["metadata"]["annotations"][STATUS])
        self.assertEqual(["net1"], [one["interface"] for one in status])
        self.assertEqual(function, status[0]["device-info"]["pci"]["pci-address"])
        self.assertEqual(nic, status[0]["device-info"]["pci"]["rdma-device"])
        # What NRI shows of a pod is as old as its sandbox, so the status is not in it.
        shown = self.cluster.runtime.cri.sandbox("testpod1").info()["config"]["annotations"]
        self.assertIn("k8s.v1.cni.cncf.io/networks", shown)
        self.assertNotIn(STATUS, shown)

        self.run_pod("no-netdev", **common)
        self.assertIn(f'resourceName is "{HOSTDEV}"', self.said(agent, "no-netdev"))
        self.delete("testpod1")  # and its netdev comes back for the next one
        inside = self.run_pod("next", annotations=asks, **common)
        self.assertEqual(function, inside.env["PCIDEVICE_NVIDIA_COM_HOSTDEV"])
        self.assertIn("198.51.100.", self.sh("next", "ip address show net1"))

    def test_a_slot_of_a_shared_nic_with_macvlan(self) -> None:
        master = self.machine.function("mlx5_0")[1]
        if not can_make("macvlan", link=master):
            self.skipTest("this machine makes no macvlan")
        pool = "pools: [{name: rdma.io/hca, include: {names: [mlx5_0]}}]\n"
        agent = self.agent(self.machine, "--config", self.config("pools.yaml", pool))
        self.cluster.wait_allocatable(HCA, 100)
        self.define("rail0", {"type": "macvlan", "master": master, "mode": "bridge"})

        common = {"limits": {HCA: 1}, "host_network": False}
        for name in ("a", "b"):
            asks = {"k8s.v1.cni.cncf.io/networks": "default/rail0@rail0"}
            inside = self.run_pod(name, annotations=asks, **common)
            self.assert_gets(inside, self.machine, ["mlx5_0"])
            self.assertIn("198.51.100.", self.sh(name, "ip address show rail0"))
            self.assertEqual("", self.said(agent, name))
        self.run_pod("no-netdev", **common)
        self.assertIn(f"a network on {master} (macvlan", self.said(agent, "no-netdev"))
