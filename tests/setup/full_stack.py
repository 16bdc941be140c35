#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The policy that the full-stack guide for OpenShift prints, on a machine whose card has the eight VFs: setup has
nothing to make, and the agent offers eight of PREFIX/sriov_rdma_vf, with the operator's prefix and the guide's."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
from expectation import expect  # noqa: E402
from lib.machine import Machine, Tree  # noqa: E402

RAILHEAD = os.environ["RAILHEAD_BIN"]
PF = "/sys/bus/pci/devices/0000:82:00.0"
POLICY = """\
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
  name: gpu-rdma-vfs
  namespace: openshift-sriov-network-operator
spec:
  nodeSelector:
    node-role.kubernetes.io/gpu-worker: ""
    feature.node.kubernetes.io/network-sriov.capable: "true"
  resourceName: sriov_rdma_vf
  numVfs: 8
  nicSelector:
    vendor: "15b3"
    deviceID: "101d"
    pfNames: ["enp130s0f0"]  # the guide's machine has ens8f0
  deviceType: netdevice
  isRdma: true
  linkType: ETH
  mtu: 9000
"""


class Files(Tree):
    """Without device nodes, which only root can make."""

    @staticmethod
    def _node(at: pathlib.Path, numbers: str, mode: str) -> None:
        pass


def railhead(*words: object) -> str:
    done = subprocess.run([RAILHEAD, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"railhead {words}: {done.stderr}")
    return done.stdout


def steps(root: pathlib.Path, policy: pathlib.Path) -> dict[str, dict]:
    report = json.loads(railhead("setup", "plan", "--from", policy, "--host-root", root, "-o", "json"))
    return {step["id"]: step for step in report["steps"]}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="railhead-policy-") as folder:
        root = pathlib.Path(folder, "root")
        policy = pathlib.Path(folder, "policy.yaml")
        policy.write_text(POLICY)
        tree = Files(Machine("vfs-on-one-socket").snapshot, root)
        for name, text in {"vendor": "0x15b3", "device": "0x101d", "class": "0x020000"}.items():
            tree.write(f"{PF}/{name}", text)
        tree.write(f"{PF}/net/enp130s0f0/mtu", "1500")
        plan = steps(root, policy)
        expect(plan["sriov.vfs/0000:82:00.0"]["state"], "done", "eight VFs")
        expect(plan["sriov.vfs/0000:82:00.0"]["after"], "8", "eight VFs")
        expect(plan["sriov.mtu/0000:82:00.0"]["before"], "1500", "MTU")
        expect(plan["sriov.mtu/0000:82:00.0"]["after"], "9000", "MTU")
        tree.write(f"{PF}/sriov_totalvfs", "4")
        policy.write_text(POLICY.replace("numVfs: 8", "numVfs: 16"))
        expect(steps(root, policy)["sriov.vfs/0000:82:00.0"]["state"], "refused", "more than the card has")
        policy.write_text(POLICY)
        for prefix in ("openshift.io", "nvidia.com"):
            config = pathlib.Path(folder, "config.yaml")
            config.write_text(railhead("migrate", policy, "--resource-prefix", prefix, "-o", "config"))
            pools = json.loads(railhead("pools", "--host-root", root, "--config", config, "-o", "json"))
            found = [(pool["name"], pool["devices"]) for pool in pools["pools"]]
            expect(found, [(f"{prefix}/sriov_rdma_vf", 8)], "what the kubelet is told")
    print("eight VFs, and eight of each resource")


main()
