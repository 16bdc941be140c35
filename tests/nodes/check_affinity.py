#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `affinity` says a container gets is what it says that the container's GPUs get: of every
machine in the box, and of every published topology file where they are at hand ($RAILHEAD_CORPUS, else
../shared/corpus beside the source tree)."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(os.environ.get("RAILHEAD_CORPUS") or HERE.parents[2] / "shared" / "corpus")


def affinity(railhead, option, file):
    done = subprocess.run([railhead, "affinity", "-o", "json", option, str(file)],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout), done.returncode


def problem_of(railhead, option, file):
    answer, code = affinity(railhead, option, file)
    of_gpus = {nic["name"] for gpu in answer["gpus"] for nic in gpu["nics"]}
    if set(answer["nics"]) != of_gpus:
        return f"the container gets {sorted(answer['nics'])}, its GPUs {sorted(of_gpus)}"
    if code == 0 and answer["gpus"] and not of_gpus:
        return "exit 0, and no GPU gets a NIC"
    if option == "--nccl-topo" and not answer["gpus"] and code == 0 and answer["warnings"]:
        return f"exit 0 and no GPU, and yet {answer['warnings'][0]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    files = [("--snapshot", file) for file in sorted(HERE.glob("*.node"))]
    published = sorted(CORPUS.glob("*/nccl-topo.xml"))
    files += [("--nccl-topo", file) for file in published]
    wrong = 0
    for option, file in files:
        problem = problem_of(options.railhead, option, file)
        if problem:
            print(f"{file.relative_to(file.parents[1])}: {problem}")
            wrong += 1
    print(f"{len(files) - len(published)} machines and {len(published)} published files, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
