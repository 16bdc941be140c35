# SPDX-License-Identifier: Apache-2.0
"""What has to be on the machine, asked before anything is started."""

import importlib.util
import os
import pathlib
import shutil

from . import image

_PROGRAMS = {"runc": "runc", "protoc": "protobuf-compiler", "prlimit": "util-linux"}
_MODULES = {"grpc": "python3-grpcio", "google.protobuf": "python3-protobuf"}


def _has(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def missing(more_programs: dict[str, str] | None = None) -> list[str]:
    """What is missing, each with the Debian package that brings it; empty: all is there."""
    programs = {**_PROGRAMS, **(more_programs or {})}
    lacking = [] if os.geteuid() == 0 else ["root"]
    lacking += [f"{name} (package {deb})" for name, deb in programs.items() if not which(name)]
    lacking += [f"{name} (package {deb})" for name, deb in _MODULES.items() if not _has(name)]
    if not pathlib.Path(image.BUSYBOX).exists():
        lacking.append(f"{image.BUSYBOX} (package busybox-static)")
    return lacking


def which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
