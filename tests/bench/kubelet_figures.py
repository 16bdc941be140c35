# SPDX-License-Identifier: Apache-2.0
"""Measures the agent's kubelet face: how long after a device has gone the kubelet has a list that
says so, and the memory of an agent with many devices and of one with every face.

The kubelet is tests/peers/kubelet.py, a gRPC client of its own, which decodes each list in Python: of
128 devices in about a millisecond, which is counted. The machine is a directory tree, edited as a
driver's unbinding would: the RDMA device's entry below /sys/class/infiniband goes.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from peers.kubelet import Kubelet  # noqa: E402

CHANGES = 50
WAIT_S = 60
SETTLE_S = 2  # before memory is read
POLL_S = 0.0002
# An agent takes a device back into its list after five seconds; then its next tick publishes it.
RECOVERY_S = 15
RAILS = {"pools": [{"name": "rdma.io/rail", "slotsPerNic": 1, "include": {"roles": "compute"}}]}


def machine_tree(name, folder):
    tree = folder / name
    make = ROOT / "tests/nodes/make_nodes.py"
    subprocess.run([sys.executable, make, name, "--directory", tree], timeout=300, check=True)
    return tree


def wait_until(what, condition, timeout_s=WAIT_S, poll_s=0.05):
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {timeout_s} s")
        time.sleep(poll_s)


@contextlib.contextmanager
def serving_agent(railhead, tree, config, pools, folder):
    """The agent on this tree, and the kubelet that has all its pools."""
    kubelet = Kubelet(folder / "kubelet").start()
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    command = [railhead, "agent", "--host-root", tree, "--config", path, "--nri=false",
               "--kubelet-root-dir", kubelet.root, "--bind-address", "127.0.0.1:0"]
    with open(folder / "agent.log", "wb") as log:
        agent = subprocess.Popen(command, stderr=log, stdout=log)
    try:
        wait_until("all pools are enrolled", lambda: len(kubelet.endpoints) == pools
                   and all(e.devices for e in kubelet.endpoints.values()))
        yield agent, kubelet
    finally:
        agent.terminate()
        agent.wait(timeout=10)
        kubelet.stop()


def memory_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    kib = {name: int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M).group(1))
           for name in ("VmRSS", "RssAnon")}
    return {"rss_mib": kib["VmRSS"] / 1024, "anon_mib": kib["RssAnon"] / 1024}


def unhealthy_after(kubelet, entry):
    """Milliseconds until a list names a device unhealthy that the list before did not."""
    def unhealthy():
        return sum(health == "Unhealthy" for endpoint in list(kubelet.endpoints.values())
                   for health in endpoint.health().values())

    def lists():
        return sum(endpoint.lists for endpoint in list(kubelet.endpoints.values()))

    before, seen = unhealthy(), lists()
    start = time.monotonic()
    entry.rename(entry.parent.parent / entry.name)
    while True:
        wait_until(f"the list without {entry.name}", lambda: lists() != seen, WAIT_S, POLL_S)
        now = time.monotonic()
        seen = lists()
        if unhealthy() > before:
            return (now - start) * 1000


def restore(kubelet, tree, names):
    for name in names:
        (tree / "sys/class" / name).rename(tree / "sys/class/infiniband" / name)
    wait_until("all devices are healthy", lambda: all(
        health == "Healthy" for endpoint in list(kubelet.endpoints.values())
        for health in endpoint.health().values()), RECOVERY_S)


def updates_of_rails(railhead, folder):
    """An H100 machine whose eight compute NICs are one pool: they go one after the other, come back
    and go again."""
    tree = machine_tree("dgx-h100", folder)
    nics = [f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11)]
    with serving_agent(railhead, tree, RAILS, 1, folder) as (agent, kubelet):
        times = []
        while len(times) < CHANGES:
            gone = nics[:CHANGES - len(times)]
            for name in gone:
                times.append(unhealthy_after(kubelet, tree / "sys/class/infiniband" / name))
            restore(kubelet, tree, gone)
        return {"times_ms": times, **memory_mib(agent.pid)}


def updates_of_many(railhead, folder):
    """1,024 virtual functions in eight exclusive pools of 128, each a device of the kubelet's."""
    tree = machine_tree("thousand-vfs", folder)
    resources = [{"resourceName": f"vfs_{port}", "resourcePrefix": "example.com",
                  "selectors": {"pfNames": [f"enp{0x11 + 0x10 * port}s0"], "isRdma": True}}
                 for port in range(8)]
    with serving_agent(railhead, tree, {"resourceList": resources}, 8, folder) as (agent, kubelet):
        devices = sum(len(endpoint.devices) for endpoint in kubelet.endpoints.values())
        idle = memory_mib(agent.pid)
        going = random.Random(1).sample(range(8, 8 + 1024), CHANGES)
        times = [unhealthy_after(kubelet, tree / f"sys/class/infiniband/mlx5_{number}")
                 for number in going]
        time.sleep(SETTLE_S)
        return {"devices": devices, "times_ms": times, "idle": idle, **memory_mib(agent.pid)}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def scrape(port, stop, pages):
    while not stop.wait(1):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
                pages.append(len(page.read()))


def every_face(railhead, programs, gpu, folder):
    """Memory of one agent that is connected to the runtime and to the kubelet and is scraped: idle,
    after requests, after a large Synchronize."""
    tree = machine_tree("dgx-h100", folder)
    kubelet = Kubelet(folder / "kubelet").start()
    port, stop, pages = free_port(), threading.Event(), []
    scraper = threading.Thread(target=scrape, args=(port, stop, pages), daemon=True)
    scraper.start()
    agent = (f"{railhead} agent --host-root {tree} --nri-socket {{socket}}"
             f" --kubelet-root-dir {kubelet.root} --bind-address 127.0.0.1:{port}")
    command = [os.path.join(programs, "nri-runtime"), f"-gpus={gpu}", "-requests=2000", "-starts=1",
               "-settle=3s", f"-plugin=faces={agent}"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=300, check=True)
    finally:
        stop.set()
        scraper.join()
        kubelet.stop()
    if not (pages and kubelet.registrations):
        raise RuntimeError("the agent was not scraped, or never registered")
    return json.loads(done.stdout)["plugins"][0]


def measure(railhead, programs, gpu):
    figures = {}
    with tempfile.TemporaryDirectory(prefix="railhead-bench-") as folder:
        for name, one in (("rails", updates_of_rails), ("many", updates_of_many)):
            print(f"kubelet: {name}", file=sys.stderr)
            place = pathlib.Path(folder) / name
            place.mkdir()
            figures[name] = one(railhead, place)
        print("kubelet: every face", file=sys.stderr)
        place = pathlib.Path(folder) / "faces"
        place.mkdir()
        figures["faces"] = every_face(railhead, programs, gpu, place)
    return figures
