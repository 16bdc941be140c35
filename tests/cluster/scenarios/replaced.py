# SPDX-License-Identifier: Apache-2.0
"""The files of other device plugins, unchanged: what pods asked those for, they get from us."""

import json

from kube.case import ClusterCase
from lib import paths
from lib.machine import H100, SEED, Machine

VFS = "vfs-on-one-socket"
EXAMPLES = paths.TREE / "examples"
FRONT_A, FRONT_B = "nvidia.com/front_a", "nvidia.com/front_b"
SHARED, STORAGE = "rdma/hca_shared_devices_a", "example.com/hca_shared_devices_storage"


class Replaced(ClusterCase):
    def test_the_shared_plugins_file(self) -> None:
        machine = Machine(H100)
        file = EXAMPLES / "k8s-rdma-shared-dev-plugin.json"
        self.agent(machine, "--config", str(file))
        self.cluster.wait_allocatable(SHARED, 1000)
        self.cluster.wait_allocatable(STORAGE, 64)
        inside = self.run_pod("all", limits={SHARED: 1})
        every = sorted((f"mlx5_{n}" for n in range(12)), key=lambda name: int(name[5:]))
        wanted = {path: (node.major, node.minor) for path, node in machine.devices(every).items()}
        self.assertEqual(wanted, {p: (n.major, n.minor) for p, n in inside.nodes.items()})
        storage = self.run_pod("storage", limits={STORAGE: 1})
        self.assertEqual(set(machine.devices(["mlx5_1", "mlx5_7"])), set(storage.nodes))

    def test_above_the_pool_a_pod_waits_with_the_schedulers_words(self) -> None:
        machine = Machine(SEED)
        pool = {"resourceName": "hca_shared_devices_a", "rdmaHcaMax": 2}
        pool["selectors"] = {"vendors": ["15b3"]}
        path = self.config("config.json", json.dumps({"configList": [pool]}))
        self.agent(machine, "--config", path)
        self.cluster.wait_allocatable(SHARED, 2)
        self.run_pod("a", limits={SHARED: 1})
        self.run_pod("b", limits={SHARED: 1})
        self.apply("c", limits={SHARED: 1})
        self.wait_event("c", f"Insufficient {SHARED}")
        self.assertEqual("Pending", self.status("c")["phase"])
        self.delete("a")
        self.wait_running("c")

    def test_the_sriov_plugins_file_gives_each_pod_its_own_functions(self) -> None:
        machine = Machine(VFS)
        self.agent(machine, "--config", str(EXAMPLES / "sriov-network-device-plugin.json"))
        self.cluster.wait_allocatable(FRONT_A, 4)
        self.cluster.wait_allocatable(FRONT_B, 12)
        seen = set()
        for name in ("first", "second"):
            inside = self.run_pod(name, limits={FRONT_A: 1}, host_network=False)
            function = inside.env["PCIDEVICE_NVIDIA_COM_FRONT_A"]
            self.assertRegex(function, r"^0000:82:01\.[0-3]$")
            nic = f"mlx5_{int(function[-1]) + 1}"
            self.assert_gets(inside, machine, [nic])
            about = json.loads(inside.env["PCIDEVICE_NVIDIA_COM_FRONT_A_INFO"])
            self.assertEqual([function], list(about))
            seen.add(function)
        self.assertEqual(2, len(seen))

    def test_functions_of_two_resources_in_one_pod(self) -> None:
        machine = Machine(VFS)
        pools = [
            {"resourceName": name, "selectors": {"pfNames": [functions], "isRdma": True}}
            for name, functions in (("a", "enp130s0f0#0-3"), ("b", "enp130s0f1"))
        ]
        path = self.config("config.json", json.dumps({"resourceList": pools}))
        self.agent(machine, "--config", path)
        self.cluster.wait_allocatable("intel.com/b", 8)
        inside = self.run_pod("both", limits={"intel.com/a": 1, "intel.com/b": 2})
        held = [inside.env[f"PCIDEVICE_INTEL_COM_{name}"].split(",") for name in "AB"]
        self.assertEqual([1, 2], [len(functions) for functions in held])
        self.assertEqual(3, len([path for path in inside.nodes if "uverbs" in path]))
