# SPDX-License-Identifier: Apache-2.0
"""Moving from another plugin to Railhead and back, as docs/migration.md says it: what pods that run,
pods that restart, new pods and a quota see in each step. The old plugins are stand-ins
(tests/peers/replaced_plugin.py) that answer the kubelet as the real ones do."""

import contextlib
import json
import sys
import time
from collections.abc import Iterator

from kube.case import ClusterCase
from kube.host_nodes import host_nodes
from kube.kubelet import ROOT
from kube.pod import UNTIL_RELEASED
from lib import paths
from lib.cri import Inside
from lib.machine import SEED, CharDevice, Machine
from lib.process import Daemon, Failed, wait_until
from peers.nri_plugin import NriPlugin, device

ALL = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
VFS = "vfs-on-one-socket"


class MovingCase(ClusterCase):
    RESOURCE: str | None = None

    def setUp(self) -> None:
        super().setUp()
        if self.RESOURCE:  # the node's status may still be that of the test before
            self.cluster.wait_allocatable(self.RESOURCE, 0)

    def old(self, kind: str, told: dict) -> Daemon:
        """The old plugin, as its DaemonSet would start it."""
        program = str(paths.TREE / "tests/peers/replaced_plugin.py")
        argv = [sys.executable, program, kind, str(ROOT), json.dumps(told)]
        daemon = Daemon(argv, self.dir / "old.log")
        self.addCleanup(lambda: daemon.exit_code is None and daemon.end())
        return daemon

    def restart(self, pod: str) -> Inside:
        """Its container runs UNTIL_RELEASED; what the next one sees."""
        before = self._restarts(pod)
        self.release(pod, "main")
        self.wait_restarted(pod, before)
        return self.look(pod)

    def wait_restarted(self, pod: str, before: int) -> None:
        again = f"{pod} restarted"
        wait_until(again, lambda: self._restarts(pod) > before and self._runs(pod))

    def _main(self, pod: str) -> dict:
        return self.status(pod)["containerStatuses"][0]

    def _restarts(self, pod: str) -> int:
        return self._main(pod)["restartCount"]

    def _runs(self, pod: str) -> bool:
        return "running" in self._main(pod)["state"]

    def assert_nodes(self, inside: Inside, nodes: dict[str, CharDevice]) -> None:
        wanted = {path: (node.major, node.minor) for path, node in nodes.items()}
        self.assertEqual(wanted, {p: (n.major, n.minor) for p, n in inside.nodes.items()})

    @contextlib.contextmanager
    def quota(self, resource: str, count: int) -> Iterator[None]:
        hard = {f"requests.{resource}": str(count)}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "slots"}}
        self.kubectl("apply", "-f", "-", text=json.dumps(quota | {"spec": {"hard": hard}}))
        wait_until("the quota is counted", lambda: self._used(resource) is not None)
        try:
            yield
        finally:
            self.kubectl("delete", "resourcequota", "slots")

    def _used(self, resource: str) -> int | None:
        said = json.loads(self.kubectl("get", "resourcequota", "slots", "-o", "json"))
        used = said.get("status", {}).get("used", {}).get(f"requests.{resource}")
        return None if used is None else int(used)

    def assert_over_quota(self, pod: str, resource: str) -> None:
        with self.assertRaisesRegex(Failed, "exceeded quota: slots"):
            self.apply(pod, limits={resource: 1})
        self._pods.remove(pod)

    def assert_differences(self, agent, *wanted: str) -> None:
        said = agent.events("differs from the replaced plugin", least=len(wanted))
        self.assertEqual(list(wanted), [one["difference"] for one in said])


class FromTheSharedPlugin(MovingCase):
    RESOURCE = "rdma/hca_shared_devices_a"

    def setUp(self) -> None:
        super().setUp()
        self.machine = Machine(SEED)
        self.every = self.machine.devices(ALL) | self.machine.mads(ALL)
        pool = {"resourceName": "hca_shared_devices_a", "rdmaHcaMax": 8}
        pool["selectors"] = {"vendors": ["15b3"]}
        self.file = self.config("config.json", json.dumps({"configList": [pool]}))
        self.told = {"resource": self.RESOURCE, "slots": 8, "nodes": sorted(self.every)}

    def test_there_and_back(self) -> None:
        machine, every, file, told = self.machine, self.every, self.file, self.told
        self.cluster.offer_gpus(machine)
        ours = machine.devices(ALL)
        slot = {self.RESOURCE: 1}
        with host_nodes(every), self.quota(self.RESOURCE, 3):
            old = self.old("shared", told)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.assert_nodes(self.run_pod("runs", limits=slot), every)
            self.run_pod("restarts", limits=slot, command=UNTIL_RELEASED)
            self.assert_gets_nothing(self.run_pod("gpus-before", gpus=1))

            old.end()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            self.assert_nodes(self.look("runs"), every)
            self.apply("waits", limits=slot, command=UNTIL_RELEASED)
            self.wait_event("waits", f"Insufficient {self.RESOURCE}")

            agent = self.agent(machine, "--config", file)
            self.assert_differences(agent, "nics-without-a-slot")
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.wait_running("waits")
            self.assert_gets(self.look("waits"), machine, ALL)
            self.assert_over_quota("fourth", self.RESOURCE)
            uuid = (gpus := self.run_pod("gpus-after", gpus=1)).env["NVIDIA_VISIBLE_DEVICES"]
            index = [gpu.uuid for gpu in machine.gpus].index(uuid)
            self.assert_gets(gpus, machine, machine.nearest(index))  # past the quota
            self.assert_nodes(self.look("runs"), every)
            self.assert_nodes(self.restart("restarts"), every)  # the kubelet repeats the old answer

            agent.terminate()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            self.assert_nodes(self.look("waits"), ours)
            self.release("waits", "main")  # while the kubelet cannot ask whom it should
            self.wait_event("waits", "PreStartContainer rpc failed")
            self.old("shared", told)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.wait_restarted("waits", 0)
            self.assertEqual({}, self.look("waits").nodes)  # an annotation is all it was given
            self.delete("waits")
            self.assert_nodes(self.run_pod("anew", limits=slot), every)
            self.assert_nodes(self.look("runs"), every)


    def test_a_trial_by_device_specs_ends_without_a_drain(self) -> None:
        slot = {self.RESOURCE: 1}
        with host_nodes(self.every):
            agent = self.agent(self.machine, "--config", self.file, "--handout", "device-specs")
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            inside = self.run_pod("trial", limits=slot, command=UNTIL_RELEASED)
            self.assert_nodes(inside, self.machine.devices(ALL))
            agent.terminate()
            self.old("shared", self.told)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.assert_nodes(self.restart("trial"), self.machine.devices(ALL))

    def test_an_old_plugin_that_ends_late_takes_nothing_along(self) -> None:
        with host_nodes(self.every):
            old = self.old("shared", self.told)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            agent = self.agent(self.machine, "--config", self.file)
            before = self.cluster.kubelet.log_text().count("Deregistering plugin")
            old.end()
            began = time.monotonic()
            asked = {"name": "railhead_kubelet_enrolled", "pool": self.RESOURCE}
            # The kubelet hangs up on whoever has the resource now: when the old stream ends, and when it misses the socket.
            wait_until("it misses the old socket",
                       lambda: self.cluster.kubelet.log_text().count("Deregistering plugin") > before)
            time.sleep(1)
            wait_until("enrolled", lambda: agent.metric(**asked) == 1)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.measured("capacity back after the old one ended", time.monotonic() - began)
            self.assert_gets(self.run_pod("new", limits={self.RESOURCE: 1}), self.machine, ALL)


class FromTheSriovPlugin(MovingCase):
    RESOURCE = "nvidia.com/front_a"
    VARIABLE = "PCIDEVICE_NVIDIA_COM_FRONT_A"

    def test_there_and_back(self) -> None:
        machine = Machine(VFS)
        names = {f"0000:82:01.{n}": f"mlx5_{n + 1}" for n in range(4)}
        every = machine.devices(list(names.values())) | machine.mads(list(names.values()))
        told = {"resource": self.RESOURCE, "functions": {}}
        for address, name in names.items():
            nodes = sorted(machine.devices([name]) | machine.mads([name]))
            told["functions"][address] = {"numa": 0, "rdma_dev": name, "nodes": nodes}
        pool = {"resourcePrefix": "nvidia.com", "resourceName": "front_a"}
        pool["selectors"] = {"pfNames": ["enp130s0f0#0-3"], "isRdma": True}
        file = self.config("config.json", json.dumps({"resourceList": [pool]}))
        slot = {self.RESOURCE: 1}

        def nodes_of(inside: Inside, mads: bool) -> dict[str, CharDevice]:
            name = [names[inside.env[self.VARIABLE]]]
            return machine.devices(name) | (machine.mads(name) if mads else {})

        with host_nodes(every), self.quota(self.RESOURCE, 3):
            old = self.old("sriov", told)
            self.cluster.wait_allocatable(self.RESOURCE, 4)
            runs = self.run_pod("runs", limits=slot, host_network=False)
            self.assert_nodes(runs, nodes_of(runs, mads=True))
            self.run_pod("restarts", limits=slot, command=UNTIL_RELEASED)

            old.end()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            agent = self.agent(machine, "--config", file)
            self.assert_differences(agent, "nics-without-a-slot")
            self.cluster.wait_allocatable(self.RESOURCE, 4)
            again = self.restart("restarts")
            self.assert_nodes(again, nodes_of(again, mads=True))
            new = self.run_pod("new", limits=slot, command=UNTIL_RELEASED)
            self.assert_nodes(new, nodes_of(new, mads=False))
            held = {one.env[self.VARIABLE] for one in (self.look("runs"), again, new)}
            self.assertEqual(3, len(held))  # nobody was given what another holds
            about = [set(json.loads(one.env[f"{self.VARIABLE}_INFO"])) for one in (runs, new)]
            self.assertEqual([{one.env[self.VARIABLE]} for one in (runs, new)], about)
            self.assert_over_quota("fourth", self.RESOURCE)

            agent.terminate()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            self.old("sriov", told)
            self.cluster.wait_allocatable(self.RESOURCE, 4)
            self.assertEqual({}, self.restart("new").nodes)
            self.delete("new")
            anew = self.run_pod("anew", limits=slot)
            self.assert_nodes(anew, nodes_of(anew, mads=True))


class FromK8sRdmaDevicePlugin(MovingCase):
    RESOURCE = "rdma.io/hca"

    def injects_into_all(self, nodes: dict[str, CharDevice]) -> NriPlugin:
        """Its NRI half gives every node to every container (pkg/nri/devices.go, at af58283)."""
        every = [device(node.path, node.major, node.minor) for node in nodes.values()]
        plugin = NriPlugin(
            str(self.cluster.runtime.nri_socket),
            "rdma-device-plugin",
            "10",
            lambda _pod, _container: {"linux": {"devices": every}},
        )
        plugin.wait_synchronized()
        return plugin

    def test_there_and_back(self) -> None:
        machine = Machine(SEED)
        self.cluster.offer_gpus(machine)
        ours, every = machine.devices(ALL), machine.devices(ALL) | machine.mads(ALL)
        file = self.config("config.yaml", "resourceCount: 8\n")
        told = {"resource": self.RESOURCE, "slots": 8}
        slot = {self.RESOURCE: 1}
        with self.quota(self.RESOURCE, 3):
            old, injector = self.old("flat", told), self.injects_into_all(every)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            runs = self.run_pod("runs", limits=slot)
            self.assert_nodes(runs, every)
            self.assertEqual("1", runs.env["RDMA_ALLOCATED"])
            self.run_pod("restarts", limits=slot, command=UNTIL_RELEASED)
            self.assert_nodes(self.run_pod("asks-nothing"), every)  # whoever it is

            injector.close()
            old.end()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            agent = self.agent(machine, "--config", file)
            self.assert_differences(agent, "gpu-pods-need-a-slot", "other-pods-need-a-slot")
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.assert_nodes(self.look("runs"), every)
            again = self.restart("restarts")
            self.assertEqual("1", again.env["RDMA_ALLOCATED"])
            self.assertEqual({}, again.nodes)  # the old answer has no node: delete such pods
            self.delete("restarts")
            new = self.run_pod("new", limits=slot, command=UNTIL_RELEASED)
            self.assert_gets(new, machine, ALL)
            self.assertEqual("1", new.env["RDMA_ALLOCATED"])
            self.assert_gets_nothing(self.run_pod("gpus", gpus=2))
            self.assert_gets_nothing(self.run_pod("still-asks-nothing"))
            self.run_pod("third", limits=slot)
            self.assert_over_quota("fourth", self.RESOURCE)

            agent.terminate()
            self.cluster.wait_allocatable(self.RESOURCE, 0)
            self.old("flat", told)
            injector = self.injects_into_all(every)
            self.addCleanup(injector.close)
            self.cluster.wait_allocatable(self.RESOURCE, 8)
            self.assert_nodes(self.look("new"), ours)
            self.assert_nodes(self.restart("new"), every)  # its nodes never came by the kubelet


class FromNriSamplePlugins(MovingCase):
    """device-injector and ulimit-adjuster: annotations, and no resource."""

    DEVICES = "devices.noderesource.dev/container.main"
    LIMITS = "ulimits.noderesource.dev/container.main"

    def samples(self, uverbs: CharDevice) -> NriPlugin:
        """What both give to who asks (containerd/nri plugins/device-injector and ulimit-adjuster)."""

        def adjust(pod: dict, container: dict) -> dict:
            asks = self.DEVICES in pod.get("annotations", {}) and container["name"] == "main"
            if not asks:
                return {}
            limit = {"type": "RLIMIT_MEMLOCK", "hard": 1 << 20, "soft": 1 << 20}
            node = device(uverbs.path, uverbs.major, uverbs.minor)
            return {"linux": {"devices": [node]}, "rlimits": [limit]}

        plugin = NriPlugin(str(self.cluster.runtime.nri_socket), "samples", "10", adjust)
        plugin.wait_synchronized()
        return plugin

    def test_there_and_back(self) -> None:
        machine = Machine(SEED)
        uverbs = machine.uverbs("mlx5_1")
        wish = f"- {{path: {uverbs.path}, type: c, major: {uverbs.major}, minor: {uverbs.minor}}}"
        limit = "- {type: RLIMIT_MEMLOCK, hard: 1048576, soft: 1048576}"
        asks = {"annotations": {self.DEVICES: wish, self.LIMITS: limit}, "command": UNTIL_RELEASED}
        theirs, ours = {uverbs.path: uverbs}, machine.devices(["mlx5_1"])
        samples = self.samples(uverbs)
        before = self.run_pod("before", **asks)
        self.assert_nodes(before, theirs)
        self.assertEqual("1024", before.memlock)

        agent = self.agent(machine, "--annotations", "allow")  # beside them: nothing comes twice
        self.assert_nodes(self.run_pod("beside", **asks), theirs)
        samples.close()
        self.assert_nodes(self.look("before"), theirs)
        again = self.restart("before")
        self.assert_nodes(again, ours)
        self.assertEqual("1024", again.memlock)
        self.assert_gets_nothing(self.run_pod("asks-nothing"))

        agent.terminate()
        samples = self.samples(uverbs)
        self.addCleanup(samples.close)
        self.assert_nodes(self.restart("beside"), theirs)  # no kubelet is in it
