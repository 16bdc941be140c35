#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, over the collection of published machines, which NICs three rules give to each GPU,
and writes the table of docs/affinity.md. What is nearest is what the oracle read from the truest
source; what is a compute NIC is in truth.tsv, by hand: neither is Railhead's own word."""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import sys

import collection
from case import Case
from tables import rows

BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
RULES = ("Railhead", "same root, else same node", "first of same root")
CLASSES = {
    "nvlink": "NVIDIA servers with NVLink (DGX, HGX and alike)",
    "pcie": "NVIDIA PCIe servers and workstations",
    "hpc": "NVIDIA nodes of computing centres",
    "switched": "virtual machines that show switches",
    "flat": "virtual machines that hide them",
    "amd": "AMD and Hygon servers",
    "container": "matrices from inside a container",
    "none": "machines without a compute NIC",
}


class Count:
    """Sums over machines; lists are by rule."""

    def __init__(self):
        self.machines = self.gpus = self.pairs = 0
        self.right, self.nothing, self.collisions = ([0] * len(RULES) for _ in range(3))

    def add(self, case):
        """Counts a machine; returns the GPUs for which Railhead is wrong."""
        self.machines += 1
        gpus = case.gpus()
        self.gpus += len(gpus)
        choices = case.choices()
        for rule, chosen in enumerate(choices):
            self.right[rule] += sum(is_right(chosen[at], nearest) for at, nearest in gpus)
            self.nothing[rule] += sum(not chosen[at] and bool(nearest) for at, nearest in gpus)
        self.collide(case, [at for at, _ in gpus], choices)
        return [at for at, nearest in gpus if not is_right(choices[0][at], nearest)]

    def collide(self, case, gpus, choices):
        """Pairs of GPUs that get a card in common, where there are as many cards as GPUs."""
        cards = case.cards()
        if len({cards[nic] for nic in case.compute if nic in cards}) < len(case.affinity["gpus"]):
            return
        for a, b in itertools.combinations(gpus, 2):
            self.pairs += 1
            for rule, chosen in enumerate(choices):
                shared = {cards[nic] for nic in chosen[a]} & {cards[nic] for nic in chosen[b]}
                self.collisions[rule] += bool(shared)


def is_right(chosen, nearest):
    """Nearest usable compute NICs and nothing else; nothing where there are none."""
    return chosen <= nearest and bool(chosen) == bool(nearest)


def wrong_gpus(case, affinity):
    """Of an answer that was asked with more than the machine shows, if it was."""
    dealt = case.dealt(affinity) if affinity else []
    return [at for at, nearest in case.gpus() if affinity and not is_right(dealt[at], nearest)]


def cases(program, place):
    table = list(rows("machines.tsv", 4))
    unlisted = {folder.name for folder in collection.machines(place)} - {row[0] for row in table}
    assert not unlisted, f"machines.tsv lacks {unlisted}"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda row: Case(program, place / row[0], *row[1:]),
                            [row for row in table if row[1] in CLASSES])


def cells_of(count):
    right = [f"{number}" + (f" ({none} get none)" if none else "")
             for number, none in zip(count.right, count.nothing)]
    return [count.machines, count.gpus, *right]


def table_of(titles, lines):
    head = [titles, ["--:" if str(cell)[0].isdigit() else "---" for cell in lines[0]]]
    return ["| " + " | ".join(map(str, line)) + " |" for line in head + lines]


def tables_of(counts, total, matrices):
    every = [*((CLASSES[kind], count) for kind, count in counts.items()), ("**all**", total),
             ("of these, from a matrix alone", matrices)]
    nearest = table_of(["nearest compute NIC", "machines", "GPUs", *RULES],
                       [[title, *cells_of(count)] for title, count in every])
    collisions = table_of(["two GPUs, one NIC", "pairs of GPUs", *RULES],
                          [[title, count.pairs, *count.collisions]
                           for title, count in every if count.pairs])
    return [*nearest, "", *collisions]


def exceptions_of(wrong):
    """Lines for the document, and what exceptions.tsv has too much or too little."""
    known = {name: (int(gpus), why) for name, gpus, why in rows("exceptions.tsv", 3)}
    lines = [f"* `{name}`, {gpus} GPUs: {why}." for name, (gpus, why) in sorted(known.items())]
    listed = {name: gpus for name, (gpus, _) in known.items()}
    problems = [f"exceptions.tsv: {name}: {listed.get(name, 0)} GPUs, measured {wrong.get(name, 0)}"
                for name in sorted(set(known) | set(wrong))
                if listed.get(name, 0) != wrong.get(name, 0)]
    return lines, problems


def report(program, place):
    """Text for the document, and problems."""
    counts, total, matrices = {kind: Count() for kind in CLASSES}, Count(), Count()
    wrong, problems, hidden = {}, [], []
    for case in cases(program, place):
        bad = counts[case.kind].add(case)
        total.add(case)
        if case.kind == "flat":
            hidden.append([f"`{case.folder.name}`", len(case.gpus()), len(case.gpus()) - len(bad),
                           case.topology["source"], case.topology["confidence"]])
        if case.source == "topo-m.txt":
            matrices.add(case)
        for at in bad:
            wrong[case.folder.name] = wrong.get(case.folder.name, 0) + 1
            print(f"{case.folder.name} GPU{at}: got {sorted(case.choices()[0][at])}, "
                  f"nearest {sorted(dict(case.gpus())[at])}", file=sys.stderr)
        for affinity, what in ((case.told_affinity, "its roles are told"),
                               (case.file_affinity, "it has the vendor's topology file")):
            problems += [f"{case.folder.name} GPU{at}: wrong although {what}"
                         for at in wrong_gpus(case, affinity)]
    lines, more = exceptions_of(wrong)
    text = ["", *tables_of(counts, total, matrices), "",
            *table_of(["virtual machine that hides its switches", "GPUs", "right", "by", "confidence"],
                      hidden), "",
            "Railhead is wrong, by this count, on:", "", *lines, "", ""]
    return "\n".join(text), problems + more


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--write", type=pathlib.Path, help="replaces the table of this document")
    parser.add_argument("--check", type=pathlib.Path, help="fails if its table is another")
    options = parser.parse_args()
    text, problems = report(options.railhead, collection.folder_or_skip())
    print(text)
    document = options.write or options.check
    if document:
        before, rest = document.read_text().split(BEGIN)
        now = before + BEGIN + text + END + rest.split(END)[1]
        if options.check and now != document.read_text():
            problems.append(f"{document} has another table: measure.py --write {document}")
        elif options.write:
            document.write_text(now)
    print(*problems, sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
