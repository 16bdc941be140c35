# SPDX-License-Identifier: Apache-2.0
"""Part "requests": CreateContainer, memory and starts of Railhead beside the smallest Go plugin and a
floor, all in turns."""

import os
import sys

import programs
from page_tables import median, spread, table

NAMES = {"railhead": "Railhead", "smallest": "smallest Go plugin", "floor": "floor"}

TEXT = """The runtime is the real NRI adaptation, the code inside containerd and CRI-O, in a small program
(`tests/bench/peers`): through a whole containerd the difference between plugins drowns in its 4 ms.
It sends CreateContainer requests of a container with {env} variables and {mounts} mounts, one after
another, in turns of {block} to each plugin. Its own garbage is collected between the turns, not among the
requests; the plugins collect theirs when they like. Every figure is the median of {rounds} rounds with fresh
processes; brackets hold the lowest and the highest round.

* **Railhead**: `railhead agent` on the node `{node}`, injection alone (no kubelet), `--memlock-cap {memlock}`. A runtime
  without `CAP_SYS_RESOURCE`, as in a container with the usual capabilities, can set no more; without the cap each decision would be a
  warning that it wants to, as on no healthy node.
* **smallest Go plugin**: the upstream stub, and one device, one limit and one variable for every
  container, whatever it is.
* **floor**: a C program that answers constant bytes of the content of Railhead's answer and parses nothing but
  frame headers, and reads each piece of a request as it comes. It is what two processes and the runtime cost.

Each plugin is started in a session of its own. That is a group of its own for the scheduler, as the control groups
of a runtime and of a plugin's pod are on a node.
"""


def measure(bench):
    rounds = []
    with programs.folder() as folder:
        plugins = {
            "smallest": f"{bench.programs / 'smallest'} -nri-socket {{socket}}",
            "floor": f"{bench.programs / 'floor'} {{socket}}",
            "railhead": bench.agent(folder / "no-kubelet"),
        }
        for number in range(bench.rounds):
            print(f"requests: round {number + 1} of {bench.rounds}", file=sys.stderr)
            rounds.append(bench.ask_runtime(plugins, f"-requests={bench.requests}", f"-containers={bench.containers}"))
    for one in rounds:
        for plugin in one["plugins"].values():
            del plugin["command"]
    return {"node": os.path.relpath(bench.node, programs.ROOT), "rounds": rounds}


class Figures:
    """Values over the rounds, by plugin."""

    def __init__(self, rounds):
        self.rounds = rounds

    def values(self, name, *path):
        found = []
        for one in self.rounds:
            value = one["plugins"][name]
            for key in path:
                value = value[key]
            found += value if isinstance(value, list) else [value]
        return found

    def row(self, label, digits, *path, scale=1.0):
        return [label] + [spread([v * scale for v in self.values(name, *path)], digits) for name in NAMES]

    def ratio(self, a, b, *path):
        """Median over the rounds of a/b within one round, where both met the same noise."""
        return median([x / y for x, y in zip(self.values(a, *path), self.values(b, *path))])


def goal_values(figures):
    own = Figures(figures["rounds"])
    at_rest = ("idle", "after_requests", "after_sync_settled")
    return {
        "p50_floor": own.ratio("railhead", "floor", "gpu", "p50_us"),
        "cpu_go": own.ratio("railhead", "smallest", "cpu_gpu_us"),
        "p99_go": own.ratio("railhead", "smallest", "gpu", "p99_us"),
        "rss_rest": max(median(own.values("railhead", moment, "rss_kb")) for moment in at_rest) / 1024,
        "rss_peak": median(own.values("railhead", "after_sync", "peak_kb")) / 1024,
    }


def request_table(own, kind):
    rows = [own.row(f"{p}, µs", 0, kind, f"{p}_us") for p in ("p50", "p90", "p99", "max")]
    rows.append(own.row("own CPU for each request, µs", 1, f"cpu_{kind}_us"))
    added = ["what it adds"]
    for name in NAMES:
        answer = own.rounds[0]["plugins"][name][f"{kind}_answer"]
        added.append(f"{answer['devices']} devices, {answer['rlimits']} limits, {answer['env']} variables")
    return table([""] + list(NAMES.values()), rows + [added])


def memory_table(own, containers):
    rows = []
    for key, label in (("idle", "idle"), ("after_requests", "after the requests"),
                       ("after_sync", f"just after a Synchronize of {containers} containers"),
                       ("after_sync_settled", "a second later")):
        if key == "after_sync":
            rows.append(own.row("RSS, MiB: highest until then", 1, key, "peak_kb", scale=1 / 1024))
        rows.append(own.row(f"RSS, MiB: {label}", 1, key, "rss_kb", scale=1 / 1024))
        rows.append(own.row("anonymous part of it, MiB", 1, key, "anon_kb", scale=1 / 1024))
        rows.append(own.row("threads", 0, key, "threads"))
    return table([""] + list(NAMES.values()), rows)


def start_table(own, containers):
    rows = [own.row("no containers, ms", 1, "start_ms"),
            own.row(f"{containers} containers, ms", 1, "start_with_state_ms")]
    return table([""] + list(NAMES.values()), rows)


def section(figures):
    own = Figures(figures["rounds"])
    one = own.rounds[0]
    return [
        TEXT.format(env=one["env"], mounts=one["mounts"], block=one["block"], rounds=len(own.rounds),
                    node=figures["node"], memlock=programs.MEMLOCK),
        f"### A container with a GPU, {one['requests']} requests a round\n",
        request_table(own, "gpu"),
        f"### A container without a GPU, {one['requests']} requests a round\n\n"
        "Railhead adds nothing here; the other two do not look.\n",
        request_table(own, "plain"),
        "CPU is the plugin's alone, from `schedstat` of its threads. Railhead's includes the log line that it\n"
        "writes about each decision. Nearly all of the floor's is the kernel's, for its reads and one write: with a\n"
        f"GPU it is {own.ratio('floor', 'smallest', 'cpu_gpu_us'):.2f} of the Go plugin's.\n",
        "### Memory and threads\n\nRSS counts the program's own pages of the file it was started from, too. It is read\n"
        "a second after the work before it has ended, except for \"just after\".\n",
        memory_table(own, one["containers"]),
        "### Process start to synchronized\n\n"
        "From before `fork` until the runtime has the plugin registered, configured and synchronized.\n",
        start_table(own, one["containers"]),
    ]
