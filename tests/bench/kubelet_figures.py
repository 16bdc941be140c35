# SPDX-License-Identifier: Apache-2.0
"""Part "kubelet": how long after a device has gone the kubelet has a list that says so, and the memory
of an agent with many devices and of one with everything on.

The machine is a directory tree, edited as a driver's unbinding would: the RDMA device's entry below
/sys/class/infiniband goes, and comes back. The time ends when the kubelet (tests/bench/peers/kubelet)
has read a list with one more unhealthy device.
"""

import contextlib
import json
import pathlib
import random
import re
import socket
import sys
import threading
import time
import urllib.request

import programs
from page_tables import percentiles

RAIL_CHANGES, CHANGES = 24, 200
SETTLE_S = 2  # before memory is read
# An agent takes a device back into its list after five seconds; then its next tick publishes it.
RECOVERY_S = 60
RAILS = {"pools": [{"name": "rdma.io/rail", "slotsPerNic": 1, "include": {"roles": "compute"}}]}
REQUESTS = 2500  # of each kind


@contextlib.contextmanager
def serving_agent(bench, tree, config, pools, folder):
    """The agent on this tree, and the lists of a kubelet that has all its pools."""
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    command = [bench.railhead, "agent", "--host-root", tree, "--config", path, "--nri=false",
               "--kubelet-root-dir", folder / "kubelet", "--bind-address", "127.0.0.1:0",
               "--metrics-socket", folder / "agent.sock"]
    with programs.kubelet(bench, folder / "kubelet") as lists, open(folder / "agent.log", "wb") as log:
        with programs.running(command, stderr=log, stdout=log) as agent:
            lists.wait_until("all pools are enrolled", lambda: len(lists.devices) == pools
                             and all(lists.devices.values()))
            yield agent, lists


def memory_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    kib = {name: int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M).group(1))
           for name in ("VmRSS", "RssAnon")}
    return {"rss_mib": kib["VmRSS"] / 1024, "anon_mib": kib["RssAnon"] / 1024}


def unhealthy_after(lists, entry):
    """Milliseconds until a list names one more device unhealthy."""
    before = lists.sick()
    start_ns = time.monotonic_ns()
    entry.rename(entry.parent.parent / entry.name)
    at_ns = lists.wait_until(f"a list without {entry.name}", lambda: lists.sick() > before)
    return (at_ns - start_ns) / 1e6


def restore(lists, tree, names):
    for name in names:
        (tree / "sys/class" / name).rename(tree / "sys/class/infiniband" / name)
    lists.wait_until("all devices are healthy", lambda: lists.sick() == 0, RECOVERY_S)


def updates_of_rails(bench, folder):
    """An H100 machine whose eight compute NICs are one pool: they go one after the other, come back
    and go again."""
    tree = programs.machine_tree("dgx-h100", folder)
    nics = [f"mlx5_{number}" for number in (0, 3, 4, 5, 6, 9, 10, 11)]
    with serving_agent(bench, tree, RAILS, 1, folder) as (agent, lists):
        times = []
        while len(times) < RAIL_CHANGES:
            gone = nics[:RAIL_CHANGES - len(times)]
            for name in gone:
                times.append(unhealthy_after(lists, tree / "sys/class/infiniband" / name))
            restore(lists, tree, gone)
        return {"times_ms": percentiles(times), **memory_mib(agent.pid)}


def eight_pools(tree):
    """Of 128 VFs each: four by the name of the physical function, four by its address."""
    resources = []
    for port in range(8):
        name = f"enp{0x11 + 0x10 * port}s0"
        function = (tree / "sys/class/net" / name).resolve().parents[1]
        by = {"pfNames": [name]} if port % 2 else {"rootDevices": [function.name]}
        resources.append({"resourceName": f"vfs_{port}", "resourcePrefix": "example.com",
                          "selectors": {**by, "isRdma": True}})
    return {"resourceList": resources}


def updates_of_many(bench, folder):
    """1,024 virtual functions in eight exclusive pools of 128, each a device of the kubelet's."""
    tree = programs.machine_tree("thousand-vfs", folder)
    with serving_agent(bench, tree, eight_pools(tree), 8, folder) as (agent, lists):
        devices = sum(lists.devices.values())
        idle = memory_mib(agent.pid)
        going = [f"mlx5_{number}" for number in random.Random(1).sample(range(8, 8 + 1024), CHANGES)]
        times = [unhealthy_after(lists, tree / "sys/class/infiniband" / name) for name in going]
        restore(lists, tree, going)
        time.sleep(SETTLE_S)
        return {"devices": devices, "times_ms": percentiles(times), "idle": idle, **memory_mib(agent.pid)}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def scrape(port, stop, pages):
    while not stop.wait(1):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
                pages.append(len(page.read()))


def everything_on(bench, folder, machine="dgx-h100", pools_of=None):
    """Memory of one agent that is connected to the runtime and to the kubelet, PodResources too, and
    is scraped: idle, after requests, after a large Synchronize. `pools_of`: its configuration for a tree."""
    tree = programs.machine_tree(machine, folder)
    port, stop, pages = free_port(), threading.Event(), []
    scraper = threading.Thread(target=scrape, args=(port, stop, pages), daemon=True)
    agent = (f"{bench.railhead} agent --host-root {tree} --nri-socket {{socket}}"
             f" --kubelet-root-dir {folder / 'kubelet'} --bind-address 127.0.0.1:{port}"
             f" --metrics-socket {folder / 'agent.sock'}")
    if pools_of:
        (folder / "config.json").write_text(json.dumps(pools_of(tree)))
        agent += f" --config {folder / 'config.json'}"
    with programs.kubelet(bench, folder / "kubelet", f"-gpu={bench.gpu}") as lists:
        scraper.start()
        try:
            figures = bench.ask_runtime({"all": agent}, f"-requests={REQUESTS}", "-starts=1", "-settle=3s",
                                        f"-containers={bench.containers}")["plugins"]["all"]
        finally:
            stop.set()
            scraper.join()
        if not (pages and lists.devices):
            raise RuntimeError("the agent was not scraped, or never registered")
    return {key: figures[key] for key in ("idle", "after_requests", "after_sync", "after_sync_settled")}


def measure(bench):
    figures = {"containers": bench.containers}
    for name, one in (("rails", updates_of_rails), ("many", updates_of_many), ("everything", everything_on)):
        print(f"kubelet: {name}", file=sys.stderr)
        with programs.folder() as folder:
            figures[name] = one(bench, folder)
    return figures
