# SPDX-License-Identifier: Apache-2.0
"""Part "counts": system calls and threads an answer. They are the same on every machine.

In how many pieces a request is read depends on who runs when. So all share one processor, and the agent
is of the batch class, which takes the processor from nobody: it runs when the runtime waits, and a
request is then whole (sched(7))."""

import collections
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys

import programs
from page_tables import table

WARM_UP, REQUESTS = 200, 400
REQUESTS_OF_KUBELET = 100  # each thread that starts or ends stops strace
TEXT = """System calls of the whole agent, all its threads, over some hundred answers about a container with a
GPU, after {warm_up} that do not count, by `strace -f`; threads that it started meanwhile. The machine is
not looked at again during that time (`--port-check-interval 0 --rescan-interval 3600
--pods-interval 0`). All share one processor, which the agent takes from nobody: so a request is always read
whole. The last row has RunPodSandbox {wait} ms before each CreateContainer, and counts what both
take: two answers, and the question that is asked between them.
"""
SANDBOX_MS = 2
OPTIONS = ("--port-check-interval=0", "--rescan-interval=3600", "--pods-interval=0")
# "PID name(…", not "PID <... name resumed>…", "PID +++ exited", "PID --- SIGNAL".
_CALL = re.compile(r"^\d+ +([a-z_0-9]+)\((.*)$")


def calls_in(lines):
    """How often each call begins in strace's output, and how many threads were started."""
    calls, threads = collections.Counter(), 0
    for line in lines:
        found = _CALL.match(line)
        if found:
            calls[found[1]] += 1
            threads += found[1].startswith("clone") and "CLONE_THREAD" in found[2]
    return calls, threads


@contextlib.contextmanager
def traced(pid, output):
    """strace of that process and its threads, while the block lasts."""
    command = ["strace", "-f", "-s", "0", "-o", output, "-p", str(pid)]
    strace = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = strace.stderr.readline()
        if "attached" not in said:
            raise RuntimeError(f"strace cannot count: {said.strip() or 'it has ended'}")
        yield
    finally:
        strace.send_signal(signal.SIGINT)
        strace.communicate(timeout=30)


def count(bench, kubelet_root, requests, trace, *options):
    with programs.steps(bench, bench.agent(kubelet_root, *OPTIONS), *options) as step:
        for task in pathlib.Path(f"/proc/{step.pid}/task").iterdir():
            os.sched_setscheduler(int(task.name), os.SCHED_BATCH, os.sched_param(0))
        step("ask", WARM_UP, "gpu")
        with traced(step.pid, trace):
            answered = step("ask", requests, "gpu")["answer"]
    if not answered["devices"]:
        raise RuntimeError("the answers that were counted add no device")
    with open(trace, encoding="utf-8", errors="replace") as lines:
        calls, threads = calls_in(lines)
    return {"calls": sum(calls.values()) / requests, "threads": threads / requests,
            "by_name": {name: number / requests for name, number in calls.most_common(8)}}


@contextlib.contextmanager
def one_processor():
    """For this process and what it starts meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def measure(bench):
    print("counts", file=sys.stderr)
    with programs.folder() as folder, one_processor():
        none = count(bench, folder / "no-kubelet", REQUESTS, folder / "trace")
        with programs.kubelet(bench, folder / "kubelet", f"-gpu={bench.gpu}"):
            live = count(bench, folder / "kubelet", REQUESTS_OF_KUBELET, folder / "trace")
            ahead = count(bench, folder / "kubelet", REQUESTS_OF_KUBELET, folder / "trace", f"-sandbox={SANDBOX_MS}ms")
    return {"none": none, "podresources": live, "ahead": ahead}


def goal_values(figures):
    none, live, ahead = figures["none"], figures["podresources"], figures["ahead"]
    return {"calls": none["calls"], "calls_podresources": live["calls"], "calls_ahead": ahead["calls"],
            "threads": none["threads"], "threads_podresources": max(live["threads"], ahead["threads"])}


def section(figures):
    rows = [[label, f"{one['calls']:.2f}", f"{one['threads']:.2f}",
             ", ".join(f"{name} {number:.2f}" for name, number in one["by_name"].items())]
            for label, one in (("no kubelet", figures["none"]), ("a live PodResources", figures["podresources"]),
                               ("the same, and RunPodSandbox before it", figures["ahead"]))]
    return [TEXT.format(warm_up=WARM_UP, wait=SANDBOX_MS),
            table(["an answer", "system calls", "threads started", "most of them"], rows)]
