#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests against a real container runtime: run.py --runtime 1.7|2.4 [pattern…]

A pattern selects tests whose name contains it. One line a test, then a summary; exit code 1 if a
test failed, 77 if nothing could be run here. Needs root. RAILHEAD_BIN names the program.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from lib import jail, needs, paths  # noqa: E402
from lib.runner import SKIPPED, Lines, collect  # noqa: E402


def hide_unified_cgroups() -> None:
    """crun 1.21 runs nothing where cgroup v1 and a v2 hierarchy with controllers are mounted side by
    side; with v1 alone it does. In the jail's mount namespace only."""
    unified = pathlib.Path("/sys/fs/cgroup/unified")
    if os.path.ismount(unified):
        subprocess.run(["umount", "-l", unified], check=True)


def run(version: str, patterns: list[str]) -> int:
    from lib.case import RuntimeCase
    from lib.containerd import Containerd

    hide_unified_cgroups()
    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"railhead-{version}-"))
    crun = paths.fetch("crun") / "crun"
    runtime = Containerd(version, folder / "c", more_handlers={"crun": str(crun)})
    result = Lines(folder)
    try:
        runtime.start()
        runtime.load_image()
        RuntimeCase.runtime, RuntimeCase.folder = runtime, folder
        collect(HERE / "cases", patterns).run(result)
    finally:
        runtime.remove()
        failed = result.failed
        if failed == 0 and sys.exc_info()[0] in (None, jail.Interrupted):
            shutil.rmtree(folder)
        else:
            print(f"containerd's log: {runtime.log}")
    result.repeat_failures()
    seconds = time.monotonic() - began
    print(
        f"containerd {version}: {result.passed} passed, {failed} failed, "
        f"{len(result.skipped)} skipped in {seconds:.0f} s"
    )
    return 1 if failed or not result.passed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=("1.7", "2.4"), required=True)
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    lacking = needs.missing({"patchelf": "patchelf", "buildah": "buildah"})
    if lacking:
        print(f"containerd {options.runtime}: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch("containerd", options.runtime)
    paths.fetch("crun")
    return jail.run(lambda: run(options.runtime, options.pattern))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        traceback.print_exc()
        sys.exit(f"run.py: {error}")
