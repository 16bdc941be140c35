# SPDX-License-Identifier: Apache-2.0
"""check_memory.py RAILHEAD [GIB]: a log may have any size. Of logs that never end, lie or are nothing but noise, more
takes no more memory and no more time for each line, and the verdict is what the lines prove. With GIB one log of that
size goes through a pipe, and its rate is printed: 10 for the figure in docs/nccl-log.md."""
import json
import os
import resource
import subprocess
import sys
import time

MIB = 1 << 20
# In KiB, as getrusage() has it: what an allocator keeps differs from run to run.
MARGIN = 6 << 10
# Seconds of the processor for a MiB, of a build without optimization. What looks at a line again and again takes minutes.
SLOWEST = 3
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


def jobs(number):
    """Two jobs share the log, and each part has other communicators: by its number TCP or RDMA, on hosts of its own."""
    block = lines(b"IB" if number % 2 else b"Socket", 8).replace(b"node-", b"job%d-node-" % (number % 2))
    chosen = b"".join(b"job%d-node-%d:%d:1 [%d] NCCL INFO comm 0x%x rank %d nranks 8 cudaDev %d commId 0x%x - Init START\n"
                      % (number % 2, n % 8, 1000 + n, n % 8, number * 8192 + n, n % 8, n % 8, number * 8192 + n // 8) for n in range(8192))
    return block[:MIB - len(chosen)] + b"\n" + chosen


def test_tables(number):
    """What nccl-tests prints before a run, each of other hosts."""
    return b"".join(b"#  Rank %2d Group  0 Pid %6d on host-%d device %2d [0x1a] GPU\n" % (n % 8, n, number * 1024 + n // 8, n % 8)
                    for n in range(8192)) * 2


RDMA, TCP = lines(b"IB"), lines(b"Socket")
NOISE = bytes(range(256)) * (MIB // 256)
WRAPPED = b"a:1:1 [0] NCCL INFO Using network\n" * (MIB // 34)
NULS = (b"\0" * 4000 + b"\na:1:1 [0] NCCL INFO Using network \0\0IB\n") * (MIB // 4040)
# Lines of ten parts: what stands at their beginning counts, and the rest is not kept.
LONG_HEAD = b"a:1:1 [0] NCCL INFO Using network Socket  " + b"x" * MIB
LONG_REST = [b"x" * MIB, b"U" * MIB, b"Channel " * (MIB // 8), b"[0]" * (MIB // 3), b"\x1b[36m" * (MIB // 5), b"&lt;" * (MIB // 4),
             b"\\n" * (MIB // 2), b'"' * MIB, b"NCCL " * (MIB // 5), b"NCCL INFO" * (MIB // 9) + b"\n"]
# Short lines of what the readers look for, so that each looks long.
TRAPS = b"".join(word * (2048 // len(word)) + b"\n" for word in (
    b"NCCL INFO ", b"NCCL WARN ", b"[0] ", b"] ", b"-> ", b"1:1:", b"Channel 00 : ", b"via NET/", b"UCX  cfg#1(", b"|", b"NET/", b"Rank ",
    b"comm 0x", b"U", b"Using network ", b": Function: ", b"^[[", b"&", b"\\r", b"0[0] -> ", b"libfabric:", b"Got completion "))
TRAPS *= MIB // len(TRAPS)
ENDLESS = b"a:1:1 [0] NCCL INFO Using network I" * (MIB // 35)
ONE_LINE = LINE.replace(b"\n", b"\\n") % ((1,) * 7 + (b"Socket",)) * (MIB // 80)
# What a part of the log is, by its number; of how many the memory is measured, first and then; verdict and exit code.
LOGS = {
    "ranks on RDMA": (lambda number: RDMA, 6, 24, "RDMA", 0),
    "ranks on RDMA, and at the end on TCP": (lambda number: TCP if number == 23 else RDMA, 6, 24, "mixed", 1),
    "a line without an end": (lambda number: ENDLESS, 6, 24, "unknown", 2),
    "noise": (lambda number: NOISE, 6, 24, "unknown", 2),
    "wrapped lines that never go on": (lambda number: WRAPPED, 6, 24, "unknown", 2),
    "NULs": (lambda number: NULS, 6, 24, "RDMA (chosen)", 0),
    "lines of 10 MiB": (lambda number: LONG_HEAD if number % 11 == 0 else LONG_REST[number % 11 - 1], 11, 33, "TCP", 1),
    "a log of RDMA, and one of TCP in one line": (lambda number: RDMA if number == 0 else ONE_LINE, 6, 24, "mixed", 1),
    "traps": (lambda number: TRAPS, 6, 24, None, None),
    "two jobs in one log": (jobs, 4, 12, "mixed", 1),
    "tables of nccl-tests": (test_tables, 6, 24, "unknown", 2),
    # More processes than are kept: one more for each 768 bytes, within ten times the log.
    "strangers": (strangers, 9, 18, "unknown", 2),
}


def run(make, size):
    """(the document, the exit code, peak memory in KiB, seconds of the processor) of so many parts."""
    done = subprocess.Popen([sys.argv[1], "nccl-log", "-", "-o", "json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in range(size):
        done.stdin.write(make(number))
    done.stdin.flush()
    with open(f"/proc/{done.pid}/status", encoding="ascii") as status:
        reading = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    done.stdin.close()
    said = json.loads(done.stdout.read())
    _, status, used = os.wait4(done.pid, 0)
    # What a process took before it became another counts, too: then only what it took while it read is known.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return said, status >> 8, used.ru_maxrss if used.ru_maxrss > own else reading, used.ru_utime


def measure(gib):
    """A job of 64 ranks in a log of so many GiB: RDMA, and at its very end one rank on TCP."""
    parts = gib << 10
    began = time.monotonic()
    _, _, small, _ = run(lambda number: RDMA, 6)
    said, code, large, seconds = run(lambda number: TCP if number == parts - 1 else RDMA, parts)
    size = (parts - 1) * len(RDMA) + len(TCP)
    print(f"{size / 1e9:.1f} GB, {said['lines']} lines, {said['verdict']}: {large / 1024:.1f} MiB of memory "
          f"({small / 1024:.1f} for 6 MiB), {seconds:.0f} s of the processor, {size / 1e6 / seconds:.0f} MB a second; "
          f"{time.monotonic() - began:.0f} s in all")
    right = (said["verdict"], code) == ("mixed", 1) and large <= small + MARGIN
    sys.exit(0 if right else f"not so: {said['verdict']}, exit {code}, {large} KiB")


if len(sys.argv) > 2:
    measure(int(sys.argv[2]))
wrong = []
for name, (make, few, many, verdict, code) in LOGS.items():
    _, _, small, _ = run(make, few)
    said, found, large, seconds = run(make, many)
    if verdict and (said["verdict"], found) != (verdict, code):
        wrong.append(f"{name}: {said['verdict']} and exit {found}, not {verdict} and exit {code}")
    if large > small + (10 * (many - few) * len(make(0)) >> 10 if make is strangers else MARGIN):
        wrong.append(f"{name}: {few} parts took {small} KiB, {many} took {large}")
    if seconds / many > SLOWEST:
        wrong.append(f"{name}: {seconds / many:.2f} s of the processor for a MiB")
    print(f"{name}: {large} KiB, {seconds / many * 1000:.0f} ms for a MiB")
if wrong:
    sys.exit("\n".join(wrong))
