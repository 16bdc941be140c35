# SPDX-License-Identifier: Apache-2.0
"""Part "reading": the machine read, and what is made of it, in the micro benchmarks' own process."""

import json
import os
import subprocess
import sys

import programs
from page_tables import table

TEXT = """Cold: a new reader each time, nothing kept from the read before; the kernel's page cache is warm. The
times are the thread's CPU: nothing here waits, and who else uses the machine is left out. By the wall clock the
directory tree takes {wall:.1f} ms, which the goal is judged by.
"""
LABELS = {
    "read_snapshot": "read the largest snapshot (`{largest}`): parse the file, then the node",
    "read_snapshot_many": "the same of a node with 16 GPUs, 32 NICs and 512 VFs",
    "read_directory": "read a directory tree of that node",
    "read_directory_bare": "the bound of that: the same questions to the kernel, and nothing is made of the answers",
    "look_at_ports": "the states of all its ports, the same as before",
    "make_topology": "topology of the H100 node: every relation",
    "make_topology_and_deal": "topology and deal of the H100 node",
    "make_topology_and_deal_many": "the same of 16 GPUs, 32 NICs and 512 VFs, each an RDMA device",
    "decision_table": "everything prepared before a container comes",
    "decide_gpu_container": "decide about a container with two GPUs",
    "decide_plain_container": "decide about a container without GPUs",
    "decide_1MiB_of_foreign_annotations": "the same with 1 MiB of annotations of other programs",
    "decide_1MiB_of_bogus_annotations": "with 1 MiB of keys of ours that say nothing",
    "decide_1MiB_of_copied_annotations": "with 1 MiB of keys of CDI, on pod and container",
    "decide_with_yaml": "with two lists in YAML that are as large and laborious as they may be",
    "many_decision_table_by_pf_names": "all that is prepared, of 8 ports with 128 VFs in 8 pools by `pfNames`",
    "many_decision_table_by_root_devices": "the same with pools by `rootDevices`",
    "many_ledger_updates": "what is new for the kubelet's 8 lists of these: nothing",
    "many_table_and_lists": "a change of that machine, from the reading to the lists",
    "many_table_and_lists_all_down": "the same with all links down",
    "many_why_not_in": "why each of its functions is not in a pool",
    "many_devices_of": "the devices of one of its pools",
    "many_grant_of": "what one allocated VF brings",
    "many_prefer/1": "the preferred one of 1,024 VFs",
    "many_prefer/8": "the preferred eight of 1,024 VFs",
    "prefer_identical_slots/1024": "the preferred one of 1,024 slots that are all alike",
    "prefer_identical_slots/65536": "the same of 65,536",
    "prefer_slots_of_nics/1024": "the preferred eight of 1,024 slots of eight NICs",
    "prefer_slots_of_nics/65536": "the same of 65,536",
    "read_again": "read one NIC of that node again",
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
    medians = {entry["run_name"]: entry for entry in json.loads(done.stdout)["benchmarks"]
               if entry.get("aggregate_name") == "median" and not entry.get("error_occurred")}
    return {"largest": os.path.relpath(largest, programs.ROOT),
            "times_ms": {name: in_ms(entry, "cpu_time") for name, entry in medians.items()},
            "read_directory_wall_ms": in_ms(medians["read_directory"], "real_time")}


def in_ms(entry, clock):
    return entry[clock] * TO_MS[entry["time_unit"]]


def goal_values(figures):
    return {"read_directory": figures["read_directory_wall_ms"]}


def section(figures):
    rows = [[LABELS.get(name, name).format(largest=figures["largest"]),
             f"{ms:.2f} ms" if ms >= 0.1 else f"{ms * 1000:.2f} µs"]
            for name, ms in figures["times_ms"].items()]
    return [TEXT.format(wall=figures["read_directory_wall_ms"]), table(["in this process, without a runtime", "median, CPU"], rows)]
