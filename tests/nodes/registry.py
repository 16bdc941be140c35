# SPDX-License-Identifier: Apache-2.0
"""The list of machines. Importing it loads every file of MACHINE_FILES, which register theirs."""
import importlib

from thin import thin

MACHINE_FILES = ["nvidia_servers", "hgx_servers", "amd_servers", "pcie_servers", "hpc_nodes",
                 "small_machines", "broken_machines", "clouds_azure", "clouds_aws", "clouds_other",
                 "bench_machines"]
# All attributes that the kernel shows of their devices; the others have those that an answer needs.
WHOLE = {"dgx-h100", "dgx-a100", "seed-8gpu-4nic", "hgx-h100-roce", "many-vfs", "amd-mi300x", "nics-only",
         "gpus-only", "renamed-devices", "soft-roce", "mig-a100", "broken-host"}
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


def tree_of(name):
    tree = load()[name][0]().tree
    return tree if name in WHOLE else thin(tree)


def snapshot_of(name):
    written_by = ["Written by tests/nodes/make_nodes.py; change it there."]
    return tree_of(name).snapshot([*load()[name][1], *written_by])


def committed_names():
    return [name for name, (_, _, committed) in load().items() if committed]
