#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command has a man page that man, and mandoc where it is installed, accept without a warning, and no line of it is
wider than the terminal."""
import os
import shutil
import subprocess
import sys

from commands import arguments, commands, output

COLUMNS = 80
# Not of the text: what the checker says of a page that is on no system yet.
HARMLESS = ("referenced manual not found", "lower case character in document title", "operating system explicitly")


def complaints(page):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": str(COLUMNS)}
    said = subprocess.run(["man", "--warnings=all", "-l", "-"], input=page, capture_output=True, text=True, check=False,
                          env=environment)
    yield from said.stderr.splitlines()
    yield from (f"{len(line)} columns: {line}" for line in said.stdout.splitlines() if len(line) > COLUMNS)
    if said.returncode != 0 or "NAME" not in said.stdout:
        yield f"man ends with {said.returncode}"
    if shutil.which("mandoc"):
        said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True, check=False)
        yield from (line for line in said.stdout.splitlines() if not any(word in line for word in HARMLESS))


def main():
    asked = arguments()
    problems = []
    if shutil.which("man") is None:
        print("man is not installed: only that there are pages is looked at")
    for program in (asked.railhead, asked.bench):
        for name in commands(program):
            page = output(program, "help", *name.split(), "--man")
            if ".SH NAME" not in page:
                problems.append(f"{program} {name}: no page")
            if shutil.which("man"):
                problems += [f"{program} {name}: {line}" for line in complaints(page)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
