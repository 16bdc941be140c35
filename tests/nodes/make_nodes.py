#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the machines in the box, tests/nodes/*.node.

    make_nodes.py                            all committed machines, beside this file
    make_nodes.py NAME... --out DIR          some of them, elsewhere
    make_nodes.py NAME --directory DIR       one as a directory tree, for --host-root
    make_nodes.py --list

A machine is a function in one of the files that registry.py lists, facts in tables above it. To add
one: write a function, name the source of its facts in its comments, decorate it with @machine, say in
expected_*.py what must come out, run this file and ./dev bless. UUIDs, GUIDs and MAC addresses are
made from names.
"""
import argparse
import pathlib
import sys

import registry

HERE = pathlib.Path(__file__).resolve().parent


def main():
    machines = registry.load()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in machines]
    if unknown:
        parser.error(f"no machine {unknown[0]}; there are {', '.join(machines)}")
    if options.list:
        for name, (_, source, _) in machines.items():
            first_sentence = " ".join(source).split(". ")[0]
            print(f"{name:24} {first_sentence}")
    elif options.directory:
        if len(options.names) != 1:
            parser.error("--directory needs one NAME")
        registry.tree_of(options.names[0]).write_directory(options.directory)
    else:
        for name in options.names or registry.committed_names():
            (options.out / f"{name}.node").write_bytes(registry.snapshot_of(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
