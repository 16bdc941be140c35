#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup where one system call that changes something fails, in apply and in revert: a disk with an error, a
full one. It says so and ends; a second apply ends as one that was never disturbed, and a revert as if there had been
none. strace(1) makes the call fail: `-e inject=CALL:error=EIO:when=N`, once for each N.

failing_calls.py [--each N] [CALL…]: all of these calls, or every Nth."""

import argparse
import json
import subprocess
import sys

from ended_anywhere import Trial, disturbed

CALLS = {"mkdirat": "ENOSPC", "unlinkat": "EIO", "renameat": "EIO", "write": "ENOSPC", "fsync": "EIO",
         "openat": "ENOSPC", "fchmod": "EPERM", "fchown": "EPERM"}


def fails(trial: Trial, verb: str, call: str, number: int) -> bool:
    """It ends by itself, and says in JSON or in a line what failed."""
    strace = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
              "-e", f"inject={call}:error={CALLS[call]}:when={number}"]
    done = subprocess.run([*strace, *trial.command(verb)], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2) or (done.returncode == 2) != bool(done.stderr):
        raise SystemExit(f"{verb} without {call} {number} ends with {done.returncode}: {done.stderr}")
    if done.returncode == 2:
        return True
    steps = json.loads(done.stdout)["steps"]
    failed = any(str(step["reason"]).startswith("failed: ") for step in steps)
    if failed != (done.returncode == 1):
        raise SystemExit(f"{verb} without {call} {number} ends with {done.returncode}: {done.stdout}")
    return True


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("calls", nargs="*", default=list(CALLS))
    arguments = parser.parse_args()
    failures = disturbed(arguments.calls, fails, "fails", arguments.each)
    print(f"{failures} failures, each mended")
    return 0


sys.exit(main())
