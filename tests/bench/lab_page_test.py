#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/benchmarks.md says of a recorded result of the lab."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from lab_page import goal, section  # noqa: E402

RESULT = """
```
bandwidth of 65536 bytes, MiB/s    railhead    perftest   ratio
round 1                        34.88       28.31    1.23
round 2                        26.60       28.00    0.95
round 3                        20.83       28.11    0.74
middle                                            0.95, wanted >= 0.95: met
data checked
```

```
bandwidth of 1048576 bytes, MiB/s    railhead    perftest   ratio
round 1                        31.71       33.73    0.94
round 2                        36.78  (perftest moved the bytes and has no figure)
round 3                        32.26       35.06    0.92
middle                                            0.93, wanted >= 0.95: not met
data checked
```

```
latency of 2 bytes, us (p50)    railhead    perftest   ratio
round 1                        358.4       340.7    1.05
round 2                        420.5       383.9    1.10
Correlation coefficient r^2: 0.771492 < 0.9
round 3                        345.9       384.3    0.90
middle                                            1.05, wanted <= 1.05: met
data checked
```

```
latency of 64 bytes, us (p50)    railhead    perftest   ratio
round 1                        358.4  (perftest moved the bytes and has no figure)
data checked
```
"""


def rows() -> dict[str, list[str]]:
    """The cells of each row, by the first."""
    lines = [line for line in section(RESULT).splitlines() if line.startswith("| ")]
    return {line.split(" | ")[0]: line.strip("| ").split(" | ")[1:] for line in lines[1:]}


class Page(unittest.TestCase):
    def test_each_middle_ratio_has_its_goal_and_whether_it_was_met(self):
        self.assertEqual(["0.95", "0.74 to 1.23", ">= 0.95", "**met**"],
                         rows()["| bandwidth of 65536 bytes, MiB/s"][2:])
        self.assertEqual(["0.93", "0.92 to 0.94", ">= 0.95", "**not met**"],
                         rows()["| bandwidth of 1048576 bytes, MiB/s"][2:])
        self.assertEqual(["1.05", "0.90 to 1.10", "<= 1.05", "**met**"],
                         rows()["| latency of 2 bytes, us, p50"][2:])

    def test_what_perftest_prints_between_rounds_drops_none(self):
        self.assertEqual(["358.4", "383.9"], rows()["| latency of 2 bytes, us, p50"][:2])

    def test_rounds_without_a_figure_are_not_judged(self):
        self.assertEqual("not judged", rows()["| latency of 64 bytes, us, p50"][-1])

    def test_a_middle_is_judged_as_it_is_printed(self):
        self.assertEqual((">= 0.95", True), goal("bandwidth", 0.949))
        self.assertEqual((">= 0.95", False), goal("bandwidth", 0.93))
        self.assertEqual(("<= 1.05", True), goal("latency", 1.051))
        self.assertEqual(("<= 1.05", False), goal("latency", 1.06))


if __name__ == "__main__":
    unittest.main()
