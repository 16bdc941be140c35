# SPDX-License-Identifier: Apache-2.0
"""Whether the code that runs for each container (cmake/container_path.ld) stays in memory when the agent gives back
the rest of its own (host/memory.h). Where the linker loses it, everything is given back, and nothing else tells."""

import re
import subprocess
import time

import programs

SECTION = re.compile(r" \.text\.container_path +PROGBITS +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) ")
GIVEN_BACK = re.compile(r"madvise\((0x[0-9a-f]+), (\d+), MADV_DONTNEED\)")


def overlaps(one, other):
    return one.start < other.stop and other.start < one.stop


def kept_section(sections):
    """Where in the program it is, by the output of readelf; empty where it is not."""
    found = SECTION.search(sections)
    begin, size = (int(text, 16) for text in found.groups()) if found else (0, 0)
    return range(begin, begin + size)


def mapped(maps, program):
    """Where the program is, by /proc/PID/maps."""
    places = [line.split()[0].split("-") for line in maps.splitlines() if line.endswith(f" {program}")]
    return range(int(places[0][0], 16), int(places[-1][1], 16))


def problem(section, own, given_back):
    """What is wrong; "" if nothing is. `own`: where the program is in memory."""
    code = [one for one in given_back if overlaps(one, own)]
    if not section:
        return "the program has no section .text.container_path"
    if not code:
        return "the agent gave back nothing of its code"
    kept = range(own.start + section.start, own.start + section.stop)
    lost = [one for one in code if overlaps(one, kept)]
    return f"the agent gives back what runs for each container: {lost} of {kept}" if lost else ""


def check(bench):
    program = bench.railhead.resolve()
    sections = subprocess.run(["readelf", "-SW", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    with programs.folder() as folder:
        trace = folder / "trace"
        agent = bench.agent(folder / "no-kubelet").format(socket=folder / "nri.sock").split()
        command = ["strace", "-D", "-f", "-e", "trace=madvise", "-o", trace, program, *agent[1:]]
        with programs.running(command, stderr=subprocess.PIPE, text=True) as process:
            if " starting " not in process.stderr.readline():  # by then it has given back
                raise RuntimeError("the agent did not start")
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                own = mapped(maps.read(), program)
        end = re.compile(rf"^{process.pid} +\+\+\+ ", re.MULTILINE)  # the tracer writes on after the agent's end
        latest = time.monotonic() + programs.STEP_S
        while not end.search(text := trace.read_text(errors="replace")):
            if time.monotonic() > latest:
                raise TimeoutError("the agent's trace has no end")
            time.sleep(0.05)
        calls = GIVEN_BACK.findall(text)
    given_back = [range(int(begin, 16), int(begin, 16) + int(size)) for begin, size in calls]
    return problem(kept_section(sections), own, given_back)
