# SPDX-License-Identifier: Apache-2.0
"""The list of machines. Importing it loads every file of MACHINE_FILES, which register theirs."""
import importlib

MACHINE_FILES = ["nvidia_servers", "amd_servers", "small_machines", "broken_machines",
                 "clouds_azure", "clouds_aws", "clouds_other"]
MACHINES = {}


def machine(name, *source, committed=True):
    """Registers the function that fills a Machine; `source` says where its facts come from."""
    def register(fill):
        assert name not in MACHINES, f"two machines are called {name}"
        MACHINES[name] = (fill, source, committed)
        return fill
    return register


def load():
    """All machines by name: (function, source, whether its snapshot is committed)."""
    for file in MACHINE_FILES:
        importlib.import_module(file)
    return MACHINES


def snapshot_of(name):
    fill, source, _ = load()[name]
    written_by = ["Written by tests/nodes/make_nodes.py; change it there."]
    return fill().tree.snapshot([*source, *written_by])


def committed_names():
    return [name for name, (_, _, committed) in load().items() if committed]
