# SPDX-License-Identifier: Apache-2.0
"""The hand-written tables of this folder: tab-separated, "#" begins a comment line."""
import fnmatch
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def rows(name, fields):
    """Lists of that many fields, none empty."""
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        row = line.split("\t")
        assert len(row) == fields and all(row), f"{name}:{number}: expected {fields} fields"
        yield row


def selected(patterns, names):
    """Names that one of the patterns matches, in their order; every pattern has to match one."""
    for pattern in patterns.split():
        assert fnmatch.filter(names, pattern), f"{pattern!r} matches none of {names}"
    return [name for name in names
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())]
