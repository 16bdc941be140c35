#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts every file of the collection that Railhead reads, and the snapshot of every other, at random
places. The program has to end by itself with an exit code it knows, name the file (in XML the line,
too), and never show fewer devices without a word.

A snapshot that ends behind a newline is the snapshot of a smaller machine: the format has no mark
of its end. Such cuts are not made."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import sys
import tempfile

import collection
import railhead
from sight import read_source
from snapshot import snapshot_of
from tables import rows

SEED = 4
NCCL = "nccl-topo.xml"
COMMANDS = ("topology", "affinity")


def places(text, count, dice):
    """Sizes to cut to, none of them behind a newline."""
    sizes = [at for at in (dice.randrange(1, len(text)) for _ in range(4 * count))
             if text[at - 1:at] != b"\n" and text[at:].strip()]
    return sizes[:count]


def complaint(done, name, is_xml):
    """What is wrong with the answer, or None."""
    said = done.stderr.decode(errors="replace")
    if done.returncode not in railhead.EXIT_CODES:
        return f"exit code {done.returncode}"
    if done.returncode == 0:
        return "no error: a part of the file passed for all of it"
    if name not in said:
        return f"the message does not name the file: {said!r}"
    if is_xml and not re.search(r"line \d+|:\d+", said.split(name, 1)[1]):
        return f"the message does not name the line: {said!r}"
    return None


def cut_one(program, scratch, job):
    label, option, suffix, text, size, command = job
    path = scratch / f"{label}-{size}-{command}{suffix}"
    path.write_bytes(text[:size])
    done = railhead.run(program, command, option, path, "-o", "json")
    path.unlink()
    wrong = complaint(done, path.name, suffix == ".xml")
    return wrong and f"{label}, {command}, cut to {size} of {len(text)} bytes: {wrong}"


def texts_of(folder, source):
    """[(option, suffix, text, number of cuts)] of what can be read of a machine."""
    if (folder / NCCL).is_file():
        yield "--nccl-topo", ".xml", (folder / NCCL).read_bytes(), 20
    if not source.startswith("sysfs"):
        yield "--snapshot", ".node", snapshot_of(read_source(folder, source)), 5


def jobs_of(place):
    dice = random.Random(SEED)
    for name, _, source, _ in rows("machines.tsv", 4):
        for option, suffix, text, count in texts_of(place / name, source):
            for at, size in enumerate(places(text, count, dice)):
                yield name, option, suffix, text, size, COMMANDS[at % len(COMMANDS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    place = collection.folder_or_skip()
    jobs = list(jobs_of(place))
    memory = collection.MEMORY if os.access(collection.MEMORY, os.W_OK) else None
    with (tempfile.TemporaryDirectory(dir=memory) as scratch,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        answers = pool.map(lambda job: cut_one(options.railhead, pathlib.Path(scratch), job), jobs)
        wrong = [answer for answer in answers if answer]
    print(f"{len(jobs)} cut files, {len(wrong)} wrong answers", *wrong, sep="\n")
    sys.exit(1 if wrong or not jobs else 0)


if __name__ == "__main__":
    main()
