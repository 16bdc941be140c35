#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The agent beside a kubelet that misbehaves: kubelet_checks.py [pattern…]

The kubelet is tests/peers/kubelet.py, which shares nothing with Railhead. One line a test; exit code
77 if nothing could be run here. RAILHEAD_BIN names the program.
"""

import os
import pathlib
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

import runtime_side  # noqa: E402
import wire  # noqa: E402
from lib import needs  # noqa: E402
from lib.agent import Agent  # noqa: E402
from lib.machine import SEED, Machine, Tree  # noqa: E402
from lib.process import Daemon, wait_until  # noqa: E402
from lib.runner import SKIPPED, Lines  # noqa: E402
from peers import kubelet_messages as messages  # noqa: E402
from peers.kubelet import Kubelet, Plugin, grpc  # noqa: E402
from peers.protobuf import encode  # noqa: E402

HCA, RAIL = "rdma.io/hca", "example.com/rail"
RAILS = f"pools: [{{name: {RAIL}, slotsPerNic: 250}}]\n"  # 1,000 of them


def resident_kib(pid: int) -> int:
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def count(pid: int, what: str) -> int:
    return len(list(pathlib.Path(f"/proc/{pid}/{what}").iterdir()))


class KubeletCase(unittest.TestCase):
    longMessage = True

    def setUp(self) -> None:
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="rh-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.machine = Machine(SEED)
        self.kubelet = Kubelet(self.dir)
        self.addCleanup(self.kubelet.stop)

    def agent(
        self,
        *flags: str,
        machine: Tree | None = None,
        ready: bool = True,
        under: tuple[str, ...] = (),
    ) -> Agent:
        """Without NRI, unless it is among the flags."""
        source = str(machine.root) if machine else self.machine.snapshot
        nri = () if "--nri-plugin-index" in flags else ("--nri", "false")
        folders = ("--kubelet-root-dir", str(self.dir))
        if "--device-plugin-dir" not in flags:
            folders += ("--device-plugin-dir", str(self.kubelet.plugins))
        log = self.dir / "agent.log"
        agent = Agent(self.dir / "nri.sock", log, source, (*folders, *nri, *flags), under)
        self.addCleanup(lambda: agent.running() and agent.kill())
        return agent.start(ready)

    def config(self, text: str) -> tuple[str, str]:
        path = self.dir / "pools.yaml"
        path.write_text(text)
        return ("--config", str(path))

    def endpoint(self, resource_name: str = HCA):
        """The registration that is watched now, with a list."""

        def listed():
            found = self.kubelet.endpoints.get(resource_name)
            return found if found and found.lists and not found.ended else None

        return wait_until(f"{resource_name} registered and listed", listed)

    def refusal_of(self, call, *arguments) -> str:
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments)
        return caught.exception.details()


class Protocol(KubeletCase):
    """What it says when everything is as it should be."""

    def setUp(self) -> None:
        super().setUp()
        self.kubelet.start()

    def test_it_registers_and_lists_healthy_devices(self) -> None:
        self.agent()
        endpoint = self.endpoint()
        self.assertEqual("v1beta1", endpoint.request["version"])
        self.assertNotIn("/", endpoint.request["endpoint"])
        # The kubelet hands out the nodes here: a dead agent is to hold up no restart.
        wanted = {"get_preferred_allocation_available": 1}
        self.assertEqual(wanted, endpoint.options)
        self.assertEqual(wanted, endpoint.request["options"])
        self.assertEqual(100, len(endpoint.health()))
        self.assertEqual({"Healthy"}, set(endpoint.health().values()))

    def test_a_thousand_slots_have_names_that_survive_a_restart(self) -> None:
        agent = self.agent(*self.config(RAILS))
        before = self.endpoint(RAIL).devices
        ids = [device["ID"] for device in before]
        self.assertEqual((1000, 1000), (len(ids), len(set(ids))))
        self.assertLessEqual(max(map(len, ids)), 63)
        nodes = {node.get("ID", 0) for device in before for node in device["topology"]["nodes"]}
        self.assertEqual({0, 1}, nodes)
        agent.terminate()
        wait_until("the agent's end is seen", lambda: self.kubelet.endpoints[RAIL].ended)
        agent.start()
        self.assertEqual(before, self.endpoint(RAIL).devices)

    def test_allocate_of_an_id_that_nobody_announced_names_it(self) -> None:
        self.agent(*self.config(RAILS))
        plugin = self.endpoint(RAIL).plugin
        for unknown in ("never-heard-of", "", "0000:ff:00.0-0", "x" * 4096, "a\nb"):
            text = self.refusal_of(plugin.allocate, unknown)
            self.assertTrue(text.startswith("railhead: "), text)
            self.assertIn(f"of {RAIL} is not on this node", text)
            self.assertIn(unknown[:8].replace("\n", "\\n"), text)  # escaped, and not all of it
            self.assertLess(len(text), 200)

    def test_preferred_allocation_never_fails(self) -> None:
        self.agent(*self.config(RAILS))
        endpoint = self.endpoint(RAIL)
        ids, plugin = sorted(endpoint.health()), endpoint.plugin
        for available, must, size in (
            ([], [], 0),
            ([], [], 4),
            (ids, [], -1),
            (ids, [], 2**31 - 1),
            (ids, ids[:5], 2),
            (ids[:3], ["unknown"], 2),
            (["unknown"], ["unknown"], 1),
            (ids[:2] * 3, [], 2),
            (ids, [], 1000),
        ):
            chosen = plugin.prefer(available, must, size)
            self.assertEqual(len(chosen), len(set(chosen)))
            self.assertLessEqual(set(chosen), {*available, *must})
            self.assertLessEqual(len(chosen), max(size, len(must), 0))
        four = plugin.prefer(ids, [], 4)
        self.assertEqual(4, len(four))
        self.assertEqual(four, plugin.prefer(ids[::-1], [], 4))

    def test_a_found_socket_introduces_itself_and_survives_a_refusal(self) -> None:
        self.agent("--registration", "found", ready=False)
        path = wait_until("a socket", lambda: next(self.kubelet.registry.glob("*.sock"), None))
        plugin = Plugin(path)
        self.addCleanup(plugin.close)
        wanted = {"type": "DevicePlugin", "name": HCA, "supported_versions": ["v1beta1"]}
        self.assertEqual(wanted, plugin.info())
        plugin.notify(False, "not today")
        self.assertEqual(wanted, plugin.info())
        plugin.notify(True)
        self.assertEqual(100, len(next(plugin.watch())["devices"]))
        self.assertEqual(0, self.kubelet.registrations)


class Faults(KubeletCase):
    """What it does when the kubelet is at fault."""

    def test_a_dropped_stream_is_followed_by_a_registration(self) -> None:
        self.kubelet.start()
        self.agent()
        for number in range(2, 5):
            self.endpoint().drop()
            wait_until(f"registration {number}", lambda: self.kubelet.registrations >= number)
            self.assertEqual(100, len(self.endpoint().devices))

    def test_a_hundred_restarts_of_the_kubelet(self) -> None:
        self.kubelet.start()
        agent = self.agent()
        ids = sorted(self.endpoint().health())
        before = [count(agent.pid, what) for what in ("fd", "task")]
        memory = resident_kib(agent.pid)
        for number in range(1, 101):
            self.kubelet.restart()
            if number % 2 == 0:  # the others may be gone before anybody looks
                self.assertEqual(ids, sorted(self.endpoint().health()))
        agent.wait_ready()
        self.endpoint().plugin.allocate(ids[0])
        after = [count(agent.pid, what) for what in ("fd", "task")]
        for was, now in zip(before, after):
            self.assertLessEqual(now, was + 8)
        self.assertLess(resident_kib(agent.pid), memory + 8192)

    def test_streams_that_nobody_reads_end_with_the_newest_list(self) -> None:
        tree = self.machine.unpack(self.dir / "root")
        self.kubelet.reads = False
        self.kubelet.start()
        agent = self.agent(*self.config(RAILS), machine=tree, ready=False)
        endpoint = wait_until("registered", lambda: self.kubelet.endpoints.get(RAIL))
        agent.wait_ready()
        deaf = [endpoint.plugin.watch() for _ in range(10)]
        self.addCleanup(lambda: [stream.cancel() for stream in deaf])
        memory = resident_kib(agent.pid)
        slot = self.function_of("mlx5_0")
        first = next(endpoint.plugin.watch())["devices"]
        answered = next(one["ID"] for one in first if one["ID"].startswith(slot))
        for number in range(40):
            state = "1: DOWN" if number % 2 == 0 else "4: ACTIVE"
            self.flip(tree, f"mlx5_{number % 3 + 1}", state)
            endpoint.plugin.allocate(answered)
        self.flip(tree, "mlx5_0", "1: DOWN")
        self.assertLess(resident_kib(agent.pid), memory + 4096)
        endpoint.read()

        def newest() -> bool:
            return endpoint.lists and {
                health for name, health in endpoint.health().items() if name.startswith(slot)
            } == {"Unhealthy"}

        wait_until("the newest list", newest)
        self.assertLess(endpoint.lists, 20)

    def test_a_port_that_goes_down_without_an_event_is_found(self) -> None:
        tree = self.machine.unpack(self.dir / "root")
        self.kubelet.start()
        self.agent(*self.config(RAILS), machine=tree)
        endpoint, slot = self.endpoint(RAIL), self.function_of("mlx5_0")
        tree.write(self.machine.port_state("mlx5_0"), "1: DOWN")

        def ill() -> set[str]:
            return {name for name, health in endpoint.health().items() if health == "Unhealthy"}

        wait_until("250 slots are unhealthy", lambda: len(ill()) == 250)
        self.assertEqual({slot}, {name[: len(slot)] for name in ill()})

    def function_of(self, nic: str) -> str:
        path = self.machine.port_state(nic)
        return path.split("/infiniband/")[0].rsplit("/", 1)[1]

    def flip(self, tree: Tree, nic: str, state: str) -> None:
        """A new file beside the devices is the event; a state that changes is none."""
        tree.write(self.machine.port_state(nic), state)
        sign = tree.at("/sys/class/infiniband/changed")
        sign.write_text("")
        sign.unlink()

    def test_the_kubelets_words_are_shown_until_it_takes_the_plugin(self) -> None:
        self.kubelet.refusal = "the kubelet has a bad day"
        self.kubelet.start()
        agent = self.agent(ready=False)
        wait_until("refused twice", lambda: self.kubelet.registrations >= 2)
        self.assertIn(self.kubelet.refusal, agent.page("/readyz")[1])
        self.kubelet.refusal = ""
        agent.wait_ready(15)
        self.assertEqual(100, len(self.endpoint().devices))

    def test_a_slow_registration_is_asked_for_once(self) -> None:
        self.kubelet.patience_s = 3
        self.kubelet.start()
        self.agent()
        self.endpoint()
        time.sleep(self.kubelet.patience_s)
        self.assertEqual(1, self.kubelet.registrations)


class Shortage(KubeletCase):
    """No thread can be started for a while: a fork bomb, pids.max."""

    def setUp(self) -> None:
        super().setUp()
        groups = pathlib.Path("/sys/fs/cgroup/pids")
        if not groups.is_dir():  # cgroup v2
            groups = groups.parent
            (groups / "cgroup.subtree_control").write_text("+pids")
        self.group = groups / self.dir.name
        self.group.mkdir()
        self.addCleanup(self.group.rmdir)
        self.kubelet.start()

    def allow(self, threads: int | str) -> None:
        (self.group / "pids.max").write_text(str(threads))

    def agent_in_group(self, ready: bool) -> Agent:
        join = f'echo $$ >"{self.group}/cgroup.procs" && exec "$@"'
        return self.agent(ready=ready, under=("sh", "-c", join, "sh"))

    def test_a_kubelet_restarts_and_is_served_when_they_are_back(self) -> None:
        agent = self.agent_in_group(ready=True)
        self.endpoint()
        self.allow(1)
        self.kubelet.restart()
        wait_until("it says what is missing", lambda: "not-served" in agent.page("/readyz")[1])
        self.allow("max")
        agent.wait_ready()
        self.assertEqual(100, len(self.endpoint().devices))

    def test_an_agent_starts_and_serves_when_they_are_back(self) -> None:
        self.allow(14)  # its own, and too few for gRPC
        agent = self.agent_in_group(ready=False)
        wait_until("it says what is missing", lambda: "no thread" in agent.page("/readyz")[1])
        self.allow("max")
        agent.wait_ready()
        self.assertEqual(100, len(self.endpoint().devices))


class Stopped(KubeletCase):
    """A kubelet that is alive and does nothing any more: its connections stay, nobody reads."""

    def setUp(self) -> None:
        super().setUp()
        path = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        argv = ["/usr/bin/python3", "-m", "peers.kubelet", str(self.dir)]
        self.process = Daemon(argv, self.dir / "kubelet.log", path)
        self.addCleanup(self.process.end, signal.SIGKILL)
        wait_until("a kubelet", lambda: (self.dir / "pod-resources/kubelet.sock").exists())

    def stop_kubelet(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def pools(self, slots: int, *more: str) -> tuple[str, str]:
        names = "".join(f", {{name: {name}, slots: 1}}" for name in more)
        return self.config(f"pools: [{{name: {HCA}, slots: {slots}}}{names}]\n")

    def wait_listed(self, slots: int) -> None:
        told = lambda: f"{HCA}={slots}" in self.process.log_text().split()  # noqa: E731
        wait_until(f"{slots} slots are listed", told)

    def assert_lives_and_ends(self, agent: Agent) -> None:
        self.assertEqual(200, agent.page("/healthz")[0])
        self.assertEqual(0, agent.terminate(), "it ends by itself, within ten seconds")

    def test_the_end_of_a_pool_or_of_the_agent_waits_for_nobody(self) -> None:
        for slots, changes in ((100, 1), (65536, 4)):
            with self.subTest(slots=slots):
                agent = self.agent(*self.pools(slots, RAIL))
                self.wait_listed(slots)
                self.stop_kubelet()
                for number in range(1, changes + 1):
                    self.pools(slots - number, RAIL)
                    told = lambda: agent.metric("railhead_pool_devices", pool=HCA)  # noqa: E731
                    wait_until("the new list", lambda: told() == slots - number)
                self.config(f"pools: [{{name: {RAIL}, slots: 1}}]\n")
                gone = lambda: f'pool="{HCA}"' not in agent.page("/metrics")[1]  # noqa: E731
                wait_until("the pool's end", gone)
                self.assert_lives_and_ends(agent)
                os.kill(self.process.pid, signal.SIGCONT)

    def test_many_pools_end_together(self) -> None:
        agent = self.agent(*self.pools(65536, *(f"example.com/{n}" for n in range(30))))
        self.wait_listed(65536)
        self.stop_kubelet()
        self.assert_lives_and_ends(agent)

    def test_a_registration_that_is_not_answered_does_not_hold_the_end(self) -> None:
        self.stop_kubelet()
        agent = self.agent(ready=False)
        asked = lambda: "enrolling" in agent.page("/readyz")[1]  # noqa: E731
        wait_until("a registration", asked)
        self.assert_lives_and_ends(agent)


class OtherPluginsFiles(KubeletCase):
    """Their resources while the file is being edited."""

    GOOD = (
        '{"resourceName": "a", "resourcePrefix": "example.com", "rdmaHcaMax": %s,'
        ' "selectors": {"vendors": ["15b3"]}}'
    )

    def setUp(self) -> None:
        super().setUp()
        self.kubelet.start()

    def listing(self, *resources: str) -> tuple[str, str]:
        return self.config('{"configList": [' + ",\n".join(resources) + "]}")

    def test_one_that_is_wrong_takes_no_other_along(self) -> None:
        wrong = '{"resourceName": "r_", "rdmaHcaMax": 1, "selectors": {"vendors": ["15b3"]}}'
        agent = self.agent(*self.listing(self.GOOD % 5, wrong))
        self.assertEqual(5, len(self.endpoint("example.com/a").devices))
        status, page = agent.page("/readyz")
        self.assertEqual(200, status)
        self.assertIn("config: resource left out: ", page)
        self.assertIn("pools.yaml:2:18", page)
        self.listing(self.GOOD % '"many"', self.GOOD.replace('"a"', '"b"') % 7)
        self.assertEqual(7, len(self.endpoint("example.com/b").devices))
        self.assertEqual(5, len(self.endpoint("example.com/a").devices))
        self.assertIn("the resource stays as it was", agent.page("/readyz")[1])
        self.assertEqual(0, agent.metric("railhead_config_last_reload_successful"))
        self.listing(self.GOOD % 6)
        wait_until("the good file", lambda: "left out" not in agent.page("/readyz")[1])

    def test_a_list_that_becomes_null_has_no_devices(self) -> None:
        agent = self.agent(*self.listing(self.GOOD % 5))
        endpoint = self.endpoint("example.com/a")
        self.config('{"configList": null}')
        wait_until("the end of the list", lambda: not endpoint.devices or endpoint.ended)
        gone = lambda: 'pool="example.com/a"' not in agent.page("/metrics")[1]  # noqa: E731
        wait_until("the pool's end", gone)


class Folders(KubeletCase):
    """Where the kubelet's folder is not what one would expect."""

    def test_a_folder_that_appears_later(self) -> None:
        agent = self.agent()  # ready: there is no kubelet to wait for
        self.assertIn("kubelet: none", agent.page("/readyz")[1])
        self.kubelet.start()
        self.assertEqual(100, len(self.endpoint().devices))

    def test_a_long_resource_name_is_shortened_in_the_sockets_path(self) -> None:
        name = "a-domain-of-some-length.example.com/" + "n" * 60
        self.kubelet.start()
        self.agent(*self.config(f"pools: [{{name: {name}, slots: 3}}]\n"))
        endpoint = self.endpoint(name)
        self.assertLessEqual(len(str(self.kubelet.plugins / endpoint.request["endpoint"])), 107)
        self.assertEqual(3, len(endpoint.devices))

    def test_a_folder_too_deep_for_any_socket_is_said_and_ends_nothing(self) -> None:
        root = self.dir / ("d" * (90 - len(str(self.dir)) - len("/device-plugins")))
        self.kubelet = Kubelet(root).start()
        self.addCleanup(self.kubelet.stop)
        agent = self.agent("--device-plugin-dir", str(self.kubelet.plugins), ready=False)
        page = wait_until("a reason", lambda: self.not_served(agent))
        self.assertIn("longer than the 107 bytes", page)
        self.assertTrue(agent.running())

    @staticmethod
    def not_served(agent: Agent) -> str | None:
        text = agent.page("/readyz")[1]
        return text if "not-served" in text else None


class PodResources(KubeletCase):
    """GPUs that only the environment names, and a kubelet that is asked who holds them."""

    def setUp(self) -> None:
        super().setUp()
        self.kubelet.start()
        self._session = None
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.dir / "nri.sock"))
        listener.listen(1)
        self.addCleanup(listener.close)

        def accept() -> None:
            session = runtime_side.Session(listener.accept()[0], "")
            self._session = session.handshake()

        threading.Thread(target=accept, daemon=True).start()
        self.claimed = self.machine.gpus[0].uuid
        self.running = self.agent("--nri-plugin-index", "90")
        wait_until("a runtime's session", lambda: self._session)

    def holding(self, filler: int) -> bytes:
        """The pod that the runtime creates holds a GPU; among so many bytes of other pods."""
        held = {"resource_name": "nvidia.com/gpu", "device_ids": [self.claimed]}
        mine = {"name": "worker", "namespace": "default"}
        mine["containers"] = [{"name": "main", "devices": [held]}]
        ids = [f"slot-{number}" for number in range(1000)]
        devices = [{"resource_name": HCA, "device_ids": [one]} for one in ids]
        other = {"name": "other", "namespace": "default"}
        other["containers"] = [{"name": "main", "devices": devices}]
        one = encode(messages.LIST_ANSWER, {"pod_resources": [other]})
        return one * (filler // len(one)) + encode(messages.LIST_ANSWER, {"pod_resources": [mine]})

    def nodes_given(self) -> list[str]:
        code, text, payload = self._session.call("CreateContainer", wire.create(self.claimed))
        self.assertEqual((0, ""), (code, text))
        return wire.devices_of(payload)

    def test_an_answer_of_five_megabytes_is_read(self) -> None:
        self.kubelet.pods = self.holding(5 << 20)
        self.assertIn("/dev/infiniband/uverbs0", self.nodes_given())
        self.assertIn("List", self.kubelet.asked)

    def test_what_a_large_answer_took_is_given_back(self) -> None:
        memory = resident_kib(self.running.pid)
        self.kubelet.pods = self.holding(15 << 20)
        # A busy machine may need longer for it than a hook waits.
        wait_until("it is read in time", lambda: "/dev/infiniband/uverbs0" in self.nodes_given())
        wait_until(
            "less than half of the answer is resident",
            lambda: resident_kib(self.running.pid) < memory + (7 << 10),
        )

    def test_an_answer_above_sixteen_is_not_and_nothing_is_given(self) -> None:
        self.kubelet.pods = self.holding(17 << 20)
        self.assertEqual([], self.nodes_given())

    def test_a_pod_that_holds_no_gpu_gets_nothing(self) -> None:
        self.kubelet.pods = b""
        self.assertEqual([], self.nodes_given())

    def test_a_kubelet_that_takes_its_time_does_not_hold_the_container(self) -> None:
        self.kubelet.pods = self.holding(0)
        self.kubelet.answer_after_s = 4
        began = time.monotonic()
        self.assertEqual([], self.nodes_given())
        self.assertLess(time.monotonic() - began, self.kubelet.answer_after_s)

    def test_a_start_is_refused_while_the_runtime_is_not_connected(self) -> None:
        endpoint = self.endpoint()
        self.assertEqual(1, endpoint.options["pre_start_required"])
        device = sorted(endpoint.health())[0]
        key = f"allocation.railhead.io/{HCA}"
        self.assertIn(key, endpoint.plugin.allocate(device)["annotations"])
        endpoint.plugin.pre_start(device)
        self._session.close()
        wait_until("the agent sees it", lambda: self.running.metric("railhead_nri_connected") == 0)
        text = self.refusal_of(endpoint.plugin.pre_start, device)
        self.assertIn("railhead: the agent cannot give this container its RDMA devices", text)


def main() -> int:
    lacking = [one for one in needs.missing() if one != "root"]
    if lacking:
        print(f"kubelet: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    began = time.monotonic()
    result = Lines(pathlib.Path(tempfile.gettempdir()))
    suite = unittest.TestSuite()
    for case in (Protocol, Faults, Shortage, Stopped, OtherPluginsFiles, Folders, PodResources):
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if not sys.argv[1:] or any(pattern in test.id() for pattern in sys.argv[1:]):
                suite.addTest(test)
    suite.run(result)
    result.repeat_failures()
    seconds = time.monotonic() - began
    print(f"kubelet: {result.passed} passed, {result.failed} failed in {seconds:.0f} s")
    return 1 if result.failed or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
