#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The section of docs/benchmarks.md that stands beside perftest, from the rounds in docs/lab-result.md.

As a program, after `./dev lab --write`: replaces that section.
"""

import re
import statistics
import subprocess
import sys

from page_tables import ROOT, replace_section, table

sys.path[:0] = [str(ROOT / "tests/lab/guest")]

from compare import goal  # noqa: E402

TITLE = "## Beside perftest"
COMMAND = "./dev lab --write"
WORDS = """
`./dev lab --write` runs `railhead bench` and perftest (`ib_write_bw`, `ib_write_lat`) in turns in one container without privileges,
and keeps every round in [lab-result.md](lab-result.md). Wanted: 95 % of perftest's bandwidth at 64 KiB and 1 MiB, and a median
latency of at most 105 % of perftest's. The last result:
"""
MEANING = """\
It is soft-RoCE on an emulated machine with two processors. That proves that both take the same path (verbs, a reliable connection,
the same depth), that Railhead's loop costs about as much as perftest's, and that the data arrived as sent. It says nothing of line
rate, of a NIC, or of the speed of any real machine; and single rounds of a latency there differ by more than a factor of two, in both
programs, since the emulator's threads wait for each other.
"""
_HEAD = re.compile(r"(bandwidth|latency) of (\d+) bytes, (\S+)")


def _blocks(result):
    """Each comparison with its rounds. What perftest itself prints between them belongs to none."""
    blocks = []
    for line in result.splitlines():
        if head := _HEAD.match(line):
            blocks.append((*head.groups(), []))
        elif line.startswith("round ") and blocks:
            blocks[-1][3].append(line)
    return blocks


def _row(measure, size, unit, rounds):
    what = f"{measure} of {size} bytes, {unit}{', p50' if measure == 'latency' else ''}"
    rows = [line.split()[2:] for line in rounds if "no figure" not in line]
    if not rows:
        return [what, "", "", "", "", goal(measure, 1)[0], "not judged"]
    ours, theirs, ratios = zip(*([float(cell) for cell in row] for row in rows))
    ratio = statistics.median(ratios)
    wanted, met = goal(measure, ratio)
    return [
        what,
        *(f"{statistics.median(figures):.4g}" for figures in (ours, theirs)),
        f"{ratio:.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        wanted,
        "**met**" if met else "**not met**",
    ]


def section(result):
    """From the text of docs/lab-result.md."""
    rows = [_row(*block) for block in _blocks(result)]
    head = ["median of the rounds", "railhead", "perftest", "ratio", "ratios of the rounds", "wanted", ""]
    return "\n".join([TITLE, WORDS, table(head, rows), MEANING])


def main():
    result = (ROOT / "docs/lab-result.md").read_text(encoding="utf-8")
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=9", "HEAD"], stdout=subprocess.PIPE, text=True, check=True)
    replace_section(section(result), {"commit": head.stdout.strip()}, COMMAND)


if __name__ == "__main__":
    main()
