#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes to play with: up.py FOLDER MACHINE RAILHEAD

Starts what the cluster tests start, with the agent on that machine of the box and its GPUs
allocatable, writes FOLDER/kubeconfig, prints how to use it, and stays until a signal. FOLDER has to be
new.
"""

import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

from lib import jail, paths  # noqa: E402

VERSION, RUNTIME = "1.36", "2.4"


def up(folder: pathlib.Path, programs: pathlib.Path, machine_name: str) -> int:
    from kube.cluster import Cluster
    from kube.pod import GPU_RESOURCE
    from lib.agent import Agent
    from lib.machine import Machine

    machine = Machine(machine_name)
    cluster = Cluster(VERSION, programs, RUNTIME, folder)
    try:
        cluster.start()
        agent = Agent(cluster.runtime.nri_socket, folder / "agent.log", machine.snapshot).start()
        if machine.gpus:
            cluster.offer_gpus(machine)
        (folder / "kubeconfig").write_text(cluster.plane.kubeconfig.read_text())
        print(
            f"Kubernetes {VERSION} with {len(machine.gpus)} {GPU_RESOURCE} ({machine_name})\n"
            f"  export KUBECONFIG={folder}/kubeconfig PATH={programs}:$PATH\n"
            f"  the agent's log: {folder}/agent.log; an image without a registry: "
            "localhost/railhead-busybox:1\n"
            "  ./dev cluster down ends it",
            flush=True,
        )
        signal.pause()
        agent.terminate()
    finally:
        cluster.remove()
    return 0


def main() -> int:
    folder, machine, railhead = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    os.environ["RAILHEAD_BIN"] = railhead
    folder.mkdir(parents=True)
    paths.fetch("containerd", RUNTIME)
    programs = paths.fetch("kubernetes", VERSION)
    (folder / "pid").write_text(str(os.getpid()))
    return jail.run(lambda: up(folder, programs, machine))


if __name__ == "__main__":
    sys.exit(main())
