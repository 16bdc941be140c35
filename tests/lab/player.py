#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plays scenarios inside the lab's machine: one JSON object a line on standard output.

The names of the scenarios are in /lab/scenarios.json. What a failed one leaves is in /lab/out/NAME.
"""

import json
import os
import pathlib
import sys
import time
import traceback

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests/lab"), str(TREE / "tests/runtime"), str(TREE / "tests")]
os.environ["RAILHEAD_BIN"] = "/lab/bin/railhead"

import scenario as text  # noqa: E402

OUT = pathlib.Path("/lab/out")
KEPT_LINES = 40  # of a step's output, told when it fails


def tell(kind: str, **facts: object) -> None:
    print(json.dumps({"kind": kind, **facts}), flush=True)


def attempt(world, step: text.Step) -> tuple[str, str]:
    """(what is not as expected, the output); a repeated step is tried again until it is."""
    end = time.monotonic() + (text.PATIENCE_S if step.repeated else 0)
    while True:
        try:
            code, output = world.do(step)
            wrong = "" if step.background else text.unmet(step, code, output)
        except text.Malformed:
            raise
        except Exception as error:  # noqa: BLE001  a step that fails is a result
            wrong, output = f"{type(error).__name__}: {error}", traceback.format_exc()
        if not wrong or time.monotonic() >= end:
            return wrong, output
        time.sleep(0.3)


def play_steps(world, scenario: text.Scenario) -> bool:
    def show(step: text.Step, wrong: str, output: str, began: float) -> None:
        tell(
            "step",
            label=step.label(),
            line=step.line,
            wrong=wrong,
            output="\n".join(output.splitlines()[-KEPT_LINES:]) if wrong or step.shown else "",
            evidence="" if wrong or step.shown else text.evidence(step, output),
            seconds=round(time.monotonic() - began, 1),
        )

    for step in scenario.steps:
        began = time.monotonic()
        wrong, output = attempt(world, step)
        show(step, wrong, output, began)
        if wrong:
            # Often the reason: what should run beside it has failed.
            for other, code, said in world.ended_early():
                show(other, f"ended with exit code {code}", said, time.monotonic())
            return False
    good = True
    for step, code, output in world.ended():
        wrong = text.unmet(step, code, output)
        good = good and not wrong
        show(step, wrong, output, time.monotonic())
    return good


def keep_artefacts(folder: pathlib.Path) -> None:
    """What a person needs to see why: kernel log, the machine as Railhead reads it."""
    for name, command in {
        "dmesg.txt": "dmesg",
        "node.snapshot": "railhead snapshot --raw",
        "nics.txt": "railhead nics -o wide",
        "links.txt": "ip address; ip rule; rdma link; rdma system; lspci -tv",
    }.items():
        os.system(f"( {command} ) >{folder}/{name} 2>&1")


def play(runtime, scenario: text.Scenario) -> None:
    from world import World

    began, folder = time.monotonic(), OUT / scenario.name
    tell("scenario", name=scenario.name, title=scenario.title)
    world = World(runtime, folder)
    try:
        good = play_steps(world, scenario)
        if not good:
            keep_artefacts(folder)
    finally:
        world.end()
        os.system("/lab/tree/tests/lab/guest/rails")  # what the scenario may have taken away
    tell("end", name=scenario.name, good=good, seconds=round(time.monotonic() - began, 1))


def main() -> None:
    from lib.containerd import Containerd

    names = json.loads(pathlib.Path("/lab/scenarios.json").read_text())
    tell("boot", seconds=float(pathlib.Path("/proc/uptime").read_text().split()[0]),
         kernel=os.uname().release)
    folder = pathlib.Path("/lab-runtime")
    runtime = Containerd("2.4", folder / "c", hard_memlock=None, hook_limit_s=60)
    runtime.start()
    runtime.load_image()
    tell("ready", seconds=float(pathlib.Path("/proc/uptime").read_text().split()[0]))
    try:
        for name in names:
            play(runtime, text.parse(TREE / f"tests/lab/scenarios/{name}.txt"))
    finally:
        os.system(f"cp {runtime.log} {OUT}/containerd.log")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        main()
        tell("over")
    except BaseException:  # noqa: BLE001  told to the host, which shows it
        tell("broken", why=traceback.format_exc())
