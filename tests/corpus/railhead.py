# SPDX-License-Identifier: Apache-2.0
"""Runs the built program and maps its answers to the names of the collection."""
import json
import os
import subprocess

TIMEOUT_SECONDS = 20
EXIT_CODES = (0, 1, 2, 64)


def run(program, *arguments):
    """The finished process; its surroundings are empty, so that no configuration is found."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
    return subprocess.run([program, *map(str, arguments)], capture_output=True, env=environment,
                          timeout=TIMEOUT_SECONDS, check=False)


def document(program, *arguments):
    """The JSON document, or raises with what the program said. Exit code 1 is a problem found."""
    done = run(program, *arguments, "-o", "json")
    if done.returncode not in (0, 1) or not done.stdout:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {said}")
    return json.loads(done.stdout)


def relations(topology):
    """{(GPU address, NIC name): relation} of a Topology document."""
    nics = [nic["name"] for nic in topology["nics"]]
    return {(gpu["pci"], nic): word
            for gpu, row in zip(topology["gpus"], topology["relations"])
            for nic, word in zip(nics, row)}
