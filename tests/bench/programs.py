# SPDX-License-Identifier: Apache-2.0
"""The programs that a measurement starts: the runtime, the kubelet, the agent. Each ends with its
`with` block."""

import contextlib
import dataclasses
import json
import pathlib
import select
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEP_S = 60
MEMLOCK = "8Mi"  # what a process may set that has systemd's default limit and no CAP_SYS_RESOURCE


@dataclasses.dataclass
class Bench:
    """What all measurements need."""

    programs: pathlib.Path  # folder of nri-runtime, kubelet, smallest, floor, slow_file
    railhead: pathlib.Path
    node: pathlib.Path
    gpu: str  # UUID of the node's first GPU
    last_gpu: str
    release: pathlib.Path | None = None  # the build that `railhead` is of
    built: pathlib.Path | None = None  # folder of railhead_bench_micro and pod_question
    rounds: int = 3
    requests: int = 20000
    containers: int = 3000

    def agent(self, kubelet_root, *options, machine=None):
        """Command line of an agent that only injects; {socket} is the runtime's to fill in. The
        kubelet's folder is named, so that what lies on this machine counts for nothing."""
        return " ".join(map(str, (
            self.railhead, "agent", *(machine or ("--snapshot", self.node)), "--nri-socket", "{socket}",
            "--device-plugin=false", "--bind-address", "127.0.0.1:0", "--metrics-socket", f"{kubelet_root}.sock",
            "--kubelet-root-dir", kubelet_root, "--memlock-cap", MEMLOCK,
            *options)))

    def ask_runtime(self, plugins, *options):
        """One run of nri-runtime: its JSON, with `plugins` as a map by name."""
        command = [self.programs / "nri-runtime", f"-gpus={self.gpu}", *options]
        command += [f"-plugin={name}={line}" for name, line in plugins.items()]
        result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=600, check=True).stdout)
        result["plugins"] = {plugin["name"]: plugin for plugin in result["plugins"]}
        return result


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="railhead-bench-") as path:
        yield pathlib.Path(path)


def end(process, patience_s):
    """Waits for a program that was asked to end, and makes it."""
    try:
        process.wait(timeout=patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def running(command, **options):
    """A program that ends at SIGTERM."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        end(process, 10)


class Steps:
    """nri-runtime with one plugin, which does what it is asked to (see steps.go)."""

    def __init__(self, process):
        self._process = process
        self.pid = self._line()["pid"]

    def _line(self):
        # One line an answer, so nothing waits in the buffer above the pipe.
        if not select.select([self._process.stdout], [], [], STEP_S)[0]:
            raise TimeoutError(f"nri-runtime: no answer within {STEP_S} s")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("nri-runtime has ended")
        return json.loads(line)

    def __call__(self, *words):
        print(*words, file=self._process.stdin, flush=True)
        return self._line()


@contextlib.contextmanager
def steps(bench, plugin, *options):
    command = [bench.programs / "nri-runtime", "-steps", f"-gpus={bench.gpu}", f"-plugin=plugin={plugin}", *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Steps(process)
    finally:
        process.stdin.close()
        end(process, 10)


class Lists:
    """The newest device list of each resource, as the kubelet read it."""

    def __init__(self, process):
        self._changed = threading.Condition()
        self.devices, self.unhealthy = {}, {}
        self._at_ns = 0
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, lines):
        for line in lines:
            at_ns, resource, devices, unhealthy = line.split()
            with self._changed:
                self.devices[resource], self.unhealthy[resource] = int(devices), int(unhealthy)
                self._at_ns = int(at_ns)
                self._changed.notify_all()

    def sick(self):
        return sum(self.unhealthy.values())

    def wait_until(self, what, condition, timeout_s=60):
        """When the list came that made it so, in nanoseconds of the monotonic clock."""
        end = time.monotonic() + timeout_s
        with self._changed:
            while not condition():
                if not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"{what}: not within {timeout_s} s")
            return self._at_ns


@contextlib.contextmanager
def kubelet(bench, root, *options):
    """A kubelet in that folder that reads device lists; with "-gpu=ID" one whose PodResources says
    that every container holds that GPU."""
    command = [bench.programs / "kubelet", f"-root={root}", *options]
    with running(command, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the kubelet does not serve")
        yield Lists(process)


def machine_tree(name, folder_path, into="tree"):
    """The machine as a directory tree, for --host-root."""
    tree = folder_path / into
    make = ROOT / "tests/nodes/make_nodes.py"
    subprocess.run([sys.executable, make, name, "--directory", tree], timeout=300, check=True)
    return tree
