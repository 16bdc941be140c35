#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The words of a scenario: what is read, what is refused, when a step is as expected."""

import pathlib
import tempfile
import unittest

import scenario


def parsed(text: str) -> scenario.Scenario:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "one.txt"
        file.write_text(text)
        return scenario.parse(file)


def step(*details: str) -> scenario.Step:
    lines = "".join(f"  {detail}\n" for detail in details)
    return parsed(f"title: t\nhost: true\n{lines}").steps[0]


class Reading(unittest.TestCase):
    def test_a_scenario_has_a_title_and_steps_in_their_order(self):
        read = parsed("# why\ntitle: t\nkernel: a=1\n\nagent --x\npod a gpus=0\nin a &: ls\n")
        self.assertEqual(("t", ("", "a=1")), (read.title, read.boot))
        self.assertEqual(["agent", "pod", "in"], [one.word for one in read.steps])
        self.assertEqual(("a", True, 7), (read.steps[2].subject, read.steps[2].background, 7))

    def test_the_newer_kernel_is_another_boot(self):
        self.assertEqual(("newer", ""), parsed("title: t\nlinux: newer\nhost: ls\n").boot)
        with self.assertRaisesRegex(scenario.Malformed, r"one\.txt:2: "):
            parsed("title: t\nlinux: 7.3\nhost: ls\n")

    def test_a_backslash_joins_lines(self):
        self.assertEqual("a b", parsed("title: t\nhost: a \\\n   b\n").steps[0].text)

    def test_what_is_no_word_is_refused_with_its_line(self):
        for bad in ("guest: ls", "pod", "in a ls", "  has before any step", "hots: ls"):
            with self.assertRaisesRegex(scenario.Malformed, r"one\.txt:2: "):
                parsed(f"title: t\n{bad}\nhost: ls\n")

    def test_scenarios_are_chosen_by_a_part_of_their_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("01-memlock", "02-nfs"):
                (pathlib.Path(folder) / f"{name}.txt").write_text("title: t\nhost: ls\n")
            chosen = lambda *words: [one.name for one in scenario.load(pathlib.Path(folder), list(words))]
            self.assertEqual(["01-memlock", "02-nfs"], chosen())
            self.assertEqual(["02-nfs"], chosen("nfs"))
            with self.assertRaisesRegex(scenario.Malformed, "no scenario has 'netns' in its name"):
                chosen("nfs", "netns")

    def test_a_step_may_be_repeated_and_show_its_output(self):
        self.assertEqual((False, False), (step().repeated, step().shown))
        longer = step("until it is so", "show")
        self.assertEqual((True, True), (longer.repeated, longer.shown))

    def test_no_word_names_a_time(self):
        for bad in ("within 5 s", "limit 200 s"):
            with self.assertRaisesRegex(scenario.Malformed, bad):
                step(bad)

    def test_an_expectation_that_nobody_knows_is_refused(self):
        with self.assertRaisesRegex(scenario.Malformed, "contains x"):
            step("contains x")

    def test_without_a_title_or_a_step_it_is_no_scenario(self):
        for bad in ("host: ls\n", "title: t\n", ""):
            with self.assertRaises(scenario.Malformed):
                parsed(bad)


class Judging(unittest.TestCase):
    def test_without_a_word_on_it_the_exit_code_has_to_be_0(self):
        self.assertEqual("", scenario.unmet(step(), 0, ""))
        self.assertIn("exit code 1", scenario.unmet(step("has x"), 1, "x"))

    def test_exit_codes_are_exact_or_not_0(self):
        self.assertEqual("", scenario.unmet(step("exit not 0"), 3, ""))
        self.assertIn("expected not 0", scenario.unmet(step("exit not 0"), 0, ""))
        self.assertIn("expected 2", scenario.unmet(step("exit 2"), 3, ""))

    def test_every_expectation_has_to_hold(self):
        one = step("has a", "lacks b", r"matches ^c\d$")
        self.assertEqual("", scenario.unmet(one, 0, "a\nc1\n"))
        self.assertIn("does not have: a", scenario.unmet(one, 0, "c1"))
        self.assertIn("has: b", scenario.unmet(one, 0, "ab\nc1"))
        self.assertIn("does not match", scenario.unmet(one, 0, "a\nc12"))


if __name__ == "__main__":
    unittest.main()
