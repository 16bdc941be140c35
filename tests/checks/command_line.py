#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `railhead doctor` refuses, and what it says of a container and of growing errors on a command line."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NODE = pathlib.Path(__file__).resolve().parents[1] / "nodes/dgx-h100.node"
REFUSED = {
    "not NAMESPACE/NAME": ["--pod", "job-0"],
    "name it by --pod or --pid": ["--check", "pod.memlock"],
    "--active measures this machine": ["--active"],
    "no check": ["--check", "pod.colour"],
}
USAGE = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    wrong = []

    def doctor(*words):
        return subprocess.run([options.railhead, "doctor", "--snapshot", NODE, *words], capture_output=True, text=True)

    for text, words in REFUSED.items():
        said = doctor(*words)
        if said.returncode != USAGE or text not in said.stderr:
            wrong.append(f"{words}: {said.returncode} {said.stderr}")
    # This very process is in no container with RDMA devices: nothing is wrong with it.
    said = doctor("--pid", str(os.getpid()), "-o", "json")
    findings = json.loads(said.stdout)["findings"]
    if any(not one["id"].startswith("pod.") or one["state"] == "FAIL" for one in findings):
        wrong.append(f"--pid: {said.stdout}")
    if doctor("--pid", "2147483646").returncode != 2:
        wrong.append("a process that is not there has an answer")
    with tempfile.NamedTemporaryFile("w", suffix=".node") as later:
        later.write(NODE.read_text() + "t /proc/uptime 100.00 1.00\n")
        later.flush()
        said = doctor("--before", later.name, "--check", "link.errors", "-o", "json")
    states = {one["state"] for one in json.loads(said.stdout)["findings"]}
    if states != {"UNKNOWN"}:  # the node itself has no uptime
        wrong.append(f"--before: {states}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
