#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup where one system call that changes something fails, in apply and in revert: a disk with an error, a
full one. It says so and ends; a second apply ends as one that was never disturbed, and a revert as if there had been
none. strace(1) makes the call fail: `-e inject=CALL:error=EIO:when=N`, once for each N.

failing_calls.py [--each N] [CALL…]: all of these calls, or every Nth."""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

from ended_anywhere import Trial, interesting, tree

CALLS = {"mkdirat": "ENOSPC", "unlinkat": "EIO", "renameat": "EIO", "write": "ENOSPC", "fsync": "EIO",
         "openat": "ENOSPC", "fchmod": "EPERM", "fchown": "EPERM"}


def fails(trial: Trial, verb: str, call: str, number: int) -> None:
    """It ends by itself, and says in JSON or in a line what failed."""
    strace = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
              "-e", f"inject={call}:error={CALLS[call]}:when={number}"]
    done = subprocess.run([*strace, *trial.command(verb)], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2) or (done.returncode == 2) != bool(done.stderr):
        raise SystemExit(f"{verb} without {call} {number} ends with {done.returncode}: {done.stderr}")
    if done.returncode == 2:
        return
    steps = json.loads(done.stdout)["steps"]
    failed = any(str(step["reason"]).startswith("failed: ") for step in steps)
    if failed != (done.returncode == 1):
        raise SystemExit(f"{verb} without {call} {number} ends with {done.returncode}: {done.stdout}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("calls", nargs="*", default=list(CALLS))
    arguments = parser.parse_args()
    failures, count = 0, itertools.count()
    with tempfile.TemporaryDirectory(prefix="railhead-setup-") as folder:
        trial = Trial(pathlib.Path(folder))
        trial.again()
        trial.run("apply")
        after = tree(trial.root)
        for verb in ("apply", "revert"):
            for call in arguments.calls:
                trial.again()
                if verb == "revert":
                    trial.run("apply")
                for number in interesting(call, verb, trial):
                    for ends_as in ("applied", "taken back"):
                        if next(count) % arguments.each:
                            continue
                        trial.again()
                        if verb == "revert":
                            trial.run("apply")
                        fails(trial, verb, call, number)
                        failures += 1
                        where = f"{call} {number} of {verb} fails, then {ends_as}"
                        if ends_as == "applied":
                            trial.run("apply")
                            trial.expect(after, where)
                        trial.run("revert")
                        trial.expect(trial.before, where)
    print(f"{failures} failures, each mended")
    return 0


sys.exit(main())
