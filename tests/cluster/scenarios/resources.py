# SPDX-License-Identifier: Apache-2.0
"""Pods that ask for RDMA resources, and who keeps those known to the kubelet."""

import json
import time

from kube.case import ClusterCase
from lib.agent import Agent
from lib.machine import SEED, Machine
from lib.process import wait_until

HCA = "rdma.io/hca"
SHARED = "rdma/hca_shared_devices_a"
ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


class Resources(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)

    def config(self, name: str, text: str) -> str:
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def events_of(self, pod: str) -> str:
        return self.kubectl("get", "events", "--field-selector", f"involvedObject.name={pod}")

    def wait_event(self, pod: str, text: str) -> None:
        wait_until(f"an event of {pod} with {text!r}", lambda: text in self.events_of(pod), 30)

    # What a pod gets

    def test_a_slot_of_the_default_pool_admits_to_every_compute_nic(self) -> None:
        self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        inside = self.run_pod("slot", limits={HCA: 1})
        self.assert_gets(inside, self.machine, ALL)
        self.assert_gets_nothing(self.run_pod("none"))

    def test_a_slot_beside_gpus_does_not_widen_what_the_gpus_get(self) -> None:
        self.cluster.offer_gpus(self.machine)
        self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        inside = self.run_pod("two", gpus=2, limits={HCA: 1})
        order = [gpu.uuid for gpu in self.machine.gpus]
        uuids = inside.env["NVIDIA_VISIBLE_DEVICES"].split(",")
        nics = sorted({ALL[order.index(uuid) // 2] for uuid in uuids})
        self.assert_gets(inside, self.machine, nics)
        self.kubectl("delete", "pod", self._pods.pop(), "--grace-period=0", "--force")
        self.assert_gets(self.run_pod("eight", gpus=8, limits={HCA: 1}), self.machine, ALL)

    def test_the_shared_plugins_file_keeps_its_names_and_counts(self) -> None:
        pool = {"resourceName": "hca_shared_devices_a", "rdmaHcaMax": 2}
        pool["selectors"] = {"vendors": ["15b3"]}
        path = self.config("config.json", json.dumps({"configList": [pool]}))
        self.agent(self.machine, "--config", path)
        self.cluster.wait_allocatable(SHARED, 2)
        self.assert_gets(self.run_pod("a", limits={SHARED: 1}), self.machine, ALL)
        self.run_pod("b", limits={SHARED: 1})
        self.apply("c", limits={SHARED: 1})
        self.wait_event("c", f"Insufficient {SHARED}")
        self.assertEqual("Pending", self.status("c")["phase"])

    def test_an_exclusive_function_belongs_to_one_pod(self) -> None:
        pools = (
            "pools:\n  - name: example.com/nic\n    mode: exclusive\n"
            "    include: {names: [mlx5_1, mlx5_3]}\n"
        )
        self.agent(self.machine, "--config", self.config("pools.yaml", pools))
        self.cluster.wait_allocatable("example.com/nic", 2)
        first = self.run_pod("first", limits={"example.com/nic": 1})
        second = self.run_pod("second", limits={"example.com/nic": 1})
        names = [inside.env["NCCL_IB_HCA"] for inside in (first, second)]
        self.assertEqual(["=mlx5_1:1", "=mlx5_3:1"], sorted(names))
        for inside, name in zip((first, second), names):
            self.assert_gets(inside, self.machine, [name[1:-2]])

    def test_the_kubelet_adds_the_nodes_where_we_do_not(self) -> None:
        self.agent(self.machine, "--handout", "device-specs", "--nri", "false")
        self.cluster.wait_allocatable(HCA, 100)
        wanted = set(self.machine.devices(ALL))
        # The machine is in a file, so the kubelet finds no such node here: it says which it wants.
        self.apply("specs", limits={HCA: 1})
        for path in sorted(wanted)[:1]:
            self.wait_event("specs", path.rsplit("/", 1)[0])

    def test_gpus_that_only_the_environment_names_count_for_pods_that_hold_gpus(self) -> None:
        self.agent(self.machine)
        forged = {"NVIDIA_VISIBLE_DEVICES": "0,1,2,3"}
        self.assert_gets_nothing(self.run_pod("forged", env=forged))

    # Who keeps it known

    def test_capacity_is_back_after_a_restart_of_the_kubelet(self) -> None:
        self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        self.run_pod("before", limits={HCA: 1})
        self.cluster.kubelet.restart()
        self.cluster.wait_allocatable(HCA, 100)
        self.assert_gets(self.run_pod("after", limits={HCA: 1}), self.machine, ALL)
        self.assert_gets(self.look("before"), self.machine, ALL)

    def test_capacity_is_back_after_the_agent_was_killed(self) -> None:
        agent = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        agent.kill()
        self.cluster.wait_allocatable(HCA, 0)
        agent.start()
        self.cluster.wait_allocatable(HCA, 100, 15)
        self.assert_gets(self.run_pod("next", limits={HCA: 1}), self.machine, ALL)

    def test_a_successor_stands_by_and_takes_over(self) -> None:
        old = self.agent(self.machine)
        self.cluster.wait_allocatable(HCA, 100)
        new = self.agent(self.machine)  # ready although the other one holds the registration
        self.assertEqual(0, new.metric("railhead_kubelet_enrolled", pool=HCA))
        self.assert_gets(self.run_pod("overlap", limits={HCA: 1}), self.machine, ALL)
        self.assertEqual(0, old.terminate())
        began = time.monotonic()
        wait_until("enrolled", lambda: new.metric("railhead_kubelet_enrolled", pool=HCA) == 1, 15)
        self.cluster.wait_allocatable(HCA, 100, 15 - (time.monotonic() - began))
        self.assert_gets(self.run_pod("after", limits={HCA: 1}), self.machine, ALL)

    def test_a_start_is_refused_while_the_runtime_is_not_connected(self) -> None:
        path = self.folder / "deaf.sock"
        agent = Agent(path, self.dir / "agent-deaf.log", self.machine.snapshot)
        self._agents.append(agent)
        agent.start(ready=False)
        wait_until("enrolled", lambda: agent.metric("railhead_kubelet_enrolled", pool=HCA) == 1)
        self.cluster.wait_allocatable(HCA, 100)
        self.apply("waits", limits={HCA: 1})
        self.wait_event("waits", "railhead: the agent cannot give this container its RDMA devices")
        self.assertEqual("Pending", self.status("waits")["phase"])
        path.symlink_to(self.cluster.runtime.nri_socket)
        agent.wait_ready()
        self.wait_running("waits", 60)
        self.assert_gets(self.look("waits"), self.machine, ALL)
