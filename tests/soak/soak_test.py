#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a soak says of a recorded run, without a run."""

import dataclasses
import pathlib
import re
import sys
import unittest
import xml.dom.minidom

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench"), str(HERE.parent / "runtime"), str(HERE.parent)]

import expected  # noqa: E402
import graph  # noqa: E402
import judge  # noqa: E402
import soak_page  # noqa: E402
from ledger import Ledger  # noqa: E402


@dataclasses.dataclass
class Sample:
    t: float
    rss_kib: int = 8 << 10
    descriptors: int = 60
    threads: int = 8


FACTS = {
    "minutes": 20.0,
    "runtime": "2.4",
    "seed": 1,
    "date": "today",
    "commit": "0000000",
    "machine": "2 cores",
    "cpu_seconds": 12.5,
    "metrics": {},
}
COUNTS = {what: 5 for what in judge.MET} | {"kubelet busy": 1}
MARKS = [(100.0, "containerd", 104.0), (200.0, "kubelet", 220.0), (300.0, "ended", 300.0)]


def run(**more: object) -> dict:
    samples = [Sample(t, **{k: v(t) for k, v in more.items()}) for t in range(1, 1200)]
    found = judge.figures(samples, [(1.0, 0.02), (2.0, 0.5)], COUNTS, MARKS)
    return {**found, **FACTS}


class Verdict(unittest.TestCase):
    def test_a_run_in_which_nothing_grows_passes(self) -> None:
        self.assertEqual([], judge.faults(run()))

    def test_what_grows_less_than_the_slack_is_flat(self) -> None:
        self.assertEqual([], judge.faults(run(rss_kib=lambda t: (8 << 10) + t)))

    def test_memory_that_grows_all_the_time_is_named(self) -> None:
        faults = judge.faults(run(rss_kib=lambda t: (8 << 10) + 4 * t))
        self.assertEqual(["RSS, MiB not flat: 9.75 to 12.1, at most 11.24"], faults)

    def test_descriptors_and_threads_that_grow_are_named(self) -> None:
        faults = judge.faults(run(descriptors=lambda t: 60 + t // 40, threads=lambda t: t // 100))
        self.assertEqual(["descriptors", "threads"], [fault.split()[0] for fault in faults])

    def test_a_peak_that_goes_again_is_no_growth(self) -> None:
        self.assertEqual([], judge.faults(run(rss_kib=lambda t: 64 << 10 if t == 900 else 8 << 10)))

    def test_everything_wrong_is_counted(self) -> None:
        found = run()
        found["bad"] = {"wrong": 2, "failed": 1, "dropped": 0, "ended": 3}
        self.assertEqual(["2 wrong", "1 failed by us", "3 ends of the agent"], judge.faults(found))

    def test_a_run_that_did_not_meet_everything_proves_too_little(self) -> None:
        found = run()
        found["counts"] = {what: 1 for what in judge.MET if what != "NIC gone"}
        self.assertEqual(["not met: NIC gone"], judge.faults(found))

    def test_marks_that_are_near_are_one(self) -> None:
        marks = [(1.0, "nic", 1.0), (1.5, "log", 9.0), (2.0, "nic", 2.0), (20.0, "nic", 20.0)]
        wanted = [[1.0, "nic", 2.0], [1.5, "log", 9.0], [20.0, "nic", 20.0]]
        self.assertEqual(wanted, judge.merged(marks, 5.0))

    def test_a_run_too_short_for_quarters_is_not_flat(self) -> None:
        self.assertFalse(judge.flatness([1, 2, 3], 9.0)["flat"])

    def test_the_summary_has_every_verdict(self) -> None:
        text = judge.summary(run(rss_kib=lambda t: (8 << 10) + 4 * t))
        self.assertIn("20 min on containerd 2.4: 5 containers", text)
        self.assertIn("0 wrong, 0 failed by us", text)
        self.assertIn("NOT FLAT", text)
        self.assertIn("p50 500 ms", text)

    def test_a_quantile_is_one_of_the_values(self) -> None:
        self.assertEqual(99, judge.quantile([float(n) for n in range(100)], 0.99))
        self.assertEqual(0.0, judge.quantile([], 0.5))

    def test_metrics_are_those_that_tell_how_it_went(self) -> None:
        text = "# HELP a\nrailhead_node_gpus 8\nrailhead_nri_requests_total 7\n"
        self.assertEqual({"railhead_nri_requests_total": 7.0}, judge.metrics(text))


class Trouble(unittest.TestCase):
    def test_it_lasts_until_it_ends_and_as_long_after_as_is_said(self) -> None:
        ledger = Ledger()
        with ledger.trouble("kubelet"):
            now = ledger.now()
            self.assertTrue(ledger.troubled("kubelet", now, now + 1))
        end = ledger.now()
        self.assertTrue(ledger.troubled("kubelet", end + 4, end + 5, after_s=10))
        self.assertFalse(ledger.troubled("kubelet", end + 4, end + 5))
        self.assertFalse(ledger.troubled("containerd", 0, end))
        self.assertEqual(["kubelet"], [kind for _, kind, _ in ledger.marks()])


class Shown(unittest.TestCase):
    def test_a_slot_whose_nic_has_gone_is_refused_rightly(self) -> None:
        class OneNic:
            def members(self, _state, _pool):
                return {"0000:29:00.1": ["mlx5_1"]}

            def verbs(self, _nic):
                return "/dev/infiniband/uverbs1"

        numbers = {"/dev/infiniband/uverbs1": "231:193", "/dev/infiniband/rdma_cm": "10:58"}
        order = expected.Order("storage slot", pool=expected.STORAGE_POOL, slot="0000:29:00.1")
        for status, kind in (("up", expected.GIVEN), ("gone", expected.REFUSED)):
            when = expected.Circumstances([(("mlx5_1", status, 1),)], False, False)
            (only,) = expected.allowed(order, when, OneNic(), lambda _state: numbers)
            self.assertEqual(kind, only.kind)

    def test_the_graph_is_a_picture_with_few_points_and_large_text(self) -> None:
        text = graph.svg(run())
        root = xml.dom.minidom.parseString(text).documentElement
        self.assertEqual("830", root.getAttribute("width"))
        sizes = [int(t.getAttribute("font-size")) for t in root.getElementsByTagName("text")]
        self.assertGreaterEqual(min(sizes), 12)
        for line in root.getElementsByTagName("polyline"):
            self.assertLessEqual(len(line.getAttribute("points").split()), judge.POINTS)

    def test_every_colour_of_the_graph_has_one_for_a_dark_ground(self) -> None:
        picture = re.sub("<style>.*</style>", "", graph.svg(run()), flags=re.DOTALL)
        self.assertEqual(set(graph.DARK), set(re.findall("#[0-9a-f]{6}", picture)))

    def test_the_axis_has_at_most_five_lines_and_holds_the_highest(self) -> None:
        for highest in (0.4, 1, 7.9, 8, 65, 99, 100, 101, 1023, 5e6):
            top, step = graph.nice(highest)
            self.assertGreaterEqual(top, highest)
            self.assertLessEqual(top / step, 5)

    def test_the_section_has_what_was_judged(self) -> None:
        text = soak_page.section(run())
        self.assertTrue(text.startswith("## Soak\n"))
        self.assertIn("(pictures/soak.svg)", text)
        self.assertIn("| RSS, MiB: median of the last quarter; of the second: 8 | 8 | ≤ 9.4 |", text)
        self.assertIn("| changes of NICs | 10 |", text)


if __name__ == "__main__":
    unittest.main()
