# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/benchmarks.md."""


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def goal(text, wanted, got, limit, unit="", digits=2):
    if got is None:
        return [text, wanted, "not measured", ""]
    return [text, wanted, f"{got:.{digits}f}{unit}", "**met**" if got <= limit else "**not met**"]
