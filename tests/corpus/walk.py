#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks the collection of published machines: each source, brought into a form that Railhead reads,
has to give the relations that were published. Differences are in differences.tsv, one line each."""
import argparse
import concurrent.futures
import os
import sys
import tempfile

import collection
import railhead
from differences import Differences
from hwloc_xml import read_hwloc
from lspci_text import READERS as LSPCI, numa_nodes, read_lspci
from nccl_xml import read_nccl
from realise import realise
from snapshot import snapshot_of
from sysfs_tar import SOURCE as SYSFS, check_sysfs
from topo_matrix import WORDS, read_matrix

NCCL = "nccl-topo.xml"
MATRIX, PAIRS = "topo-m.txt", "published-pairs.txt"


def answer_for(program, machine, command):
    """The document of a command about a published machine."""
    with tempfile.NamedTemporaryFile(suffix=".node") as file:
        file.write(snapshot_of(machine))
        file.flush()
        return railhead.document(program, command, "--snapshot", file.name)


def topology_of(program, machine):
    document = answer_for(program, machine, "topology")
    if document["problems"]:
        raise RuntimeError(f"{machine.name}: {document['problems']}")
    return document


def expected_pairs(result):
    """[(GPU, NIC, relation, other relations that the source leaves open)]"""
    for gpu, row in result["pairs"].items():
        for nic, word in row.items():
            yield gpu, nic, word, result.get("unsure", {}).get(gpu, {}).get(nic, [word])


class Check:
    """Differences of one source of one machine."""

    def __init__(self, machine, source):
        self.machine, self.source = machine, source
        self.pairs = 0
        self.differences = []

    def same(self, pair, ours, expected, open_words=()):
        self.pairs += 1
        if ours != expected and ours not in open_words:
            self.differences.append((pair, str(ours), str(expected)))


def check_tree(program, folder, source):
    """A source with a PCI tree (hwloc, lspci) against the oracle's relations."""
    result = collection.expected(folder, source)
    path = folder / source
    machine = (read_hwloc if source == "hwloc.xml" else read_lspci)(path, folder.name)
    document = topology_of(program, machine)
    check = Check(folder.name, source)
    found = railhead.relations(document)
    check.same("GPUs", len(document["gpus"]), len(result["gpus"]))
    check.same("NICs", len(document["nics"]), len(result["nics"]))
    for gpu, nic, word, open_words in expected_pairs(result):
        name = nic.removeprefix("pci:").replace(":", "-") if nic.startswith("pci:") else nic
        ours = found.get((result["gpu_busid"][gpu], name))
        check.same(f"{gpu}/{nic}", ours, word, open_words)
    return check


def check_nccl(program, folder, source):
    """An NCCL file, as Railhead reads it."""
    document = railhead.document(program, "topology", "--nccl-topo", folder / source)
    return compare_nccl(Check(folder.name, source), document, collection.expected(folder, source))


def check_nccl_tree(program, folder, source):
    """The sysfs tree that an NCCL file stands for."""
    document = topology_of(program, read_nccl(folder / source, folder.name))
    check = Check(folder.name, f"{source} as sysfs")
    return compare_nccl(check, document, collection.expected(folder, source))


def compare_nccl(check, document, result):
    """GPUs by bus id; NICs by name, those without one by bus id."""
    addresses = {nic["pci"]: nic["name"] for nic in document["nics"]}
    found = railhead.relations(document)
    check.same("GPUs", len(document["gpus"]), len(result["gpus"]))
    for gpu, nic, word, open_words in expected_pairs(result):
        name = addresses.get(nic[4:]) if nic.startswith("pci:") else nic
        check.same(f"{gpu}/{nic}", found.get((result["gpu_busid"][gpu], name)), word, open_words)
    return check


def matrix_cells(document, names):
    """{(a, b): word} of a Topology document, with nvidia-smi's names of GPUs."""
    gpus = [f"GPU{index}" for index in range(len(document["gpus"]))]
    nics = [names.get(nic["name"], nic["name"]) for nic in document["nics"]]
    tables = ((gpus, nics, "relations"), (gpus, gpus, "gpuRelations"), (nics, nics, "nicRelations"))
    return {(row, column): word for rows, columns, table in tables
            for row, words in zip(rows, document[table]) for column, word in zip(columns, words)}


def compare_matrix(check, found, matrix):
    members = matrix.gpus + matrix.nics
    for at, a in enumerate(members):
        for b in members[at + 1:]:
            word = matrix.word(a, b)
            if word:
                check.same(f"{a}/{b}", found.get((a, b), found.get((b, a))), word)


def expected_cells(result):
    """All cells that the oracle read from a matrix, without NVLink."""
    tables = (result["pairs"], result["gpu_links"], result["nic_pairs"])
    return {(row, column): word for table in tables for row, cells in table.items()
            for column, word in cells.items() if word in WORDS}


def check_matrix(program, folder, source):
    """A matrix against Railhead on a tree that realises it; read here and by the oracle."""
    matrix = read_matrix(folder / source)
    machine, misplaced = realise(matrix, folder.name)
    check = Check(folder.name, source)
    for a, b in matrix.asymmetric:
        check.same(f"{a}/{b}", "asymmetric", "symmetric")
    found = matrix_cells(topology_of(program, machine), {})
    compare_matrix(check, found, matrix)
    for (a, b), word in expected_cells(collection.expected(folder, source)).items():
        check.same(f"{a}/{b}", found.get((a, b), found.get((b, a))), word)
    for gpu, own, printed in misplaced:
        check.same(f"numa {gpu}", own, printed)
    return check


def check_tree_against_matrix(program, folder, source):
    """Both were published of one machine: the tree has to give the matrix, NICs by position."""
    matrix = read_matrix(folder / MATRIX)
    machine = read_lspci(folder / source, folder.name)
    nodes = numa_nodes(folder / "devices.txt")  # lists one function a card, if any
    for function in machine.functions:
        function.numa = nodes.get(function.address[:-1] + "0", 0)
    names = {nic.rdma[0].name: name for nic, name in zip(machine.nics(), matrix.nics)}
    check = Check(folder.name, f"{source} as {MATRIX}")
    compare_matrix(check, matrix_cells(topology_of(program, machine), names), matrix)
    return check


def published_pairs(folder):
    """{GPU address: NIC address} of the vendor's own table."""
    cells = [line.split("`") for line in collection.read(folder / PAIRS).splitlines()]
    return {f"0000:{row[1]}": f"0000:{row[3]}" for row in cells if len(row) > 3}


def check_pairs(program, folder, source):
    """The deal is the pairing that the vendor published."""
    machine = read_lspci(folder / "lspci-PP.txt", folder.name)
    document = answer_for(program, machine, "affinity")
    check = Check(folder.name, source)
    dealt = {gpu["pci"]: [nic["name"] for nic in gpu["nics"]] for gpu in document["gpus"]}
    for gpu, nic in published_pairs(folder).items():
        check.same(gpu, dealt.get(gpu), [nic.replace(":", "-")])
    return check


def check_tar(program, folder, source):
    return check_sysfs(program, folder, Check(folder.name, source))


def jobs_of(folder):
    for source in ("hwloc.xml", *LSPCI):
        if (folder / source).is_file():
            yield check_tree, folder, source
            if (folder / MATRIX).is_file():
                yield check_tree_against_matrix, folder, source
    if (folder / NCCL).is_file():
        yield check_nccl_tree, folder, NCCL
    if (folder / MATRIX).is_file():
        yield check_matrix, folder, MATRIX
    if (folder / PAIRS).is_file():
        yield check_pairs, folder, PAIRS
    if (folder / SYSFS).is_file():
        yield check_tar, folder, SYSFS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--only", default="", help="machines whose name contains this")
    options = parser.parse_args()
    place = collection.folder_or_skip()
    if os.access(collection.MEMORY, os.W_OK):
        tempfile.tempdir = collection.MEMORY
    jobs = [job for folder in collection.machines(place) if options.only in folder.name
            for job in jobs_of(folder)]
    table, counts = Differences(), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for check in pool.map(lambda job: job[0](options.railhead, *job[1:]), jobs):
            machines, pairs = counts.get(check.source, (0, 0))
            counts[check.source] = (machines + 1, pairs + check.pairs)
            for difference in check.differences:
                table.see(check.machine, check.source, *difference)
    for source, (machines, pairs) in sorted(counts.items()):
        print(f"{source}: {machines} machines, {pairs} pairs")
    print(f"{table.explained} differences explained, {len(table.unexplained)} not")
    wrong = table.unexplained + ([] if options.only else table.unused(counts))
    print("\n".join(wrong))
    sys.exit(1 if wrong or not counts else 0)


if __name__ == "__main__":
    main()
