# SPDX-License-Identifier: Apache-2.0
"""The base of every test on the cluster: pods by kubectl, and a look into their containers."""

import contextlib
import json
import pathlib
import shutil
import sys
import time
import unittest

from lib import jail
from lib.agent import Agent
from lib.cri import LOOK, Inside, inside_from
from lib.machine import Machine, Tree
from lib.process import Failed, wait_until
from lib.runner import Lines, collect, short_name

from .cluster import Cluster
from .pod import manifest


class ClusterCase(unittest.TestCase):
    """Set by run.py for the whole run: `cluster`, and `folder` for what a failure leaves."""

    cluster: Cluster
    folder: pathlib.Path
    longMessage = True
    maxDiff = None

    def setUp(self) -> None:
        self.dir = self.folder / short_name(self)
        self.dir.mkdir(parents=True)
        self._agents: list[Agent] = []
        self._pods: list[str] = []
        self.addCleanup(self._end_agents)
        self.addCleanup(self._delete_pods)

    def _delete_pods(self) -> None:
        pods, self._pods = self._pods, []
        if pods:
            self.kubectl("delete", "pod", *pods, "--grace-period=0", "--force", "--wait=true")

    def _end_agents(self) -> None:
        for agent in self._agents:
            if agent.running():
                agent.terminate()

    def enter(self, context: contextlib.AbstractContextManager) -> None:
        """Left when the test ends, after its pods."""
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        self.addCleanup(self._delete_pods)

    def kubectl(self, *words: str, text: str | None = None) -> str:
        return self.cluster.plane.kubectl(*words, text=text)

    def agent(self, machine: Machine | Tree, *flags: str) -> Agent:
        """An agent that is ready."""
        log = self.dir / f"agent-{len(self._agents)}.log"
        source = str(machine.root) if isinstance(machine, Tree) else machine.snapshot
        agent = Agent(self.cluster.runtime.nri_socket, log, source, flags)
        self._agents.append(agent)
        return agent.start()

    def unpacked(self, machine: Machine) -> Tree:
        """The machine as a tree that the test may edit."""
        return machine.unpack(self.dir / "root")

    def config(self, name: str, text: str) -> str:
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def measured(self, what: str, seconds: float) -> None:
        print(f"      {what}: {seconds:.1f} s", flush=True)

    def apply(self, name: str, **kind: object) -> str:
        """A pod as manifest() makes it; its name."""
        self._pods.append(name)
        self.kubectl("apply", "-f", "-", text=json.dumps(manifest(name, **kind)))
        return name

    def wait_initializing(self, name: str) -> None:
        """Its init container runs: the pod was admitted, so every device is allocated."""

        def runs() -> bool:
            inits = self.status(name).get("initContainerStatuses", [])
            return any("running" in init["state"] for init in inits)

        wait_until(f"the init container of {name} running", runs)

    def release(self, name: str, container: str = "init") -> None:
        """Ends a container that runs UNTIL_RELEASED."""
        self.kubectl("exec", name, "-c", container, "--", "sh", "-c", ": >/tmp/go")

    def delete(self, name: str) -> None:
        self._pods.remove(name)
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force", "--wait=true")

    def events_of(self, pod: str) -> str:
        return self.kubectl("get", "events", "--field-selector", f"involvedObject.name={pod}")

    def wait_event(self, pod: str, text: str) -> None:
        wait_until(f"an event of {pod} with {text!r}", lambda: text in self.events_of(pod))

    def run_pod(self, name: str, **kind: object) -> Inside:
        """Applied, running, and what a process in it sees."""
        self.apply(name, **kind)
        self.wait_running(name)
        return self.look(name)

    def status(self, name: str) -> dict:
        return json.loads(self.kubectl("get", "pod", name, "-o", "json"))["status"]

    def wait_running(self, name: str) -> None:
        def running() -> bool:
            status = self.status(name)
            if status.get("phase") == "Failed":
                raise Failed(f"pod {name}: {status.get('reason')}: {status.get('message')}")
            return status.get("phase") == "Running"

        try:
            wait_until(f"pod {name} running", running)
        except Failed as failure:
            raise Failed(f"{failure}\n{self.events_of(name)}") from None

    def look(self, name: str) -> Inside:
        """A kubelet that has just started does not know its pods at once."""

        def answer() -> str:
            try:
                return self.kubectl("exec", name, "-c", "main", "--", "sh", "-c", LOOK)
            except Failed as failure:
                if "pod does not exist" in str(failure):
                    return ""
                raise

        return inside_from(wait_until(f"the kubelet knows pod {name}", answer))

    def assert_gets(self, inside: Inside, machine: Machine, nics: list[str]) -> None:
        """The nodes of exactly these NICs with the host's numbers, and the variable."""
        wanted = {p: (d.major, d.minor) for p, d in machine.devices(nics).items()}
        self.assertEqual(wanted, {p: (n.major, n.minor) for p, n in inside.nodes.items()})
        value = inside.env.get("NCCL_IB_HCA", "")
        self.assertEqual("=" + ",".join(f"{nic}:1" for nic in nics), value)

    def assert_gets_nothing(self, inside: Inside) -> None:
        self.assertEqual({}, inside.nodes)
        self.assertEqual([], [name for name in inside.env if name.startswith("NCCL_")])


def run_cases(
    what: str, cluster: Cluster, package: pathlib.Path, patterns: list[str], left_out: list[str] = (), failfast: bool = False
) -> int:
    """Runs the tests of a package on a cluster that it starts and removes: 1 if one failed, or none ran. The cluster's
    folder stays where one failed."""
    began = time.monotonic()
    result = Lines(cluster.folder)
    result.failfast = failfast
    try:
        cluster.start()
        print(f"{what}: {len(cluster.nodes)} ready after {time.monotonic() - began:.0f} s", flush=True)
        ClusterCase.cluster, ClusterCase.folder = cluster, cluster.folder
        collect(package, patterns, left_out).run(result)
    finally:
        cluster.remove()
        if result.failed == 0 and sys.exc_info()[0] in (None, jail.Interrupted):
            shutil.rmtree(cluster.folder, ignore_errors=True)
        else:
            print(f"logs: {cluster.folder}")
    result.repeat_failures()
    print(f"{what}: {result.passed} passed, {result.failed} failed, {len(result.skipped)} skipped in {time.monotonic() - began:.0f} s")
    return 1 if result.failed or not result.passed else 0
