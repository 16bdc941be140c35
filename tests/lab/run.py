#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Real RDMA traffic on a machine of its own: run.py [--list] [--write] [--slow N] [PATTERN…]

Boots the lab's machine, plays the scenarios of tests/lab/scenarios whose name contains a pattern (all
without one), tells what happens, and ends with a summary. Exit code 1 if one failed, 77 if nothing
could be run here. Needs no root. RAILHEAD_BIN names the program, by default the release build.
docs/lab.md describes the machine and the words of a scenario.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import machine  # noqa: E402
import scenario as text  # noqa: E402
from story import Story  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# A machine that says nothing for so long hangs: the longest step has ended by then.
SILENCE_S = 2 * text.PATIENCE_S + 60


def make_tree(folder: pathlib.Path, names: list[str], railhead: pathlib.Path) -> pathlib.Path:
    """What goes on the run's disk: the program, what plays the scenarios, and their names."""
    tree = folder / "disk"
    for part in ("tests/lab", "tests/runtime/lib", "tests/peers", "api", "scripts"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(TREE / part, tree / "tree" / part, ignore=ignored)
    (tree / "bin").mkdir()
    for program in (railhead, railhead.with_name("railhead-bench")):
        if program.exists():
            shutil.copy(program, tree / "bin")
    (tree / "scenarios.json").write_text(json.dumps(names))
    return tree


class Silence:
    """Ends a machine that has said nothing for SILENCE_S."""

    def __init__(self, running: machine.Machine) -> None:
        self._kill = running.kill
        self._timer = threading.Timer(0, lambda: None)
        self.broken()

    def broken(self) -> None:
        self._timer.cancel()
        self._timer = threading.Timer(SILENCE_S, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def over(self) -> None:
        self._timer.cancel()


def boot(lab: pathlib.Path, folder: pathlib.Path, scenarios: list[text.Scenario], slow, railhead, story):
    """One boot for scenarios that want the same kernel and arguments."""
    folder.mkdir()
    names = [scenario.name for scenario in scenarios]
    tree = make_tree(folder, names, railhead)
    machine.make_disk(tree, folder / "run.ext4")
    shutil.rmtree(tree)
    running = machine.Machine(lab, folder, *scenarios[0].boot, slow)
    story.booting(scenarios[0].kernel, names)
    silence = Silence(running)
    try:
        for line in running.lines:
            silence.broken()
            story.hear(line.decode(errors="replace"))
        running.off()
    finally:
        silence.over()
        running.kill()
    if story.lost(names):
        machine.read_disk(folder / "run.ext4", "out", folder)
    (folder / "run.ext4").unlink()


def play(lab: pathlib.Path, folder: pathlib.Path, scenarios, slow, railhead, story) -> None:
    """All of them, a boot for each kernel and set of arguments."""
    ordered = sorted(scenarios, key=lambda one: one.boot)
    for number, (_, group) in enumerate(itertools.groupby(ordered, lambda one: one.boot)):
        boot(lab, folder / f"boot-{number}", list(group), slow, railhead, story)


def run(options: argparse.Namespace) -> int:
    scenarios = text.load(HERE / "scenarios", options.pattern)
    if options.list:
        for scenario in scenarios:
            print(f"{scenario.name:<28} {scenario.title}")
        return 0
    lacking = machine.missing()
    railhead = pathlib.Path(os.environ.get("RAILHEAD_BIN", TREE / "build/release/railhead"))
    if not railhead.exists():
        lacking.append(f"{railhead} (./dev build makes it)")
    if lacking:
        print(f"lab: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    fetched = subprocess.run(
        [TREE / "scripts/fetch-lab"], check=True, stdout=subprocess.PIPE, text=True
    )
    lab = pathlib.Path(fetched.stdout.strip())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="railhead-lab-"))
    began, story = time.monotonic(), Story(folder)
    try:
        play(lab, folder, scenarios, options.slow, railhead, story)
    finally:
        good = story.summary(len(scenarios), time.monotonic() - began)
        if options.write:
            version = subprocess.run([railhead, "--version"], stdout=subprocess.PIPE, text=True)
            (TREE / "docs/lab-result.md").write_text(story.page(version.stdout.strip()))
        if good:
            shutil.rmtree(folder)
        else:
            print(f"lab: kept in {folder}: console, agent and runtime logs, snapshot")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the scenarios")
    parser.add_argument("--write", action="store_true", help="keep the result in docs/lab-result.md")
    parser.add_argument("--slow", type=int, default=1, metavar="N",
                        help="processors that run an Nth of the time")
    parser.add_argument("pattern", nargs="*")
    return run(parser.parse_args())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, text.Malformed) as error:
        sys.exit(f"lab: {error}")
