# SPDX-License-Identifier: Apache-2.0
"""Matrices of `nvidia-smi topo -m` against Railhead: on a tree that realises the matrix, and on the
tree that was published of the same machine."""
import collection
from check import Check, topology_of
from lspci_text import read_lspci
from realise import realise
from sight import with_matrix
from topo_matrix import WORDS, read_matrix

MATRIX = "topo-m.txt"


def matrix_cells(document):
    """{(a, b): word} of a Topology document, with nvidia-smi's names of GPUs."""
    gpus = [f"GPU{index}" for index in range(len(document["gpus"]))]
    nics = [nic["name"] for nic in document["nics"]]
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
    found = matrix_cells(topology_of(program, machine))
    compare_matrix(check, found, matrix)
    for (a, b), word in expected_cells(collection.expected(folder, source)).items():
        check.same(f"{a}/{b}", found.get((a, b), found.get((b, a))), word)
    for gpu, own, printed in misplaced:
        check.same(f"numa {gpu}", own, printed)
    return check


def check_tree_against_matrix(program, folder, source):
    """Both were published of one machine: the tree has to give the matrix, NICs by position."""
    machine = with_matrix(folder, read_lspci(folder / source, folder.name))
    check = Check(folder.name, f"{source} as {MATRIX}")
    compare_matrix(check, matrix_cells(topology_of(program, machine)), read_matrix(folder / MATRIX))
    return check
