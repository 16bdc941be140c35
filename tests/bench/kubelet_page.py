# SPDX-License-Identifier: Apache-2.0
"""The section of docs/benchmarks.md about the kubelet's face, from kubelet_figures.measure()."""

from page_tables import goal, table

TITLE = "## The kubelet's face\n"

TEXT = TITLE + """
The kubelet is a gRPC client in Python that registers, watches the lists and decodes them
(`tests/peers/kubelet.py`); its share is in the times. An RDMA device's entry goes from the machine's
directory tree, as when a driver is unbound, and the time ends when the kubelet has a list that calls
the device unhealthy. {changes} changes each.
"""

FOOT = """A device that comes back is healthy again after five seconds, on purpose: each change makes the
kubelet write its checkpoint. A port that goes down without an event of the kernel's is found by the
next look at all ports (`host.portCheckSeconds`, each second). For comparison, measured elsewhere on other machines: a device
plugin in Go with this one face needs about 9 MB idle, dranet 61 MB.
"""


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def times_table(figures):
    rows = []
    for key, label in (("rails", "H100 node: 8 NICs in one pool"),
                       ("many", f"{figures['many']['devices']} VFs in 8 exclusive pools")):
        times = figures[key]["times_ms"]
        rows.append([label] + [f"{percentile(times, share):.1f}" for share in (0.5, 0.9, 0.99)])
    return table(["from the change to the list, ms", "p50", "p90", "p99"], rows)


def memory_table(figures):
    many, faces = figures["many"], figures["faces"]
    rows = [[label, f"{of['rss_mib']:.1f}", f"{of['anon_mib']:.1f}"] for label, of in (
        ("kubelet's face, H100 node, after the changes", figures["rails"]),
        (f"kubelet's face, {many['devices']} VFs in 8 pools, at first", many["idle"]),
        ("the same after the changes", many))]
    for key, label in (("idle", "every face (NRI, kubelet, metrics), H100 node: idle"),
                       ("after_requests", "after 2000 containers with GPUs and 2000 without"),
                       ("after_sync", "just after a Synchronize of 3000 containers"),
                       ("after_sync_settled", "three seconds later")):
        rows.append([label, f"{faces[key]['rss_kb'] / 1024:.1f}", f"{faces[key]['anon_kb'] / 1024:.1f}"])
    return table(["memory, MiB", "RSS", "anonymous"], rows)


def at_rest_mib(figures):
    return max(figures["faces"][key]["rss_kb"] for key in ("idle", "after_requests", "after_sync_settled")) / 1024


def goal_rows(figures):
    rest = at_rest_mib(figures) if figures else None
    return [goal("RSS at rest with every face: NRI, kubelet, metrics", "≤ 12 MiB", rest, 12.0, " MiB")]


def section(figures):
    if not figures:
        return [TITLE + "\nNot measured in this run.\n"]
    changes = len(figures["rails"]["times_ms"])
    return [TEXT.format(changes=changes), times_table(figures), memory_table(figures), FOOT]
