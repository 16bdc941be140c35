# SPDX-License-Identifier: Apache-2.0
"""The section of docs/benchmarks.md about the kubelet, from kubelet_figures.measure()."""

from kubelet_figures import REQUESTS, measure  # noqa: F401, as every part has it
from page_tables import table

TEXT = """The kubelet is a gRPC client in Go that registers, watches the lists and walks their bytes
(`tests/bench/peers/kubelet`). An RDMA device's entry goes from the machine's directory tree, as when a
driver is unbound, and the time ends when the kubelet has read a list with one more unhealthy device:
{rails} changes and {many}. The eight pools are selected by `pfNames` and by `rootDevices`, four each.
"""

FOOT = """A device that comes back is healthy again after five seconds, on purpose: each change makes the
kubelet write its checkpoint. A port that goes down without an event of the kernel's is found by the
next look at all ports (`host.portCheckSeconds`, each second). For comparison, measured elsewhere on
other machines: a device plugin in Go with nothing else needs about 9 MB idle, dranet 61 MB.
"""


def times_table(figures):
    rows = []
    for key, label in (("rails", "H100 node: 8 NICs in one pool"),
                       ("many", f"{figures['many']['devices']} VFs in 8 exclusive pools")):
        times = figures[key]["times_ms"]
        rows.append([label] + [f"{times[p]:.1f}" for p in ("p50", "p90", "p99", "max")])
    return table(["from the change to the list, ms", "p50", "p90", "p99", "max"], rows)


def memory_table(figures):
    many, everything = figures["many"], figures["everything"]
    rows = [[label, f"{memory['rss_mib']:.1f}", f"{memory['anon_mib']:.1f}"] for label, memory in (
        ("device plugin alone, H100 node, after the changes", figures["rails"]),
        (f"device plugin alone, {many['devices']} VFs in 8 pools, at first", many["idle"]),
        ("the same after the changes", many))]
    for key, label in (("idle", "everything on (NRI, kubelet, metrics), H100 node: idle"),
                       ("after_requests", f"after {REQUESTS} containers with GPUs and as many without"),
                       ("after_sync", f"just after a Synchronize of {figures['containers']} containers"),
                       ("after_sync_settled", "three seconds later")):
        rows.append([label, f"{everything[key]['rss_kb'] / 1024:.1f}", f"{everything[key]['anon_kb'] / 1024:.1f}"])
        if key == "after_requests":
            rows.append(["its highest while they came", f"{everything[key]['peak_kb'] / 1024:.1f}", ""])
    return table(["memory, MiB", "RSS", "anonymous"], rows)


def goal_values(figures):
    return {"list_p50": figures["many"]["times_ms"]["p50"], "list_p99": figures["many"]["times_ms"]["p99"],
            "rss_all": max(one["peak_kb"] for one in figures["everything"].values()) / 1024}


def section(figures):
    changes = {name: figures[name]["times_ms"]["count"] for name in ("rails", "many")}
    return [TEXT.format(**changes), times_table(figures), memory_table(figures), FOOT]
