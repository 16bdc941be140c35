# SPDX-License-Identifier: Apache-2.0
"""Tables, figures and sections of docs/benchmarks.md."""

import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parents[2]

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


def replace_section(section):
    """Of docs/benchmarks.md, where `section` begins with its title; before the last one where there is none yet."""
    path = ROOT / "docs/benchmarks.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(with_section(text, section), encoding="utf-8")


def with_section(text, section):
    title = section.partition("\n")[0]
    head, *sections = text.split("\n## ")
    titles = [f"## {one.partition(chr(10))[0]}" for one in sections]
    if title in titles:
        sections[titles.index(title)] = section.removeprefix("## ").rstrip("\n") + "\n"
    else:
        sections.insert(-1, section.removeprefix("## ").rstrip("\n") + "\n")
    return "\n## ".join([head, *sections])
