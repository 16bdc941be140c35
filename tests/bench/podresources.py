# SPDX-License-Identifier: Apache-2.0
"""Part "podresources": the answer about a container with a GPU, with a kubelet that is asked who
holds that GPU, beside the answer without."""

import json
import subprocess
import sys

import programs
from page_tables import median, spread, table

TEXT = """Two agents in turns: one finds no kubelet, the other asks a live PodResources (a gRPC server in Go,
`tests/bench/peers/kubelet`) about every container whose GPUs are known from its environment, which
is NVIDIA's default. {requests} requests a round, {rounds} rounds. The **bare question** is the bound:
a C++ program that asks the same kubelet over one kept connection, with the same library, and does
nothing else (`tests/bench/pod_question.cpp`). It leaves the kubelet alone for {pause} µs between two
questions, which is about what the agent does. Nothing that asks by that library is faster than the
answer without a kubelet and one bare question together.
"""
REQUESTS = 2000
PAUSE_US = 300


def measure(bench):
    rounds = []
    for number in range(bench.rounds):
        print(f"podresources: round {number + 1} of {bench.rounds}", file=sys.stderr)
        with programs.folder() as folder, programs.kubelet(bench, folder / "kubelet", f"-gpu={bench.gpu}"):
            agents = {"without": bench.agent(folder / "no-kubelet"), "with": bench.agent(folder / "kubelet")}
            one = bench.ask_runtime(agents, "-just-ask", f"-requests={min(REQUESTS, bench.requests)}")
            bare = ask_bare(bench, folder / "kubelet/pod-resources/kubelet.sock")
        rounds.append({name: {key: plugin[key] for key in ("gpu", "cpu_gpu_us", "gpu_answer", "after_requests")}
                       for name, plugin in one["plugins"].items()} | {"bare": {"gpu": bare}})
    return {"requests": min(REQUESTS, bench.requests), "rounds": rounds}


def ask_bare(bench, socket):
    if not bench.built:
        raise RuntimeError("podresources: no pod_question")
    command = [bench.built / "pod_question", socket, str(min(REQUESTS, bench.requests)),
               str(PAUSE_US)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=600, check=True).stdout)


def goal_values(figures):
    return {"p50_podresources": median([one["with"]["gpu"]["p50_us"] / one["without"]["gpu"]["p50_us"]
                                        for one in figures["rounds"]])}


def section(figures):
    rounds = figures["rounds"]

    def row(label, digits, look, programs=("without", "with")):
        cells = [spread([look(one[name]) for one in rounds], digits) for name in programs]
        return [label, *cells, *["–"] * (3 - len(cells))]

    rows = [row(f"{p}, µs", 0, lambda one, p=p: one["gpu"][f"{p}_us"], ("without", "with", "bare"))
            for p in ("p50", "p90", "p99")]
    rows.append(row("own CPU for each request, µs", 1, lambda one: one["cpu_gpu_us"]))
    rows.append(row("RSS after the requests, MiB", 1, lambda one: one["after_requests"]["rss_kb"] / 1024))
    rows.append(row("threads after the requests", 0, lambda one: one["after_requests"]["threads"]))
    return [TEXT.format(requests=figures["requests"], rounds=len(rounds), pause=PAUSE_US),
            table(["", "no kubelet", "a live PodResources", "bare question"], rows),
            "CPU of threads that have ended is not in these figures.\n"]
