#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of the lab says in the end."""

import contextlib
import io
import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]

from story import Story  # noqa: E402


def play(story: Story, name: str, good: bool, shown: str = "") -> None:
    step = {"kind": "step", "label": f"host: {name}", "wrong": "" if good else "no", "evidence": "",
            "seconds": 1, "output": shown, "line": 2}
    end = {"kind": "end", "name": name, "good": good, "seconds": 1}
    for said in ({"kind": "scenario", "name": name, "title": f"title of {name}"}, step, end):
        story.hear(json.dumps(said))


class Ending(unittest.TestCase):
    def setUp(self):
        self.out = io.StringIO()
        self.enterContext(contextlib.redirect_stdout(self.out))
        self.story = Story(pathlib.Path("/nowhere"))

    def test_what_passed_is_on_the_page_with_what_it_showed(self):
        play(self.story, "one", good=True, shown="1")
        play(self.story, "two", good=True)
        self.assertTrue(self.story.summary(2, 9))
        self.assertIn("2 passed, 0 failed in 9 s", self.out.getvalue())
        page = self.story.page("railhead 1")
        self.assertIn("| title of two | passed | 1 s |", page)
        self.assertIn("```\n1\n```", page)

    def test_one_that_failed_is_a_failure_of_the_run(self):
        play(self.story, "one", good=True)
        play(self.story, "two", good=False)
        self.assertFalse(self.story.summary(2, 9))
        self.assertIn("| title of two | FAILED | 1 s |", self.story.page("railhead 1"))

    def test_what_was_not_played_is_a_failure(self):
        play(self.story, "one", good=True)
        self.assertFalse(self.story.summary(2, 9))


if __name__ == "__main__":
    unittest.main()
