# SPDX-License-Identifier: Apache-2.0
"""check_usages.py RAILHEAD: the verdicts of railhead pods on every usage are those of make_usages.py, and its exit code
follows from them."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from make_usages import FOLDER, USAGES


def verdicts(program, name, moments, options):
    command = [program, "pods", "--snapshot", FOLDER / f"{name}.node", "-o", "json", *options]
    for earlier in ("first", "before")[3 - moments:]:
        command += ["--before", FOLDER / f"{name}.{earlier}.node"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.returncode, {"": done.stderr}
    pods = json.loads(done.stdout)["pods"]
    return done.returncode, {pod["pod"]: f"{pod['verdict']} {pod['rung']}" + (" fallback" if pod["silentFallback"] else "")
                             for pod in pods}


# A kernel that refuses one question, each with each errno, and what may not be said then: of a job that uses RDMA that it
# fell back, of a worker on TCP that it uses RDMA, and, where devices could not be listed, of nobody that it fell back. (Where
# queue pairs could not, the list of contexts still says that it has no device open.)
# tests/unit/proof/refusals_test.cpp refuses each question of every usage.
ERRNOS = ("EPERM", "EINVAL", "EOPNOTSUPP", "EINTR", "ENOBUFS", "EMSGSIZE", "EIO")
OF_FILES = ("EACCES", "EPERM", "EIO")
ON_RDMA = ("nccl-rc", "ucx-devx", "efa-srd", "irdma-rc")
ON_TCP = ("nccl-on-tcp", "ray-worker-on-tcp")
DEVICES = "/.netlink/rdma/1"


def questions_of(name):
    """What this usage asks of the kernel: netlink's questions without the number of an answer, and the files of processes."""
    keys = {line.split(" ")[1] for line in (FOLDER / f"{name}.node").read_bytes().decode(errors="replace").split("\n")
            if line[1:2] == " " and line[2:].startswith(("/.netlink/", "/proc/"))}
    netlink = {re.sub(r"/\d{4}$", "", key) for key in keys if key.startswith("/.netlink/")}
    of_process = {"/".join(key.split("/")[:4]) for key in keys if key.split("/")[2].isdigit()}
    return sorted(netlink), sorted(of_process | {"/proc/2010/cmdline", "/proc/2010/fd", "/proc/2010/net/tcp"})


def refusing(name, question, errno):
    """The usage with another answer to one question."""
    kept, lines = [], iter((FOLDER / f"{name}.node").read_text().split("\n"))
    for line in lines:
        words = line.split(" ")
        mine = len(words) > 1 and (words[1] == question or words[1].startswith(question + "/"))
        size = int(words[2]) if words[0] == "f" else -1
        body = []
        while size >= 0 and sum(len(one.encode()) + 1 for one in body) < size + 1:
            body.append(next(lines))
        if not mine:
            kept += [line, *body]
    return "\n".join(kept).rstrip("\n") + f"\ne {question} {errno}\n"


def is_allowed(pod, name, question):
    if name in ON_RDMA:
        return pod["verdict"] in ("RDMA", "unknown") and not pod["silentFallback"]
    return pod["verdict"] != "RDMA" and not (pod["silentFallback"] and question == DEVICES)


wrong, refused = [], 0
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "refusing.node"
    for name in ON_RDMA + ON_TCP:
        netlink, files = questions_of(name)
        cases = [(question, errno) for question in netlink for errno in ERRNOS]
        for question, errno in cases + [(question, errno) for question in files for errno in OF_FILES]:
            path.write_text(refusing(name, question, errno))
            done = subprocess.run([sys.argv[1], "pods", "--snapshot", path, "-o", "json"], capture_output=True, text=True,
                                  check=False)
            pods = json.loads(done.stdout)["pods"] if done.stdout else [{"verdict": done.stderr, "silentFallback": False}]
            refused += 1
            if not all(is_allowed(pod, name, question) for pod in pods):
                wrong.append(f"{name} where {question} fails with {errno}: {pods}")
for usage, (_, expected, _, instants, extra, _) in USAGES.items():
    code, found = verdicts(sys.argv[1], usage, instants, extra)
    words = " ".join(expected.values())
    wanted = 1 if "fallback" in words else 2 if "unknown" in words else 0
    if (found, code) != (expected, wanted):
        wrong.append(f"{usage}: {found} and exit {code}, not {expected} and exit {wanted}")
# The stacks of which a recorded usage is wanted.
for stack in ("ucx", "nixl", "ibgda", "efa", "mnnvl", "bnxt"):
    if not any(name.startswith(stack) for name in USAGES):
        wrong.append(f"no usage of {stack}")
for name, (title, expected, *_) in USAGES.items():
    head = [line[2:] for line in (FOLDER / f"{name}.node").read_text().split("\n")[:9] if line.startswith("# ")]
    said = {line.split(": ")[1]: line.split(": ", 2)[2] for line in head if line.startswith("Verdict: ")}
    if head[0] != title or said != expected or not any(line.startswith("Source: ") for line in head):
        wrong.append(f"{name} does not say what it is, its verdict and its source: {head}")
if len(USAGES) < 30:
    wrong.append(f"only {len(USAGES)} usages")
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(USAGES)} usages have the verdict that a person gives; {refused} refusals of the kernel prove nothing")
