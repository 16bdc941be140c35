# SPDX-License-Identifier: Apache-2.0
"""Part "disturbances": CreateContainer of a container that needs nothing of what is disturbed, quiet
and disturbed in turns, at a steady pace."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time

import programs
from page_tables import percentiles, table

SECONDS, PERIOD_MS, TURNS = 6, 4, 2
SLOW_S = 5
BEGIN_S = 1.5  # until a disturbance is felt: the port check comes each second
RECOVERY_S = 40
SMOOTH_US = 100_000
ANNOTATIONS, ANNOTATED_PERIOD_MS = 1 << 20, 16  # it takes the runtime some milliseconds to send them
PIPE_ATTEMPT = b"x" * 512
OPTIONS = ("--port-check-interval=1", "--rescan-interval=2")

TEXT = """A container with a GPU is created every {period} ms, {seconds} s quiet, then {seconds} s disturbed, in {turns} turns with one
agent (every {annotated} ms where there are many annotations). As a runtime asks under a lock, a request that
comes while another is not answered waits, and its time counts from when it came. One that remains
without its NICs counts as at least two seconds, a runtime's patience. The
ports are looked at each second and the machine is read every two. No event of the machine comes meanwhile: with one, a container waits
half a second for a reading that hangs, as it is meant to (docs/pod-interface.md). What is disturbed is the first NIC;
the container holds the last GPU.

* **slow attribute**: reading the `state` of the NIC's port takes {slow} s (a FUSE file, `slow_file.c`).
* **opened device**: a user opens, closes and touches `/dev/infiniband/uverbs0` in a loop. This machine has few cores, and the loop takes one
  of them, so it is judged beside **opened elsewhere**, the same loop over a node that is nobody's.
* **annotations**: each request's pod has 1 MiB of annotations, every second one of our domain and without a
  meaning. The runtime has to write them and a plugin to read them, so it is judged beside the floor.
* **unread log**: the agent's standard error is a full pipe that nobody reads.
"""
LABELS = {"slow_attribute": "slow attribute", "opened_device": "opened device", "opened_elsewhere": "opened elsewhere",
          "annotations": "annotations", "annotations_floor": "annotations, the floor", "unread_log": "unread log"}


class Disturbance:
    """Of one agent: `begin` and `end` it, as often as wanted."""

    annotations = 0
    period_ms = PERIOD_MS

    def begin(self):
        pass

    def end(self):
        pass


class SlowAttribute(Disturbance):
    def __init__(self, process):
        self._process = process

    def begin(self):
        self._process.send_signal(signal.SIGUSR1)

    def end(self):
        self._process.send_signal(signal.SIGUSR2)


USER = """
import os, sys
while True:
    os.close(os.open(sys.argv[1], os.O_RDWR))
    os.utime(sys.argv[1])
"""


class OpenedDevice(Disturbance):
    def __init__(self, path):
        self._path = path

    def begin(self):
        self._user = subprocess.Popen([sys.executable, "-c", USER, self._path])

    def end(self):
        self._user.terminate()
        self._user.wait()


class Annotations(Disturbance):
    annotations = ANNOTATIONS
    period_ms = ANNOTATED_PERIOD_MS


class UnreadLog(Disturbance):
    """A pipe that is read while it is quiet."""

    def __init__(self, path):
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._start()

    def _start(self):
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while not self._ended.wait(0.005):
            with contextlib.suppress(BlockingIOError):
                while os.read(self._pipe, 1 << 16):
                    pass

    def begin(self):
        self._ended.set()
        self._reader.join()
        with contextlib.suppress(BlockingIOError):
            while os.write(self._pipe, PIPE_ATTEMPT):
                pass

    def end(self):
        self._start()


@contextlib.contextmanager
def unmounted_after(path):
    """Without the file, slow_file ends by itself."""
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def slow_attribute(bench, folder):
    tree = programs.machine_tree("dgx-h100", folder)
    state = tree.joinpath("sys/class/infiniband/mlx5_0/ports/1/state").resolve()
    content = state.read_text()
    command = [bench.programs / "slow_file", state, str(SLOW_S)]
    with programs.running(command, stderr=subprocess.DEVNULL) as process, unmounted_after(state):
        end = time.monotonic() + 10
        while not os.path.ismount(state):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("slow_file does not mount: is there /dev/fuse, and may we mount?")
            time.sleep(0.01)
        if state.read_text() != content:
            raise RuntimeError("slow_file shows something else")
        try:
            yield SlowAttribute(process), bench.agent(folder / "none", *OPTIONS, machine=("--host-root", tree))
        finally:
            process.send_signal(signal.SIGUSR2)  # whoever still reads it can end


def opened(bench, folder, which):
    tree = programs.machine_tree("dgx-h100", folder)
    device = tree / which
    device.parent.mkdir(parents=True, exist_ok=True)
    device.unlink(missing_ok=True)
    os.mknod(device, 0o666 | 0o020000, os.makedev(1, 3))  # one that opens without a driver
    return OpenedDevice(device), bench.agent(folder / "none", *OPTIONS, machine=("--host-root", tree))


@contextlib.contextmanager
def opened_device(bench, folder):
    yield opened(bench, folder, "dev/infiniband/uverbs0")


@contextlib.contextmanager
def opened_elsewhere(bench, folder):
    yield opened(bench, folder, "dev/nobodys/null")


@contextlib.contextmanager
def annotations(bench, folder):
    yield Annotations(), bench.agent(folder / "none", *OPTIONS)


@contextlib.contextmanager
def annotations_floor(bench, _folder):
    yield Annotations(), f"{bench.programs / 'floor'} {{socket}}"


@contextlib.contextmanager
def unread_log(bench, folder):
    pipe, wrapper = folder / "log", folder / "agent"
    disturbance = UnreadLog(pipe)
    wrapper.write_text(f'#!/bin/sh\nexec "$@" >{pipe} 2>&1\n')
    wrapper.chmod(0o755)
    yield disturbance, f"{wrapper} {bench.agent(folder / 'none', *OPTIONS)}"


def recover(step):
    """Whether answers are as they were: an agent that was dropped has to come back first."""
    end = time.monotonic() + RECOVERY_S
    while time.monotonic() < end:
        some = step("pace", 10, PERIOD_MS * 1000, 0)
        if not some["failed"] and max(some["us"]) < SMOOTH_US:
            return True
        time.sleep(0.2)
    return False


def one(bench, make):
    quiet, disturbed = {"us": [], "failed": 0}, {"us": [], "failed": 0}
    with programs.folder() as folder, make(bench, folder) as (disturbance, agent), programs.steps(bench, agent) as step:
        period_ms = disturbance.period_ms

        def pace(into, bytes_of_annotations):
            got = step("pace", SECONDS * 1000 // period_ms, period_ms * 1000, bytes_of_annotations)
            into["us"] += got["us"]
            into["failed"] += got["failed"]

        for annotated in (0, disturbance.annotations):
            step("pace", 50, period_ms * 1000, annotated)  # to warm up
        recovered = True
        for _ in range(TURNS):
            pace(quiet, 0)
            disturbance.begin()
            try:
                time.sleep(BEGIN_S)
                pace(disturbed, disturbance.annotations)
            finally:
                disturbance.end()
            recovered = recover(step)
            if not recovered:
                break
    return {"quiet": {**percentiles(quiet["us"]), "failed": quiet["failed"]},
            "disturbed": {**percentiles(disturbed["us"]), "failed": disturbed["failed"]}, "recovered": recovered}


def measure(bench):
    figures = {}
    bench = dataclasses.replace(bench, gpu=bench.last_gpu)  # beside which the first NIC is not
    for make in (slow_attribute, opened_device, opened_elsewhere, annotations, annotations_floor, unread_log):
        print(f"disturbances: {make.__name__}", file=sys.stderr)
        figures[make.__name__] = one(bench, make)
    return figures


def goal_values(figures):
    ratios = {name: one["disturbed"]["p99"] / one["quiet"]["p99"] for name, one in figures.items()}
    disturbed = {name: one["disturbed"]["p99"] for name, one in figures.items()}
    return {**ratios, "opened_device": disturbed["opened_device"] / disturbed["opened_elsewhere"],
            "annotations": disturbed["annotations"] / disturbed["annotations_floor"],
            "failed": sum(one["disturbed"]["failed"] for one in figures.values())}


def section(figures):
    rows = []
    for name, one_figures in figures.items():
        quiet, disturbed = one_figures["quiet"], one_figures["disturbed"]
        rows.append([LABELS[name], *(f"{half[p]:.0f}" for p in ("p50", "p99") for half in (quiet, disturbed)),
                     f"{disturbed['p99'] / quiet['p99']:.2f} ×",
                     str(disturbed["failed"]) if one_figures["recovered"] else f"{disturbed['failed']}, and all later"])
    return [TEXT.format(period=PERIOD_MS, annotated=ANNOTATED_PERIOD_MS, seconds=SECONDS, turns=TURNS, slow=SLOW_S),
            table(["µs", "p50 quiet", "p50 disturbed", "p99 quiet", "p99 disturbed", "p99 ratio", "without NICs"], rows)]
