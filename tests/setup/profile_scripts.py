#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of `railhead setup profile NAME --rest`, with stand-ins for every program that they start: each comes to its end, also a
second time, and stops where something is wrong before it installs anything. tests/seeds runs them on a cluster."""

import contextlib
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator

import yaml
from expectation import expect

RAILHEAD = os.environ["RAILHEAD_BIN"]
TREE = pathlib.Path(__file__).resolve().parents[2]
# Notes what it was called with and what it was given, and says what a cluster, Azure or OpenShift would.
STANDIN = r"""#!/bin/bash
name=${0##*/}
printf '%s\n' "$name $*" >>"$STATE/calls"
case "$name $*" in
  *" apply -f -") cat >>"$STATE/applied"; echo --- >>"$STATE/applied"; echo changed ;;
  "oc diff -f -") cat >/dev/null; echo +; exit 1 ;;
  "az feature show"*) echo Registered ;;
  "az aks nodepool add"*) touch "$STATE/pool" ;;
  "az aks nodepool show"*osSku*) echo "${SKU-Ubuntu}" ;;
  "az aks nodepool show"*) [ -e "$STATE/pool" ] || exit 3 ;;
  *" get nodes"*osImage*) echo "a: Ubuntu 22.04.5 LTS"; echo "b: ${IMAGE_OF_B-Ubuntu 24.04.1 LTS}" ;;
  *" get nodes"*go-template*) echo "a 1k"; echo "b 8" ;;
  *" get nodes"*) printf "$NODES" ;;
  *" get daemonsets"*) echo "2 2"; echo "0 " ;;
  *installedCSV*) [ ! -e "$STATE/approved" ] || echo operator.v1 ;;
  *installPlanRef*) echo install-1 ;;
  *" patch installplans"*) touch "$STATE/approved" ;;
  *clusterserviceversions*) echo Succeeded ;;
  *" get machineconfigpool"*) echo "r r True 00-worker 99-gpu-worker-railhead" ;;
  *sriovnetworknodestates*) echo "Succeeded 8" ;;
  "helm upgrade"*gpu-operator*) exit "${GPU_OPERATOR_ENDS-0}" ;;
esac
"""
GIVEN = {"IMAGE_REPOSITORY": "registry.example.com/railhead", "AZURE_RESOURCE_GROUP": "group", "CLUSTER_NAME": "cluster", "NODES": r"a\nb\n",
         "NFS_EXPORT": "nas.example.com:/exports/data", "PF_NAME": "ens8f0", "VF_RANGE": "192.168.100.0/24", "RAILHEAD": RAILHEAD}
# Profile -> how often helm installs something, and the kinds of objects that it makes, in their order.
AKS = ["NodeFeatureRule", "NicClusterPolicy"]
OPERATOR = ["Namespace", "OperatorGroup", "Subscription"]
ENDS = {
    ("aks-dynamo",): (3, AKS),
    ("aks-llm-d",): (3, AKS),
    ("aks-llm-d", "DRIVER=aks"): (3, AKS),
    ("bare-metal-ib",): (2, []),
    ("bare-metal-ib", "OFED=host", "DRIVER=node"): (2, []),
    ("roce", "OFED=operator"): (3, ["NicClusterPolicy"]),
    ("openshift-full-stack",): (1, ["MachineConfigPool", "MachineConfig", *OPERATOR, "NodeFeatureDiscovery", *OPERATOR, "NicClusterPolicy", *OPERATOR,
                                    "SriovNetworkNodePolicy", "Namespace", "NetworkAttachmentDefinition", *OPERATOR, "ClusterPolicy"]),
}
# What is wrong -> how often helm was asked to install something before the script stops.
STOPS = {
    ("aks-dynamo", "IMAGE_OF_B=Microsoft Azure Linux 3.0"): 0,
    ("aks-dynamo", "RAILHEAD_CHART=/nowhere"): 0,
    ("aks-dynamo", "GPU_OPERATOR_ENDS=1"): 2,
    ("aks-llm-d", "DRIVER=mine"): 0,
    ("bare-metal-ib", "OFED=mine"): 0,
    ("bare-metal-ib", "DRIVER=mine"): 0,
    ("openshift-full-stack", "NODES="): 0,
    ("openshift-full-stack", "NFS_EXPORT=nas"): 0,
}
ASKED = {"aks-dynamo": ("IMAGE_REPOSITORY", "AZURE_RESOURCE_GROUP", "CLUSTER_NAME"), "roce": ("IMAGE_REPOSITORY",),
         "openshift-full-stack": ("IMAGE_REPOSITORY", "NFS_EXPORT", "PF_NAME", "VF_RANGE")}


class Trial:
    def __init__(self, folder: pathlib.Path, profile: str) -> None:
        self.state, self.profile = folder / "state", profile
        self.state.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        for name in ("az", "kubectl", "oc", "helm"):
            (programs / name).write_text(STANDIN)
            (programs / name).chmod(0o755)
        self.env = {**GIVEN, "STATE": str(self.state), "PATH": f"{programs}:/usr/bin:/bin"}
        self.script = folder / "script.sh"
        self.script.write_text(subprocess.run([RAILHEAD, "setup", "profile", profile, "--rest"], capture_output=True, text=True, check=True).stdout)

    def run(self, *changes: str, without: str = "") -> subprocess.CompletedProcess:
        for name in ("calls", "applied"):
            (self.state / name).write_text("")
        env = self.env | dict(change.split("=", 1) for change in changes)
        env.pop(without, None)
        return subprocess.run(["bash", self.script, "-f", "own.yaml"], cwd=TREE, env=env, capture_output=True, text=True, check=False, timeout=120)

    def installs(self) -> list[list[str]]:
        return [line.split() for line in (self.state / "calls").read_text().splitlines() if line.startswith("helm upgrade --install ")]

    def kinds(self) -> list[str]:
        found = (one for one in yaml.safe_load_all((self.state / "applied").read_text()) if one)
        return [one["kind"] for one in found]


def judge_end(trial: Trial, changes: list[str], installs: int, kinds: list[str]) -> None:
    for _ in range(2):
        done = trial.run(*changes)
        what = f"{trial.profile} {changes}: {done.stderr}"
        expect(done.returncode, 0, what)
        *others, own = trial.installs()
        expect(len(others) + 1, installs, what)
        expect([word for other in others for word in ("--version", "--wait") if word not in other], [], what)
        expect((TREE / own[own.index("-f") + 1]).resolve(), TREE / f"deploy/charts/profiles/{trial.profile}.yaml", what)
        expect(own[-2:], ["-f", "own.yaml"], what)
        expect(trial.kinds(), kinds, what)


def judge_stop(trial: Trial, changes: list[str], installs: int) -> None:
    done = trial.run(*changes)
    what = f"{trial.profile} {changes}: {done.stderr}"
    expect((done.returncode, len(trial.installs())), (1, installs), what)
    expect(done.stderr.splitlines()[-1].startswith(f"{trial.profile}: stopped: "), True, what)


def judge_question(trial: Trial, name: str) -> None:
    done = trial.run(without=name)
    expect((done.returncode != 0, trial.installs(), f" {name}: " in done.stderr), (True, [], True), f"{trial.profile} without {name}: {done.stderr}")


@contextlib.contextmanager
def trial(profile: str) -> Iterator[Trial]:
    with tempfile.TemporaryDirectory() as folder:
        yield Trial(pathlib.Path(folder), profile)


def main() -> None:
    for (profile, *changes), (installs, kinds) in ENDS.items():
        with trial(profile) as one:
            judge_end(one, changes, installs, kinds)
    for (profile, *changes), installs in STOPS.items():
        with trial(profile) as one:
            judge_stop(one, changes, installs)
    for profile, names in ASKED.items():
        with trial(profile) as one:
            for name in names:
                judge_question(one, name)
    print(f"{len(ENDS)} ends, {len(STOPS)} stops, {sum(map(len, ASKED.values()))} questions")


if __name__ == "__main__":
    main()
