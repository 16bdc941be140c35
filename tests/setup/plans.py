#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What railhead setup plans for each profile on each machine, and that it can be done and undone.

A machine is a snapshot of tests/nodes with the files of a distribution over it. tests/setup/plans/PROFILE.txt
has the plans; machines with the same one stand together. For each of them: after apply a plan has nothing to do,
and after revert every file, link and mode is as before. --bless writes the pages; read them.
"""

import argparse
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runtime"))
from lib.machine import Machine, Tree  # noqa: E402

PAGES = HERE / "plans"
IN_TREE = ["ib_core", "ib_umad", "ib_uverbs", "rdma_ucm", "ib_ipoib"]
UNITS = {"usr/lib/systemd/system/containerd.service": "[Service]\n",
         "usr/lib/systemd/system/kubelet.service": "[Service]\n"}
CRI = 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\n  enable_cdi = true\n'
OPEN_DRIVER = {"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n"}


def kernel(release: str, more: list[str]) -> dict[str, str]:
    lines = [f"kernel/{name}.ko:{' kernel/ib_core.ko' if name != 'ib_core' else ''}\n" for name in IN_TREE + more]
    return {"proc/sys/kernel/osrelease": f"{release}\n", f"lib/modules/{release}/modules.dep": "".join(lines)}


# What differs between distributions, as facts; their containerd files are tests/setup/containerd_files.py's.
SYSTEMS = {
    "AKS, Ubuntu": {**kernel("5.15.0-1068-azure", ["rpcrdma"]), **UNITS, "etc/containerd/config.toml": CRI},
    "AKS, GPU operator": {**kernel("5.15.0-1068-azure", ["rpcrdma"]), **UNITS, **OPEN_DRIVER,
                          "etc/containerd/config.toml": CRI,
                          "run/nvidia/validations/.driver-ctr-ready": "",
                          "run/mellanox/drivers/.driver-ready": "",
                          "var/log/pods/kube-system_ib-node-config-x7k2p_1-2/.keep": ""},
    "EKS": {**kernel("6.1.119-129.201.amzn2023.x86_64", []), **UNITS,
            "etc/containerd/config.toml": "version = 2\nimports = [\"config.d/*.toml\"]\n"
                                          '[plugins."io.containerd.grpc.v1.cri"]\n  enable_cdi = true\n',
            "etc/containerd/config.d/.keep": ""},
    "GKE": {**kernel("6.6.56+", []), **UNITS, **OPEN_DRIVER, "etc/containerd/config.toml": CRI,
            "run/nri/nri.sock": ""},
    "OpenShift": {**kernel("5.14.0-427.40.1.el9_4.x86_64", ["rpcrdma"]), **OPEN_DRIVER,
                  "usr/lib/systemd/system/crio.service": "[Service]\n",
                  "usr/lib/systemd/system/kubelet.service": "[Service]\n",
                  "etc/crio/crio.conf.d/00-default": "[crio.runtime]\n",
                  "etc/machine-config-daemon/currentconfig": "{}\n"},
    "Debian, containerd 2": {**kernel("6.1.0-31-amd64", ["nvidia-peermem", "rpcrdma"]), **UNITS,
                             "etc/modules-load.d/ib.conf": "ib_umad\n", "run/nri/nri.sock": "",
                             "sys/module/ib_umad/refcnt": "0\n", "sys/module/ib_core/refcnt": "9\n"},
    "K3s": {**kernel("6.8.0-51-generic", ["rpcrdma"]), "usr/lib/systemd/system/k3s.service": "[Service]\n",
            "proc/900/comm": "containerd\n",
            "proc/900/cmdline": "containerd\0-c\0/var/lib/rancher/k3s/agent/etc/containerd/config.toml\0",
            "var/lib/rancher/k3s/agent/etc/containerd/config.toml":
                f'{CRI}[plugins."io.containerd.nri.v1.nri"]\n  disable = true\n'},
}
MACHINES = {
    "azure-nd-h100-v5": "AKS, GPU operator", "azure-nd-a100-v4": "AKS, Ubuntu", "azure-ndv2": "AKS, Ubuntu",
    "azure-mi300x": "AKS, Ubuntu", "aws-p5": "EKS", "aws-p4d": "EKS", "aws-g5": "EKS", "gcp-a3ultra": "GKE",
    "gcp-a4": "GKE", "ibm-vpc-h100": "OpenShift", "hgx-b200": "OpenShift", "dgx-h100": "OpenShift",
    "hgx-h100-roce": "Debian, containerd 2", "dgx-a100": "Debian, containerd 2", "amd-mi300x": "Debian, containerd 2",
    "gb200-tray": "K3s", "nics-only": "K3s", "gpus-only": "K3s",
}
PROFILES = ["aks-dynamo", "aks-llm-d", "openshift-full-stack", "bare-metal-ib", "roce", "hpc"]


class Files(Tree):
    """Without device nodes, which only root can make."""

    @staticmethod
    def _node(at: pathlib.Path, numbers: str, mode: str) -> None:
        pass


def everything(root: pathlib.Path) -> dict[str, object]:
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = pathlib.Path(folder, name)
            status = path.lstat()
            content = (os.readlink(path) if path.is_symlink() else path.read_bytes()
                       if stat.S_ISREG(status.st_mode) else None)
            found[str(path.relative_to(root))] = (status.st_mode, content)
    return found


class Trial:
    def __init__(self, railhead: str, root: pathlib.Path, profile: str) -> None:
        self.command = [railhead, "setup"]
        self.flags = ["--host-root", str(root), "-o", "json"]
        self.wanted = ["--profile", profile, "--allow", "R4"]

    def run(self, verb: str) -> dict:
        done = subprocess.run([*self.command, verb, *self.flags, *(self.wanted if verb != "revert" else [])],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            raise SystemExit(f"setup {verb} {self.wanted[1]}: {done.stderr}")
        return json.loads(done.stdout)

    def steps(self, verb: str) -> list[dict]:
        return self.run(verb)["steps"]


def line_of(step: dict) -> str:
    text = f"  {step['state']:<8}{step['class']}  {step['title']}"
    if step["state"] == "todo":
        text += f": {step['before'] or 'nothing'} -> {step['after']}"
    return text + (f" ({step['reason']})" if step["reason"] else "")


def judge(name: str, profile: str, trial: Trial, root: pathlib.Path) -> tuple[str, list[str]]:
    """Its plan as the page has it, and what is wrong."""
    before = everything(root)
    document = trial.run("plan")
    plan = list(map(line_of, document["steps"])) or [f"  skipped: {document['skipped']}"]
    trial.steps("apply")
    wrong = [f"still to do: {line_of(step)}" for step in trial.steps("plan") if step["state"] == "todo"]
    trial.steps("revert")
    after = everything(root)
    wrong += [f"not as before: {path}" for path in sorted(before.keys() | after.keys())
              if before.get(path) != after.get(path)]
    return ("\n".join(plan), [f"{name}, {profile}: {one}" for one in wrong])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", default=os.environ.get("RAILHEAD_BIN"))
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    plans: dict[str, dict[str, list[str]]] = {profile: {} for profile in PROFILES}
    wrong = []
    with tempfile.TemporaryDirectory(prefix="railhead-plans-") as folder:
        for name, system in MACHINES.items():
            root = pathlib.Path(folder, name)
            tree = Files(Machine(name).snapshot, root)
            for path, text in SYSTEMS[system].items():
                at = tree.at(path)
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_text(text)
            for profile in PROFILES:
                page, more = judge(name, profile, Trial(options.railhead, root, profile), root)
                plans[profile].setdefault(page, []).append(f"{name} ({system})")
                wrong += more
    for profile, groups in plans.items():
        page = "\n\n".join("\n".join(names) + "\n" + plan for plan, names in groups.items()) + "\n"
        path = PAGES / f"{profile}.txt"
        if options.bless:
            path.write_text(page)
        elif not path.exists() or path.read_text() != page:
            wrong.append(f"{path} differs; tests/setup/plans.py --bless accepts this:\n{page}")
    print("\n".join(wrong) or f"{len(MACHINES)} machines, {len(PROFILES)} profiles: applied and taken back")
    return 1 if wrong else 0


sys.exit(main())
