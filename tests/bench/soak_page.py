#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The section of docs/benchmarks.md about the soak, from tests/soak/soak.json. That and
docs/pictures/soak.svg are written together, by `./dev soak MINUTES --write`.

As a program: replaces that section.
"""

import json

from page_tables import ROOT, replace_section, table, text_table

TITLE = "## Soak"
COMMAND = "./dev soak 120 --write"
WORDS = """
`./dev soak {minutes:g} --write`: the agent with NRI, the device plugin and its pages on a real containerd {runtime}, on a machine of files made from
`tests/nodes/dgx-h100.node`. Pods come and go: with GPUs by variable and by device node, with slots, with `required`, with up to 1 MiB
of annotations. Meanwhile NICs are unplugged and numbered anew and ports go down; the kubelet is restarted, silent for 20 s and short
of answers; containerd is restarted and killed; a user opens and closes a verbs node 200 times a second, holds 40 idle connections to the
metrics port and sends garbage to it; and whoever reads the agent's log stops for 30 s. What each container really has is compared with
what `railhead affinity` says of the machine as it was then.

![Memory, descriptors and threads over time](pictures/soak.svg)

Dashed lines are restarts of containerd. Points are the highest of {span} s.
"""
NAMES = {"rss_mib": "RSS, MiB", "descriptors": "descriptors", "threads": "threads"}
BAD = {
    "wrong": "containers that had something else, and other things that were wrong",
    "failed": "creations that failed by us",
    "dropped": "times the runtime dropped the plugin",
    "ended": "times the agent ended",
}
SHOWN = (
    "refused rightly",
    "containers without the agent",
    "containers while the kubelet was silent",
    "containerd restarted",
    "containerd killed",
    "kubelet restarted",
    "kubelet silent",
    "kubelet busy",
    "log reader stopped",
    "opened and closed",
    "garbage sent",
)


def section(figures: dict) -> str:
    """Markdown, from the JSON of a run."""
    counts, create = figures["counts"], figures["create_ms"]
    run = [
        ["date", figures["date"]],
        ["commit", figures["commit"]],
        ["machine", figures["machine"]],
        ["seed", figures["seed"]],
    ]
    judged = [[text, figures["bad"][kind], "0"] for kind, text in BAD.items()]
    for kind, one in figures["flat"].items():
        text = f"{NAMES[kind]}: median of the last quarter; of the second: {one['second']:g}"
        judged.append([text, f"{one['last']:g}", f"≤ {one['allowed']:g}"])
    changes = sum(number for name, number in counts.items() if name.startswith("NIC "))
    shown = [
        ["containers", counts.get("containers", 0)],
        ["CreateContainer through containerd, p50", f"{create['p50']:g} ms"],
        ["the same, p99", f"{create['p99']:g} ms"],
        ["the agent's CPU", f"{figures['cpu_seconds']:g} s"],
        ["changes of NICs", changes],
        *([name, counts[name]] for name in SHOWN if name in counts),
    ]
    series = figures["series"]
    span = max(1, round(figures["minutes"] * 60 / max(1, len(series))))
    words = WORDS.format(minutes=figures["minutes"], runtime=figures["runtime"], span=span)
    return "\n".join(
        [
            TITLE,
            words,
            text_table(["that run", ""], run),
            table(["judged", "measured", "wanted"], judged),
            table(["shown", ""], shown),
        ]
    )


def main() -> None:
    figures = json.loads((ROOT / "tests/soak/soak.json").read_text(encoding="utf-8"))
    replace_section(section(figures), figures, COMMAND)


if __name__ == "__main__":
    main()
