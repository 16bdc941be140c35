#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Railhead beside the smallest Go plugin and a floor, and writes docs/benchmarks.md.

Everything is measured in turns on one machine in one run; figures of different runs cannot be
compared. scripts/bench builds the programs and calls this.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import kubelet_figures
import page

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, help="folder of nri-runtime, smallest and floor")
    parser.add_argument("--railhead", help="release binary; without it only the other two are measured")
    parser.add_argument("--micro", help="railhead_bench_micro; without it no reads are measured")
    parser.add_argument("--node", default=os.path.join(ROOT, "tests/nodes/dgx-h100.node"))
    parser.add_argument("--rounds", type=int, default=3, help="whole repetitions; medians are shown")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--containers", type=int, default=3000)
    parser.add_argument("--only-kubelet", action="store_true",
                        help="measure the kubelet's face alone and replace its section of the page")
    parser.add_argument("--output", default=os.path.join(ROOT, "docs/benchmarks.md"))
    return parser.parse_args()


def first_gpu(node):
    """UUID of a GPU of the snapshot; any text will do for plugins that do not look."""
    try:
        with open(node, encoding="utf-8") as file:
            found = re.search(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", file.read())
    except FileNotFoundError:
        found = None
    return found.group(0) if found else "GPU-00000000-0000-0000-0000-000000000000"


def plugins(args):
    smallest = os.path.join(args.programs, "smallest")
    floor = os.path.join(args.programs, "floor")
    commands = {"smallest": f"{smallest} -nri-socket {{socket}}", "floor": f"{floor} {{socket}}"}
    if args.railhead:
        commands["railhead"] = (
            f"{args.railhead} agent --snapshot {args.node} --nri-socket {{socket}}"
            " --device-plugin=false --bind-address 127.0.0.1:0"
        )
    return commands


def one_round(args, commands):
    """One run of nri-runtime: its JSON with `plugins` as a map by name."""
    command = [
        os.path.join(args.programs, "nri-runtime"),
        f"-gpus={first_gpu(args.node)}",
        f"-requests={args.requests}",
        f"-containers={args.containers}",
    ]
    command += [f"-plugin={name}={line}" for name, line in commands.items()]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=600, check=True)
    result = json.loads(done.stdout)
    result["plugins"] = {plugin["name"]: plugin for plugin in result["plugins"]}
    return result


def micro(args):
    """Google Benchmark's results by name, in milliseconds of real time; {} without the program."""
    if not args.micro:
        return {}
    with tempfile.TemporaryDirectory(prefix="railhead-bench-") as folder:
        tree = os.path.join(folder, "tree")
        make = os.path.join(ROOT, "tests/nodes/make_nodes.py")
        for output in (["--directory", tree], ["--out", folder]):
            subprocess.run([sys.executable, make, "many-vfs", *output], timeout=300, check=True)
        nodes = glob.glob(os.path.join(ROOT, "tests/nodes/*.node"))
        largest = max(nodes, key=os.path.getsize)
        environment = dict(
            os.environ,
            RAILHEAD_BENCH_TREE=tree,
            RAILHEAD_BENCH_SNAPSHOT=largest,
            RAILHEAD_BENCH_MANY=os.path.join(folder, "many-vfs.node"),
            RAILHEAD_BENCH_NODE=args.node,
        )
        done = subprocess.run(
            [args.micro, "--benchmark_format=json", "--benchmark_repetitions=3",
             "--benchmark_report_aggregates_only=true"],
            stdout=subprocess.PIPE, env=environment, timeout=600, check=True,
        )
    to_ms = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
    times = {
        entry["run_name"]: entry["real_time"] * to_ms[entry["time_unit"]]
        for entry in json.loads(done.stdout)["benchmarks"]
        if entry.get("aggregate_name") == "median" and not entry.get("error_occurred")
    }
    return {"largest": os.path.relpath(largest, ROOT), "times": times}


def kubelet_alone(args):
    figures = kubelet_figures.measure(args.railhead, args.programs, first_gpu(args.node))
    with open(args.output, encoding="utf-8") as file:
        text = page.with_kubelet(args, ROOT, file.read(), figures)
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(text)
    print(args.output)


def main():
    args = arguments()
    if args.only_kubelet:
        kubelet_alone(args)
        return
    commands = plugins(args)
    rounds = []
    for number in range(args.rounds):
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
        rounds.append(one_round(args, commands))
    kubelet = None
    if args.railhead:
        kubelet = kubelet_figures.measure(args.railhead, args.programs, first_gpu(args.node))
    text = page.render(args, ROOT, rounds, micro(args), kubelet)
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(text)
    print(args.output)


if __name__ == "__main__":
    main()
