#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No false alarm: on every published machine, from each of its sources, the doctor finds no failure but those
in known.tsv, which has the reason of each. (Published sources have no services, limits or logs: UNKNOWN.)"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "corpus"), str(HERE.parent / "nodes")]
import collection  # noqa: E402
from hwloc_xml import read_hwloc  # noqa: E402
from lspci_text import READERS, read_lspci  # noqa: E402
from nccl_xml import read_nccl  # noqa: E402
from realise import realise  # noqa: E402
from snapshot import snapshot_of  # noqa: E402
from topo_matrix import read_matrix  # noqa: E402

SOURCES = {"hwloc.xml": read_hwloc, "nccl-topo.xml": read_nccl, **{name: read_lspci for name in READERS},
           "topo-m.txt": lambda path, name: realise(read_matrix(path), name)[0]}


def known():
    lines = (HERE / "known.tsv").read_text().splitlines()[1:]
    return {tuple(line.split("\t")[:4]) for line in lines}


def failures(program, folder, source):
    """{(machine, source, check, subject)} of what fails."""
    with tempfile.NamedTemporaryFile(suffix=".node") as file:
        file.write(snapshot_of(SOURCES[source](folder / source, folder.name)))
        file.flush()
        said = subprocess.run([program, "doctor", "--snapshot", file.name, "-o", "json"], capture_output=True, text=True)
    if said.returncode not in (0, 1, 2) or not said.stdout:
        return {(folder.name, source, "doctor", said.stderr.strip())}
    return {(folder.name, source, one["id"], one["subject"]) for one in json.loads(said.stdout)["findings"]
            if one["state"] == "FAIL"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    place = collection.folder_or_skip()
    jobs = [(folder, source) for folder in collection.machines(place) for source in SOURCES
            if (folder / source).is_file()]
    found = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for more in pool.map(lambda job: failures(options.railhead, *job), jobs):
            found |= more
    for line in sorted(found - known()):
        print("alarm:", "\t".join(line))
    for line in sorted(known() - found):
        print("gone:", "\t".join(line))
    print(f"{len(jobs)} sources, {len(found)} failures")
    sys.exit(1 if found != known() else 0)


main()
