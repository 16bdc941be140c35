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
from check import Check
from differences import Differences
from lspci_text import READERS as LSPCI
from matrix_checks import MATRIX, check_matrix, check_tree_against_matrix
from sysfs_tar import SOURCE as SYSFS, check_sysfs
from tree_checks import PAIRS, check_nccl, check_nccl_tree, check_pairs, check_tree
from written_check import check_fused, check_written

NCCL = "nccl-topo.xml"


def check_tar(program, folder, source):
    return check_sysfs(program, folder, Check(folder.name, source))


def jobs_of(folder):
    for source in ("hwloc.xml", *LSPCI):
        if (folder / source).is_file():
            yield check_tree, folder, source
            yield check_written, folder, source
            yield check_fused, folder, source
            if (folder / MATRIX).is_file():
                yield check_tree_against_matrix, folder, source
    if (folder / NCCL).is_file():
        yield check_nccl, folder, NCCL
        yield check_nccl_tree, folder, NCCL
        yield check_fused, folder, NCCL
    if (folder / MATRIX).is_file():
        yield check_matrix, folder, MATRIX
        yield check_written, folder, MATRIX
        yield check_fused, folder, MATRIX
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
