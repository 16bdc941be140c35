#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py bandwidth|latency BYTES MESSAGES ROUNDS: railhead bench and perftest, in turns.

Both write from rxe1 to rxe0 over one queue pair, with as many requests in flight. Prints each round,
and the middle of its ratios; exit code 1 if one of them moved nothing, or if data was not as sent. How
fast they are is printed beside what is wanted, and never an error.
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys

LIMIT_S = 500  # of one program; what takes longer hangs
MIB = 1 << 20  # what perftest calls MB
MOST_IN_FLIGHT = 16 * MIB  # railhead bench has no more
LISTENING, PORT = "/lab/listening", "18515"  # perftest's own


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT_S, text=True, check=False)
    if done.returncode != 0:
        raise ChildProcessError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def railhead(measure: str, size: int, messages: int, depth: int) -> float:
    """MiB/s, or microseconds: the median."""
    said = json.loads(run(
        *("railhead", "bench", "pair", "rxe1", "rxe0", "--op", "write", "--measure", measure),
        *("--size", str(size), "--iterations", str(messages), "--depth", str(depth)),
        *("--warm-up", "2", "-o", "json"),
    ))
    step = said["runs"][0]["steps"][0]
    if said["runs"][0]["state"] != "ok" or not step["validated"] or step["messages"] < messages:
        sys.exit(f"railhead bench: {step}")
    return step["gbps"] * 1e9 / 8 / MIB if measure == "bandwidth" else step["latencyUs"]["p50"]


def cycles_per_us() -> float:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("cpu MHz")).split(":")[1])


def perftest(measure: str, size: int, messages: int, depth: int) -> float:
    """The same, by perftest, which ends well and prints 0 or inf where it is not sure how fast its
    clock is: then it is asked again. 0 where it never was."""
    for _ in range(3):
        figure = perftest_once(measure, size, messages, depth)
        if 0 < figure < math.inf:
            return figure
    return 0


def perftest_once(measure: str, size: int, messages: int, depth: int) -> float:
    """Its column "BW average", or "t_typical", the median."""
    program = "ib_write_bw" if measure == "bandwidth" else "ib_write_lat"
    how = ["-F", "-x", "1", "-s", str(size), "-n", str(messages)]
    # perftest measures the rate of the processor's counter against a clock that is emulated, too,
    # and prints "inf" when it is not sure. So it says cycles, and the kernel says their rate.
    how += ["-t", str(depth)] if measure == "bandwidth" else ["-C"]
    server = subprocess.Popen([program, "-d", "rxe0", *how], stdout=subprocess.DEVNULL)
    run(LISTENING, PORT)
    said = run(program, "-d", "rxe1", *how, "127.0.0.1")
    server.wait(LIMIT_S)
    rows = [line.split() for line in said.splitlines()]
    row = next(row for row in rows if row[:2] == [str(size), str(messages)])
    return float(row[3]) if measure == "bandwidth" else float(row[4]) / cycles_per_us()


def goal(measure: str, middle: float) -> tuple[str, bool]:
    """What is wanted of the middle ratio, and whether it is so; nothing fails because of it."""
    if measure == "bandwidth":
        return ">= 0.95", round(middle, 2) >= 0.95
    return "<= 1.05", round(middle, 2) <= 1.05


def main() -> None:
    measure, size, messages, rounds = sys.argv[1], *map(int, sys.argv[2:])
    depth = max(1, min(128, messages, MOST_IN_FLIGHT // size))
    unit = "MiB/s" if measure == "bandwidth" else "us (p50)"
    print(f"{measure} of {size} bytes, {unit}    railhead    perftest   ratio")
    ratios = []
    for number in range(1, rounds + 1):
        ours = railhead(measure, size, messages, depth)
        theirs = perftest(measure, size, messages, depth)
        if ours <= 0:
            sys.exit("railhead bench: nothing moved")
        if theirs == 0:
            print(f"round {number}  {ours:27.4g}  (perftest moved the bytes and has no figure)", flush=True)
            continue
        ratios.append(ours / theirs)
        print(f"round {number}  {ours:27.4g}  {theirs:10.4g}  {ratios[-1]:6.2f}", flush=True)
    if ratios:
        middle = statistics.median(ratios)
        wanted, met = goal(measure, middle)
        print(f"middle {middle:47.2f}, wanted {wanted}: {'met' if met else 'not met'}")
    print("data checked")


if __name__ == "__main__":
    main()
