# SPDX-License-Identifier: Apache-2.0
"""The text of a scenario, read into steps. docs/lab.md describes the words."""

import dataclasses
import pathlib
import re

# Words that are followed by a text alone; world.py has what each word does.
PLAIN = ("log", "page", "agent")
# Nothing in here is known by its time: an emulated machine beside other work may be ten times slower. A step
# waits for what it needs, and this is when somebody should look why that does not come.
PATIENCE_S = 600


class Malformed(Exception):
    """A scenario that cannot be read; the text names file, line and what is there."""


@dataclasses.dataclass
class Expectation:
    """One indented line: what the step above it has to show."""

    kind: str  # exit, has, lacks, matches
    want: str
    line: int


@dataclasses.dataclass
class Step:
    word: str
    subject: str  # a pod's name, or nothing
    text: str  # a command, flags, or key=value words
    line: int
    background: bool = False
    repeated: bool = False  # until it is as expected
    shown: bool = False  # the whole output belongs to the result
    expectations: list[Expectation] = dataclasses.field(default_factory=list)

    def label(self) -> str:
        """The step as it is told in the story."""
        head = " ".join(part for part in (self.word, self.subject) if part)
        colon = ":" if self.word in ("host", "in") else ""
        return f"{head}{colon} {self.text}".strip()


@dataclasses.dataclass
class Scenario:
    name: str
    title: str = ""
    kernel: str = ""  # more arguments of the kernel
    linux: str = ""  # "newer": the newer of the lab's two kernels
    steps: list[Step] = dataclasses.field(default_factory=list)

    @property
    def boot(self) -> tuple[str, str]:
        """Scenarios with the same share a boot."""
        return self.linux, self.kernel


_HEADER = re.compile(r"(title|kernel): (.+)|(linux): (newer)")
_COMMAND = re.compile(r"(host|in (?P<pod>[a-z0-9-]+))(?P<background> &)?: (?P<text>.+)")
_EXPECTATION = re.compile(r"(has|lacks|matches|exit) (.+)")
_UNTIL = "until it is so"


def _step(line: str, number: int) -> Step | None:
    command = _COMMAND.fullmatch(line)
    if command:
        word = "in" if command["pod"] else "host"
        background = command["background"] is not None
        return Step(word, command["pod"] or "", command["text"], number, background)
    word, _, rest = line.partition(" ")
    if word in PLAIN:
        return Step(word, "", rest, number)
    if word == "pod" and rest:
        subject, _, text = rest.partition(" ")
        return Step(word, subject, text, number)
    if word == "stop" and rest:
        return Step(word, rest, "", number)
    return None


def _lines(text: str):
    """(number, line) without comments and empty lines; a backslash joins a line with the next."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first if joined else number
        joined += line.strip() if joined else line.rstrip()
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        if joined.strip() and not joined.lstrip().startswith("#"):
            yield first, joined
        joined = ""


def _add_detail(step: Step, text: str, number: int) -> bool:
    expectation = _EXPECTATION.fullmatch(text)
    if text == _UNTIL:
        step.repeated = True
    elif text == "show":
        step.shown = True
    elif expectation:
        step.expectations.append(Expectation(expectation[1], expectation[2], number))
    return bool(expectation) or text in (_UNTIL, "show")


def parse(path: pathlib.Path) -> Scenario:
    scenario = Scenario(path.stem)
    for number, line in _lines(path.read_text(encoding="utf-8")):
        header, step = _HEADER.fullmatch(line), None
        if header and not scenario.steps:
            setattr(scenario, header[1] or header[3], header[2] or header[4])
            continue
        if line.startswith(" "):
            good = bool(scenario.steps) and _add_detail(scenario.steps[-1], line.strip(), number)
        else:
            step = _step(line, number)
            good = step is not None
        if not good:
            raise Malformed(f"{path}:{number}: not a word of a scenario: {line.strip()}")
        if step:
            scenario.steps.append(step)
    if not scenario.title or not scenario.steps:
        raise Malformed(f"{path}: needs a title and at least one step")
    return scenario


def load(folder: pathlib.Path, patterns: list[str]) -> list[Scenario]:
    """The scenarios whose name contains one of the patterns; all without patterns. A pattern that is in
    no name is an error."""
    files = sorted(folder.glob("*.txt"))
    for pattern in patterns:
        if not any(pattern in f.stem for f in files):
            raise Malformed(f"no scenario has {pattern!r} in its name (./dev lab --list)")
    wanted = [f for f in files if not patterns or any(p in f.stem for p in patterns)]
    return [parse(file) for file in wanted]


def unmet(step: Step, code: int, output: str) -> str:
    """The first expectation that does not hold, in words; empty: all hold."""
    wanted = [e for e in step.expectations if e.kind == "exit"] or [Expectation("exit", "0", 0)]
    for expectation in wanted + [e for e in step.expectations if e.kind != "exit"]:
        want = expectation.want
        if expectation.kind == "exit":
            good = code != 0 if want == "not 0" else str(code) == want
            if not good:
                return f"exit code {code}, expected {want}"
        elif expectation.kind == "has" and want not in output:
            return f"does not have: {want}"
        elif expectation.kind == "lacks" and want in output:
            return f"has: {want}"
        elif expectation.kind == "matches" and not re.search(want, output, re.MULTILINE):
            return f"does not match: {want}"
    return ""


def evidence(step: Step, output: str) -> str:
    """The line of the output that an expectation found; else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for expectation in step.expectations:
        for line in lines:
            if expectation.kind == "has" and expectation.want in line:
                return line
            if expectation.kind == "matches" and re.search(expectation.want, line):
                return line
    return lines[-1] if lines else ""
