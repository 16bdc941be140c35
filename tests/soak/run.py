#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Soaks the agent: run.py MINUTES [--runtime 1.7|2.4] [--seed N] [--write] [--without ACTOR…]

The agent with NRI, device plugin and PodResources beside a real containerd, for so many minutes of
everything that users, kubelets, runtimes and hardware do to it. One line at the end; exit code 1 if
anything was wrong, and then the folder with the logs stays; 77 if nothing could be run here. Needs
root. RAILHEAD_BIN names the program. --write keeps the graph in docs/pictures/soak.svg and the figures
in soak.json beside this file.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

import graph  # noqa: E402
import judge  # noqa: E402
from ledger import Ledger  # noqa: E402
from lib import jail, needs, paths  # noqa: E402

WORKERS = 3
PAUSE_S = 0.9  # of a worker, between creations
SKIPPED = 77
ACTORS = ("containerd", "kubelet", "hardware", "opens", "idle", "garbage", "log")
PICTURE, FIGURES = TREE / "docs/pictures/soak.svg", HERE / "soak.json"
CONFIG = """
pools:
  - name: rdma.io/hca
    slots: 100
  - name: rdma.io/storage
    slotsPerNic: 8
    include: {roles: storage}
"""


def first_line(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["unknown"])[0]


def program_commit() -> str:
    """What the program was built from, if it is the tree's."""
    if not pathlib.Path(paths.railhead()).resolve().is_relative_to(TREE):
        return f"unknown: {paths.railhead()} was not built here"
    return first_line("git", "-C", str(TREE), "describe", "--always", "--dirty")


class Soak:
    """One run, inside the jail."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path) -> None:
        self._options = options
        self._folder = folder
        self._ledger = Ledger()
        self._commit = program_commit()  # of now: the tree may be another one at the end
        self._stop = threading.Event()  # of every actor
        self._over = threading.Event()  # of who follows containerd's log
        self._threads: list[threading.Thread] = []
        self._chances = random.Random(options.seed)
        # In a short run everything has to happen, too.
        self._long = options.minutes >= 10

    def _chance(self) -> random.Random:
        return random.Random(self._chances.random())

    def _thread(self, function, *arguments) -> None:
        def run() -> None:
            try:
                function(*arguments)
            except Exception:  # a tool of ours that is broken: said, and the run fails
                self._ledger.find("wrong", f"the soak itself: {traceback.format_exc()}")
                self._stop.set()

        self._threads.append(threading.Thread(target=run, name=function.__qualname__, daemon=True))
        self._threads[-1].start()

    def run(self) -> int:
        began = time.monotonic()
        with contextlib.ExitStack() as ending:
            found = self._soak(ending)
        found |= self._facts()
        self._report(found)
        bad = judge.faults(found)
        for kind in [*judge.BAD, "note"]:
            for text in self._ledger.findings(kind)[:10]:
                print(f"  {judge.BAD.get(kind, kind)}: {text}")
        print("  counted: " + ", ".join(f"{n} {name}" for name, n in found["counts"].items()))
        for text in bad:
            print(f"  not as it has to be: {text}")
        said = found["metrics"].items()
        print("  the agent counted: " + ", ".join(f"{name} {value:g}" for name, value in said))
        print(f"soak {'failed' if bad else 'passed'} in {time.monotonic() - began:.0f} s: {judge.summary(found)}")
        return 1 if bad else 0

    def _soak(self, ending: contextlib.ExitStack) -> dict:
        from agents import SoakedAgent
        from containers import Worker
        from expected import HCA_POOL, STORAGE_POOL
        from kubelets import KubeletTroubles, PodsKubelet
        from runtimes import RestartableContainerd, RuntimeLog

        config = self._folder / "railhead.yaml"
        config.write_text(CONFIG)
        runtime = RestartableContainerd(self._options.runtime, self._folder / "c")
        ending.callback(runtime.remove)
        runtime.start()
        runtime.load_image()
        kubelet = PodsKubelet(self._folder / "k", self._chance())
        ending.callback(kubelet.stop)
        kubelet.start()
        world = self._world(runtime, kubelet, config)
        log = RuntimeLog(runtime.log, self._ledger)
        threading.Thread(target=log.run, args=(self._over,), daemon=True).start()
        agent = SoakedAgent(self._argv(world, runtime, kubelet, config), self._folder / "agent.log", self._ledger)
        ending.callback(agent.kill)
        ending.callback(self._end_actors)
        if not log.wait_connections(1, 20):
            raise TimeoutError(f"the agent does not connect, see {self._folder}/agent.log")
        troubles = KubeletTroubles(
            kubelet, self._ledger, self._chance(), (HCA_POOL, STORAGE_POOL), self._pause((5, 25), (6, 12))
        )
        self._wait("the kubelet knows the resources", troubles.registered)
        samples: list = []
        self._thread(agent.watch, self._stop, samples)
        for number in range(1, WORKERS + 1):
            worker = Worker(world, runtime.client(number), self._chance())
            self._thread(worker.run, self._stop)
        self._actors(world, runtime, log, agent, troubles)
        self._stop.wait(self._options.minutes * 60)
        own = self._settle(agent)
        self._over.set()
        code = agent.end()
        if code != 0:
            self._ledger.find("wrong", f"SIGTERM ended the agent with {code}")
        ledger = self._ledger
        found = judge.figures(samples, ledger.creations(), ledger.counts(), ledger.marks())
        return {**found, **own}

    def _world(self, runtime, kubelet, config: pathlib.Path):
        from containers import World
        from lib.machine import H100, Machine
        from nics import LiveMachine, Oracle

        machine = Machine(H100)
        flags = ("--config", str(config))
        return World(
            machine=machine,
            live=LiveMachine(self._folder / "live", self._ledger),
            oracle=Oracle(paths.railhead(), self._folder / "shadow", flags),
            kubelet=kubelet,
            ledger=self._ledger,
            gpu_nodes={
                minor: runtime.character_device(195, minor)
                for minor in [*(gpu.minor for gpu in machine.gpus), 255]
            },
            pause_s=PAUSE_S,
        )

    def _argv(self, world, runtime, kubelet, config: pathlib.Path) -> list[str]:
        from lib.containerd import HARD_MEMLOCK

        return [
            *(paths.railhead(), "agent", "--host-root", str(world.live.root)),
            *("--nri-socket", str(runtime.nri_socket), "--bind-address", "127.0.0.1:0"),
            *("--metrics-socket", str(self._folder / "agent.sock")),
            *("--doctor-history", str(self._folder / "doctor-history.json")),
            *("--log-format", "json", "--config", str(config)),
            *("--memlock-cap", str(HARD_MEMLOCK)),  # more the runtime cannot set, and `required` asks
            *("--kubelet-root-dir", str(kubelet.root)),
            *("--device-plugin-dir", str(kubelet.plugins)),
            *("--cdi-dir", str(self._folder / "cdi")),
            *("--device-info-dir", str(self._folder / "devinfo")),
        ]

    def _pause(self, long: tuple[float, float], short: tuple[float, float]) -> tuple[float, float]:
        return long if self._long else short

    def _actors(self, world, runtime, log, agent, troubles) -> None:
        import users
        from hardware import Hardware
        from runtimes import RuntimeRestarts

        stop, ledger = self._stop, self._ledger
        restarts = RuntimeRestarts(
            runtime, log, ledger, self._chance(), self._pause((90, 180), (25, 35))
        )
        node = world.live.root / "dev/infiniband/uverbs0"
        pause = self._pause((120, 300), (10, 30))
        actors = {
            "containerd": (restarts.run, stop),
            "kubelet": (troubles.run, stop),
            "hardware": (Hardware(world.live, self._chance()).run, stop),
            "opens": (users.open_and_close, node, stop, ledger),
            "idle": (users.idle_connections, agent, stop, ledger),
            "garbage": (users.garbage, agent, self._chance(), stop, ledger),
            "log": (users.stall_log, agent, pause, self._chance(), stop, ledger),
        }
        self._thread(users.probe, agent, stop, ledger)
        for name, actor in actors.items():
            if name not in self._options.without:
                self._thread(*actor)

    def _wait(self, what: str, ready, timeout_s: float = 20) -> None:
        end = time.monotonic() + timeout_s
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout_s:g} s: {what}; see {self._folder}")
            time.sleep(0.05)

    def _end_actors(self) -> None:
        self._stop.set()
        end = time.monotonic() + 120
        for thread in self._threads:
            thread.join(max(0.1, end - time.monotonic()))
            if thread.is_alive():
                self._ledger.find("note", f"{thread.name} does not end")

    def _settle(self, agent) -> dict:
        """Ends every actor; then what the agent says of itself, nothing where it has ended."""
        import users

        self._end_actors()
        try:
            cpu = agent.cpu_seconds()
        except OSError:
            cpu = 0.0
        pages = [users.get(address, "/metrics", 5)[1] for address in agent.addresses]
        return {"cpu_seconds": round(cpu, 1), "metrics": judge.metrics("\n".join(pages))}

    def _facts(self) -> dict:
        now = datetime.datetime.now(datetime.timezone.utc)
        return {
            "minutes": self._options.minutes,
            "runtime": self._options.runtime,
            "seed": self._options.seed,
            "date": now.strftime("%Y-%m-%d %H:%M UTC"),
            "commit": self._commit,
            "railhead": first_line(paths.railhead(), "--version"),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}",
        }

    def _report(self, found: dict) -> None:
        text = json.dumps(found, separators=(",", ":")).replace('],[', '],\n[') + "\n"
        (self._folder / "soak.json").write_text(text)
        (self._folder / "soak.svg").write_text(graph.svg(found))
        everything = [f"{k}: {t}" for k in [*judge.BAD, "note"] for t in self._ledger.findings(k)]
        (self._folder / "findings.txt").write_text("\n".join([*everything, ""]))
        if self._options.write:
            FIGURES.write_text(text)
            PICTURE.write_text(graph.svg(found))


def soak(options: argparse.Namespace) -> int:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rh-soak-"))
    code = 1
    try:
        code = Soak(options, folder).run()
    except jail.Interrupted:
        code = 130
        raise
    finally:
        if code == 1 or options.keep:
            for name in ("live", "shadow"):
                shutil.rmtree(folder / name, ignore_errors=True)
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float, nargs="?", default=2)
    parser.add_argument("--runtime", choices=("1.7", "2.4"), default="2.4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="keep graph and figures in the tree")
    parser.add_argument("--keep", action="store_true", help="keep the folder in any case")
    parser.add_argument(
        "--without", nargs="*", choices=ACTORS, default=[], help="to find who it is; such a run fails"
    )
    options = parser.parse_args()
    lacking = needs.missing()
    if lacking:
        print(f"soak: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch("containerd", options.runtime)
    return jail.run(lambda: soak(options))


if __name__ == "__main__":
    sys.exit(main())
