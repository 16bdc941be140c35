# SPDX-License-Identifier: Apache-2.0
"""What a container may have, by what the program says of the machine; and what it really has."""

import dataclasses
import os
import pathlib
import re
import stat
import time

from lib.containerd import HARD_MEMLOCK, SOFT_MEMLOCK
from lib.cri import Container, pb
from nics import Answer, Oracle, State

HCA_POOL, STORAGE_POOL = "rdma.io/hca", "rdma.io/storage"
MARKER = "SOAK_CONTAINER"
GIVEN, NOTHING, REFUSED = "given", "nothing", "refused"


@dataclasses.dataclass(frozen=True)
class Order:
    """What a container is asked for with."""

    kind: str
    gpus: tuple[int, ...] = ()
    by: str = ""  # env or nodes
    named: tuple[int, ...] = ()  # by the variable, where that is more than the kubelet gave
    denied: bool = False  # the kubelet says that it holds no GPU
    required: bool = False
    pool: str = ""
    slot: str = ""  # the device of the pool that was allocated


@dataclasses.dataclass(frozen=True)
class Circumstances:
    """What troubled the time of the creation."""

    states: list[State]
    without_agent: bool  # containerd was restarted and the agent not connected again
    kubelet: bool  # it did not answer PodResources as it should


@dataclasses.dataclass(frozen=True)
class Outcome:
    kind: str
    nodes: frozenset[tuple[str, str]] = frozenset()  # path and numbers
    hca: str | None = None  # "*": not compared

    def __str__(self) -> str:
        if self.kind != GIVEN:
            return self.kind
        nodes = " ".join(f"{path.rsplit('/', 1)[-1]}={at}" for path, at in sorted(self.nodes))
        return f"{nodes or 'no nodes'} NCCL_IB_HCA={self.hca}"


def _given(devices: tuple[str, ...], hca: str | None, numbers: dict[str, str]) -> Outcome:
    if not devices:
        return Outcome(NOTHING)
    return Outcome(GIVEN, frozenset((path, numbers[path]) for path in devices), hca)


def _by_gpus(order: Order, answer: Answer, numbers: dict[str, str]) -> Outcome:
    if order.required and (answer.stand_in or not answer.nics):
        return Outcome(REFUSED)
    return _given(answer.devices, answer.hca, numbers)


def _by_slot(order: Order, oracle: Oracle, state: State, numbers: dict[str, str]) -> Outcome:
    members = oracle.members(state, order.pool)
    if order.pool == HCA_POOL:
        nics = [nic for names in members.values() for nic in names]
    else:
        nics = [nic for key, names in members.items() if order.slot.startswith(key) for nic in names]
    # A slot that brings no node is refused, also one whose NIC went after the start was granted.
    there = {name for name, status, _ in state if status in ("up", "down")}
    devices = tuple(oracle.verbs(nic) for nic in nics if nic in there)
    if not devices:
        return Outcome(REFUSED)
    return _given((*devices, "/dev/infiniband/rdma_cm"), "*", numbers)


def allowed(order: Order, when: Circumstances, oracle: Oracle, numbers) -> set[Outcome]:
    """Every outcome that is right. `numbers`: of a state, the numbers of each path."""
    found: set[Outcome] = set()
    for state in when.states:
        if order.gpus:
            found.add(_by_gpus(order, oracle.affinity(state, order.gpus), numbers(state)))
            if order.named and order.by == "env" and when.kubelet:
                found.add(_by_gpus(order, oracle.affinity(state, order.named), numbers(state)))
        elif order.pool:
            found.add(_by_slot(order, oracle, state, numbers(state)))
    if not order.gpus and not order.pool:
        found = {Outcome(NOTHING)}
    if order.denied:
        found = {Outcome(NOTHING)} | (found if when.kubelet else set())
    elif when.kubelet and order.by == "env" and not order.pool:
        found.add(Outcome(REFUSED if order.required else NOTHING))
    if when.without_agent:
        found.add(Outcome(NOTHING))
    return found


def matches(seen: Outcome, wanted: set[Outcome]) -> bool:
    return any(
        (seen.kind, seen.nodes) == (one.kind, one.nodes) and one.hca in ("*", seen.hca)
        for one in wanted
    )


class Unseen(Exception):
    """The container could not be looked at."""


def _started(container: Container) -> pathlib.Path:
    """The folder of its first process, once that runs the container's command."""
    request = pb.ContainerStatusRequest(container_id=container.id, verbose=True)
    info = container._cri.call("ContainerStatus", request).info["info"]
    match = re.search(r'"pid":\s*(\d+)', info)
    if not match:
        raise Unseen(f"no pid in {info[:200]}")
    folder = pathlib.Path("/proc") / match[1]
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if f"{MARKER}=".encode() in (folder / "environ").read_bytes():
            return folder
        time.sleep(0.005)
    raise Unseen(f"process {match[1]} does not start")


def look(container: Container) -> tuple[Outcome, list[str]]:
    """What the container's first process has; and what is wrong with it whatever is expected."""
    try:
        folder = _started(container)
        nodes, bad = _nodes(folder / "root/dev/infiniband")
        environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        limits = (folder / "limits").read_text()
    except OSError as error:
        raise Unseen(str(error)) from error
    names = dict(entry.split("=", 1) for entry in environment if entry.startswith("NCCL_"))
    soft, hard = re.search(r"Max locked memory\s+(\S+)\s+(\S+)", limits).groups()
    wanted = str(HARD_MEMLOCK if nodes else SOFT_MEMLOCK)
    if soft != wanted:
        bad.append(f"soft memlock limit {soft}, not {wanted}")
    if nodes and hard != str(HARD_MEMLOCK):
        bad.append(f"hard memlock limit {hard}, not {HARD_MEMLOCK}")
    if not nodes and names:
        bad.append(f"variables without nodes: {names}")
    kind = GIVEN if nodes else NOTHING
    return Outcome(kind, frozenset(nodes), names.get("NCCL_IB_HCA")), bad


def _nodes(folder: pathlib.Path) -> tuple[list[tuple[str, str]], list[str]]:
    nodes, bad = [], []
    names = sorted(os.listdir(folder)) if folder.exists() else []
    for name in names:
        facts = (folder / name).stat()
        if not stat.S_ISCHR(facts.st_mode) or stat.S_IMODE(facts.st_mode) != 0o666 or facts.st_uid:
            bad.append(f"{name}: mode {facts.st_mode:o}, owner {facts.st_uid}")
        at = f"{os.major(facts.st_rdev)}:{os.minor(facts.st_rdev)}"
        nodes.append((f"/dev/infiniband/{name}", at))
    return nodes, bad
