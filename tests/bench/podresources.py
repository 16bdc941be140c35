# SPDX-License-Identifier: Apache-2.0
"""Part "podresources": the answer about a container with a GPU, with a kubelet that is asked who
holds that GPU, beside the answer without."""

import sys

import programs
from page_tables import median, spread, table

TEXT = """Two agents in turns: one finds no kubelet, the other asks a live PodResources (a gRPC server in Go,
`tests/bench/peers/kubelet`) about every container whose GPUs are known from its environment, which
is NVIDIA's default. {requests} requests a round, {rounds} rounds.
"""
REQUESTS = 2000


def measure(bench):
    rounds = []
    for number in range(bench.rounds):
        print(f"podresources: round {number + 1} of {bench.rounds}", file=sys.stderr)
        with programs.folder() as folder, programs.kubelet(bench, folder / "kubelet", f"-gpu={bench.gpu}"):
            agents = {"without": bench.agent(folder / "no-kubelet"), "with": bench.agent(folder / "kubelet")}
            one = bench.ask_runtime(agents, "-just-ask", f"-requests={min(REQUESTS, bench.requests)}")
        rounds.append({name: {key: plugin[key] for key in ("gpu", "cpu_gpu_us", "gpu_answer", "after_requests")}
                       for name, plugin in one["plugins"].items()})
    return {"requests": min(REQUESTS, bench.requests), "rounds": rounds}


def goal_values(figures):
    return {"p50_podresources": median([one["with"]["gpu"]["p50_us"] / one["without"]["gpu"]["p50_us"]
                                        for one in figures["rounds"]])}


def section(figures):
    rounds = figures["rounds"]

    def row(label, digits, look):
        return [label] + [spread([look(one[name]) for one in rounds], digits) for name in ("without", "with")]

    rows = [row(f"{p}, µs", 0, lambda one, p=p: one["gpu"][f"{p}_us"]) for p in ("p50", "p90", "p99")]
    rows.append(row("own CPU for each request, µs", 1, lambda one: one["cpu_gpu_us"]))
    rows.append(row("RSS after the requests, MiB", 1, lambda one: one["after_requests"]["rss_kb"] / 1024))
    rows.append(row("threads after the requests", 0, lambda one: one["after_requests"]["threads"]))
    return [TEXT.format(requests=figures["requests"], rounds=len(rounds)),
            table(["", "no kubelet", "a live PodResources"], rows),
            "CPU of threads that have ended is not in these figures.\n"]
