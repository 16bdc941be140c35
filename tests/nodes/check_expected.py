#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must come out for each machine in the box, written by hand from the source of its facts
(expected_*.py): a bless that accepts a wrong NIC, role or relation fails here.

An entry of EXPECTED, by machine name:
  "gpus"       the NICs of each GPU, in the order of GPU indexes: devices of one card joined by `+`,
               `-` for none
  "spare"      compute NICs that no GPU gets
  "unusable"   compute NICs that are dealt and that others stand in for
  a role       the NICs of that role ("storage", "management", "front-end", …); NICs named nowhere
               else are compute NICs that some GPU gets
  "source"     what the relations come from, "PCI tree" if not named
  "confidence" how sure they are, "high" if not named
  "relations"  the matrix as `nvidia-smi topo -m` prints it, or some of its rows and columns (a bare
               number stands for mlx5_ and that number)
"""
import argparse
import json
import pathlib
import subprocess
import sys

import expected_bare_metal
import expected_clouds

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = {**expected_bare_metal.EXPECTED, **expected_clouds.EXPECTED}
ROLES = ["storage", "management", "front-end", "nvlink-management", "virtual-function", "unknown"]
KEYS = {"gpus", "spare", "unusable", "source", "confidence", "relations", *ROLES}


def ask(railhead, machine, *command):
    done = subprocess.run([railhead, *command, "-o", "json", "--snapshot", str(machine)],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def wrong_choices(expected, affinity):
    got = ["+".join(sorted(nic["name"] for nic in gpu["nics"])) or "-" for gpu in affinity["gpus"]]
    want = ["+".join(sorted(nics.split("+"))) for nics in expected.get("gpus", "").split()]
    if len(got) != len(want):
        yield f"{len(got)} GPUs, expected {len(want)}"
    for at, (now, then) in enumerate(zip(got, want)):
        if now != then:
            yield f"GPU {at} gets {now}, expected {then}"


def wrong_roles(expected, topology):
    want = {name: role for role in ROLES for name in expected.get(role, "").split()}
    names = {nic["name"] for nic in topology["nics"]}
    placed = {name for nics in expected.get("gpus", "").split() for name in nics.split("+")} - {"-"}
    spare = {name for key in ("spare", "unusable") for name in expected.get(key, "").split()}
    for name in sorted((set(want) | placed | spare) - names):
        yield f"{name} is not there"
    for nic in topology["nics"]:
        name, role = nic["name"], want.get(nic["name"], "compute")
        if nic["role"] != role:
            yield f"{name} has role {nic['role']}, expected {role}"
        elif role == "compute" and name not in placed | spare:
            yield f"{name} is a compute NIC that nobody gets and that is not expected to be spare"


def wrong_origin(expected, topology):
    for key, usual in (("source", "PCI tree"), ("confidence", "high")):
        if topology[key] != expected.get(key, usual):
            yield f"{key} is {topology[key]}, expected {expected.get(key, usual)}"


def relation(topology, row, column):
    """Of two devices, each "GPU3" or the name of a NIC."""
    nics = {nic["name"]: at for at, nic in enumerate(topology["nics"])}
    if column.startswith("GPU"):
        row, column = column, row
    at = int(row.removeprefix("GPU")) if row.startswith("GPU") else nics[row]
    if column.startswith("GPU"):
        return topology["gpuRelations"][at][int(column.removeprefix("GPU"))]
    return topology["relations" if row.startswith("GPU") else "nicRelations"][at][nics[column]]


def wrong_relations(expected, topology):
    header, *rows = [[f"mlx5_{word}" if word.isdigit() else word for word in line.split()]
                     for line in expected.get("relations", "").strip().splitlines()] or [[]]
    for label, *cells in rows:
        for name, cell in zip(header, cells, strict=True):
            got = relation(topology, label, name)
            if cell != "X" and got != cell:
                yield f"{label} to {name} is {got}, expected {cell}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    wrong = 0
    machines = {path.stem: path for path in sorted(HERE.glob("*.node"))}
    for name, path in machines.items():
        if options.names and name not in options.names:
            continue
        expected = EXPECTED.get(name)
        if expected is None:
            problems = ["nothing is expected of it: say what in expected_*.py"]
        elif set(expected) - KEYS:
            problems = [f"{key} is no key of an entry" for key in set(expected) - KEYS]
        else:
            topology = ask(options.railhead, path, "topology")
            problems = [*wrong_choices(expected, ask(options.railhead, path, "affinity")),
                        *wrong_roles(expected, topology), *wrong_origin(expected, topology),
                        *wrong_relations(expected, topology)]
        wrong += len(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    gone = sorted(set(EXPECTED) - set(machines))
    for name in gone:
        print(f"{name}: expected, and there is no such machine")
    print(f"{len(machines)} machines, {wrong + len(gone)} wrong answers")
    return 1 if wrong or gone else 0


if __name__ == "__main__":
    sys.exit(main())
