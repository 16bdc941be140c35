# SPDX-License-Identifier: Apache-2.0
"""`./dev bench --order`: writes cmake/container_path.ld, which puts the functions that run for each
container side by side.

Between two containers the processor's caches are given to others. Then an answer costs what it takes to
fetch its code again, and a page of code that it shares with nothing else is fetched for a few lines."""

import collections
import pathlib
import re
import subprocess

import programs

OUTPUT = programs.ROOT / "cmake/container_path.ld"
WARM_UP, REQUESTS = 200, 200
HEAD = """/* SPDX-License-Identifier: Apache-2.0
 * Written by `./dev bench --order`; do not edit. What runs for each container lies side by side, so that less of
 * the program has to be fetched again for the next one: tests/bench/code_order.py. A name that is no more has
 * no effect, and one that is missing costs nothing but its place.
 */
SECTIONS
{
  .text.container_path :
  {
    PROVIDE_HIDDEN(railhead_container_path_begin = .);
"""
TAIL = """    *libc.a:malloc.o(.text .text.*)
    PROVIDE_HIDDEN(railhead_container_path_end = .);
  }
}
INSERT BEFORE .text;
"""
FEWEST = 50
# What the compiler adds to the name of a function that it has made of another one.
_MADE_OF = re.compile(r"(\.(constprop|isra|part|localalias)(\.\d+)?)+$|'\d+$")
_NAMED = re.compile(r"^c?fn=\((\d+)\)(?: (\S+))?")
_COST = re.compile(r"^[+-]?\d+ (\d+)$|^\* (\d+)$")


def instructions_in(lines):
    """Of callgrind's output: instructions of each function itself."""
    names, own, function, is_call = {}, collections.Counter(), None, False
    for line in lines:
        found = _NAMED.match(line)
        if found:
            names.setdefault(found[1], found[2])
            if line.startswith("fn="):
                function = names[found[1]]
            continue
        cost = _COST.match(line)
        if cost and not is_call:
            own[function] += int(cost[1] or cost[2])
        is_call = line.startswith("calls=")
    return own


def of_a_request(bench, folder, kind):
    """Functions that run for at least every second request of this kind."""
    profile = folder / kind
    agent = bench.agent(folder / "no-kubelet", "--port-check-interval=0", "--rescan-interval=3600", "--pods-interval=0")
    valgrind = f"valgrind -q --tool=callgrind --demangle=no --separate-threads=yes --callgrind-out-file={profile} {agent}"
    with programs.steps(bench, valgrind) as step:
        step("ask", WARM_UP, kind)
        subprocess.run(["callgrind_control", "-z", str(step.pid)], check=True, stdout=subprocess.DEVNULL)
        step("ask", REQUESTS, kind)
        subprocess.run(["callgrind_control", "-d", str(step.pid)], check=True, stdout=subprocess.DEVNULL)
    own = instructions_in(pathlib.Path(f"{profile}.1-01").read_text(encoding="utf-8", errors="replace").splitlines())
    return {name for name, instructions in own.items() if instructions >= REQUESTS / 2}


def of_source(name):
    return _MADE_OF.sub("", name)


def write(bench):
    with programs.folder() as folder:
        found = of_a_request(bench, folder, "gpu") | of_a_request(bench, folder, "plain")
    names = sorted({of_source(name) for name in found if name.startswith("_Z")})
    if len(names) < FEWEST:
        raise RuntimeError(f"only {len(names)} functions were found: is the program stripped?")
    sections = "".join(f"    *(.text.{name} .text.{name}.*)\n" for name in names)
    OUTPUT.write_text(HEAD + sections + TAIL, encoding="utf-8")
    print(f"{OUTPUT}: {len(names)} functions")
