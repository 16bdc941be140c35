#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/checks.md from the doctor's own list, or says whether it is up to date."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

from catalogue import BY_OTHERS, CATALOGUE, MILDER
from compared import COMPARED
from elsewhere import API, ELSEWHERE, LINT, every_id

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/checks.md"
TESTS = ("tests/unit/checks", "tests/unit/bench")
ERRORS = [f"E{number:02}" for number in range(1, 27)]  # in what the guides say
HEAD = """# Checks

What `railhead doctor` checks on a node, and with `--pod` or `--pid` in a container (pod.*), in the order in which it is done. Written from the program's own list (`railhead doctor --list -o json`)
by `./dev bless`; change a check's row in `src/checks/`. How to use it: [doctor.md](doctor.md).

The class of a remedy says what it costs: R0 nothing on the node, R1 safe on a running node, R2 a service or pods restart, R3 an object of the
cluster or its configuration changes, R4 firmware, kernel command line or BIOS, R5 hardware. An effect is written as a chain, cause first.
"""
COVERS = """
## What the guides check, and who answers it

Five published guides (the project's seeds) check, verify or prescribe 133 things: D01 to D35, L01 to L13, N01 to N17, C01 to C26, F01 to F42.
E01 to E26 are errors in them, which our advice does not repeat (`tests/unit/checks/advice_test.cpp`) and `railhead lint` finds
(`tests/lint_manifests/`). Checks above and rules of lint name the ids that they answer. Of the others:

| id | who answers it, or why nobody can |
|---|---|
"""


BESIDE = """
## Beside other health checks

The 25 most instructive failures that were published, and who sees each on a node or in a pod. Of the others it is what their sources did when
they were read (`tests/checks/compared.py` names the commits). A line of the log or a module that is loaded is a part of an answer only.

| failure | published | railhead | shown by | gpud | azurehpc-health-checks | gpu-operator validator | NVSentinel |
|---|---|---|---|---|---|---|---|
"""


CATALOGUED = """
## The catalogue

Each row of the catalogue that the checks were built by, and who answers it. Where the program says less than was asked for, the reason
stands beside it.

| row | checks | milder than asked for |
|---|---|---|
"""


def answerers(name, checks):
    return [one["id"] for one in checks if name in one["covers"]]


def catalogued(checks):
    rows = ((name, ", ".join(answerers(name, checks)) or BY_OTHERS[name], MILDER.get(name, "")) for name in CATALOGUE)
    return CATALOGUED + "".join(f"| {name} | {cell(who)} | {cell(why) if why else ''} |\n" for name, who, why in rows)


def unlike_the_catalogue(checks):
    """Rows without a check, or with checks that cannot say what the row is about."""
    for name, worst in CATALOGUE.items():
        rules = " ".join(one["rule"] for one in checks if name in one["covers"])
        if not rules and name not in BY_OTHERS:
            yield f"catalogue.py: no check covers {name}"
        for letter, word in (("F", "FAIL"), ("W", "WARN")):
            if letter in worst and word not in rules:
                yield f"catalogue.py: no check of {name} says {word}"
    known = set(CATALOGUE) | set(every_id()) | set(ERRORS)
    for one in checks:
        yield from (f"{one['id']} covers {name}, which is nothing" for name in one["covers"] if name not in known)


def who(name, why, checks, rules):
    """A reason with the checks or rules that it speaks of."""
    named = {API: checks, LINT: rules}.get(why)
    return f"{why}: {', '.join(answerers(name, named))}" if named else why


def beside():
    return BESIDE + "".join(f"| {' | '.join(cell(one) for one in row)} |\n" for row in COMPARED)


def wrong_names(checks):
    """Checks and tests that the comparison names and that are not there."""
    ids = {one["id"] for one in checks}
    source = "".join(path.read_text() for folder in TESTS for path in sorted((ROOT / folder).glob("*.cpp")))
    for failure, _, ours, test, *_ in COMPARED:
        for name in re.findall(r"\b[a-z]+\.[a-z-]+\b", ours):
            if name not in ids:
                yield f"compared.py: no check {name} ({failure})"
        if test not in source:
            yield f"compared.py: no test {test} ({failure})"


def cell(text):
    return text.replace("|", "\\|") or "-"


def section(check):
    lines = [f"\n### {check['id']}\n", check["what"], "", "| | |", "|---|---|",
             f"| source | {cell(check['source'])} |", f"| rule | {cell(check['rule'])} |"]
    if check["effect"]:
        lines.append(f"| effect | {cell(check['effect'])} |")
    if check["remedy"]:
        lines.append(f"| remedy ({check['remedyClass']}) | {cell(check['remedy'])} |")
    if check["after"]:
        lines.append(f"| after | {', '.join(check['after'])} |")
    if check["covers"]:
        lines.append(f"| covers | {', '.join(check['covers'])} |")
    return "\n".join(lines) + "\n"


def page(checks, others, rules):
    text = HEAD + "\n| check | what is right | covers |\n|---|---|---|\n"
    text += "".join(f"| [{one['id']}](#{one['id'].replace('.', '')}) | {cell(one['what'])} | {', '.join(one['covers'])} |\n"
                    for one in checks)
    text += "\n## Each check\n" + "".join(section(one) for one in checks)
    everything = checks + others
    elsewhere = "".join(f"| {name} | {cell(who(name, why, everything, rules))} |\n" for name, why in ELSEWHERE.items())
    return text + COVERS + elsewhere + catalogued(everything) + beside()


def unanswered(checks, others, rules):
    """Ids that nobody answers, and ids that stand twice."""
    covered = {name for one in checks for name in one["covers"]}
    known = set(every_id()) | set(ERRORS) | set(CATALOGUE)
    wrong = [f"{name} is answered by no check and is not in elsewhere.py" for name in every_id()
             if name not in covered and name not in ELSEWHERE]
    wrong += [f"{name} is in elsewhere.py, and a check answers it" for name in ELSEWHERE if name in covered]
    wrong += [f"{name} is answered by no check and no rule of lint" for name in ERRORS
              if not answerers(name, checks + others + rules)]
    wrong += [f"rule {one['id']} covers {name}, which is nothing" for one in rules for name in one["covers"] if name not in known]
    return wrong + [f"{name}: {why}, and none there covers it" for name, why in ELSEWHERE.items()
                    if why in (API, LINT) and not answerers(name, {API: others, LINT: rules}[why])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()

    def listed(*words):
        said = subprocess.run([options.railhead, *words, "--list", "-o", "json"], check=True, capture_output=True, text=True)
        return said.stdout

    checks = json.loads(listed("doctor"))["checks"]
    others = json.loads(listed("doctor", "--kube"))["checks"]
    rules = json.loads(listed("lint"))["rules"]
    wrong = unanswered(checks, others, rules) + list(wrong_names(checks + others)) + list(unlike_the_catalogue(checks + others))
    if options.bless:
        PAGE.write_text(page(checks, others, rules))
    elif not PAGE.is_file() or PAGE.read_text() != page(checks, others, rules):
        wrong.append("docs/checks.md is not what the checks say: ./dev bless")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
