# SPDX-License-Identifier: Apache-2.0
"""Part "reading": the machine read, and what is made of it, in the micro benchmarks' own process."""

import json
import os
import subprocess
import sys

import programs
from page_tables import table

TEXT = """Cold: a new reader each time, nothing kept from the read before; the kernel's page cache is warm. The
times are the thread's CPU: nothing here waits, and who else uses the machine is left out.
"""
LABELS = {
    "read_snapshot": "read the largest snapshot (`{largest}`): parse the file, then the node",
    "read_snapshot_many": "the same of a node with 16 GPUs, 32 NICs and 512 VFs",
    "read_directory": "read a directory tree of that node",
    "look_at_ports": "the states of all its ports, the same as before",
    "make_topology": "topology of the H100 node: every relation",
    "make_topology_and_deal": "topology and deal of the H100 node",
    "make_topology_and_deal_many": "the same of 16 GPUs, 32 NICs and 512 VFs, each an RDMA device",
    "decision_table": "everything prepared before a container comes",
    "decide_gpu_container": "decide about a container with two GPUs",
    "decide_plain_container": "decide about a container without GPUs",
}
TO_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def measure(bench):
    print("reading", file=sys.stderr)
    if not bench.built:
        raise RuntimeError("reading: no railhead_bench_micro")
    with programs.folder() as folder:
        tree = programs.machine_tree("many-vfs", folder)
        make = programs.ROOT / "tests/nodes/make_nodes.py"
        subprocess.run([sys.executable, make, "many-vfs", "--out", folder], timeout=300, check=True)
        largest = max((programs.ROOT / "tests/nodes").glob("*.node"), key=os.path.getsize)
        inputs = {"TREE": tree, "SNAPSHOT": largest, "MANY": folder / "many-vfs.node", "NODE": bench.node}
        done = subprocess.run(
            [bench.built / "railhead_bench_micro", "--benchmark_format=json", "--benchmark_repetitions=3",
             "--benchmark_report_aggregates_only=true"],
            stdout=subprocess.PIPE, timeout=600, check=True,
            env={**os.environ, **{f"RAILHEAD_BENCH_{name}": str(path) for name, path in inputs.items()}})
    times = {entry["run_name"]: entry["cpu_time"] * TO_MS[entry["time_unit"]]
             for entry in json.loads(done.stdout)["benchmarks"]
             if entry.get("aggregate_name") == "median" and not entry.get("error_occurred")}
    return {"largest": os.path.relpath(largest, programs.ROOT), "times_ms": times}


def goal_values(figures):
    return {"read_directory": figures["times_ms"].get("read_directory")}


def section(figures):
    rows = [[LABELS.get(name, name).format(largest=figures["largest"]),
             f"{ms:.2f} ms" if ms >= 0.1 else f"{ms * 1000:.2f} µs"]
            for name, ms in figures["times_ms"].items()]
    return [TEXT, table(["in this process, without a runtime", "median, CPU"], rows)]
