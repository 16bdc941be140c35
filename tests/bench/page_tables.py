# SPDX-License-Identifier: Apache-2.0
"""Tables, figures and sections of docs/benchmarks.md."""

import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ("src", "api", "cmake", "CMakeLists.txt", "CMakePresets.json")  # what it is built of

median = statistics.median


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def text_table(header, rows):
    """One without numbers: nothing is pushed to the right."""
    return table(header, rows).replace("---:", "---")


def spread(values, digits):
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def percentiles(values):
    return {"count": len(values), "max": round(max(values), 3),
            **{f"p{int(share * 100)}": round(percentile(values, share), 3) for share in (0.5, 0.9, 0.99)}}


def is_stale(stamp, commit):
    """Of another commit, which may be written shorter, or of a tree that was no commit's."""
    return not commit.startswith(stamp["commit"]) or commit.endswith("-dirty")


def stale_word(stamp):
    return f"**stale**: of {stamp['commit']}"


def is_same_program(one, other):
    """Of two commits. False also where this checkout does not have one of them."""
    diff = ["git", "-C", ROOT, "diff", "--quiet", one, other, "--", *PROGRAM]
    return subprocess.run(diff, stderr=subprocess.DEVNULL, check=False).returncode == 0


def own_run(text, stamp, commit, command):
    """The section of a run of its own, marked where that was of another commit than the page's `commit`."""
    if not is_stale(stamp, commit):
        return text
    head, _, rest = text.partition("\n")
    of = f"Of {stamp['commit']}, whose program is the same" if is_same_program(stamp["commit"], commit) else stale_word(stamp)
    return f"{head}\n\n{of}; a run of its own (`{command}`).\n{rest}"


def replace_section(section, stamp, command):
    """Of docs/benchmarks.md: `section` begins with its title and is of a run of its own."""
    path = ROOT / "docs/benchmarks.md"
    path.write_text(with_own_run(path.read_text(encoding="utf-8"), section, stamp, command), encoding="utf-8")


def with_own_run(text, section, stamp, command):
    commit = re.search(r"^\| commit \| (\S+) \|$", text, re.M)
    return with_section(text, own_run(section, stamp, commit[1], command))


def with_section(text, section):
    """In place of the one of its title; before the last one where there is none yet."""
    title = section.partition("\n")[0]
    head, *sections = text.split("\n## ")
    titles = [f"## {one.partition(chr(10))[0]}" for one in sections]
    if title in titles:
        sections[titles.index(title)] = section.removeprefix("## ").rstrip("\n") + "\n"
    else:
        sections.insert(-1, section.removeprefix("## ").rstrip("\n") + "\n")
    return "\n## ".join([head, *sections])
