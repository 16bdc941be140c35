# SPDX-License-Identifier: Apache-2.0
"""What a check of one source of one machine finds, and how it asks Railhead."""
import tempfile

import railhead
from snapshot import snapshot_of


class Check:
    """Differences of one source of one machine."""

    def __init__(self, machine, source):
        self.machine, self.source = machine, source
        self.pairs = 0
        self.differences = []

    def same(self, pair, ours, expected, open_words=()):
        self.pairs += 1
        if ours != expected and ours not in open_words:
            self.differences.append((pair, str(ours), str(expected)))


def answer_for(program, machine, command):
    """The document of a command about a published machine."""
    with tempfile.NamedTemporaryFile(suffix=".node") as file:
        file.write(snapshot_of(machine))
        file.flush()
        return railhead.document(program, command, "--snapshot", file.name)


def topology_of(program, machine):
    document = answer_for(program, machine, "topology")
    if document["problems"]:
        raise RuntimeError(f"{machine.name}: {document['problems']}")
    return document


def expected_pairs(result):
    """[(GPU, NIC, relation, other relations that the source leaves open)]"""
    for gpu, row in result["pairs"].items():
        for nic, word in row.items():
            yield gpu, nic, word, result.get("unsure", {}).get(gpu, {}).get(nic, [word])
