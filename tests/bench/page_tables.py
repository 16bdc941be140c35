# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of docs/benchmarks.md."""

import statistics

median = statistics.median


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
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
