# SPDX-License-Identifier: Apache-2.0
"""Part "sizes": how large program and images are, what they need of memory beside a Go plugin that does the same for the
kubelet, and what the chart's request and limit are derived from."""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import time

import kubelet_figures
import programs
from page_tables import table

# The program and its configuration for one resource of this machine. sriov-network-device-plugin would be the
# second; the module proxy does not hand it out.
PEERS = {
    "k8s-rdma-shared-dp": {"periodicUpdateInterval": 300, "configList": [
        {"resourceName": "hca", "resourcePrefix": "rdma", "rdmaHcaMax": 100, "selectors": {"vendors": ["15b3"]}}]},
}
START_S, SETTLE_S = 20, 3
MIB = 1 << 20
TEXT = """An archive is what is pulled: its layers are compressed. The Go plugin is built from its module by
`scripts/fetch-go-tool`, without symbols (`-s -w`), as Railhead's program is. Its image has a distribution below the
program; here it counts alone. sriov-network-device-plugin is not here: the proxy of Go modules does not hand it out.
"""
MEMORY = """Both serve the same resource (`15b3`) to the same kubelet (`tests/bench/peers/kubelet`) on this machine, which
has no RDMA device, so it is what they need with nothing to hand out. Railhead reads the same file and, as the other does,
serves the kubelet alone: no NRI.
"""
CHART = """The chart asks for at least twice what an agent at rest was seen to need with everything on (NRI, kubelet, metrics).
Its limit is at least twice the highest that was seen, at a start on the largest machine: 1,024 VFs in eight pools and a Synchronize
of {containers} containers. A limit that is reached ends the agent.
"""


def unpacked(archive):
    """Bytes of an OCI archive's layers, as they lie on a node."""
    with tarfile.open(archive) as outer:
        index = json.load(outer.extractfile("./index.json"))
        blob = lambda one: outer.extractfile(f"./blobs/{one['digest'].replace(':', '/')}")  # noqa: E731
        manifest = json.load(blob(index["manifests"][0]))
        total = 0
        for layer in manifest["layers"]:
            with tarfile.open(fileobj=blob(layer)) as inner:
                total += sum(one.size for one in inner)
    return total


def images(bench, folder):
    found = {}
    for name, more in (("railhead", ()), ("railhead-bench", ("--bench",))):
        said = subprocess.run([programs.ROOT / "scripts/image", bench.release, folder, *more], check=True,
                              stdout=subprocess.PIPE, text=True)
        archive = pathlib.Path(said.stdout.strip())
        found[name] = {"archive": archive.stat().st_size, "unpacked": unpacked(archive)}
    return found


def peer(name):
    said = subprocess.run([programs.ROOT / "scripts/fetch-go-tool", name], check=True, stdout=subprocess.PIPE, text=True)
    folder = pathlib.Path(said.stdout.strip())
    return folder / "bin" / name, folder.name.removeprefix(f"{name}-")


def memory_of(bench, folder, command):
    """Of a device plugin once the kubelet has a list of it; None, and why, where it never comes so far."""
    kubelet = folder / "kubelet"
    with contextlib.ExitStack() as stack:
        lists = stack.enter_context(programs.kubelet(bench, kubelet))
        log = folder / "log"
        process = stack.enter_context(programs.running(command(kubelet), stderr=stack.enter_context(log.open("wb")),
                                                       stdout=subprocess.DEVNULL))
        try:
            lists.wait_until("a list", lambda: lists.devices, START_S)
        except TimeoutError:
            return {"why": (log.read_text(errors="replace").strip() or "no list came").splitlines()[-1][:200]}
        time.sleep(SETTLE_S)
        threads = len(list(pathlib.Path(f"/proc/{process.pid}/task").iterdir()))
        return {**kubelet_figures.memory_mib(process.pid), "threads": threads}


def beside_the_kubelet(program, config):
    """The plugin knows one folder of the kubelet: it gets ours there, in a mount namespace of its own."""
    def command(kubelet):
        path = kubelet.parent / "config.json"
        path.write_text(json.dumps(config))
        inside = ("mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/kubelet && mount --bind \"$0\" /var/lib/kubelet && "
                  "exec \"$@\"")
        return ["unshare", "--mount", "sh", "-c", inside, kubelet, program, f"--config-file={path}"]
    return command


def railhead_alone(bench, config):
    def command(kubelet):
        path = kubelet.parent / "config.json"
        path.write_text(json.dumps(config))
        return [bench.railhead, "agent", "--config", path, "--nri=false", "--kubelet-root-dir", kubelet, "--bind-address",
                "127.0.0.1:0", "--metrics-socket", kubelet.parent / "agent.sock"]
    return command


def of_chart():
    """Bytes that the chart asks for and allows."""
    text = (programs.ROOT / "deploy/charts/values.yaml").read_text(encoding="utf-8")
    found = re.search(r"^resources:\n  requests:\n(?:    .*\n)*?    memory: (\d+)Mi\n  limits:\n    memory: (\d+)Mi\n", text, re.M)
    return {"request_mib": int(found[1]), "limit_mib": int(found[2])}


def measure(bench):
    figures = {"containers": bench.containers, "chart": of_chart(),
               "programs": {"railhead": {"bytes": bench.railhead.stat().st_size}}, "memory": {}}
    with programs.folder() as folder:
        figures["images"] = images(bench, folder)
    for name, config in PEERS.items():
        print(f"sizes: {name}", file=sys.stderr)
        program, version = peer(name)
        figures["programs"][name] = {"bytes": program.stat().st_size, "version": version}
        with programs.folder() as folder:
            figures["memory"][name] = memory_of(bench, folder, beside_the_kubelet(program, config))
    with programs.folder() as folder:
        figures["memory"]["railhead"] = memory_of(bench, folder, railhead_alone(bench, PEERS["k8s-rdma-shared-dp"]))
    for name, more in (("rest", ()), ("burst", ("thousand-vfs", kubelet_figures.eight_pools))):
        print(f"sizes: {name}", file=sys.stderr)
        with programs.folder() as folder:
            figures[name] = kubelet_figures.everything_on(bench, folder, *more)
    return figures


def at_rest(figures):
    return max(figures["rest"][key]["rss_kb"] for key in ("idle", "after_requests", "after_sync_settled")) / 1024


def in_burst(figures):
    return max(figures["burst"][key]["peak_kb"] for key in ("after_requests", "after_sync", "after_sync_settled")) / 1024


def goal_values(figures):
    return {"image": figures["images"]["railhead"]["archive"] / 1e6,
            "image_bench": figures["images"]["railhead-bench"]["archive"] / 1e6,
            "request": at_rest(figures) / figures["chart"]["request_mib"],
            "limit": in_burst(figures) / figures["chart"]["limit_mib"]}


def megabytes(count):
    return f"{count / 1e6:.1f}"


def section(figures):
    sizes = [[f"image `{name}`", megabytes(one["archive"]), megabytes(one["unpacked"])] for name, one in figures["images"].items()]
    for name, one in figures["programs"].items():
        sizes.append([" ".join([f"program `{name}`", one.get("version", "")]).strip(), "", megabytes(one["bytes"])])
    memory = []
    for name, one in figures["memory"].items():
        cells = ["did not start here, so there is nothing to compare: " + one["why"], "", ""] if "why" in one else [
            f"{one['rss_mib']:.1f}", f"{one['anon_mib']:.1f}", one["threads"]]
        memory.append([f"`{name}`", *cells])
    chart = figures["chart"]
    limits = [["at rest, H100 node", f"{at_rest(figures):.1f}", f"request {chart['request_mib']}"],
              ["highest, largest machine", f"{in_burst(figures):.1f}", f"limit {chart['limit_mib']}"]]
    return [TEXT, table(["MB", "archive", "unpacked"], sizes), MEMORY,
            table(["a device plugin with nothing to hand out", "RSS, MiB", "anonymous, MiB", "threads"], memory),
            CHART.format(containers=figures["containers"]), table(["everything on", "RSS, MiB", "chart, MiB"], limits)]
