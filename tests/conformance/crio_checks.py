#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The agent beside a runtime that speaks and ignores as CRI-O does, in each of its releases.

  crio_checks.py RAILHEAD
"""

import json
import pathlib
import re
import sys
import tempfile
import time

from crio import RELEASES, Container, Crio
from runtime_side import Closed, Failed, Lab, expect
from wire import Malformed

NODES = pathlib.Path(__file__).resolve().parents[1] / "nodes"
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
ALLOCATION = "allocation.railhead.io/rdma.io/hca"
PATIENCE_S = 60
MEMLOCK = 1 << 20  # bytes: what any machine can set


class Agent(Lab):
    """The agent on one machine; checks share it and connect one after another. Without `nri` there is no socket."""

    def __init__(self, railhead, node, folder, nri=True):
        folder.mkdir()
        snapshot = NODES / f"{node}.node"
        self.uuids = re.findall(r"GPU-[0-9a-f-]{36}", snapshot.read_text(errors="replace"))
        command = [railhead, "agent", "--snapshot", snapshot, "--nri-socket", "{socket}", "--device-plugin=false",
                   "--bind-address", "127.0.0.1:0", "--metrics-socket", "''", "--log-format", "json", "--memlock-cap", str(MEMLOCK)]
        super().__init__(" ".join(map(str, command)), self.uuids[0], str(folder), restart=False)
        if not nri:
            self.listener.close()
            (folder / "nri.sock").unlink()
        self.offset = 0
        self.start()

    def holding(self, *gpus, **more):
        """A container with these GPUs, on the host's network unless it is said otherwise."""
        return Container(env=(f"{VISIBLE}={','.join(self.uuids[gpu] for gpu in gpus)}",), **more)

    def beside(self, release, *containers):
        """A connection of a CRI-O in which these containers run already."""
        self.offset = pathlib.Path(self.log_path).stat().st_size
        return Crio(self, release).synchronize(*containers)

    def lines(self, event, fields):
        """What this connection logged with that event and these fields. Lines are written some time after the answer:
        one of the connection before may be among them, so ask for what only this one says."""
        with open(self.log_path, "rb") as log:
            log.seek(self.offset)
            whole = [json.loads(line) for line in log.read().split(b"\n")[:-1] if line.startswith(b"{")]
        wanted = {"event": event, **fields}
        return [line for line in whole if wanted.items() <= line.items()]

    def said(self, event, **fields):
        """The line with that event and these fields, once it is there."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = self.lines(event, fields)
            if found:
                return found[-1]
            time.sleep(0.02)
        raise Failed(f"nothing was logged as {event!r} with {fields}, but {self.lines(event, {})}")

    def decided(self, container):
        """The decision on it; each has a name of its own."""
        return self.said("container", container=container.name)


def same(wanted, found, what):
    expect(wanted == found, f"{what}: {found}, not {wanted}")


def a_gpu_brings_its_nic(agents, release):
    """a container with a GPU gets nodes, variable and limit, as far as the release applies them"""
    agent = agents["infiniband"]
    made = agent.beside(release).create(agent.holding(0))
    same(2, len(made.devices), "a NIC's node and rdma_cm")
    expect(made.env.get("NCCL_IB_HCA", "").startswith("="), f"environment {made.env}")
    same((), made.ignored, "what CRI-O ignores")
    limits = {"RLIMIT_MEMLOCK": (MEMLOCK, MEMLOCK)} if "rlimits" in release.applies else {}
    same(limits, made.rlimits, "limits")
    expect(not [key for key in made.annotations if "crio" in key or "cri-o" in key], "annotations of CRI-O's own")


def it_says_what_is_ignored(agents, release):
    """what a release ignores is logged once, and with each container that it concerns"""
    agent = agents["infiniband"]
    crio, container = agent.beside(release), agent.holding(0)
    crio.create(container)
    decision = agent.decided(container)
    ignored = {"what": f"cri-o {release.version} ignores RLIMIT_MEMLOCK from NRI plugins (needs 1.29.0)"}
    if "rlimits" in release.applies:
        same([], agent.lines("runtime lacks a feature", ignored), "the log")
        expect("remark.memlock-unsupported" not in decision, str(decision))
        return
    agent.said("runtime lacks a feature", **ignored)
    same(f"cri-o {release.version} ignores memlock limits of NRI plugins",
         decision.get("remark.memlock-unsupported"), "the decision")


def required_memory_lock(agents, release):
    """required fails where the memory lock that it needs would be ignored, and says so"""
    agent = agents["infiniband"]
    text, made = agent.beside(release).ask(
        agent.holding(0, pod_annotations={"rdma.railhead.io/pod": "required"}))
    if "rlimits" in release.applies:
        same("", text, "refusal")
        return
    expect(re.match(r"railhead: .*ignores memlock limits", text), f"message {text!r}")


def host_network(agents, release):
    """a pod is on the host's network where its containers have none, whatever the pod's list says"""
    agent = agents["ethernet"]
    crio = agent.beside(release)
    same(2, len(crio.create(agent.holding(0)).devices), "nodes on the host's network")
    own = agent.holding(0, host_network=False)
    same(0, len(crio.create(own).devices), "nodes with a network of its own")
    same("roce-own-network", agent.decided(own)["reason"], "the reason")


def a_copied_allocation(agents, release):
    """an allocation that stands on the pod refuses the start; one of the kubelet's gives nodes"""
    agent = agents["infiniband"]
    crio = agent.beside(release)
    for forged in (Container(pod_annotations={ALLOCATION: "all"}),
                   Container(pod_annotations={ALLOCATION: "all"}, annotations={ALLOCATION: "0"})):
        text, _ = crio.ask(forged)
        expect(re.match(r"railhead: .*also stands in the pod's annotations", text), f"message {text!r}")
        same("allocation-copied", agent.decided(forged)["reason"], "the reason")
    expect(crio.create(Container(annotations={ALLOCATION: "0"})).devices, "the kubelet's allocation gave nothing")


def copied_annotations_of_cdi(agents, release):
    """a CDI name that stands on the pod is no GPU"""
    agent = agents["infiniband"]
    crio = agent.beside(release)
    named = {"cdi.k8s.io/nvidia": "nvidia.com/gpu=0"}
    same((), crio.create(Container(pod_annotations=named)).devices, "forged")


def devices_of_cdi(agents, release):
    """GPUs that CRI-O has injected by CDI are seen by their nodes"""
    agent = agents["infiniband"]
    gpu = Container(devices=(("/dev/nvidia0", 195, 0), ("/dev/nvidiactl", 195, 255)))
    same(2, len(agent.beside(release).create(gpu).devices), "nodes")


def a_privileged_container(agents, release):
    """a privileged container is known by its writable sysfs, and gets no nodes"""
    agent = agents["infiniband"]
    privileged = agent.holding(0, privileged=True)
    same((), agent.beside(release).create(privileged).devices, "nodes")
    same("privileged", agent.decided(privileged)["reason"], "the reason")


def a_limit_that_is_there(agents, release):
    """a limit that CRI-O shows is left where it is enough, and no limit is set twice"""
    agent = agents["infiniband"]
    unlimited = 2**64 - 1
    made = agent.beside(release).create(
        agent.holding(0, rlimits=(("RLIMIT_MEMLOCK", unlimited, unlimited),)))
    same("rlimits" in release.applies and not release.shows_limits, "RLIMIT_MEMLOCK" in made.rlimits, "a limit")


def a_creation_that_is_undone(agents, release):
    """a container that CRI-O gives up after the answer is stopped and removed, and asked for again"""
    agent = agents["infiniband"]
    crio = agent.beside(release)
    container = agent.holding(0)
    for _ in range(2):
        expect(crio.create(container).devices, "no nodes")
        crio.tell(10, container, "StopContainer")
        crio.tell(11, container)


def a_whole_life(agents, release):
    """each event of a pod's life that it subscribed to is answered"""
    agent = agents["infiniband"]
    crio = agent.beside(release)
    container = agent.holding(0)
    crio.tell(1, container)
    expect(crio.create(container).devices, "no nodes")
    for number in (5, 6, 7):
        crio.tell(number, container)
    crio.tell(8, container, "UpdateContainer")
    crio.tell(10, container, "StopContainer")
    for number in (11, 2, 3):
        crio.tell(number, container)


def what_was_missed(agents, release):
    """a container that CRI-O started while the agent was away is reported"""
    agent = agents["infiniband"]
    missed = agent.holding(0)
    crio = agent.beside(release, missed)
    agent.said("container without its devices", pod="default/worker", container=missed.name)
    expect(crio.create(agent.holding(1)).devices, "no nodes")


def timeouts(agents, release):
    """without timeouts in Configure the defaults of NRI count"""
    agent = agents["infiniband"]
    agent.beside(release).create(agent.holding(0))
    said = agent.said("runtime connected", runtime="cri-o", version=release.version)
    same("2000", str(said["requestTimeoutMs"]), "log")


CHECKS = (
    a_gpu_brings_its_nic, it_says_what_is_ignored, required_memory_lock, host_network, a_copied_allocation,
    copied_annotations_of_cdi, devices_of_cdi, a_privileged_container, a_limit_that_is_there,
    a_creation_that_is_undone, a_whole_life, what_was_missed, timeouts,
)


def problem_of(check, agents, release):
    try:
        check(agents, release)
    except Closed as why:
        return f"the agent hung up: {why}"
    except (Failed, Malformed) as why:
        return str(why)
    finally:
        for agent in agents.values():
            agent.close_sessions()
    return None


def nri_is_off(railhead, folder):
    """where NRI is off, as by default before CRI-O 1.30, the log names the socket that is missing"""
    agent = Agent(railhead, "dgx-h100", folder, nri=False)
    said = agent.said("runtime not connected")
    expect("nri.sock" in said["why"], str(said))
    agent.stop()


def main():
    railhead, failed, passed = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory(prefix="railhead-crio-") as temporary:
        folder = pathlib.Path(temporary)
        agents = {
            "infiniband": Agent(railhead, "dgx-h100", folder / "infiniband"),
            "ethernet": Agent(railhead, "hgx-h100-roce", folder / "ethernet"),
        }
        for check in CHECKS:
            problems = {one.version: problem_of(check, agents, one) for one in RELEASES}
            bad = {version: why for version, why in problems.items() if why}
            passed += len(problems) - len(bad)
            failed += len(bad)
            print(f"{'FAIL' if bad else 'PASS'}  {check.__doc__}", flush=True)
            for version, why in bad.items():
                print(f"      {version}: {why}", flush=True)
        for agent in agents.values():
            agent.stop()
        try:
            nri_is_off(railhead, folder / "off")
            passed += 1
            print(f"PASS  {nri_is_off.__doc__}")
        except Failed as why:
            failed += 1
            print(f"FAIL  {nri_is_off.__doc__}: {why}")
    print(f"as CRI-O, {len(RELEASES)} releases: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
