# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md from measured values."""

import datetime
import os
import platform
import statistics
import subprocess

import kubelet_page
import lab_page
from page_tables import goal, table

NAMES = {
    "railhead": "Railhead",
    "smallest": "smallest Go plugin",
    "floor": "floor",
}

INTRODUCTION = """# Benchmarks

Written by `./dev bench`; do not edit. One run, everything in turns on one machine. This one has few
cores that it shares with other work, and nothing was pinned or quieted, so the figures are **soft**:
compare columns of this page with each other, never with another page's. Where the machine is
noisy, the ratios are worth more than the microseconds.

The runtime is the real NRI adaptation, the code inside containerd and CRI-O, in a small program
(`tests/bench/peers`): through a whole containerd the difference between plugins drowns in its 4 ms.
It sends CreateContainer requests of a container with {env} variables and {mounts} mounts, one after
another, in turns of {block} to each plugin. Every figure is the median of {rounds} rounds with fresh
processes; brackets hold the lowest and the highest round.

* **Railhead**: `railhead agent` on the node `{node}`, injection alone (no kubelet).
* **smallest Go plugin**: the upstream stub, and one device, one limit and one variable for every
  container, whatever it is.
* **floor**: a C program that answers constant bytes of the same content and parses nothing but
  frame headers. It is what two processes and the runtime itself cost; nothing can be below it.
"""


def median(values):
    return statistics.median(values)


def spread(values, digits):
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


class Figures:
    """Values over the rounds, by plugin."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.names = [name for name in NAMES if name in rounds[0]["plugins"]]

    def values(self, name, *path):
        found = []
        for one in self.rounds:
            value = one["plugins"][name]
            for key in path:
                value = value[key]
            found += value if isinstance(value, list) else [value]
        return found

    def row(self, label, digits, *path, scale=1.0):
        cells = [spread([v * scale for v in self.values(name, *path)], digits) for name in self.names]
        return [label] + cells

    def ratio(self, a, b, *path):
        """Median over the rounds of a/b within one round."""
        return median([x / y for x, y in zip(self.values(a, *path), self.values(b, *path))])


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=True)
        return done.stdout.decode(errors="replace").splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def field_of(path, key):
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return "unknown"


def run_facts(args, root):
    """When, on what load and of what the figures are."""
    return [
        ["date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")],
        ["load at the end", " ".join(f"{load:.2f}" for load in os.getloadavg())],
        ["commit", first_line(["git", "-C", root, "describe", "--always", "--dirty"])],
        ["Railhead", first_line([args.railhead, "--version"]) if args.railhead else "not measured"],
    ]


def machine_table(args, root, rounds):
    memory_gib = int(field_of("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    rows = run_facts(args, root) + [
        ["machine", f"{os.cpu_count()} cores, {field_of('/proc/cpuinfo', 'model name')}, {memory_gib:.0f} GiB"],
        ["kernel", platform.release()],
        ["NRI adaptation and stub", f"{rounds[0]['nri']}, {rounds[0]['go']}"],
        ["C compiler", first_line(["cc", "--version"])],
        ["command", "`./dev bench`"],
    ]
    return table(["this run", ""], rows).replace("---:", "---")


def goals_table(figures, times, kubelet):
    present = "railhead" in figures.names

    def ratio(other, *path):
        return figures.ratio("railhead", other, *path) if present else None

    rest_mib, peak_mib, start_ms = None, None, None
    if present:
        at_rest = ("idle", "after_requests", "after_sync_settled")
        rest_mib = max(median(figures.values("railhead", m, "rss_kb")) for m in at_rest) / 1024
        peak_mib = median(figures.values("railhead", "after_sync", "rss_kb")) / 1024
        start_ms = median(figures.values("railhead", "start_ms"))
    rows = [
        goal("CreateContainer p50, against the floor", "≤ 1.35 ×", ratio("floor", "gpu", "p50_us"), 1.35, " ×"),
        goal("CreateContainer p99, against Go", "≤ 0.60 ×", ratio("smallest", "gpu", "p99_us"), 0.6, " ×"),
        goal("CPU for each request, against Go", "≤ 0.30 ×", ratio("smallest", "cpu_gpu_us"), 0.3, " ×"),
        goal("RSS at rest: idle, after the requests, after Synchronize", "≤ 8 MiB", rest_mib, 8.0, " MiB"),
        goal("RSS in the moment after the large Synchronize", "≤ 8 MiB", peak_mib, 8.0, " MiB"),
        goal("process start to synchronized", "< 50 ms", start_ms, 50.0, " ms", 1),
        goal("cold read of the largest snapshot", "< 20 ms", times.get("read_snapshot"), 20.0, " ms", 1),
        goal("cold read of the large directory tree", "< 20 ms", times.get("read_directory"), 20.0, " ms", 1),
        goal("topology and deal: 16 GPUs, 32 NICs, 512 VFs", "< 5 ms", times.get("make_topology_and_deal_many"), 5.0, " ms"),
    ]
    return table(["goal", "wanted", "measured", ""], rows + kubelet_page.goal_rows(kubelet))


def request_table(figures, kind):
    rows = [figures.row(f"{p}, µs", 0, kind, f"{p}_us") for p in ("p50", "p90", "p99", "max")]
    rows.append(figures.row("own CPU for each request, µs", 1, f"cpu_{kind}_us"))
    added = ["what it adds"]
    for name in figures.names:
        answer = figures.rounds[0]["plugins"][name][f"{kind}_answer"]
        added.append(f"{answer['devices']} devices, {answer['rlimits']} limits, {answer['env']} variables")
    rows.append(added)
    return table([""] + [NAMES[name] for name in figures.names], rows)


def memory_table(figures, containers):
    moments = {
        "idle": "idle",
        "after_requests": "after the requests",
        "after_sync": f"just after a Synchronize of {containers} containers",
        "after_sync_settled": "a second later",
    }
    rows = []
    for key, label in moments.items():
        rows.append(figures.row(f"RSS, MiB: {label}", 1, key, "rss_kb", scale=1 / 1024))
        rows.append(figures.row("anonymous part of it, MiB", 1, key, "anon_kb", scale=1 / 1024))
        rows.append(figures.row("threads", 0, key, "threads"))
    return table([""] + [NAMES[name] for name in figures.names], rows)


def start_table(figures, containers):
    rows = [
        figures.row("no containers, ms", 1, "start_ms"),
        figures.row(f"{containers} containers, ms", 1, "start_with_state_ms"),
    ]
    return table([""] + [NAMES[name] for name in figures.names], rows)


def micro_section(results):
    if not results:
        return "Not measured in this run.\n"
    labels = {
        "read_snapshot": f"read the largest snapshot (`{results['largest']}`): parse the file, then the node",
        "read_snapshot_many": "the same of a node with 16 GPUs, 32 NICs and 512 VFs",
        "read_directory": "read a directory tree of that node",
        "make_topology": "topology of the H100 node: every relation",
        "make_topology_and_deal": "topology and deal of the H100 node",
        "make_topology_and_deal_many": "the same of 16 GPUs, 32 NICs and 512 VFs, each an RDMA device",
        "decision_table": "everything prepared before a container comes",
        "decide_gpu_container": "decide about a container with two GPUs",
        "decide_plain_container": "decide about a container without GPUs",
    }
    times = results["times"]
    rows = [[labels.get(name, name), f"{ms:.2f} ms" if ms >= 0.1 else f"{ms * 1000:.2f} µs"] for name, ms in times.items()]
    return table(["in this process, without a runtime", "median"], rows)


def render(args, root, rounds, micro, kubelet):
    figures = Figures(rounds)
    one = rounds[0]
    parts = [
        INTRODUCTION.format(
            env=one["env"], mounts=one["mounts"], block=one["block"], rounds=len(rounds),
            node=os.path.relpath(args.node, root),
        ),
        machine_table(args, root, rounds),
        "## Goals\n\nJudged by the container with a GPU, where Railhead has the most to do. Ratios are taken within\n"
        "a round, where both met the same noise.\n",
        goals_table(figures, micro.get("times", {}), kubelet),
        f"## A container with a GPU, {one['requests']} requests\n",
        request_table(figures, "gpu"),
        f"## A container without a GPU, {one['requests']} requests\n\n"
        "Railhead adds nothing here; the other two do not look.\n",
        request_table(figures, "plain"),
        "CPU is the plugin's alone, from `schedstat` of its threads. Railhead's includes the log line that it\n"
        "writes about each decision.\n",
        "## Memory and threads\n\nRSS counts the program's own pages of the file it was started from, too.\n",
        memory_table(figures, one["containers"]),
        "## Process start to synchronized\n\nFrom before `fork` until the runtime has the plugin registered, configured and synchronized.\n",
        start_table(figures, one["containers"]),
        *kubelet_page.section(kubelet),
        lab_page.section(),
        "## Reading and deciding\n\nCold: a new reader each time, nothing kept from the read before; the kernel's page cache is warm.\n",
        micro_section(micro),
    ]
    return "\n".join(parts)


def with_kubelet(args, root, text, figures):
    """The page with the section of the kubelet's face measured anew, on its own."""
    own = ["These figures are of a run of their own (`./dev bench --only-kubelet`).\n",
           table(["that run", ""], run_facts(args, root)).replace("---:", "---"),
           table(["goal", "wanted", "measured", ""], kubelet_page.goal_rows(figures))]
    head, *rest = kubelet_page.section(figures)
    fresh = "\n".join([head, *own, *rest])
    before, mark, after = text.partition(kubelet_page.TITLE)
    _, _, after = after.partition("\n## ") if mark else ("", "", "")
    if not mark:
        before, _, after = text.partition("## Reading and deciding")
        return before + fresh + "\n## Reading and deciding" + after
    return before + fresh + "\n## " + after
