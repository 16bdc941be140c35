#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests on a real Kubernetes: run.py --kubernetes 1.36|1.30 [--leave-out PATTERN]… [pattern…]

etcd, API server, scheduler, controller manager and a kubelet beside containerd (2.4 for 1.36, 1.7 for
1.30), the agent on a machine of the box, and a stand-in for NVIDIA's device plugin, all private. One
line a test, then a summary; exit code 1 if a test failed, 77 if nothing could be run here. Needs
root. RAILHEAD_BIN names the program. A Kubernetes that is not in the cache is built, for minutes.
"""

import argparse
import pathlib
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

from lib import jail, needs, paths  # noqa: E402
from lib.runner import SKIPPED  # noqa: E402

RUNTIMES = {"1.36": "2.4", "1.30": "1.7"}


def run(version: str, programs: pathlib.Path, patterns: list[str], left_out: list[str]) -> int:
    from kube.case import run_cases
    from kube.cluster import Cluster

    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"railhead-k{version}-"))
    cluster = Cluster(version, programs, RUNTIMES[version], folder)
    what = f"Kubernetes {version} with containerd {RUNTIMES[version]}"
    return run_cases(what, cluster, HERE / "scenarios", patterns, left_out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubernetes", choices=sorted(RUNTIMES), required=True)
    parser.add_argument("--leave-out", metavar="PATTERN", action="append", default=[])
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    lacking = needs.missing({"openssl": "openssl", "buildah": "buildah"})
    if lacking:
        print(f"Kubernetes {options.kubernetes}: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch("cni")
    paths.fetch("containerd", RUNTIMES[options.kubernetes])
    programs = paths.fetch("kubernetes", options.kubernetes)
    return jail.run(lambda: run(options.kubernetes, programs, options.pattern, options.leave_out))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        traceback.print_exc()
        sys.exit(f"run.py: {error}")
