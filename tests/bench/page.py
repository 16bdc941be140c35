# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md from recorded figures. Every figure belongs to a commit; one that does not belong
to the page's is shown as stale and judged by no goal."""

import counts
import create_container
import disturbances
import goals
import kubelet_page
import lab_page
import podresources
import reading
import sizes
import soak_page
from page_tables import is_stale, own_run, stale_word, table, text_table

# In the order of the page. Each has measure(bench), section(figures) and goal_values(figures).
PARTS = {
    "counts": ("Counts", counts),
    "requests": ("CreateContainer", create_container),
    "podresources": ("With a live PodResources", podresources),
    "disturbances": ("While something is disturbed", disturbances),
    "kubelet": ("The kubelet's lists", kubelet_page),
    "reading": ("Reading and deciding", reading),
    "sizes": ("Sizes", sizes),
}

INTRODUCTION = """# Benchmarks

Written by `./dev bench`; do not edit. {runs}, everything in turns on one machine. This one has few
cores that it shares with other work, and nothing was pinned or quieted, so the times are **soft**:
compare columns of this page with each other, never with another page's. Where the machine is
noisy, the ratios are worth more than the microseconds, and the counts more than the ratios.
"""
JUDGED_OTHERWISE = """Three goals are judged otherwise than they were first set; the sections have the figures of both ways.

* **With a live PodResources**: by a request whose sandbox was reported 10 ms before, as a kubelet does. Without any time between, or without
  the report, the question itself is what is waited for.
* **1 MiB of annotations**: beside the floor with the same annotations. Both take several times as long as for a small request, because the
  runtime packs and sends them.
* **A user who opens verbs nodes**: beside the same loop over a node that is nobody's, so that it is not the loss of a processor that is measured.
"""
FACTS = ("date", "load at the end", "commit", "Railhead", "machine", "kernel", "NRI adaptation and stub",
         "C compiler", "command")


def runs_of(parts):
    """A run stamps its parts with its own command line."""
    return "One run" if len({part["stamp"]["command"] for part in parts.values()}) == 1 else "Several runs"


def newest(parts):
    return max((part["stamp"] for part in parts.values()), key=lambda stamp: stamp["date"])


def facts(parts):
    stamp = newest(parts)
    return text_table(["this run", ""], [[name, stamp[name]] for name in FACTS])


def parts_table(parts, commit):
    rows = []
    for name, (title, _) in PARTS.items():
        if name not in parts:
            rows.append([title, "", "", "", "not measured"])
            continue
        stamp = parts[name]["stamp"]
        rows.append([title, stamp["date"], stamp["load at the end"], f"{stamp['seconds']:.0f} s",
                     stale_word(stamp) if is_stale(stamp, commit) else stamp["commit"]])
    return text_table(["part", "date", "load at the end", "took", "commit"], rows)


def judge(goal, parts, commit):
    """The measured cell and the verdict."""
    part = parts.get(goal.part)
    value = PARTS[goal.part][1].goal_values(part["figures"]).get(goal.key) if part else None
    if value is None:
        return ["not measured", ""]
    if is_stale(part["stamp"], commit):
        return [goal.shown(value), stale_word(part["stamp"])]
    return [goal.shown(value), "**met**" if goal.met(value) else "**not met**"]


def goals_table(parts, commit):
    rows = [[goal.text, goal.wanted, *judge(goal, parts, commit)] for goal in goals.GOALS]
    return table(["goal", "wanted", "measured", ""], rows)


def part_section(name, parts, commit):
    title, module = PARTS[name]
    if name not in parts:
        return [f"## {title}\n", "Not measured.\n"]
    stamp = parts[name]["stamp"]
    stale = [f"{stale_word(stamp)}, measured {stamp['date']}.\n"] if is_stale(stamp, commit) else []
    return [f"## {title}\n", *stale, *module.section(parts[name]["figures"])]


def lab_section(lab, commit):
    """From docs/lab-result.md, which is of the commit that last changed it."""
    return own_run(lab_page.section(lab["result"]), lab, commit, lab_page.COMMAND)


def soak_section(figures, commit):
    """Empty where none was kept."""
    if not figures:
        return []
    return [own_run(soak_page.section(figures), figures, commit, soak_page.COMMAND)]


def render(parts, commit, lab, soak):
    """`parts`: by name, the figures with the stamp of the run that they are of. `commit`: the page's.
    `soak`: the figures of the last one that was kept, or None."""
    page = [INTRODUCTION.format(runs=runs_of(parts)), facts(parts), parts_table(parts, commit),
            "## Goals\n\nCreateContainer is judged by the container with a GPU, where Railhead has the most to do. Ratios are\n"
            "taken within a round, where both met the same noise.\n",
            goals_table(parts, commit), JUDGED_OTHERWISE]
    for name in PARTS:
        page += part_section(name, parts, commit)
    return "\n".join([*page, *soak_section(soak, commit), lab_section(lab, commit)])
