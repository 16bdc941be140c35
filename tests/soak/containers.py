# SPDX-License-Identifier: Apache-2.0
"""Creates and removes pods as a kubelet does, and judges what each container got."""

import dataclasses
import functools
import itertools
import random
import threading

import nics
from expected import (
    HCA_POOL,
    MARKER,
    NOTHING,
    REFUSED,
    STORAGE_POOL,
    Circumstances,
    Order,
    Outcome,
    Unseen,
    allowed,
    look,
    matches,
)
from kubelets import AFTER_S, GPU, PodsKubelet
from ledger import Ledger
from lib.cri import Container, Pod, Refused
from lib.machine import Machine
from nics import LiveMachine, Oracle
from peers.kubelet import grpc
from runtimes import Client

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
KIB = 1024
LIVE = 4  # pods that a worker keeps
START_TRIES, START_PAUSE_S = 12, 1.0  # of PreStartContainer, which the kubelet repeats
GROUPS = [(0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,), (0, 1), (2, 3), (4, 5), (0, 1, 2, 3), tuple(range(8))]

KINDS = {
    "env": 26,
    "nodes": 18,
    "required": 10,
    "slot": 10,
    "storage slot": 6,
    "GPU and slot": 6,
    "plain": 10,
    "denied": 4,
    "widened": 4,
    "64 KiB of annotations": 6,
    "1 MiB of annotations": 4,
}


class NoSlot(Exception):
    """The kubelet has nothing to allocate just now."""


@dataclasses.dataclass
class World:
    """What every worker shares."""

    machine: Machine
    live: LiveMachine
    oracle: Oracle
    kubelet: PodsKubelet
    ledger: Ledger
    gpu_nodes: dict[int, str]  # by minor, a node on the host
    pause_s: float  # between the creations of a worker, at least


@dataclasses.dataclass
class Allocated:
    env: dict[str, str]
    annotations: dict[str, str]
    held: dict[str, list[str]]


class Worker:
    def __init__(self, world: World, cri: Client, chance: random.Random) -> None:
        self._world = world
        self._ledger = world.ledger
        self._cri = cri
        self._chance = chance
        self._pods: list[tuple[Pod, int]] = []  # oldest first, with the failed removals of each
        self._numbers = functools.lru_cache(64)(lambda state: nics.numbers(state, world.live.tree))

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(self._world.pause_s * self._chance.uniform(0.7, 1.3)):
            self._one(stop)
            while len(self._pods) > self._chance.randint(1, LIVE) and not stop.is_set():
                if not self._remove_oldest():
                    break
        for _ in range(len(self._pods)):  # what stays, the end of the runtime removes
            self._remove_oldest()

    # One pod

    def _one(self, stop: threading.Event) -> None:
        name = f"soak-{next(self._cri._numbers)}"
        order = self._order()
        try:
            allocated = self._allocate(order, stop)
        except NoSlot:
            self._ledger.count("slots not there")
            return
        except grpc.RpcError as error:
            self._refused_slot(order, error)
            return
        except ValueError:  # the channel was closed: the kubelet has ended
            self._ledger.count("slots not there")
            return
        order = dataclasses.replace(order, slot=",".join(allocated.held.get(order.pool, [])))
        held = dict(allocated.held)
        if order.gpus and not order.denied:
            held[GPU] = [self._world.machine.gpus[index].uuid for index in order.gpus]
        self._world.kubelet.admit(name, {"main": held, "side": {}})
        try:
            self._run_pod(name, order, allocated)
        except Refused as refused:
            self._not_ours(f"pod {name}", str(refused), self._ledger.now())
            self._world.kubelet.forget(name)

    def _order(self) -> Order:
        kind = self._chance.choices(list(KINDS), KINDS.values())[0]
        gpus, by = self._chance.choice(GROUPS), self._chance.choice(("env", "nodes"))
        if kind in ("env", "nodes"):
            return Order(kind, gpus, kind)
        if kind in ("slot", "storage slot"):
            return Order(kind, pool=HCA_POOL if kind == "slot" else STORAGE_POOL)
        if kind == "plain":
            return Order(kind)
        if kind == "GPU and slot":
            return Order(kind, gpus, "nodes", pool=HCA_POOL)
        if kind == "denied":
            return Order(kind, gpus, "env", denied=True)
        if kind == "widened":
            return Order(kind, gpus, by, named=GROUPS[-1])
        return Order(kind, gpus, by, required=kind == "required")

    def _allocate(self, order: Order, stop: threading.Event) -> Allocated:
        if not order.pool:
            return Allocated({}, {}, {})
        endpoint = self._world.kubelet.endpoints.get(order.pool)
        healthy = [k for k, v in endpoint.health().items() if v == "Healthy"] if endpoint else []
        if not healthy:
            raise NoSlot
        slot = self._chance.choice(sorted(healthy))
        answer = endpoint.plugin.allocate(slot)
        for attempt in itertools.count(1):
            try:
                endpoint.plugin.pre_start(slot)
                break
            except grpc.RpcError as error:
                if error.code() == grpc.StatusCode.UNAVAILABLE or attempt == START_TRIES:
                    raise
                self._ledger.count("starts that had to wait")
                if stop.wait(START_PAUSE_S):
                    raise NoSlot from None
        return Allocated(answer["envs"], answer["annotations"], {order.pool: [slot]})

    def _refused_slot(self, order: Order, error: grpc.RpcError) -> None:
        """A kubelet that restarts closes its connections; a NIC that has gone is refused rightly."""
        now = self._ledger.now()
        start = now - START_TRIES * START_PAUSE_S
        without = self._ledger.troubled("containerd", start, now, AFTER_S)
        gone = any(
            status != "up" for state in self._world.live.states(start, now) for _, status, _ in state
        )
        if self._ledger.troubled("kubelet", start, now, AFTER_S) or without:
            self._ledger.count("slots refused")
        elif gone and order.pool == STORAGE_POOL:
            self._ledger.count("slots refused")
        else:
            self._ledger.find("failed", f"a slot of {order.pool}: {error.code()} {error.details()}")

    def _run_pod(self, name: str, order: Order, allocated: Allocated) -> None:
        annotations = self._annotations(order)
        pod = self._cri.run_pod(
            name, annotations=annotations, host_network=self._chance.random() < 0.8
        )
        self._pods.append((pod, 0))
        self._create(pod, "main", order, allocated)
        if self._chance.random() < 0.1:
            self._create(pod, "side", self._side(order), Allocated({}, {}, {}))

    def _side(self, main: Order) -> Order:
        """A container beside it to which the kubelet gave nothing, whatever its variable names."""
        if main.gpus and not main.required and self._chance.random() < 0.5:
            return Order("side that names GPUs", main.gpus, "env", denied=True)
        return Order("side")

    def _annotations(self, order: Order) -> dict[str, str]:
        if order.required:
            form = self._chance.choice(("pod", "container.main"))
            return {f"rdma.railhead.io/{form}": "required"}
        if "annotations" not in order.kind:
            return {}
        size = (1 << 20 if order.kind.startswith("1 MiB") else 64 * KIB) - KIB
        if self._chance.random() < 0.5:
            count = size // 40  # bytes of a key with its value
            return {f"rdma.railhead.io/nonsense-{i:06d}": "perhaps" for i in range(count)}
        return {"devices.nri.io/container.main": "- {path: /dev/sda, type: b}\n" * (size // 29)}

    def _create(self, pod: Pod, name: str, order: Order, allocated: Allocated) -> None:
        env = {MARKER: "1", **allocated.env}
        devices: dict[str, str] = {}
        gpus = [self._world.machine.gpus[index] for index in order.gpus]
        named = [self._world.machine.gpus[index].uuid for index in order.named or order.gpus]
        if named:
            env[VISIBLE] = ",".join(named) if order.named or order.by == "env" else "void"
        if order.by == "nodes":
            nodes = self._world.gpu_nodes
            devices = {f"/dev/nvidia{gpu.minor}": nodes[gpu.minor] for gpu in gpus}
            devices["/dev/nvidiactl"] = nodes[255]
        start = self._ledger.now()
        try:
            container = pod.create(
                name, env=env, annotations=allocated.annotations, devices=devices
            )
        except Refused as refused:
            self._judge_refusal(f"{pod.name}/{name}", order, str(refused), start)
            return
        end = self._ledger.now()
        self._ledger.created(end - start)
        try:
            seen, bad = self._look(container)
        except (Refused, Unseen) as error:
            self._not_ours(f"{pod.name}/{name}", str(error), start)
            return
        self._judge(f"{pod.name}/{name}", order, seen, bad, (start, end))

    def _look(self, container: Container) -> tuple[Outcome, list[str]]:
        container.start()
        return look(container)

    # The verdict

    def _circumstances(self, start: float, end: float) -> Circumstances:
        return Circumstances(
            self._world.live.states(start, end),
            self._ledger.troubled("containerd", start, end, after_s=0.5),
            self._ledger.troubled("kubelet", start, end, AFTER_S),
        )

    def _judge(
        self, who: str, order: Order, seen: Outcome, bad: list[str], span: tuple[float, float]
    ) -> None:
        when = self._circumstances(*span)
        wanted = allowed(order, when, self._world.oracle, self._numbers)
        self._ledger.count("containers")
        self._ledger.count(f"containers: {order.kind}")
        if matches(seen, wanted) and not bad:
            if seen.kind == NOTHING and (order.gpus or order.pool) and not order.denied:
                why = "without the agent" if when.without_agent else "while the kubelet was silent"
                self._ledger.count(f"containers {why}")
            return
        self._ledger.find(
            "wrong",
            f"{who} ({order.kind}, GPUs {order.gpus}, slot {order.slot!r}) created "
            f"{span[0]:.1f} to {span[1]:.1f}: has {seen}; right: "
            f"{' or '.join(sorted(map(str, wanted)))}{''.join(f'; {text}' for text in bad)}"
            f"{'; the kubelet was troubled' if when.kubelet else ''}",
        )

    def _judge_refusal(self, who: str, order: Order, text: str, start: float) -> None:
        if "railhead" not in text:
            self._not_ours(who, text, start)
            return
        when = self._circumstances(start, self._ledger.now())
        if Outcome(REFUSED) in allowed(order, when, self._world.oracle, self._numbers):
            self._ledger.count("refused rightly")
            return
        self._ledger.find("failed", f"{who} ({order.kind}, GPUs {order.gpus}): {text[:300]}")

    def _not_ours(self, who: str, text: str, start: float) -> None:
        if self._ledger.troubled("containerd", start, self._ledger.now(), after_s=5):
            self._ledger.count("failed while containerd was restarted")
        else:
            self._ledger.count("failed by the runtime")
            self._ledger.find("note", f"{who}: {text[:300]}")

    def _remove_oldest(self) -> bool:
        """Whether it could be removed; else it is tried again later."""
        start = self._ledger.now()
        pod, failures = self._pods.pop(0)
        try:
            pod.remove()
        except Refused as refused:
            if not self._ledger.troubled("containerd", start, self._ledger.now(), after_s=5):
                failures += 1
            if failures <= 5:
                self._pods.append((pod, failures))
                return False
            self._ledger.find("note", f"{pod.name} cannot be removed: {str(refused)[:200]}")
        self._world.kubelet.forget(pod.name)
        return True
