#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each committed machine (tests/nodes/*.node) against its golden outputs beside it.

A difference prints the diff and the command that accepts it: ./dev bless
"""
import argparse
import difflib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# File ending -> arguments of railhead.
OUTPUTS = {
    "topology.txt": ["topology"],
    "tree.txt": ["topology", "-o", "tree"],
    "topology.json": ["topology", "-o", "json"],
    "affinity.txt": ["affinity"],
    "explain.txt": ["affinity", "--explain"],
    "affinity.json": ["affinity", "-o", "json"],
    "nics.txt": ["nics", "-o", "wide"],
}


def output_of(railhead, machine, arguments):
    command = [railhead, *arguments, "--snapshot", str(machine)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}exit {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    different = checked = 0
    for machine in sorted(HERE.glob("*.node")):
        for ending, arguments in OUTPUTS.items():
            golden = HERE / "golden" / f"{machine.stem}.{ending}"
            now = output_of(options.railhead, machine, arguments)
            before = golden.read_text() if golden.exists() else ""
            checked += 1
            if now == before:
                continue
            different += 1
            sys.stdout.writelines(difflib.unified_diff(
                before.splitlines(True), now.splitlines(True), str(golden.relative_to(HERE)), "now"))
            if options.bless:
                golden.parent.mkdir(exist_ok=True)
                golden.write_text(now)
    print(f"{checked} golden outputs, {different} different")
    if different and not options.bless:
        print("accept them with: ./dev bless")
        sys.exit(1)
    sys.exit(0 if checked else 1)


if __name__ == "__main__":
    main()
