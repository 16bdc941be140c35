# SPDX-License-Identifier: Apache-2.0
"""check_memory.py RAILHEAD: a log may have any size. Of logs that never end, lie or are nothing but noise, more takes
no more memory, and the verdict is what the lines prove."""
import json
import os
import subprocess
import sys

MIB = 1 << 20
# In KiB, as getrusage() has it: what an allocator keeps differs from run to run.
MARGIN = 6 << 10
LINE = b"node-%d:%d:%d [%d] NCCL INFO Channel %02d/0 : %d[0] -> %d[0] [send] via NET/%s/0\n"


def lines(network, processes=64):
    """What ranks of a job print, again and again."""
    block = b"".join(LINE % (n % 8, 1000 + n, n, n % 8, n % 32, n, n + 1, network) for n in range(processes))
    return block * (MIB // len(block) + 1)


def strangers(number):
    """Each line is of another process, and warns of something else."""
    first = number * 8192
    return b"".join(b"h%d:%d:1 [0] x.cc:1 NCCL WARN word%s\n" % (n % 5, n, bytes(97 + (n >> s) % 16 for s in (0, 4, 8, 12, 16)))
                    for n in range(first, first + 8192))


RDMA, TCP = lines(b"IB"), lines(b"Socket")
NOISE = bytes(range(256)) * (MIB // 256)
WRAPPED = b"a:1:1 [0] NCCL INFO Using network\n" * (MIB // 34)
ENDLESS = b"a:1:1 [0] NCCL INFO Using network I" * (MIB // 35)
# What a part of the log is, by its number; of how many the memory is measured, first and then; verdict and exit code.
LOGS = {
    "ranks on RDMA": (lambda number: RDMA, 6, 24, "RDMA", 0),
    "ranks on RDMA, and at the end on TCP": (lambda number: TCP if number == 23 else RDMA, 6, 24, "mixed", 1),
    "a line without an end": (lambda number: ENDLESS, 6, 24, "unknown", 2),
    "noise": (lambda number: NOISE, 6, 24, "unknown", 2),
    "wrapped lines that never go on": (lambda number: WRAPPED, 6, 24, "unknown", 2),
    # More processes than are kept, from the first measurement on.
    "strangers": (strangers, 9, 18, "unknown", 2),
}


def run(make, size):
    """(the document, the exit code, peak memory in KiB) of so many parts."""
    done = subprocess.Popen([sys.argv[1], "nccl-log", "-", "-o", "json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in range(size):
        done.stdin.write(make(number))
    done.stdin.close()
    said = json.loads(done.stdout.read())
    _, status, used = os.wait4(done.pid, 0)
    return said, status >> 8, used.ru_maxrss


wrong = []
for name, (make, few, many, verdict, code) in LOGS.items():
    _, _, small = run(make, few)
    said, found, large = run(make, many)
    if (said["verdict"], found) != (verdict, code):
        wrong.append(f"{name}: {said['verdict']} and exit {found}, not {verdict} and exit {code}")
    if large > small + MARGIN:
        wrong.append(f"{name}: {few} parts took {small} KiB, {many} took {large}")
    print(f"{name}: {large} KiB")
if wrong:
    sys.exit("\n".join(wrong))
