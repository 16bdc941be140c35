# SPDX-License-Identifier: Apache-2.0
"""Where things are: the tree, the program under test, the downloads."""

import os
import pathlib
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[3]
MACHINES = TREE / "tests" / "nodes"


def railhead() -> str:
    """The program under test: RAILHEAD_BIN, else that of the dev preset."""
    return os.environ.get("RAILHEAD_BIN", str(TREE / "build/dev/railhead"))


def machine(name: str) -> str:
    """A committed machine snapshot by its short name."""
    return str(MACHINES / f"{name}.node")


def cache() -> pathlib.Path:
    default = pathlib.Path(os.environ.get("HOME", "/root")) / ".cache/railhead"
    return pathlib.Path(os.environ.get("RAILHEAD_CACHE", default))


def fetch(what: str, *version: str) -> pathlib.Path:
    """The bin folder of that containerd, crun or kubernetes, or of cni; gets or builds it the first time."""
    script = TREE / "scripts" / f"fetch-{what}"
    done = subprocess.run([script, *version], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip()) / "bin"
