# SPDX-License-Identifier: Apache-2.0
"""What the lab's machine says, told to a person; and who passed."""

import json
import os
import pathlib
import sys

WIDTH = 100


class Story:
    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._passed: list[str] = []
        self._failed: list[str] = []
        self._rows: dict[str, str] = {}
        self._shown: dict[str, str] = {}  # by the step, as it was last
        self._kernels: list[str] = []
        self._title = ""

    def _say(self, line: str, code: str = "") -> None:
        print(f"\033[{code}m{line}\033[0m" if self._colours and code else line, flush=True)

    def booting(self, kernel: str, names: list[str]) -> None:
        more = f", kernel with {kernel}" if kernel else ""
        self._say(f"booting a machine for {len(names)} scenarios{more}", "2")

    def hear(self, line: str) -> None:
        """One line of the player; anything else is not for us."""
        try:
            said = json.loads(line)
        except ValueError:
            return
        if isinstance(said, dict):
            getattr(self, f"_{said.pop('kind', 'nothing')}", self._nothing)(**said)

    def _nothing(self, **_) -> None:
        pass

    def _boot(self, seconds: float, kernel: str) -> None:
        if kernel not in self._kernels:
            self._kernels.append(kernel)
        self._say(f"  Linux {kernel} after {seconds:.0f} s", "2")

    def _ready(self, seconds: float) -> None:
        self._say(f"  containerd ready after {seconds:.0f} s", "2")

    def _scenario(self, name: str, title: str) -> None:
        self._title = title
        self._say(f"\n{title}", "1")
        self._say(f"  {name}", "2")

    def _step(self, label: str, wrong: str, evidence: str, seconds: float, output: str,
              line: int) -> None:
        mark = "FAIL" if wrong else "ok"
        slow = f" ({seconds:.0f} s)" if seconds >= 5 else ""
        self._say(f"  {mark:<5}{label[:WIDTH]}{slow}", "31;1" if wrong else "")
        if wrong:
            self._say(f"       line {line}: {wrong}", "31")
        elif output:
            self._shown[label] = f"\n`{label}`\n\n```\n{output.rstrip()}\n```"
        for text in output.splitlines():
            self._say(f"       | {text}")
        if evidence:
            self._say(f"       {evidence[:WIDTH]}", "36")

    def _end(self, name: str, good: bool, seconds: float) -> None:
        (self._passed if good else self._failed).append(name)
        result = "passed" if good else "FAILED"
        self._rows[name] = f"| {self._title} | {result} | {seconds:.0f} s |"
        self._say(f"  {result} in {seconds:.0f} s", "32" if good else "31;1")

    def _broken(self, why: str) -> None:
        self._say(f"  the machine is broken:\n{why}", "31;1")

    def lost(self, names: list[str]) -> list[str]:
        """Those that failed or were never played to the end, now counted as failed."""
        missing = [name for name in names if name not in self._passed + self._failed]
        for name in missing:
            self._say(f"  FAILED {name}: not played to its end, see {self._folder}", "31;1")
        self._failed += missing
        return [name for name in names if name in self._failed]

    def page(self, version: str) -> str:
        """The result as a page of docs/."""
        return "\n".join([
            "# The last result of the lab",
            "",
            f"`./dev lab --write`, {version}, Linux {' and '.join(self._kernels)}, containerd 2.4. "
            "[lab.md](lab.md) says what the machine is.",
            "",
            "| scenario | result | time |",
            "|---|---|---|",
            *self._rows.values(),
            *self._shown.values(),
            "",
        ])

    def summary(self, wanted: int, seconds: float) -> bool:
        """Whether all is well; prints the last line."""
        lost = wanted - len(self._passed) - len(self._failed)
        more = f", {lost} not played" if lost else ""
        self._say(f"\nlab: {len(self._passed)} passed, {len(self._failed)} failed{more} "
                  f"in {seconds:.0f} s")
        return not self._failed and not lost
