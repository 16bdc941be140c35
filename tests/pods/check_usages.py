# SPDX-License-Identifier: Apache-2.0
"""check_usages.py RAILHEAD: the verdicts of railhead pods on every usage are those of make_usages.py, and its exit code
follows from them."""
import json
import pathlib
import subprocess
import sys
import tempfile

from make_usages import FOLDER, USAGES


def verdicts(program, name, moments, options):
    command = [program, "pods", "--snapshot", FOLDER / f"{name}.node", "-o", "json", *options]
    if moments == 2:
        command += ["--before", FOLDER / f"{name}.before.node"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.returncode, {"": done.stderr}
    pods = json.loads(done.stdout)["pods"]
    return done.returncode, {pod["pod"]: f"{pod['verdict']} {pod['rung']}" + (" fallback" if pod["silentFallback"] else "")
                             for pod in pods}


# A kernel that refuses one question, and what may not be said then of a job that uses RDMA, and of the worker on TCP.
ERRNOS = ("EPERM", "EACCES", "EINVAL", "EOPNOTSUPP", "EINTR", "ENOMEM", "EFBIG", "ETIMEDOUT", "EIO", "EPROTO")
RDMA = ("nccl-rc", "ucx-devx", "efa-srd", "irdma-rc")
QUESTIONS = ("/.netlink/rdma/1", "/.netlink/rdma/10.0", "/.netlink/rdma/13.0", "/.netlink/rdma/14.0", "/.netlink/rdma/22.0",
             "/proc/2010/fd", "/proc/2010/cmdline", "/proc/2010/ns/net", "/proc/2010/cgroup")


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


wrong = []
with tempfile.TemporaryDirectory() as folder:
    for name in RDMA:
        for question in QUESTIONS:
            for errno in ERRNOS if question.startswith("/.netlink") else ERRNOS[:2]:
                path = pathlib.Path(folder) / "refusing.node"
                path.write_text(refusing(name, question, errno))
                done = subprocess.run([sys.argv[1], "pods", "--snapshot", path, "-o", "json"], capture_output=True, text=True,
                                      check=False)
                pods = json.loads(done.stdout)["pods"] if done.stdout else [{"verdict": done.stderr}]
                if any(pod["verdict"] not in ("RDMA", "unknown") or pod["silentFallback"] for pod in pods):
                    wrong.append(f"{name} where {question} fails with {errno}: {pods}")
for usage, (_, expected, _, instants, extra, _) in USAGES.items():
    code, found = verdicts(sys.argv[1], usage, instants, extra)
    words = " ".join(expected.values())
    wanted = 1 if "fallback" in words else 2 if "unknown" in words else 0
    if (found, code) != (expected, wanted):
        wrong.append(f"{usage}: {found} and exit {code}, not {expected} and exit {wanted}")
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(USAGES)} usages have the verdict that a person gives")
