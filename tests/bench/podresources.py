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
is NVIDIA's default. {rounds} rounds. A runtime sends RunPodSandbox before the pod's first CreateContainer,
and the agent asks then; how long before is the first column:

* **never**: no RunPodSandbox, as for the pods of an agent that has just started. Each CreateContainer waits
  for its question. {requests} requests a round.
* **0 ms**: at once. The question is under way when CreateContainer comes.
* **10 ms**: about the least that passes with a kubelet and an image that is there. Between the two lines in the
  log of containerd 2.4 were 9 to 49 ms (`tests/cluster/`, on this machine). This is judged. {paced} requests a
  round, as for 0 ms.

The **bare question** is the bound of asking: a C++ program that asks the same kubelet over one kept connection,
with the same library, and does nothing else (`tests/bench/pod_question.cpp`). It leaves the kubelet alone for
{pause} µs between two questions. Nothing that asks within CreateContainer is faster than the answer without a
kubelet and one bare question together.
"""
REQUESTS = 2000
PACED = 500
PAUSE_US = 300
BEFORE = {"never": (), "0 ms": ("-sandbox=0s",), "10 ms": ("-sandbox=10ms",)}
JUDGED = "10 ms"
KEPT = ("gpu", "sandbox", "cpu_gpu_us", "gpu_answer", "after_requests")


def measure(bench):
    rounds = []
    for number in range(bench.rounds):
        print(f"podresources: round {number + 1} of {bench.rounds}", file=sys.stderr)
        with programs.folder() as folder, programs.kubelet(bench, folder / "kubelet", f"-gpu={bench.gpu}"):
            agents = {"without": bench.agent(folder / "no-kubelet"), "with": bench.agent(folder / "kubelet")}
            one = {before: ask(bench, agents, min(PACED if options else REQUESTS, bench.requests), options)
                   for before, options in BEFORE.items()}
            bare = ask_bare(bench, folder / "kubelet/pod-resources/kubelet.sock")
        rounds.append({"before": one, "bare": bare})
    return {"requests": min(REQUESTS, bench.requests), "paced": min(PACED, bench.requests), "rounds": rounds}


def ask(bench, agents, requests, options):
    one = bench.ask_runtime(agents, "-just-ask", f"-requests={requests}", *options)
    return {name: {key: plugin[key] for key in KEPT} for name, plugin in one["plugins"].items()}


def ask_bare(bench, socket):
    if not bench.built:
        raise RuntimeError("podresources: no pod_question")
    command = [bench.built / "pod_question", socket, str(min(REQUESTS, bench.requests)),
               str(PAUSE_US)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=600, check=True).stdout)


def ratios(rounds, before):
    return [one["before"][before]["with"]["gpu"]["p50_us"] / one["before"][before]["without"]["gpu"]["p50_us"]
            for one in rounds]


def goal_values(figures):
    return {"p50_podresources": median(ratios(figures["rounds"], JUDGED))}


def section(figures):
    rounds = figures["rounds"]

    def cell(before, agent, digits, look):
        return spread([look(one["before"][before][agent]) for one in rounds], digits)

    def pair(before, digits, look):
        return [cell(before, agent, digits, look) for agent in ("without", "with")]

    def no_sandbox(before):
        return not BEFORE[before]

    times = [[before, *pair(before, 0, lambda one: one["gpu"]["p50_us"]), spread(ratios(rounds, before), 2),
              *pair(before, 0, lambda one: one["gpu"]["p99_us"])] for before in BEFORE]
    costs = [[before, *(["–", "–"] if no_sandbox(before) else pair(before, 0, lambda one: one["sandbox"]["p50_us"])),
              *pair(before, 1, lambda one: one["cpu_gpu_us"]),
              *pair(before, 1, lambda one: one["after_requests"]["rss_kb"] / 1024)] for before in BEFORE]
    bare = ", ".join(f"{p} {spread([one['bare'][f'{p}_us'] for one in rounds], 0)} µs" for p in ("p50", "p90", "p99"))
    return [TEXT.format(requests=figures["requests"], paced=figures["paced"], rounds=len(rounds), pause=PAUSE_US),
            table(["RunPodSandbox before", "p50 without, µs", "p50 with, µs", "ratio", "p99 without, µs",
                   "p99 with, µs"], times),
            f"The bare question: {bare}.\n",
            "What RunPodSandbox takes, own CPU for it and CreateContainer together, and RSS after the requests:\n",
            table(["RunPodSandbox before", "p50 without, µs", "p50 with, µs", "CPU without, µs", "CPU with, µs",
                   "RSS without, MiB", "RSS with, MiB"], costs),
            "CPU of threads that have ended is not in these figures.\n"]
