#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON and YAML of every machine in the box. Nobody reads them at a review, so they are compared with what is
read there, the pages of golden/, and with the snapshot that they are made of:

  * a document has the shape that json_shapes.py says, and YAML is the same document,
  * what is in it twice, or in two documents, is the same (json_agreement.py),
  * the text of a command follows from its JSON (command_text.py),
  * what no text has is what the snapshot says (snapshot_facts.py).
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

import command_text
from golden import GOLDEN, HERE, on_terminal
from json_agreement import contradictions
from json_shapes import SHAPES, wrong_shape
from snapshot_facts import Facts
from sysfs_tree import Tree
from yaml_text import read_yaml

LINES_SHOWN = 5  # of a machine
COMMANDS = list(SHAPES)
PLAIN = ["nics", "affinity"]  # of which the page has the longer form
AS_YAML = ["topology", "nics", "affinity --explain"]  # lists in lists, nothing in them, null
UNREAD = {"broken-host"}  # not all of its devices can be read


def ask(railhead, machine, command):
    """What it prints, and how it ends: as on a page, nothing where all is well."""
    if command in PLAIN:
        code, said = on_terminal([railhead, command, "--snapshot", str(machine)])
        return said, f"exit {code}\n" if code else ""
    done = subprocess.run([railhead, *command.split(), "--snapshot", str(machine)],
                          capture_output=True, text=True, check=False)
    return done.stdout, done.stderr + (f"exit {done.returncode}\n" if done.returncode else "")


def read_page(text):
    """Each command on it with the lines that it printed, and how it ended."""
    parts = re.split(r"^\$ railhead (.*)\n", text, flags=re.M)
    for command, said in zip(parts[1::2], parts[2::2]):
        printed, ending = re.fullmatch(r"(.*?)\n*((?:^exit \d+\n)?)\n?", said, re.M | re.S).groups()
        yield command, printed.splitlines(), ending


def other_lines(command, shown, follow):
    for at in range(max(len(shown), len(follow))):
        line, wanted = (lines[at] if at < len(lines) else None for lines in (shown, follow))
        if line != wanted:
            yield f"{command}: the text is {line!r}, command_text.py makes {wanted!r} of its JSON"


def wrong_text(printed, topology, nics, affinity):
    for command, follow in (("topology", command_text.topology_text(topology, nics)),
                            ("nics", command_text.nics_text(nics, wide=False)),
                            ("nics -o wide", command_text.nics_text(nics, wide=True)),
                            ("affinity", command_text.affinity_text(affinity, nics, explain=False)),
                            ("affinity --explain", command_text.affinity_text(affinity, nics, explain=True))):
        yield from other_lines(command, [command_text.squeezed(line) for line in printed[command]], follow)
    title, *tree = printed["topology -o tree"]
    end = tree.index("") if "" in tree else len(tree)
    shown = [title, *sorted(map(str, command_text.devices_in_tree(tree[:end]))), *tree[end:]]
    follow = [topology["node"], *sorted(map(str, command_text.tree_devices(topology, nics, affinity))),
              *command_text.warned(topology["warnings"])]
    yield from other_lines("topology -o tree", shown, follow)


def wrong_facts(tree, topology, nics, pools):
    facts = Facts(tree, {problem["path"] for problem in topology["problems"]})
    functions = pools["functions"] + [member for pool in pools["pools"] for member in pool["members"]]
    for name, got, wanted in (
            ("the node", topology, {"node": tree.text_of("/proc/sys/kernel/hostname")}),
            *((f"GPU {gpu['pci']}", gpu, facts.gpu(gpu["pci"])) for gpu in topology["gpus"]),
            *((nic["name"], nic, facts.nic(nic["name"])) for nic in nics["nics"]),
            *((function["id"], function, facts.function(function["id"])) for function in functions)):
        yield from (f"{name}: {key} is {got[key]}, the snapshot says {value}"
                    for key, value in wanted.items() if got[key] != value)
    if topology["source"] == "PCI tree":
        yield from wrong_relations(facts, topology)


def wrong_relations(facts, topology):
    for key, kind in (("gpuRelations", "gpus"), ("nicRelations", "nics")):
        places = [item["pci"] for item in topology[kind]]
        pairs = [(a, b, word) for a, row in zip(places, topology[key]) for b, word in zip(places, row) if a and b]
        yield from (f"{key}: {a} to {b} is {word}, the snapshot says {facts.relation(a, b)}"
                    for a, b, word in pairs if word != facts.relation(a, b))


def problems_of(snapshot, printed, documents):
    wrong = [f"{command}: {problem}" for command, document in documents.items()
             for problem in wrong_shape(document, SHAPES[command])]
    topology, affinity, nics, pools = (documents[command] for command in COMMANDS)
    wrong = wrong or contradictions(topology, affinity, nics, pools)
    return wrong or [*wrong_text(printed, topology, nics, affinity),
                     *wrong_facts(Tree.read(snapshot), topology, nics, pools)]


def check(railhead, machine):
    page = GOLDEN / f"{machine.stem}.txt"
    if not page.exists():
        return ["it has no page: ./dev bless"]
    shown = list(read_page(page.read_text()))
    printed = {command: lines for command, lines, _ in shown}
    endings = {"pools": "exit 2\n" if machine.stem in UNREAD else ""}
    endings |= {command.split()[0]: ending for command, _, ending in shown}
    said = {command: ask(railhead, machine, command) for command in (
        *PLAIN, *(f"{command} -o json" for command in COMMANDS), *(f"{command} -o yaml" for command in AS_YAML))}
    wrong = [f"{command}: it ends with {ending!r}" for command, (_, ending) in said.items()
             if ending != endings[command.split()[0]]]
    printed |= {command: said[command][0].splitlines() for command in PLAIN}
    try:
        documents = {command: json.loads(said[f"{command} -o json"][0]) for command in COMMANDS}
        wrong += problems_of(machine.read_bytes(), printed, documents)
        wrong += [f"{command}: YAML is not the same document as JSON" for command in AS_YAML
                  if read_yaml(said[f"{command} -o yaml"][0]) != documents[command]]
    except (ValueError, LookupError) as error:
        wrong += [f"a document cannot be read: {error!r}"]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    machines = [path for path in sorted(HERE.glob("*.node")) if not options.names or path.stem in options.names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda machine: check(options.railhead, machine), machines))
    for machine, problems in zip(machines, found):
        print("".join(f"{machine.stem}: {problem}\n" for problem in problems[:LINES_SHOWN]), end="")
        if len(problems) > LINES_SHOWN:
            print(f"{machine.stem}: … and {len(problems) - LINES_SHOWN} more")
    print(f"{len(machines)} machines, {sum(map(len, found))} problem(s)")
    if any(found):
        print("where golden outputs differ too, accept those first: ./dev bless")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
