#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a committed machine is not what the generator writes: facts live there."""
import difflib
import itertools
import pathlib
import sys

import registry

HERE = pathlib.Path(__file__).resolve().parent
LINES_SHOWN = 20


def main():
    differences = 0
    # recorded-*.node are recordings of real machines; nothing generates them.
    on_disk = {path.stem for path in HERE.glob("*.node")
               if not path.stem.startswith("recorded-")}
    wanted = set(registry.committed_names())
    for name in sorted(on_disk - wanted):
        print(f"{name}.node: nothing writes it")
        differences += 1
    for name in sorted(wanted):
        path = HERE / f"{name}.node"
        committed = path.read_bytes() if path.exists() else b""
        generated = registry.snapshot_of(name)
        if committed == generated:
            continue
        differences += 1
        diff = difflib.unified_diff(committed.decode(errors="replace").splitlines(),
                                    generated.decode(errors="replace").splitlines(),
                                    path.name, "generated", lineterm="")
        print("\n".join(itertools.islice(diff, LINES_SHOWN)))
    print(f"{len(wanted)} machines, {differences} different")
    if differences:
        print("write them again with: tests/nodes/make_nodes.py")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
