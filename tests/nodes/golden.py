#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What people see, against the copies in golden/: a page for each committed machine (tests/nodes/*.node), and for
each other format the output of one or two machines.

The pages are what a reviewer reads, so they hold text only. That the JSON and YAML of every machine say the same is
checked by check_json.py, that its topology file does by check_topology_file.py, and that its picture can be looked
at by pictures.py.

A difference prints the diff and the command that accepts it: ./dev bless
"""
import argparse
import concurrent.futures
import contextlib
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tty

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GOLDEN = HERE / "golden"
# The page of a machine: these commands, one after another.
PAGE = ["topology -o tree", "topology", "nics -o wide", "affinity --explain"]

# Further files: the machine that is shown, the commands. File names in commands are as from the root of the source.
TEXTS = {
    "dgx-h100.pools.txt": ("dgx-h100", ["pools -o wide --config examples/pools.yaml"]),
    "vfs-on-one-socket.pools.txt": (
        "vfs-on-one-socket", ["pools -o wide --config examples/sriov-network-device-plugin.json"]),
    "errors.txt": ("dgx-h100", [
        "topologie", "topology -o xml", "topology --host-root /nowhere/at/all", "topology --nccl-topo LICENSE",
        "topology --topology-file /nowhere/topo.xml", "affinity --gpus 0,8", "pools --config LICENSE",
        "pools --config examples/absent.yaml"]),
}
# Files that other programs open.
FILES = {
    "docs/pictures/dgx-h100.svg": ("dgx-h100", "topology -o svg"),
    "docs/pictures/dgx-h100-degraded.svg": ("dgx-h100-degraded", "topology -o svg"),
    **{f"tests/nodes/golden/{machine}.{ending}": (machine, command) for machine, ending, command in [
        ("broken-host", "svg", "topology -o svg"),
        ("broken-host", "dot", "topology -o dot"),
        ("seed-8gpu-4nic", "dot", "topology -o dot"),
        ("dgx-h100", "nccl.xml", "topology -o nccl"),
        ("amd-mi300x", "nccl.xml", "topology -o nccl"),
        ("azure-nd-a100-v4", "nccl.xml", "topology -o nccl"),
        ("gb200-tray", "nccl.xml", "topology -o nccl"),
        ("renamed-devices", "topology.json", "topology -o json"),
        ("renamed-devices", "affinity.json", "affinity --explain -o json"),
        ("renamed-devices", "nics.json", "nics -o json"),
        ("renamed-devices", "pools.json", "pools -o json"),
        ("soft-roce", "nics.yaml", "nics -o yaml")]},
}


def run(railhead, machine, command):
    """Its output: what it prints, what it complains about, and how it ends, where that is not well."""
    words = command.split()
    if not {"--host-root", "--nccl-topo"} & set(words):
        words += ["--snapshot", str(machine)]
    code, said = on_terminal([railhead, *words])
    return said + (f"exit {code}\n" if code else "")


def on_terminal(words):
    """How it ends, and what a person sees: everything in its order."""
    ours, terminal = os.openpty()
    tty.setraw(terminal)
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "0"}
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, cwd=ROOT, env=environment) as process:
        os.close(terminal)
        said = b""
        with contextlib.suppress(OSError):  # how Linux ends the other side of a terminal
            while more := os.read(ours, 1 << 16):
                said += more
        os.close(ours)
        return process.wait(), said.decode()


def file(railhead, machine, command):
    """What it writes for another program."""
    words = [railhead, *command.split(), "--snapshot", str(machine)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout + done.stderr


def page(railhead, machine, commands):
    return "\n".join(f"$ railhead {command}\n{run(railhead, machine, command)}" for command in commands)


def goldens(railhead):
    """Every golden file with what makes it."""
    for machine in sorted(HERE.glob("*.node")):
        yield GOLDEN / f"{machine.stem}.txt", (page, railhead, machine, PAGE)
    for name, (machine, commands) in TEXTS.items():
        yield GOLDEN / name, (page, railhead, HERE / f"{machine}.node", commands)
    for name, (machine, command) in FILES.items():
        yield ROOT / name, (file, railhead, HERE / f"{machine}.node", command)


def difference(golden, now):
    before = golden.read_text() if golden.exists() else ""
    name = str(golden.relative_to(ROOT))
    return list(difflib.unified_diff(before.splitlines(True), now.splitlines(True), name, "now"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    files, makers = zip(*goldens(pathlib.Path(options.railhead).resolve()))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = list(pool.map(lambda maker: maker[0](*maker[1:]), makers))
    different = 0
    for golden, now in zip(files, outputs):
        diff = difference(golden, now)
        different += bool(diff)
        sys.stdout.writelines(diff)
        if diff and options.bless:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(now)
    unused = sorted(set(GOLDEN.iterdir()) - set(files))
    for file in unused:
        print(f"{file.relative_to(ROOT)}: nothing makes it")
        if options.bless:
            file.unlink()
    print(f"{len(files)} golden outputs, {different} different")
    if (different or unused) and not options.bless:
        print("accept them with: ./dev bless")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
