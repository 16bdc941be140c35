# SPDX-License-Identifier: Apache-2.0
"""What an installation of the chart needs of the private cluster: the image, a network that reaches pods, helm."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

from lib import paths
from lib.containerd import Containerd
from lib.process import Failed, wait_until

from .cluster import Cluster
from .networks import number_of_run

CHART = paths.TREE / "deploy/charts"
IMAGE = "localhost/railhead"
NRI = pathlib.Path("/run/nri")  # where a runtime has its socket that nobody told otherwise


def version() -> str:
    """The chart's and the program's."""
    lines = (CHART / "Chart.yaml").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("appVersion:"))


def ctr(runtime: Containerd, *words: str) -> None:
    command = [str(runtime.bin / "ctr"), "-a", f"{runtime.dir}/containerd.sock", "-n", "k8s.io", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"ctr {' '.join(words)}: {done.stderr.strip()}")


def import_image(cluster: Cluster, folder: pathlib.Path, *more_tags: str) -> None:
    """The image of the program under test, as the chart names it, and by these tags, on each node."""
    name = f"{IMAGE}:{version()}"
    archive = ""
    for runtime in (node.runtime for node in cluster.nodes):
        if not runtime.cri.has_image(name):
            archive = archive or made_image(folder)
            ctr(runtime, "images", "import", archive)
        for tag in more_tags:
            if not runtime.cri.has_image(f"{IMAGE}:{tag}"):
                ctr(runtime, "images", "tag", name, f"{IMAGE}:{tag}")
        wait_until("the image is known to CRI", lambda cri=runtime.cri: cri.has_image(name))


def made_image(folder: pathlib.Path) -> str:
    """The archive of the program under test."""
    build = pathlib.Path(paths.railhead()).parent
    command = [paths.TREE / "scripts/image", build, folder]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@contextlib.contextmanager
def usual_socket(cluster: Cluster) -> Iterator[None]:
    """The runtime's NRI folder at the place that the chart expects, on each node."""
    for node in cluster.nodes:
        node.at(NRI).mkdir()
        subprocess.run([*node.enter, "mount", "--bind", str(node.runtime.nri_socket.parent), str(NRI)], check=True)
    try:
        yield
    finally:
        for node in cluster.nodes:
            subprocess.run([*node.enter, "umount", str(NRI)], check=True)
            node.at(NRI).rmdir()


@contextlib.contextmanager
def reachable_pods(cluster: Cluster) -> Iterator[None]:
    """Pods get an address that this machine reaches: the kubelet probes them."""
    binaries = paths.fetch("cni")
    number = number_of_run() % 256
    runtimes = [node.runtime for node in cluster.nodes]
    with tempfile.TemporaryDirectory(prefix="railhead-ipam-") as state:
        ipam = {"type": "host-local", "dataDir": state, "ranges": [[{"subnet": f"198.18.{number}.0/24"}]]}
        plugin = {"type": "ptp", "ipam": ipam}
        for runtime in runtimes:
            for name in ("ptp", "host-local"):
                shutil.copy(binaries / name, runtime.dir / "cni/bin")
            conflist = json.dumps({"cniVersion": "1.0.0", "name": "ptp", "plugins": [plugin]})
            (runtime.dir / "cni/conf/00-ptp.conflist").write_text(conflist)
        try:
            for runtime in runtimes:
                wait_until("the runtime has the network", lambda cri=runtime.cri: cri.network() == "ptp")
            yield
        finally:
            for runtime in runtimes:
                (runtime.dir / "cni/conf/00-ptp.conflist").unlink()
                wait_until("the runtime has the other", lambda cri=runtime.cri: cri.network() == "none")


def shell(cluster: Cluster, folder: pathlib.Path, text: str) -> str:
    """What a user types in a clone, with helm and kubectl in the path; standard output."""
    homes = {f"HELM_{kind}_HOME": str(folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")}
    path = f"{paths.fetch('go-tool', 'helm')}:{cluster.plane.bin}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", text],
        cwd=paths.TREE,
        env={**os.environ, **homes, "KUBECONFIG": str(cluster.plane.kubeconfig), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Failed(f"{text}: {done.stderr.strip()}")
    return done.stdout
