# SPDX-License-Identifier: Apache-2.0
"""The collection of published machines: $RAILHEAD_CORPUS, else ../shared/corpus beside the source
tree. A folder a machine, with source.txt, data files and expected.json, which an oracle wrote that
shares no code with Railhead."""
import json
import os
import pathlib
import sys

SOURCE_ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMORY = "/dev/shm"  # for thousands of small files
SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt


def folder():
    """Where the collection is, or None."""
    given = os.environ.get("RAILHEAD_CORPUS")
    place = pathlib.Path(given) if given else SOURCE_ROOT.parent / "shared" / "corpus"
    return place if (place / "INDEX.md").is_file() else None


def folder_or_skip():
    place = folder()
    if place is None:
        print("SKIPPED: no collection of machines in $RAILHEAD_CORPUS or ../shared/corpus")
        sys.exit(SKIPPED)
    return place


def machines(place):
    return sorted(path for path in place.iterdir() if (path / "source.txt").is_file())


def expected(machine, source):
    """What the oracle says of one data file of a machine, or None."""
    path = machine / "expected.json"
    if not path.is_file():
        return None
    for result in json.loads(path.read_text())["results"]:
        if result["source"] == source:
            return result
    return None


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")
