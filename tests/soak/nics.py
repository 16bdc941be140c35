# SPDX-License-Identifier: Apache-2.0
"""A machine whose NICs come and go: a directory tree, what can happen to it, and what it was when.

A NIC is `up`, `down` (its port), `unbound` (no driver: no RDMA device, no netdev, no nodes) or `gone`
(no PCI function either). A driver that is loaded anew may give its verbs node another number. Entries
are moved out and back by rename, in the order in which the kernel makes and removes them.
"""

import dataclasses
import json
import os
import pathlib
import stat
import subprocess
import threading

from ledger import Ledger
from lib.machine import H100, Machine

State = tuple[tuple[str, str, str], ...]  # (name, status, numbers of its verbs node), by name

# How long an answer by the state before a change is right: states of ports are polled once a second,
# everything else makes an event.
PORT_LAG_S, EVENT_LAG_S = 4.0, 2.0
HISTORY_S = 120.0
# Numbers of a device that everyone may open, so that opening and closing it makes events.
OPENABLE = ("1:7", "1:5")  # /dev/full, /dev/zero


@dataclasses.dataclass
class Nic:
    name: str
    pci: str
    folder: pathlib.Path  # of its PCI function
    verbs: str  # uverbs0
    mads: list[str]  # umad0, issm0
    netdevs: list[str]
    numbers: tuple[str, str]  # of the verbs node: at first, and after a driver was loaded anew


class MovingTree:
    """A tree of the machine, and the NICs that can be taken out of it. Not for two threads at once."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "machine"
        self._away = folder / "away"
        self._away.mkdir(parents=True)
        self._tree = Machine(H100).unpack(self.root)
        self._tree.renumber("mlx5_0", OPENABLE[0])
        self.nics = {nic.name: nic for nic in self._find()}
        self._moved: dict[str, list[tuple[pathlib.Path, pathlib.Path]]] = {}
        self._serial = 0
        self.state: State = tuple(
            (name, "up", nic.numbers[0]) for name, nic in sorted(self.nics.items())
        )

    def _find(self):
        for link in sorted((self.root / "sys/class/infiniband").iterdir()):
            folder = link.resolve().parents[1]
            verbs = next(e.name for e in (folder / "infiniband_verbs").iterdir())
            first = (folder / "infiniband_verbs" / verbs / "dev").read_text().strip()
            major, minor = first.split(":")
            other = OPENABLE[1] if first == OPENABLE[0] else f"{major}:{int(minor) + 32}"
            mads = [e.name for e in (folder / "infiniband_mad").iterdir()]
            netdevs = [e.name for e in (folder / "net").iterdir()]
            yield Nic(link.name, folder.name, folder, verbs, mads, netdevs, (first, other))

    def _out(self, key: str, path: pathlib.Path) -> None:
        self._serial += 1
        place = self._away / str(self._serial)
        os.rename(path, place)
        self._moved.setdefault(key, []).append((path, place))

    def _back(self, key: str) -> None:
        for path, place in reversed(self._moved.pop(key, [])):
            os.rename(place, path)

    def _unbind(self, nic: Nic) -> None:
        sys, dev = self.root / "sys", self.root / "dev/infiniband"
        paths = [sys / "class/infiniband_verbs" / nic.verbs, dev / nic.verbs]
        paths.append(nic.folder / "infiniband_verbs")
        for mad in nic.mads:
            paths += [sys / "class/infiniband_mad" / mad, dev / mad]
        paths.append(nic.folder / "infiniband_mad")
        paths += [sys / "class/infiniband" / nic.name, nic.folder / "infiniband"]
        paths += [sys / "class/net" / name for name in nic.netdevs]
        paths += [nic.folder / "net", sys / "bus/pci/drivers/mlx5_core" / nic.pci]
        paths.append(nic.folder / "driver")
        for path in paths:
            if os.path.lexists(path):
                self._out(f"{nic.name} driver", path)

    def _leave(self, nic: Nic) -> None:
        self._out(f"{nic.name} function", self.root / "sys/bus/pci/devices" / nic.pci)
        self._out(f"{nic.name} function", nic.folder)

    def _write(self, path: pathlib.Path, text: str) -> None:
        """At once, for whoever reads it meanwhile."""
        place = self._away / "text"
        place.write_text(f"{text}\n")
        os.rename(place, path)

    def _port(self, nic: Nic, up: bool) -> None:
        port = nic.folder / "infiniband" / nic.name / "ports/1"
        self._write(port / "phys_state", "5: LinkUp" if up else "3: Disabled")
        self._write(port / "state", "4: ACTIVE" if up else "1: DOWN")

    def _renumber(self, nic: Nic, numbers: str) -> None:
        """While it is unbound, so that nobody sees half of it."""
        major, minor = (int(part) for part in numbers.split(":"))
        for path, place in self._moved[f"{nic.name} driver"]:
            if path.name == "infiniband_verbs":
                (place / nic.verbs / "dev").write_text(f"{numbers}\n")
            elif path.parent.name == "infiniband" and path.name == nic.verbs:
                place.unlink()
                os.mknod(place, stat.S_IFCHR, os.makedev(major, minor))
                place.chmod(0o666)

    def after(self, name: str, status: str, numbers: str | None = None) -> State:
        """The state in which this NIC is that."""
        return tuple(
            (nic, status, numbers or old) if nic == name else (nic, was, old)
            for nic, was, old in self.state
        )

    def change(self, name: str, status: str, numbers: str | None = None) -> None:
        """One step: up-down, up-unbound, unbound-gone, or back."""
        nic = self.nics[name]
        was = next(entry[1] for entry in self.state if entry[0] == name)
        steps = {
            ("up", "down"): lambda: self._port(nic, False),
            ("down", "up"): lambda: self._port(nic, True),
            ("up", "unbound"): lambda: self._unbind(nic),
            ("unbound", "up"): lambda: self._back(f"{name} driver"),
            ("unbound", "gone"): lambda: self._leave(nic),
            ("gone", "unbound"): lambda: self._back(f"{name} function"),
        }
        if numbers:
            self._renumber(nic, numbers)
        steps[(was, status)]()
        self.state = self.after(name, status, numbers)


@dataclasses.dataclass
class _Step:
    start: float
    end: float  # infinite while it is going on
    lag_s: float  # for which the state before is as right as the one after
    after: State


class LiveMachine:
    """The tree that the agent sees; remembers which state it had when."""

    def __init__(self, folder: pathlib.Path, ledger: Ledger) -> None:
        self.tree = MovingTree(folder)
        self._ledger = ledger
        self._lock = threading.Lock()
        self._steps = [_Step(0.0, 0.0, 0.0, self.tree.state)]

    @property
    def root(self) -> pathlib.Path:
        return self.tree.root

    def status(self, name: str) -> str:
        return next(entry[1] for entry in self.tree.state if entry[0] == name)

    def change(self, name: str, status: str, numbers: str | None = None) -> None:
        """By one thread."""
        is_port = "down" in (status, self.status(name))
        lag = PORT_LAG_S if is_port else EVENT_LAG_S
        step = _Step(self._ledger.now(), float("inf"), lag, self.tree.after(name, status, numbers))
        with self._lock:
            self._steps = [
                old
                for old, new in zip(self._steps, [*self._steps[1:], step])
                if new.end + HISTORY_S > step.start
            ] + [step]
        self.tree.change(name, status, numbers)
        step.end = self._ledger.now()
        self._ledger.count(f"NIC {status}" + (", renumbered" if numbers else ""))
        self._ledger.mark("nic")

    def states(self, start: float, end: float) -> list[State]:
        """Every state by which a question of that time may have been answered."""
        with self._lock:
            steps = list(self._steps)
        following = [*steps[1:], None]
        return [
            step.after
            for step, next_step in zip(steps, following)
            if step.start <= end and (not next_step or next_step.end + next_step.lag_s >= start)
        ]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What `railhead affinity` says."""

    nics: tuple[str, ...]
    devices: tuple[str, ...]
    hca: str | None
    stand_in: bool


class Oracle:
    """What the program itself says of any state: it is asked about a second tree, at leisure."""

    def __init__(self, railhead: str, folder: pathlib.Path, flags: tuple[str, ...]) -> None:
        self._railhead = railhead
        self._flags = flags
        self._tree = MovingTree(folder)
        self._lock = threading.Lock()
        self._known: dict[tuple, object] = {}

    def _put(self, wanted: dict[str, str]) -> None:
        way = {"up": [], "down": ["down"], "unbound": ["unbound"], "gone": ["unbound", "gone"]}
        for name, status, _ in self._tree.state:
            if status != wanted[name]:
                for step in [*reversed(way[status][:-1]), "up"] if status != "up" else []:
                    self._tree.change(name, step)
                for step in way[wanted[name]]:
                    self._tree.change(name, step)

    def _ask(self, state: State, *command: str) -> dict:
        self._put({name: status for name, status, _ in state})
        argv = [self._railhead, *command, "--host-root", str(self._tree.root), *self._flags]
        done = subprocess.run([*argv, "-o", "json"], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(argv)}: {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def _cached(self, state: State, make, *command: str):
        key = (command, tuple(entry[:2] for entry in state if entry[1] != "up"))
        with self._lock:
            if key not in self._known:
                self._known[key] = make(self._ask(state, *command))
            return self._known[key]

    def affinity(self, state: State, gpus: tuple[int, ...]) -> Answer:
        def make(said: dict) -> Answer:
            stand_in = any(nic.get("standIn") for gpu in said["gpus"] for nic in gpu["nics"])
            hca = said["env"].get("NCCL_IB_HCA")
            return Answer(tuple(said["nics"]), tuple(said["devices"]), hca, stand_in)

        return self._cached(state, make, "affinity", "--gpus", ",".join(map(str, gpus)))

    def members(self, state: State, pool: str) -> dict[str, tuple[str, ...]]:
        """The NICs of a pool by the id of the device that brings them."""

        def make(said: dict) -> dict:
            return {
                one["name"]: {member["id"]: tuple(member["nics"]) for member in one["members"]}
                for one in said["pools"]
            }

        return self._cached(state, make, "pools").get(pool, {})

    def verbs(self, name: str) -> str:
        return f"/dev/infiniband/{self._tree.nics[name].verbs}"


def numbers(state: State, tree: MovingTree) -> dict[str, str]:
    """The numbers of every node that a container may get in that state, by path."""
    held = {f"/dev/infiniband/{tree.nics[name].verbs}": text for name, _, text in state}
    device = (tree.root / "dev/infiniband/rdma_cm").stat().st_rdev
    return {**held, "/dev/infiniband/rdma_cm": f"{os.major(device)}:{os.minor(device)}"}
