#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Railhead beside the smallest Go plugin and a floor, and writes docs/benchmarks.md.

Everything is measured in turns on one machine in one run; figures of different runs cannot be
compared. scripts/bench builds the programs and calls this. The figures are kept in a file with the
commit of each part, so that one part can be measured alone (--only): the page then says which of the
others are of another commit.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import traceback

import code_order
import goals
import kept_code
import page
from page_tables import is_same_program
from programs import ROOT, Bench

# Written by measurements: no figure depends on them.
WRITTEN = ("docs/benchmarks.md", "docs/lab-result.md", "docs/pictures/soak.svg", "tests/soak/soak.json")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path,
                        help="folder of nri-runtime, kubelet, smallest, floor and slow_file")
    parser.add_argument("--railhead", required=True, type=pathlib.Path, help="release binary")
    parser.add_argument("--built", type=pathlib.Path,
                        help="folder of railhead_bench_micro and pod_question, for the parts reading and podresources")
    parser.add_argument("--node", type=pathlib.Path, default=ROOT / "tests/nodes/dgx-h100.node")
    parser.add_argument("--rounds", type=int, default=3, help="whole repetitions; medians are shown")
    parser.add_argument("--requests", type=int, default=20000, help="of each kind in a round")
    parser.add_argument("--containers", type=int, default=3000, help="of the large Synchronize")
    parser.add_argument("--only", action="append", choices=page.PARTS, metavar="PART",
                        help=f"one part, repeatable: {', '.join(page.PARTS)}")
    parser.add_argument("--counts", action="store_true",
                        help="write no page; measure the counts and fail where one is above its goal")
    parser.add_argument("--order", action="store_true",
                        help="measure nothing; write cmake/container_path.ld with what runs for each container")
    parser.add_argument("--figures", type=pathlib.Path, help="where figures are kept [PROGRAMS/figures.json]")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/benchmarks.md")
    return parser.parse_args()


def gpus(node):
    """UUIDs of the snapshot's GPUs, in order of their addresses."""
    return re.findall(r"GPU UUID:.*(GPU-[0-9a-f-]{36})", node.read_text(encoding="utf-8"))


def first_line(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=True)
        return done.stdout.decode(errors="replace").splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def commit_of(railhead):
    """What the figures are of: the commit, "-dirty" if the tree has changes."""
    if railhead.resolve() != ROOT / "build/release/railhead":
        return f"{railhead}, which was not built here"
    kept_out = [f":!{path}" for path in WRITTEN]
    dirty = "-dirty" if git("status", "--porcelain", "--", ".", *kept_out) else ""
    commit = git("rev-parse", "--short=9", "HEAD") + dirty
    of = built_of(railhead)
    return commit if is_same_program(of, commit.removesuffix("-dirty")) else f"{commit}, and a program of {of}"


def built_of(railhead):
    """The commit that a program says it was built of."""
    said = subprocess.run([railhead, "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(r"^commit: (\S+)", said, re.M).group(1)


def lab():
    path = ROOT / "docs/lab-result.md"
    return {"result": path.read_text(encoding="utf-8"),
            "commit": git("log", "-1", "--format=%h", "--abbrev=9", "--", path)}


def soak():
    path = ROOT / "tests/soak/soak.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def field_in(path, key):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "unknown"


def module_version(name):
    found = re.search(rf"^\s*{re.escape(name)} (\S+)", (ROOT / "tests/bench/peers/go.mod").read_text(), re.M)
    return found.group(1) if found else "unknown"


def stamp(args, commit, seconds):
    """When, on what load and of what the figures are."""
    memory_gib = int(field_in("/proc/meminfo", "MemTotal").split()[0]) / (1 << 20)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "load at the end": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "commit": commit,
        "Railhead": first_line(args.railhead, "--version"),
        "machine": f"{os.cpu_count()} cores, {field_in('/proc/cpuinfo', 'model name')}, {memory_gib:.0f} GiB",
        "kernel": platform.release(),
        "NRI adaptation and stub": f"{module_version('github.com/containerd/nri')}, "
                                   f"{first_line('go', 'env', 'GOVERSION')}",
        "C compiler": first_line("cc", "--version"),
        "command": f"`{' '.join(['./dev bench', *(f'--only {name}' for name in args.only or ())])}`",
        "seconds": round(seconds, 1),
    }


def check_counts(bench):
    """Prints each count beside its goal; 1 if one is above that, or above what had been reached, or if what runs for
    each container is given back."""
    figures = page.counts.measure(bench)
    print("\n".join(page.counts.section(figures)))
    values = page.counts.goal_values(figures)
    missed = 0
    for goal in goals.goals_of("counts"):
        kept = goal if goal.kept is None else dataclasses.replace(goal, limit=goal.kept)
        met = kept.met(values[goal.key])
        missed += not met
        print(f"{goal.text}: {goal.shown(values[goal.key])}, wanted {goal.wanted}, kept {kept.wanted}: "
              f"{'met' if met else 'NOT MET'}")
    lost = kept_code.check(bench)
    missed += bool(lost)
    print(lost or "what runs for each container stays in memory")
    return 1 if missed else 0


def main():
    args = arguments()
    first_gpu, *_, last_gpu = gpus(args.node)
    bench = Bench(args.programs, args.railhead, args.node, first_gpu, last_gpu, args.railhead.resolve().parent,
                  args.built, args.rounds, args.requests, args.containers)
    if args.order:
        return code_order.write(bench)
    if args.counts:
        return check_counts(bench)
    commit = commit_of(args.railhead)  # before anything is written
    # How a file came to be decides how the page cache has it, and with that how much of it is mapped.
    bench.railhead = pathlib.Path(shutil.copy2(args.railhead, args.programs / "railhead"))
    kept = args.figures or args.programs / "figures.json"
    parts = json.loads(kept.read_text()) if args.only and kept.exists() else {}
    failed = False
    for name in args.only or page.PARTS:
        begin = time.monotonic()
        try:
            figures = page.PARTS[name][1].measure(bench)
        except (OSError, RuntimeError, subprocess.SubprocessError):  # the other parts are worth their minutes
            traceback.print_exc()
            parts.pop(name, None)
            failed = True
            continue
        parts[name] = {"stamp": stamp(args, commit, time.monotonic() - begin), "figures": figures}
        kept.write_text(json.dumps(parts, indent=1) + "\n")
    if parts:
        args.output.write_text(page.render(parts, commit, lab(), soak()), encoding="utf-8")
        print(args.output)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
