#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Upgrades the agent under load: upgrades.py [--rounds N] [--containers N] [--held N] [--before PROGRAM]

Each round hands over from one agent to the next while containers are being created and slots are held,
beside a real containerd 2.4: in odd rounds the new one starts first (maxSurge), in even ones the old one
ends first (delete, then create). In two rounds of three the kubelet or containerd is restarted meanwhile.
Every container has to have exactly what is due, and none may fail by us. Those that hold GPUs only name
Railhead as required for NRI's validator, as nothing else holds them back while there is no agent.

Exit code 1 if anything was wrong, and then the folder with the logs stays; 77 if nothing could be run
here. Needs root. RAILHEAD_BIN names the program; --before is the one that it takes turns with.
"""

import argparse
import collections
import itertools
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

from lib import jail, needs, paths  # noqa: E402

SKIPPED = 77
POOL = "rdma.io/hca"
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
WORKERS = 4
PATIENCE_S = 90.0  # of a container that waits
PAUSE_S = 0.2  # between its tries
REQUIRED = {"required-plugins.noderesource.dev/pod": '["railhead"]'}
VALIDATOR = """
[plugins."io.containerd.nri.v1.nri".default_validator]
  enable = true
"""
STARTED = 20  # one container of so many is also started
NO_PLUGIN = "NRI's validator: the required plugin is not there"
REQUIRING = ("GPU by variable", "GPU by node")
KINDS = ("slot", "GPU by variable", "GPU by node", "GPU and slot", "plain")
TROUBLES = ("", "kubelet", "containerd")


class Wait(Exception):
    """The container is tried again, as a kubelet does; the text says why."""


class World:
    """The runtime, the kubelet, the agent that is there, and what was seen."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        from kubelets import PodsKubelet
        from lib.machine import H100, Machine
        from runtimes import RestartableContainerd

        class Kubelet(PodsKubelet):
            """Keeps the endpoints of all registrations, for what each published."""

            def __init__(self, root: pathlib.Path) -> None:
                super().__init__(root, None)
                self.ever: list = []

            def _register(self, life, request, context):
                answer = super()._register(life, request, context)
                self.ever += [self.endpoints[name] for name in [request["resource_name"]] if name in self.endpoints]
                return answer

        class Containerd(RestartableContainerd):
            def _write_files(self) -> None:
                super()._write_files()
                with open(self.dir / "config.toml", "a", encoding="utf-8") as config:
                    config.write(VALIDATOR)

        self.options, self.folder = options, folder
        self.machine = Machine(H100)
        self.runtime = Containerd("2.4", folder / "c")
        self.kubelet = Kubelet(folder / "k")
        self.config = folder / "railhead.yaml"
        slots = options.held + options.containers
        self.config.write_text(f"pools:\n  - name: {POOL}\n    slots: {slots}\n")
        self.counts: collections.Counter[str] = collections.Counter()
        self.reasons: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self._lock = threading.Lock()
        self._agents = itertools.count(1)
        # Nobody creates containers while the kubelet is away: it is the kubelet who does. Its number
        # tells that it was restarted meanwhile.
        self.kubelet_there = threading.Event()
        self.kubelet_life = 0
        self.containerd_away = False

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def waits(self, why: str) -> None:
        with self._lock:
            self.counts["waits"] += 1
            self.reasons[why] += 1

    def find(self, text: str) -> None:
        with self._lock:
            self.wrong.append(text)
        print(f"  wrong: {text}", flush=True)

    def agent(self):
        """The next agent, started; not ready yet."""
        from lib.agent import Agent

        number = next(self._agents)
        flags = (
            *("--config", str(self.config), "--kubelet-root-dir", str(self.kubelet.root)),
            *("--device-plugin-dir", str(self.kubelet.plugins)),
            *("--cdi-dir", str(self.folder / "cdi"), "--device-info-dir", str(self.folder / "devinfo")),
        )
        program = self.options.before if number % 2 and self.options.before else paths.railhead()
        agent = Agent(
            self.runtime.nri_socket,
            self.folder / f"agent-{number}.log",
            self.machine.snapshot,
            flags,
            program=program,
        )
        return agent.start(ready=False)

    def endpoint(self):
        endpoint = self.kubelet.endpoints.get(POOL)
        if not endpoint or endpoint.ended or not endpoint.devices:
            raise Wait("the kubelet does not know the resource")
        return endpoint

    def slot(self, number: int) -> str:
        """What the kubelet allocates to a container of a round: none that is held."""
        return self.slots[self.options.held + number % self.options.containers]


class Worker:
    """Creates its share of a round's containers, in two pods. What the kubelet gave each is known before
    the first is created, as after a pod's admission."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._cri = world.runtime.client(number)
        self._number = number
        self._pods: list = []

    def run(self, round_: int, numbers: range, begun) -> None:
        """`begun` is called for each container."""
        free, required = (f"load-{self._number}-{round_}-{name}" for name in ("free", "required"))
        names = {number: required if KINDS[number % len(KINDS)] in REQUIRING else free for number in numbers}
        for pod in (free, required):
            mine = [number for number, name in names.items() if name == pod]
            self._world.kubelet.admit(pod, {f"c{number}": self._held(number) for number in mine})
        pods = {
            name: self._pod(name, REQUIRED if name == required else {}) for name in (free, required)
        }
        for number in numbers:
            begun()
            self.make(number, pods[names[number]])

    def _pod(self, name: str, annotations: dict):
        from lib.cri import Refused

        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._pods.append(self._cri.run_pod(name, annotations=annotations))
                return self._pods[-1]
            except Refused:
                if time.monotonic() > end:
                    raise
                time.sleep(PAUSE_S)

    def _held(self, number: int) -> dict[str, list[str]]:
        kind = KINDS[number % len(KINDS)]
        held = {}
        if "slot" in kind:
            held[POOL] = [self._world.slot(number)]
        if "GPU" in kind:
            held["nvidia.com/gpu"] = [self._world.machine.gpus[number % 8].uuid]
        return held

    def make(self, number: int, pod) -> None:
        """A container that has what is due; tried again until then, or until the patience ends."""
        world, kind = self._world, KINDS[number % len(KINDS)]
        end = time.monotonic() + PATIENCE_S
        for attempt in itertools.count():
            world.kubelet_there.wait()
            life, last = world.kubelet_life, time.monotonic() > end
            try:
                container, spec = self._try(pod, number, kind, attempt)
                if life != world.kubelet_life:  # it starts no container of before its restart
                    world.count("made anew after the kubelet's restart")
                    continue
                self._judge(f"{pod.name}/{container.name}", spec, number, kind)
                world.count("containers")
                world.count(f"containers: {kind}")
                return
            except Wait as why:
                world.waits(f"{why}")
                if last:
                    world.find(f"{kind} {number} waited {PATIENCE_S:g} s in vain: {why}")
                    return
                time.sleep(PAUSE_S)

    def _try(self, pod, number: int, kind: str, attempt: int):
        from lib.cri import Refused

        order = self._order(number, kind)
        try:
            container = pod.create(f"c{number}", attempt=attempt, **order)
            if number % STARTED == 0:
                container.start()
            return container, container.spec()
        except Refused as refused:
            raise self._reason(str(refused)) from None

    def _reason(self, text: str) -> Exception:
        if "required plugin" in text:
            return Wait(NO_PLUGIN)
        words = ("connect", "EOF", "closing", "reset", "unavailable", "transport")
        if self._world.containerd_away or any(word in text for word in words):
            return Wait("containerd is away")
        self._world.find(f"failed: {text[:300]}")
        return Wait(text[:100])

    def _order(self, number: int, kind: str) -> dict:
        """What the kubelet adds; it asks the plugin before each start."""
        env: dict[str, str] = {}
        annotations: dict[str, str] = {}
        devices: dict[str, str] = {}
        gpu = self._world.machine.gpus[number % 8]
        if kind == "GPU by variable":
            env[VISIBLE] = gpu.uuid
        elif "GPU" in kind:
            nodes = self._world.gpu_nodes
            devices = {f"/dev/nvidia{gpu.minor}": nodes[gpu.minor], "/dev/nvidiactl": nodes[255]}
        if "slot" in kind:
            answer = self._plugin("allocate", self._world.slot(number))
            env |= answer["envs"]
            annotations = answer["annotations"]
            self._plugin("pre_start", self._world.slot(number))
        return {"env": env, "annotations": annotations, "devices": devices}

    def _plugin(self, call: str, slot: str):
        from peers.kubelet import grpc

        endpoint = self._world.endpoint()
        if endpoint.health().get(slot) != "Healthy":
            raise Wait("the slot is unhealthy")
        try:
            return getattr(endpoint.plugin, call)(slot)
        except (grpc.RpcError, ValueError) as error:
            raise Wait(f"{call}: {said(error)}") from None

    def due(self, number: int, kind: str) -> set[str]:
        gpus = {"slot": range(8), "plain": ()}.get(kind, (number % 8,))
        return set(self._world.machine.devices(self._world.machine.nearest(*gpus)))

    def _judge(self, who: str, spec: dict, number: int, kind: str) -> None:
        from lib.containerd import HARD_MEMLOCK

        nodes = [one["path"] for one in spec["linux"].get("devices") or [] if "/infiniband/" in one["path"]]
        limits = [(one["hard"], one["soft"]) for one in spec["process"].get("rlimits") or []]
        named = [one for one in spec["process"]["env"] if one.startswith("NCCL_IB_HCA=")]
        due = self.due(number, kind)
        right = (sorted(due), [(HARD_MEMLOCK, HARD_MEMLOCK)] if due else [], 1 if due else 0)
        if (sorted(nodes), limits, len(named)) != right:
            self._world.find(f"{who} ({kind}): nodes {sorted(nodes)}, limits {limits}, {named}; due {sorted(due)}")

    def clear(self) -> None:
        """Removes its pods; the kubelet forgets them."""
        for pod in self._pods:
            pod.remove()
            self._world.kubelet.forget(pod.name)
        self._pods = []

    def keep(self, count: int) -> None:
        """Holds this many slots for the whole run, in containers of a pod that stays."""
        self._world.kubelet.admit("held", {f"c{n}": {POOL: [self._world.slots[n]]} for n in range(count)})
        pod = self._cri.run_pod("held")
        for number in range(count):
            slot = self._world.slots[number]
            answer = self._plugin("allocate", slot)
            self._plugin("pre_start", slot)
            container = pod.create(f"c{number}", env=answer["envs"], annotations=answer["annotations"])
            self._judge(f"held/c{number}", container.spec(), number, "slot")


def said(error) -> str:
    """Our own words; of another error its kind, for the library's words have addresses and times."""
    if isinstance(error, ValueError):
        return "the connection is closed"
    known = "the agent cannot give" in error.details()
    return error.details() if known else f"the plugin does not answer ({error.code().name})"


class Upgrades:
    def __init__(self, world: World) -> None:
        self._world = world
        self._agent = None
        self._workers: list[Worker] = []

    def run(self) -> int:
        world, options = self._world, self._world.options
        began = time.monotonic()
        world.runtime.start()
        world.runtime.load_image()
        nodes = [*(gpu.minor for gpu in world.machine.gpus), 255]
        world.gpu_nodes = {minor: world.runtime.character_device(195, minor) for minor in nodes}
        world.kubelet.start()
        world.kubelet_there.set()
        try:
            self._agent = world.agent()
            self._agent.wait_ready(30)
            self._wait_enrolled()
            world.slots = sorted(one["ID"] for one in world.endpoint().devices)
            Worker(world, WORKERS + 1).keep(options.held)
            self._workers = [Worker(world, number) for number in range(1, WORKERS + 1)]
            for number in range(1, options.rounds + 1):
                self._round(number)
        finally:
            if self._agent and self._agent.running():
                self._agent.terminate()
            world.kubelet.stop()
            world.runtime.remove()
        for why, number in world.reasons.most_common():
            print(f"  waited {number} times: {why}")
        counted = ", ".join(f"{number} {what}" for what, number in sorted(world.counts.items()))
        print(
            f"upgrades {'failed' if world.wrong else 'passed'} in {time.monotonic() - began:.0f} s: "
            f"{options.rounds} rounds, {options.held} slots held, {len(world.wrong)} wrong; {counted}"
        )
        return 1 if world.wrong else 0

    def _wait_enrolled(self) -> None:
        from lib.process import wait_until

        def is_enrolled() -> bool:
            try:
                return bool(self._world.endpoint())
            except Wait:
                return False

        wait_until("the kubelet knows the resource", is_enrolled, 60)

    def _round(self, number: int) -> None:
        world, count = self._world, self._world.options.containers
        began, before, unserved = time.monotonic(), world.counts["waits"], world.reasons[NO_PLUGIN]
        begun = threading.Semaphore(0)
        shares = [range(number * count + at, (number + 1) * count, WORKERS) for at in range(WORKERS)]
        threads = [
            threading.Thread(target=self._load, args=(worker, number, share, begun.release))
            for worker, share in zip(self._workers, shares)
        ]
        for thread in threads:
            thread.start()
        for _ in range(count // 5):
            begun.acquire()
        surge, trouble = number % 2 == 1, TROUBLES[(number - 1) // 2 % len(TROUBLES)]
        self._hand_over(surge, trouble)
        for thread in threads:
            thread.join()
        self._wait_enrolled()
        self._check_agent(number)
        if surge and not trouble and world.reasons[NO_PLUGIN] != unserved:
            world.find(f"round {number}: there was no agent, although the new one started first")
        for worker in self._workers:
            worker.clear()
        print(
            f"  round {number}: {'the new one first' if surge else 'the old one first'}"
            f"{f', {trouble} restarted' if trouble else ''}: {world.counts['waits'] - before} waits, "
            f"{time.monotonic() - began:.1f} s",
            flush=True,
        )

    def _load(self, worker: Worker, *share) -> None:
        try:
            worker.run(*share)
        except Exception:  # a tool of ours that is broken
            self._world.find(traceback.format_exc())

    def _hand_over(self, surge: bool, trouble: str) -> None:
        old = self._agent
        if surge:
            self._agent = self._world.agent()
            self._make(trouble)
            self._agent.wait_ready(60)
            self._end(old)
        else:
            self._end(old)
            self._agent = self._world.agent()
            self._make(trouble)
            self._agent.wait_ready(60)

    def _end(self, old) -> None:
        code = old.terminate()
        if code != 0:
            self._world.find(f"SIGTERM ended the agent with {code}")

    def _make(self, trouble: str) -> None:
        world = self._world
        if trouble == "kubelet":
            world.kubelet_there.clear()
            world.kubelet_life += 1
            world.kubelet.restart()
            world.kubelet_there.set()
        elif trouble == "containerd":
            world.containerd_away = True
            world.runtime.restart()
            world.containerd_away = False

    def _check_agent(self, number: int) -> None:
        """Pods that hold slots were found, with their nodes, and no slot was taken for unhealthy."""
        found = int(self._agent.events("synchronized", least=1)[0]["containers"])
        if found < self._world.options.held:
            self._world.find(f"round {number}: {found} containers were found at the start")
        missing = self._agent.metric("railhead_nri_containers_missing_devices")
        if missing:
            self._world.find(f"round {number}: {missing:g} containers without their nodes are reported")
        bad = [sorted(one.unhealthy) for one in self._world.kubelet.ever if one.unhealthy]
        if bad:
            self._world.find(f"round {number}: slots were unhealthy: {bad[:3]}")
        self._world.kubelet.ever.clear()


def upgrades(options: argparse.Namespace) -> int:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rh-upgrade-"))
    code = 1
    try:
        code = Upgrades(World(options, folder)).run()
    except jail.Interrupted:
        code = 130
        raise
    finally:
        if code == 1:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--containers", type=int, default=200, help="that are created in a round")
    parser.add_argument("--held", type=int, default=100, help="slots that stay held")
    parser.add_argument("--before", help="the program that every second agent runs")
    options = parser.parse_args()
    lacking = needs.missing()
    if lacking:
        print(f"upgrades: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch("containerd", "2.4")
    return jail.run(lambda: upgrades(options))


if __name__ == "__main__":
    sys.exit(main())
