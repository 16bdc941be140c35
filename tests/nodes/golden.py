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
ROOT = HERE.parent.parent
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

# Pools of some machines; file names as from the root of the source tree.
POOLS = {
    "dgx-h100": ["pools", "-o", "wide", "--config", "examples/pools.yaml"],
    "vfs-on-one-socket": ["pools", "-o", "wide", "--config",
                          "examples/sriov-network-device-plugin.json"],
}

# Outputs of some machines as files that other programs open: file -> machine, format.
FILES = {
    "docs/pictures/dgx-h100.svg": ("dgx-h100", "svg"),
    "docs/pictures/dgx-h100-degraded.svg": ("dgx-h100-degraded", "svg"),
    "tests/nodes/golden/seed-8gpu-4nic.svg": ("seed-8gpu-4nic", "svg"),
    "tests/nodes/golden/seed-8gpu-4nic.dot": ("seed-8gpu-4nic", "dot"),
    "tests/nodes/golden/broken-host.svg": ("broken-host", "svg"),
    "tests/nodes/golden/broken-host.dot": ("broken-host", "dot"),
    **{f"tests/nodes/golden/{name}.nccl.xml": (name, "nccl")
       for name in ("dgx-h100", "dgx-a100", "amd-mi300x", "gb200-tray", "azure-nd-a100-v4",
                    "azure-nd-h100-v5", "bonds-with-vfs")},
}


def output_of(railhead, machine, arguments):
    command = [railhead, *arguments, "--snapshot", str(machine)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if arguments[-1] in ("svg", "dot", "nccl") and not done.returncode:
        return done.stdout
    return f"{done.stdout}{done.stderr}exit {done.returncode}\n"


def goldens():
    """Every golden file with the machine and the arguments that it is the output of."""
    for machine in sorted(HERE.glob("*.node")):
        for ending, arguments in OUTPUTS.items():
            yield HERE / "golden" / f"{machine.stem}.{ending}", machine, arguments
    for name, arguments in POOLS.items():
        yield HERE / "golden" / f"{name}.pools.txt", HERE / f"{name}.node", arguments
    for file, (name, form) in FILES.items():
        yield ROOT / file, HERE / f"{name}.node", ["topology", "-o", form]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    options.railhead = pathlib.Path(options.railhead).resolve()
    different = checked = 0
    for golden, machine, arguments in goldens():
        now = output_of(options.railhead, machine, arguments)
        before = golden.read_text() if golden.exists() else ""
        checked += 1
        if now == before:
            continue
        different += 1
        sys.stdout.writelines(difflib.unified_diff(
            before.splitlines(True), now.splitlines(True), str(golden.relative_to(ROOT)), "now"))
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
