# SPDX-License-Identifier: Apache-2.0
"""How the demos talk, and how they end."""

import os
import pathlib
import subprocess
import sys

COMMANDS = ("ls -l /dev/infiniband", "ulimit -l", "env | grep -E '^(NCCL|NVIDIA)'")


class Pen:
    """Plain text; with colours only for a terminal, and not if NO_COLOR is set."""

    def __init__(self) -> None:
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def _in(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colours else text

    def heading(self, text: str) -> None:
        print(f"\n{self._in('1', text)}", flush=True)

    def row(self, label: str, text: str) -> None:
        first, *more = text.splitlines() or [""]
        print(f"  {self._in('2', f'{label:<8}')}{first}", flush=True)
        for line in more:
            print(f"  {'':<8}{line}", flush=True)

    def command(self, text: str, output: str) -> None:
        print(f"  {'':<8}{self._in('36', f'$ {text}')}")
        for line in output.splitlines() or ["(nothing)"]:
            print(f"  {'':<8}{line}", flush=True)

    def verdict(self, good: bool, text: str) -> None:
        word = self._in("32", "as promised") if good else self._in("31;1", "NOT as promised")
        print(f"  {'':<8}{word}: {text}", flush=True)

    def topology(self, railhead: str, machine) -> None:
        """The table of a machine of the box."""
        self.heading(f"The machine: a DGX H100, from tests/nodes/{machine.name}.node")
        subprocess.run([railhead, "topology", "--snapshot", machine.snapshot], check=True)


def faults(nics: list[str], machine, inside) -> list[str]:
    """What a container has that it must not have, or lacks; empty: all well."""
    wanted = {path: (node.major, node.minor) for path, node in machine.devices(nics).items()}
    memlock = "8192" if nics else "64"
    found = {path: (node.major, node.minor) for path, node in inside.nodes.items()}
    bad = []
    if found != wanted:
        bad.append(f"nodes {sorted(found)}, not {sorted(wanted)}")
    if inside.memlock != memlock:
        bad.append(f"memlock {inside.memlock} KiB, not {memlock}")
    if ("NCCL_IB_HCA" in inside.env) != bool(nics):
        bad.append(f"NCCL_IB_HCA is {inside.env.get('NCCL_IB_HCA', 'not set')}")
    return bad


def tail(file: pathlib.Path) -> None:
    if file.exists():
        lines = file.read_text(errors="replace").splitlines()[-15:]
        print(f"\nthe end of {file.name}:", *lines, sep="\n  ", file=sys.stderr)
