#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The whole of docs/benchmarks.md from the recorded figures of one small run (recorded.json)."""

import copy
import json
import pathlib
import re
import sys
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import counts  # noqa: E402
import goals  # noqa: E402
import kept_code  # noqa: E402
import page  # noqa: E402
import page_tables  # noqa: E402
import sizes  # noqa: E402

COMMIT = "0123abcde"
LAB = {"commit": COMMIT, "result": "latency of 2 bytes, us (p50)\nround 1   400   380   1.05\n"}


def recorded(commit=COMMIT):
    parts = json.loads((HERE / "recorded.json").read_text(encoding="utf-8"))
    for part in parts.values():
        part["stamp"]["commit"] = commit
    return parts


def goal_rows(text):
    """Measured and verdict, by the goal's text."""
    table = text.partition("| goal |")[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {row[0]: [cell.strip(" |") for cell in row[2:]] for row in cells}


class Page(unittest.TestCase):
    def test_every_part_and_every_goal_is_on_the_page(self):
        text = page.render(recorded(), COMMIT, LAB, None)
        for title, _ in page.PARTS.values():
            self.assertIn(f"\n## {title}\n", text)
        self.assertIn("\n## Beside perftest\n", text)
        self.assertNotIn("stale", text)
        self.assertNotIn("not measured", text)
        self.assertEqual({goal.text for goal in goals.GOALS}, set(goal_rows(text)))

    def test_the_machine_the_kernel_the_load_and_the_command_are_named(self):
        facts = page.render(recorded(), COMMIT, LAB, None).partition("| part |")[0]
        stamp = recorded()["counts"]["stamp"]
        for name in page.FACTS:
            self.assertIn(f"| {name} | ", facts)
        self.assertIn(stamp["kernel"], facts)

    def test_figures_of_another_commit_are_stale_and_not_judged(self):
        parts = recorded()
        parts["kubelet"]["stamp"]["commit"] = "fedcba987"
        text = page.render(parts, COMMIT, LAB, None)
        rows = goal_rows(text)
        for goal in goals.GOALS:
            if goal.part == "kubelet":
                self.assertEqual("**stale**: of fedcba987", rows[goal.text][1])
            else:
                self.assertNotIn("stale", rows[goal.text][1])
        section = text.partition("\n## The kubelet's lists\n")[2].partition("\n## ")[0]
        self.assertTrue(section.strip().startswith("**stale**: of fedcba987, measured "), section[:80])

    def test_figures_of_a_changed_tree_are_stale(self):
        text = page.render(recorded(f"{COMMIT}-dirty"), f"{COMMIT}-dirty", LAB, None)
        for _, verdict in goal_rows(text).values():
            self.assertEqual(f"**stale**: of {COMMIT}-dirty", verdict)

    def test_the_labs_result_of_another_commit_is_stale(self):
        text = page.render(recorded(), COMMIT, {**LAB, "commit": "1111111"}, None)
        self.assertIn("## Beside perftest\n\n**stale**: of 1111111", text)

    def test_a_soak_that_was_kept_stands_before_the_lab(self):
        figures = {"date": "2026-01-01", "commit": "1111111", "machine": "one", "seed": 1, "minutes": 120, "runtime": "2.4",
                   "counts": {}, "create_ms": {"p50": 1, "p99": 2}, "cpu_seconds": 1, "bad": dict.fromkeys(page.soak_page.BAD, 0),
                   "flat": {}, "series": [0]}
        text = page.render(recorded(), COMMIT, LAB, figures)
        section = text.partition("\n## Soak\n")[2].partition("\n## Beside perftest\n")[0]
        self.assertIn("| commit | 1111111 |", section)
        self.assertTrue(section.strip().startswith("**stale**: of 1111111; a run of its own"), section[:80])
        of_now = page.render(recorded(), COMMIT, LAB, {**figures, "commit": COMMIT[:7]})
        self.assertNotIn("stale", of_now.partition("\n## Soak\n")[2].partition("\n## Beside perftest\n")[0])

    def test_a_run_of_another_commit_than_the_pages_says_so(self):
        text = page.render(recorded(), COMMIT, LAB, None)
        section = f"{page.soak_page.TITLE}\n\nA soak.\n"
        marked = page_tables.with_own_run(text, section, {"commit": "1111111"}, "./dev soak")
        self.assertIn("\n## Soak\n\n**stale**: of 1111111; a run of its own (`./dev soak`).\n\nA soak.\n", marked)
        self.assertNotIn("stale", page_tables.with_own_run(text, section, {"commit": COMMIT}, "./dev soak"))

    def test_a_run_of_the_same_program_is_not_stale(self):
        self.assertTrue(page_tables.is_same_program("HEAD", "HEAD"))
        self.assertFalse(page_tables.is_same_program("HEAD", "HEAD-dirty"))
        with unittest.mock.patch.object(page_tables, "is_same_program", return_value=True):
            text = page_tables.own_run("## Soak\n\nA soak.\n", {"commit": "1111111"}, COMMIT, "./dev soak")
        self.assertEqual("## Soak\n\nOf 1111111, whose program is the same; a run of its own (`./dev soak`).\n\nA soak.\n", text)

    def test_parts_of_several_commands_are_no_one_run(self):
        parts = copy.deepcopy(recorded())
        for part in parts.values():
            part["stamp"]["command"] = "`./dev bench`"
        self.assertIn(" One run, everything", page.render(parts, COMMIT, LAB, None))
        parts["counts"]["stamp"]["command"] = "`./dev bench --only counts`"
        self.assertIn(" Several runs, everything", page.render(parts, COMMIT, LAB, None))

    def test_a_part_that_was_not_measured_is_said_to_be_missing(self):
        parts = recorded()
        del parts["reading"]
        text = page.render(parts, COMMIT, LAB, None)
        self.assertIn("## Reading and deciding\n\nNot measured.\n", text)
        self.assertEqual(["not measured", ""], (goal_rows(text)["cold read of the directory tree with 512 VFs"] + [""])[:2])

    def test_an_agent_that_never_came_back_is_said_so(self):
        parts = copy.deepcopy(recorded())
        parts["disturbances"]["figures"]["unread_log"].update(recovered=False)
        self.assertIn(", and all later |", page.render(parts, COMMIT, LAB, None))


class KeptCode(unittest.TestCase):
    SECTIONS = "  [12] .text.container_path PROGBITS        0000000000001000 001000 000800 00  AX  0   0 16\n"

    def test_what_is_given_back_is_not_what_is_kept(self):
        own = kept_code.mapped("5000-6000 r--p 0 00:01 7   /p\n6000-9000 r-xp 0 00:01 7   /p\n9000-a000 rw-p 0 00:00 0\n", "/p")
        self.assertEqual(range(0x5000, 0x9000), own)
        section = kept_code.kept_section(self.SECTIONS)
        self.assertEqual(range(0x1000, 0x1800), section)
        self.assertEqual("", kept_code.problem(section, own, [range(0x5000, 0x6000), range(0x7000, 0x9000)]))
        self.assertIn("gives back what runs", kept_code.problem(section, own, [range(0x6000, 0x7000)]))
        self.assertIn("nothing of its code", kept_code.problem(section, own, [range(0x20000, 0x21000)]))
        self.assertIn("no section", kept_code.problem(kept_code.kept_section(""), own, [range(0x5000, 0x6000)]))


class Goals(unittest.TestCase):
    def test_only_a_goal_of_at_most_is_met_at_its_limit(self):
        at_most, below = goals.Goal("a", "counts", "", 5.5), goals.Goal("b", "counts", "", 5.5, below=True)
        self.assertEqual(("≤ 5.5", True, False), (at_most.wanted, at_most.met(5.5), at_most.met(5.51)))
        self.assertEqual(("< 5.5", False, True), (below.wanted, below.met(5.5), below.met(5.49)))

    def test_what_ci_keeps_of_a_count_is_less_than_the_goal(self):
        kept = {goal.key: goal for goal in goals.GOALS if goal.kept is not None}
        self.assertEqual({"calls", "calls_podresources", "calls_ahead"}, set(kept))
        self.assertTrue(all(goal.kept < goal.limit for goal in kept.values()))

    def test_each_goal_has_a_part_that_measures_it(self):
        for name, (_, module) in page.PARTS.items():
            values = module.goal_values(recorded()[name]["figures"])
            for goal in goals.goals_of(name):
                self.assertIsNotNone(values.get(goal.key), goal.key)


class Chart(unittest.TestCase):
    """Request and limit of the agent's memory, as values.yaml has them and says of them."""

    def test_it_asks_for_twice_what_it_says_was_measured(self):
        text = (HERE.parents[1] / "deploy/charts/values.yaml").read_text(encoding="utf-8")
        comment = text.partition("# -- At least twice what was measured")[2].partition("\nresources:")[0]
        figures = [float(figure) for figure in re.findall(r"([0-9.]+) MiB", comment)]
        self.assertEqual(3, len(figures), comment)
        *at_rest, highest = figures
        of = {goal.key: goal.limit for goal in goals.goals_of("sizes")}
        self.assertEqual({"request": 0.5, "limit": 0.5}, {key: of[key] for key in ("request", "limit")})
        chart = sizes.of_chart()
        self.assertLessEqual(max(at_rest), of["request"] * chart["request_mib"])
        self.assertLessEqual(highest, of["limit"] * chart["limit_mib"])

    def test_more_than_half_of_the_request_is_a_goal_that_is_not_met(self):
        parts = recorded()
        figures = parts["sizes"]["figures"]
        goal = next(goal for goal in goals.GOALS if goal.key == "request")
        for mib, verdict in ((16, "**met**"), (15.9, "**not met**")):
            figures["chart"]["request_mib"] = 2 * sizes.at_rest(figures) * mib / 16
            self.assertEqual(verdict, goal_rows(page.render(parts, COMMIT, LAB, None))[goal.text][1])


class Counts(unittest.TestCase):
    def test_a_call_counts_once_when_others_come_between_its_halves(self):
        calls, threads = counts.calls_in([
            "101   futex(0x7f, FUTEX_WAIT, 2, NULL <unfinished ...>",
            '102   write(2, ""..., 200) = 200',
            "101   <... futex resumed>) = 0",
            "101   clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_SETTLS}, 88) = 103",
            "101   clone(child_stack=NULL, flags=SIGCHLD) = 104",
            "103   --- SIGCHLD {si_signo=SIGCHLD} ---",
            "103   +++ exited with 0 +++",
        ])
        self.assertEqual({"futex": 1, "write": 1, "clone3": 1, "clone": 1}, dict(calls))
        self.assertEqual(1, threads)


class Sections(unittest.TestCase):
    PAGE = "# Page\n\n## One\nold\n\n## Last\nend\n"

    def test_a_section_is_replaced_in_its_place(self):
        self.assertEqual(self.PAGE.replace("old", "new"), page_tables.with_section(self.PAGE, "## One\nnew\n"))

    def test_a_section_that_is_not_there_comes_before_the_last(self):
        self.assertEqual(self.PAGE.replace("## Last", "## Two\nnew\n\n## Last"),
                         page_tables.with_section(self.PAGE, "## Two\nnew\n"))


if __name__ == "__main__":
    unittest.main()
