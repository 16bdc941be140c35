#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/claims.md: every number is recomputed or a quotation that is written down here too, and every command that
measures one exists with these options. What needs no hardware is run on a machine of tests/nodes."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

from commands import ROOT, arguments, commands

PAGE = ROOT / "docs/claims.md"
NODE = ROOT / "tests/nodes/seed-8gpu-4nic.node"
NUMBER = r"([0-9][0-9,]*(?:\.[0-9]+)?)"

GBIT = 8  # Gbit/s of one GB/s
# Bytes around 4096 of payload. Ethernet with gap, preamble and checksum, IPv4, UDP, BTH and ICRC; InfiniBand: LRH, BTH, ICRC, VCRC.
ROCE_WIRE = 4096 + (12 + 8 + 14 + 4) + 20 + 8 + 12 + 4
IB_WIRE = 4096 + 8 + 12 + 4 + 2
ROCE = 4096 / ROCE_WIRE
IB = 4096 / IB_WIRE
# Lanes x GT/s x encoding x payload of a TLP of 256 bytes.
GEN3, GEN4, GEN5 = (16 * rate * 128 / 130 * 256 / 280 for rate in (8, 16, 32))
CACHE = 2 * 80 * 8 * 128 * 2 * 32768 / 1e9  # keys and values, layers, heads, elements, bytes, tokens; GB
WRITE = 0.180640e6 * 65536 * 8 / 1e9        # messages a second, bytes, bits; Gbit/s
MiB, GiB = 1 << 20, 1 << 30


class Near(float):
    """A number that the page rounds more than its digits say."""


# Each sentence with numbers as it stands on the page, {} for each number, and what our arithmetic makes of it. A number in a
# sentence of its own text is one of the source, of hardware or of a name.
SENTENCES = [
    ("Payload of a RoCE packet of {} bytes is {} of {} bytes on the wire ({} %), of InfiniBand {} of {} ({} %)",
     4096, 4096, ROCE_WIRE, 100 * ROCE, 4096, IB_WIRE, 100 * IB),
    ("the line rate × {}/{} × {}/{}: {} Gbit/s for Gen3 x16, {} for Gen4 x16, {} for Gen5 x16", 128, 130, 256, 280, GEN3, GEN4, GEN5),
    ("{} Gbit/s are 1 GB/s.", GBIT),
    # Dynamo
    ("~{} s to the first token over TCP, {} to {} ms with RDMA | a ratio of {} to {}.", 98, 200, 500, 98 / 0.5, 98 / 0.2),
    ("Between {} Gbit/s and the {} Gbit/s that the next text gives TCP lies a factor of {}, and eight NICs of which TCP uses one "
     "account for {}.", 400, 10, 400 / 10, 8 * 400 / 10),
    ("In {} s {} Gbit/s move {} GB", 98, 10, 98 * 10 / GBIT),
    ("a 70B model ({} layers, {} heads of {}, {} bits) for {} tokens are {} GB, {} s",
     80, 8, 128, 16, 32768, CACHE, CACHE * GBIT / 10),
    ("{} GPUs a node, {} `rdma/…` slots, `rdmaHcaMax: {}` shown as `{}k`", 8, 8, 1000, 1000 / 1000),
    ("admission and no bandwidth: {} pods share", 1000),
    # llm-d
    ("the limit of memory lock is {} KiB a container | {} KiB are {} pages: not one message of {} KiB beside its queues. {} MiB on "
     "newer systems are {}/{} of a cache of {} GiB", 64, 64, 64 / 4, 64, 8, 1, Near(240 * GiB / (8 * MiB)), 240),
    ("`nvidia.com/gpu: {}`, `rdma/ib: {}`", 8, 8),
    ("{}, {}, {}, {} GB of GPU memory a node | {} × {} = {}, {} × {} = {}, {} × {} = {} |",
     80, 320, 640, 1128, 8, 40, 8 * 40, 8, 80, 8 * 80, 8, 141, 8 * 141),
    # k8s-rdma-device-plugin
    ("~{} Gbit/s over TCP, {} to {} over InfiniBand | {} Gbit/s of line rate carry {} (RoCE) or {} (InfiniBand) of payload and need "
     "Gen5 x16: Gen4 x16 ends at {}. That is {} times {}, and each NIC has it. The last text below gives TCP {} to {} GB/s, {} to {} "
     "Gbit/s: then it is {} to {} times", 10, 200, 400, 400, 400 * ROCE, 400 * IB, GEN4, 400 * ROCE / 10, 10, 3, 6, 3 * GBIT, 6 * GBIT,
     400 * ROCE / (6 * GBIT), 400 * ROCE / (3 * GBIT)),
    ("{} GPUs, {} NICs; GPU {},{} → mlx5_{}, GPU {},{} → mlx5_{} |", 8, 4, 0, 1, 0, 4, 5, 2),
    ("`rdma.io/hca`, {} slots", 100),
    # Documentation/admin-guide/devices.txt of Linux: 231 is InfiniBand, 0 the first umad, 192 the first uverbs.
    ("`uverbs0` is {}:{} | wrong: {}:{} is `umad0`, `uverbs0` {}:{}.", 231, 0, 231, 0, 231, 192),
    # Crater
    ("(V100 and A100 clusters)",),
    ("on one NIC: {} peak, {} average of {} Gbit/s, {} bytes, {} messages, {} M messages/s", 94.72, 94.71, 100, 65536, 5000, 0.180640),
    ("{} × 10⁶ × {} × {} = {} Gbit/s", 0.180640, 65536, 8, WRITE),
    ("The whole is {} GB in {} ms.", 5000 * 65536 / 1e9, 5000 * 65536 * 8 / 1e6 / WRITE),
    ("{} of {} possible is {} %.", WRITE, 100 * IB, WRITE / IB),
    ("Gen3 x16 carries {} each", GEN3),
    ("two seconds are better than {} ms", 5000 * 65536 * 8 / 1e6 / WRITE),
    ("A100 nodes: near {} Gbit/s | {} of payload, and Gen4 x16 carries {}. A slot that trained to x8 carries {};",
     200, 200 * IB, GEN4, GEN4 / 2),
    ("two pods, `-q {}`, near {} Gbit/s | {} possible", 2, 100, 100 * IB),
    ("two {}-port switches with four links of {} Gbit/s between them | {} Gbit/s for up to {} ports that cross: {} Gbit/s each",
     36, 100, 4 * 100, 36, 4 * 100 / 36),
    ("`nvidia.com/hostdev` {} on V100, {} on A100 | V100: two ports, both up: {}. A100: `mlx5_0`, `mlx5_1` and most likely the two "
     "slaves of the bond.", 2, 4, 2),
    ("So {} counts what cannot be used; for InfiniBand {} is right", 2 + 2, 1),
    ("`rdmaHcaMax: {}`", 63),
    ("Conflicting CPU frequency values … {} != {}\" | changes the message rate of small messages and not {} KiB at line rate",
     1000, 3013, 65536 / 1024),
    # NVIDIA open GPU
    ("NFS: TCP {} to {}, RDMA {} to {}, with GPUDirect {} to {}, with SR-IOV {} to {} GB/s; *{} to {} GB/s per NIC*",
     3, 6, 10, 20, 15, 25, 20, 28, 20, 28),
    ("{} GB/s are {} Gbit/s of payload. The NIC of that text is a ConnectX-6 Dx (`101d`), {} Gbit/s at most, {} GB/s of payload, and "
     "two ports share its Gen4 x16 ({} GB/s). So {} needs a NIC of {} Gbit/s, of which it is {} %, or two",
     28, 28 * GBIT, 200, 200 * ROCE / GBIT, GEN4 / GBIT, 28, 400, 100 * 28 * GBIT / (400 * ROCE)),
    ("`dd` of {} GiB: {} to {} GB/s ({} to {} Gbit/s), TCP {} to {} | {} Gbit/s are {} and {} are {} GB/s before headers.",
     4096 * 4 / 1024, 12, 24, 100, 200, 3, 6, 100, 100 / GBIT, 200, 200 / GBIT),
    ("SR-IOV adds {} to {} %", 10, 15),
    ("eight VFs of a NIC of {} Gbit/s have {} each", 200, 200 / 8),
    ("*one VF per GPU gives {}:{} bandwidth*", 1, 1),
    ("time to load {} GB: {} to {}, {} to {}, {} to {}, {} to {} s | {} GB by the same rows' rates are {} to {}, {} to {}, {} to {}, "
     "{} to {} s:", 10, 1.7, 3.3, 0.5, 1.0, 0.4, 0.7, 0.35, 0.5, 10, 10 / 6, 10 / 3, 10 / 20, 10 / 10, 10 / 25, 10 / 15, 10 / 28, 10 / 20),
    ("CPU {} to {} % (TCP), {} to {}, {} to {} and {} to {} % | of one core or of all is not said, so {} to {} % is between {} and {} "
     "cores of {}.", 80, 100, 20, 40, 3, 8, 2, 5, 2, 8, 2 / 100, 128 * 8 / 100, 128),
    ("{} to {} ms a transfer with the CPU at {} %, {} ms with the stack and the CPU at {} % | no size is named: {} ms at {} GB/s are {} "
     "MB. The CPU's time would fall by a factor of {} to {};", 3, 5, 100, 0.5, 5, 0.5, 200 * ROCE / GBIT, 0.5 * 200 * ROCE / GBIT,
     3 * 1 / (0.5 * 0.05), 5 * 1 / (0.5 * 0.05)),
    ("`torch.from_numpy(memmap).to(gpu)`: {} to {} GB/s, *via GPUDirect RDMA*; {} to {} without", 8, 15, 2, 4),
    ("{} floats are {} GB", 256e6, 256e6 * 4 / 1e9),
    ("{} Gbit/s and {} GPUs a node: the CPU caps at {} to {} % | {} to {} Gbit/s: the same as one Gen4 x16 slot ({}).",
     400, 8, 40, 60, 400 * 0.4, 400 * 0.6, GEN4),
    ("adds {} to {} % latency | {} to {} µs of a write would become {} to {}", 30, 50, 1, 2, 1 * 1.3, 2 * 1.5),
    # The mount option is parsed for RDMA since Linux 6.9 (fs/nfs/client.c, xprtrdma); OpenShift 4.14 is RHEL 9.2's kernel.
    ("`nconnect={}` is {} RDMA connections | before Linux 6.9 it counts for TCP only, so OpenShift 4.14 (5.14) makes one |", 16, 16),
    ("`{} of {}`", 1, 16),
    ("`mnt-ai\\\\x2ddata.mount`",),
    ("{} MiB `rsize`, port {} | right: {} is", 1048576 / MiB, 20049, 20049),
    # A RoCE packet in IPv6 with RETH has 80 bytes beside its payload.
    ("MTU {} for RDMA | RoCE takes the largest of {} to {} bytes that fits. {} are enough for {}; {} change nothing more",
     9000, 256, 4096, 4200, 4096, 9000),
    ("`101e` is ConnectX-7 | wrong: it is a virtual function of any of them; ConnectX-7 is `1021`",),
    # PCI Express Base Specification, 7.5.3: Device Control at 08h, relaxed ordering bit 4; Link Control at 10h, retrain link bit 5.
    ("`setpci … CAP_EXP+10.w=0020` turns on relaxed ordering | **dangerous**: that is Link Control, and 0x{} retrains the link and "
     "clears the rest. Relaxed ordering is bit {} of Device Control, CAP_EXP+{}", 20, 4, 8),
    ("ring buffers of {}, adaptive", 8192),
]
assert 1 << 5 == 0x20 and 4096 + 40 + 8 + 12 + 16 + 4 <= 4200

# What a reader puts in: the other side of a bench, a file.
OTHER_SIDE = "127.0.0.1:1"
# Exit codes of a command on a machine without RDMA: the question was understood.
UNDERSTOOD = (0, 1, 2)


def is_shown_as(text, value):
    """Whether the page's digits are the value, rounded."""
    decimals = len(text.partition(".")[2])
    found = float(text.replace(",", ""))
    room = 0.05 * value if isinstance(value, Near) else 0.5 * 10 ** -decimals
    return abs(found - value) <= room + 1e-9


def without_sentence(page, template, values, wrong):
    """The page without the sentence; a number that is not as computed is told."""
    pattern = NUMBER.join(re.escape(part) for part in template.split("{}"))
    match = re.search(pattern, page)
    if not match:
        wrong.append(f"not on the page: {template}")
        return page
    if len(match.groups()) != len(values):
        wrong.append(f"{len(match.groups())} numbers and {len(values)} values: {template}")
    for text, value in zip(match.groups(), values):
        if not is_shown_as(text, value):
            wrong.append(f"{text} on the page, {float(value):.6g} computed: {match.group()}")
    return page[:match.start()] + " " + page[match.end():]


def check_numbers(page):
    wrong = []
    rest = re.sub(r"\]\([^)]*\)", "]", page)                                  # links
    for template, *values in SENTENCES:
        rest = without_sentence(rest, template, values, wrong)
    rest = re.sub(r"`(?:railhead|ibv_)[^`]*`|`--[^`]*`", "", rest)            # commands, below
    rest = re.sub(r"mlx5_core|\bk8s-rdma", "", rest)
    for match in re.finditer(r".{0,40}\d+.{0,40}", rest):
        wrong.append(f"a number that nothing recomputes: …{match.group()}…")
    return wrong


def words_of(text):
    """A command of the page as one that can be run."""
    text = text.replace("HOST:PORT", OTHER_SIDE).replace("FILE", os.devnull)
    words = shlex.split(text)[1:]
    if words[:2] == ["bench", "client"] and OTHER_SIDE not in words:
        words = [OTHER_SIDE if word == "…" else word for word in words]
    if words[:2] == ["bench", "pair"]:
        words = ["mlx5_0" if word == "…" else word for word in words]
    return words


def complete(words):
    """What of the page is a name and no whole command gets what it needs."""
    if words == ["nccl-log"]:
        return [*words, os.devnull]
    if words == ["migrate"]:
        return [*words, "--help"]
    if words in (["bench"], ["bench", "pair"]):
        return [*words, "--help"]
    return words


def check_command(railhead, bench, text):
    """What is wrong with one command; runs it where that needs no hardware."""
    words = words_of(text)
    if "…" in words:
        return f"{text}: what stands for … cannot be told"
    known = commands(bench) if words[0] == "bench" else commands(railhead)
    names = words[1:] if words[0] == "bench" else words
    name = max((name for name in known if names[:len(name.split())] == name.split()), key=len, default=None)
    if name is None:
        return f"{text}: there is no such command"
    for word in names:
        if word.startswith("-") and word not in known[name]:
            return f"{text}: `{name}` has no {word}"
    words = complete(words)
    if words[0] != "bench" and "--help" not in words and words[0] != "nccl-log":
        words += ["--snapshot", str(NODE)]
    environment = {**os.environ, "RAILHEAD_BENCH_KEY": "0123456789abcdef" * 4}
    program = [bench, *words[1:]] if words[0] == "bench" else [railhead, *words]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=60)
    if done.returncode not in UNDERSTOOD:
        return f"{shlex.join(program)} ended with {done.returncode}: {done.stderr.strip()}"
    return None


def check_commands(railhead, bench, page):
    found = dict.fromkeys(re.findall(r"`(railhead(?: [^`]*)?)`", page))
    if len(found) < 15:
        return [f"only {len(found)} commands on the page"]
    return [said for said in (check_command(railhead, bench, text) for text in found) if said]


def check_names(page):
    """Options and keys of JSON that stand beside a command."""
    schema = (ROOT / "tests/cli/bench.json").read_text() + "".join(
        path.read_text() for path in sorted((ROOT / "docs/schemas").glob("*bench*.json")))
    return [f"no key {key} in bench's document" for key in ("pcie", "pcieDegraded") if f"`{key}`" in page and f'"{key}"' not in schema]


def check_deal(railhead):
    """The deal of eight GPUs and four NICs is as the page says."""
    wrong = []
    for gpus, nic in (("0,1", "mlx5_0"), ("4,5", "mlx5_2")):
        said = subprocess.run([railhead, "affinity", "--gpus", gpus, "--snapshot", str(NODE)], capture_output=True, text=True).stdout
        if nic not in said:
            wrong.append(f"affinity --gpus {gpus} does not give {nic}:\n{said}")
    return wrong


def main():
    options = arguments()
    page = " ".join(PAGE.read_text().split())
    railhead, bench = (str(pathlib.Path(path).resolve()) for path in (options.railhead, options.bench))
    wrong = check_numbers(page) + check_names(page) + check_deal(railhead) + check_commands(railhead, bench, page)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
