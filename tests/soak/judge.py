# SPDX-License-Identifier: Apache-2.0
"""From what was seen to figures and a verdict; pure."""

import re
import statistics

# Flat: the median of the last quarter is at most that much above the median of the second.
GROWTH = 0.05
SLACK = {"rss_mib": 1.0, "descriptors": 4.0, "threads": 2.0}
UNITS = {"rss_mib": "RSS, MiB", "descriptors": "descriptors", "threads": "threads"}
# What must be none.
BAD = {
    "wrong": "wrong",
    "failed": "failed by us",
    "dropped": "plugin dropped by the runtime",
    "ended": "ends of the agent",
}
# What a run has to have met, or it proves too little.
MET = (
    *("containers", "containerd killed", "kubelet restarted", "kubelet silent"),
    *("NIC down", "NIC gone", "log reader stopped", "opened and closed", "garbage sent"),
)
POINTS = 360  # of the graph
METRICS = re.compile(
    r"railhead_(?:node_reads_total|nri_(?:requests|registrations|disconnects|protocol_errors)_total"
    r"|nri_deadlines_missed_total|nri_warnings_total|nri_containers_missing_devices"
    r"|kubelet_registrations_total|log_\w+)"
)


def quantile(values: list[float], part: float) -> float:
    """By nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def flatness(values: list[float], slack: float) -> dict:
    """The medians of the second and of the last quarter, and whether the last is no more than that."""
    quarter = len(values) // 4
    if quarter == 0:
        return {"second": 0.0, "last": 0.0, "allowed": 0.0, "flat": False}
    second = statistics.median(values[quarter : 2 * quarter])
    last = statistics.median(values[-quarter:])
    most = second * (1 + GROWTH) + slack
    return {
        "second": round(second, 2),
        "last": round(last, 2),
        "allowed": round(most, 2),
        "flat": last <= most,
    }


def thinned(rows: list[list[float]], points: int = POINTS) -> list[list[float]]:
    """At most so many rows: the first column of the middle one, the largest value of every other."""
    if len(rows) <= points:
        return rows
    thin = []
    for index in range(points):
        part = rows[index * len(rows) // points : (index + 1) * len(rows) // points]
        thin.append([part[len(part) // 2][0], *(max(column) for column in list(zip(*part))[1:])])
    return thin


def merged(marks: list[tuple[float, str, float]], gap_s: float) -> list[list]:
    """Marks of a kind that are nearer to each other than that are one."""
    last: dict[str, list] = {}
    out: list[list] = []
    for start, kind, end in sorted(marks):
        before = last.get(kind)
        if before and start - before[2] < gap_s:
            before[2] = max(before[2], round(end, 1))
        else:
            last[kind] = [round(start, 1), kind, round(end, 1)]
            out.append(last[kind])
    return out


def metrics(page: str) -> dict[str, float]:
    """Of a page of /metrics what tells how a run went."""
    lines = [line.rpartition(" ") for line in page.splitlines() if METRICS.match(line)]
    return {name: float(value) for name, _, value in lines}


def figures(samples: list, creations: list[tuple[float, float]], counts: dict, marks: list) -> dict:
    """`samples` have t, rss_kib, descriptors and threads."""
    rows = [[round(s.t, 1), round(s.rss_kib / 1024, 2), s.descriptors, s.threads] for s in samples]
    columns = list(zip(*rows)) or [(), (), (), ()]
    times = [1000 * seconds for _, seconds in creations]
    return {
        "counts": dict(sorted(counts.items())),
        "bad": {kind: counts.get(kind, 0) for kind in BAD},
        "create_ms": {
            "count": len(times),
            "p50": round(quantile(times, 0.5), 1),
            "p99": round(quantile(times, 0.99), 1),
            "max": round(max(times, default=0.0), 1),
        },
        "flat": {
            name: flatness(list(column), slack)
            for (name, slack), column in zip(SLACK.items(), columns[1:])
        },
        "highest": {name: max(column, default=0) for name, column in zip(SLACK, columns[1:])},
        "series": thinned(rows),
        "marks": merged(marks, rows[-1][0] / (2 * POINTS) if rows else 0.0),
    }


def faults(found: dict) -> list[str]:
    """What is not as it has to be; empty: passed."""
    bad = [f"{found['bad'][kind]} {name}" for kind, name in BAD.items() if found["bad"][kind]]
    for name, one in found["flat"].items():
        if not one["flat"]:
            grown = f"{one['second']:g} to {one['last']:g}, at most {one['allowed']:g}"
            bad.append(f"{UNITS[name]} not flat: {grown}")
    return bad + [f"not met: {what}" for what in MET if not found["counts"].get(what)]


def summary(found: dict) -> str:
    counts, flat, create = found["counts"], found["flat"], found["create_ms"]
    grown = ", ".join(
        f"{UNITS[name]} {one['second']:g} to {one['last']:g}{'' if one['flat'] else ' NOT FLAT'}"
        for name, one in flat.items()
    )
    restarts = counts.get("containerd killed", 0) + counts.get("containerd restarted", 0)
    troubles = sum(counts.get(f"kubelet {what}", 0) for what in ("restarted", "silent", "busy"))
    changes = sum(number for name, number in counts.items() if name.startswith("NIC "))
    return (
        f"{found['minutes']:g} min on containerd {found['runtime']}: "
        f"{counts.get('containers', 0)} containers, {counts.get('refused rightly', 0)} refused rightly, "
        + ", ".join(f"{found['bad'][kind]} {name}" for kind, name in BAD.items())
        + f"; {grown}; CreateContainer p50 {create['p50']:g} ms, p99 {create['p99']:g} ms; "
        f"{restarts} restarts of containerd, {troubles} troubles of the kubelet, "
        f"{changes} changes of NICs"
    )
