#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Published guides, played to their ends: run.py [pattern…]

A private Kubernetes with three nodes, each with a containerd and a kubelet of its own: two of a pool with GPUs,
one of the system's. Our scripts run as they are printed, with real helm and kubectl; what they start of others
(az, charts of operators) is played by standins.py. One line a test, then a summary; exit code 1 if a test
failed, 77 if nothing could be run here. Needs root. RAILHEAD_BIN names the program.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster"), str(HERE.parent / "runtime"), str(HERE.parent)]

from lib import jail, needs, paths  # noqa: E402
from lib.runner import SKIPPED  # noqa: E402

VERSION, RUNTIME = "1.36", "2.4"
NODES = ("gpu-1", "gpu-2", "system-1")


def make_uplink() -> None:
    """A kubelet takes its node's address from where the default route goes."""
    from kube.networks import ip

    ip("link", "add", "uplink", "type", "veth", "peer", "name", "nowhere")
    ip("address", "add", "198.19.0.1/24", "dev", "uplink")
    for name in ("uplink", "nowhere"):
        ip("link", "set", name, "up")
    ip("route", "add", "default", "via", "198.19.0.2")


def run(programs: pathlib.Path, patterns: list[str]) -> int:
    from kube.case import run_cases
    from kube.cluster import Cluster
    from kube.networks import can_make

    if not can_make("veth"):
        print("guides: skipped, no veth netdevs: the kubelet could not probe a pod")
        return SKIPPED
    make_uplink()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="railhead-seeds-"))
    cluster = Cluster(VERSION, programs, RUNTIME, folder, NODES)
    # The next guide would begin on what a failed one left.
    return run_cases(f"guides played on Kubernetes {VERSION}", cluster, HERE / "played", patterns, failfast=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    lacking = needs.missing({"openssl": "openssl", "buildah": "buildah", "jq": "jq", "ip": "iproute2"})
    if lacking:
        print(f"guides: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch("cni")
    paths.fetch("containerd", RUNTIME)
    paths.fetch("go-tool", "helm")
    os.environ["RAILHEAD_CRDS"] = str(paths.fetch("crds").parent)  # the jail asks no network
    programs = paths.fetch("kubernetes", VERSION)
    return jail.run(lambda: run(programs, options.pattern), own_network=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        traceback.print_exc()
        sys.exit(f"run.py: {error}")
