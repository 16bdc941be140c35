# SPDX-License-Identifier: Apache-2.0
"""What a scenario's words act upon, inside the lab's machine: a runtime, an agent, pods, commands."""

import pathlib
import shlex
import subprocess
import threading

from lib import cri
from lib.agent import Agent
from lib.containerd import Containerd
from lib.process import wait_until
from scenario import PATIENCE_S, Malformed, Step

VERBS = pathlib.Path("/sys/class/infiniband_verbs")
PROC_GPUS = pathlib.Path("/proc/driver/nvidia/gpus")
# A container has the machine's programs: its image is a busybox and nothing else.
SHARED = {"/usr": "/usr", "/lib": "/usr/lib", "/lib64": "/usr/lib64"}
SHARED |= {"/etc/libibverbs.d": "/etc/libibverbs.d", "/lab": "/lab/tree/tests/lab/guest"}
SHARED |= {"/opt/railhead": "/lab/bin"}
PATH = "/opt/railhead:/usr/sbin:/usr/bin:/bin"
DAY_S = 86400
NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")


def gpu_uuids() -> list[str]:
    """As NVIDIA's device plugin names them, in PCI order."""
    found = []
    for gpu in sorted(PROC_GPUS.iterdir()):
        for line in (gpu / "information").read_text().splitlines():
            if line.startswith("GPU UUID:"):
                found.append(line.split()[-1])
    return found


def nodes_of(rdma_device: str) -> dict[str, str]:
    """As the kubelet adds them by DeviceSpecs. The class of uverbs knows no network namespaces."""
    uverbs = next(one.parent for one in VERBS.glob("*/ibdev") if one.read_text().strip() == rdma_device)
    paths = [f"/dev/infiniband/{uverbs.name}", "/dev/infiniband/rdma_cm"]
    return {path: path for path in paths}


class Background:
    """A command that runs beside the next steps."""

    def __init__(self, run) -> None:
        self.result: tuple[int, str] | None = None
        self._thread = threading.Thread(target=self._keep, args=(run,), daemon=True)
        self._thread.start()

    def _keep(self, run) -> None:
        self.result = run()

    def wait(self) -> tuple[int, str]:
        self._thread.join(PATIENCE_S)
        return self.result or (124, f"not ended within {PATIENCE_S} s")


class World:
    def __init__(self, runtime: Containerd, folder: pathlib.Path) -> None:
        self._runtime = runtime
        self._folder = folder
        self._agents: list[Agent] = []
        self._pods: dict[str, tuple[cri.Pod, cri.Container]] = {}
        self._background: list[tuple[Step, Background]] = []
        folder.mkdir(parents=True)

    def do(self, step: Step) -> tuple[int, str]:
        """The exit code and the output of a step."""
        return getattr(self, f"_{step.word}")(step)

    def _host(self, step: Step) -> tuple[int, str]:
        return self._command(step, lambda: self._run_here(step))

    def _in(self, step: Step) -> tuple[int, str]:
        if step.subject not in self._pods:
            raise Malformed(f"line {step.line}: no pod {step.subject} was started")
        container = self._pods[step.subject][1]
        return self._command(step, lambda: self._run_inside(container, step))

    def _command(self, step: Step, run) -> tuple[int, str]:
        if not step.background:
            return run()
        self._background.append((step, Background(run)))
        return 0, "started"

    def ended(self):
        """The commands in the background: (step, exit code, output), each after it ended."""
        waiting, self._background = self._background, []
        for step, command in waiting:
            yield step, *command.wait()

    def ended_early(self):
        """Those that have ended by now: (step, exit code, output)."""
        for step, command in self._background:
            if command.result:
                yield step, *command.result

    def _run_here(self, step: Step) -> tuple[int, str]:
        try:
            done = subprocess.run(
                ["/bin/dash", "-c", step.text],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=DAY_S if step.background else PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode(errors="replace") + "\n(not ended in time)"
        return done.returncode, done.stdout.decode(errors="replace")

    def _run_inside(self, container: cri.Container, step: Step) -> tuple[int, str]:
        command = ["/bin/sh", "-c", f"exec 2>&1; {step.text}"]
        # 0 is no limit: what runs beside other steps runs until it is ended.
        limit, patience = (0, DAY_S) if step.background else (PATIENCE_S, PATIENCE_S + 30)
        request = cri.pb.ExecSyncRequest(container_id=container.id, cmd=command, timeout=limit)
        answer = self._runtime.cri.call("ExecSync", request, timeout_s=patience)
        return answer.exit_code, (answer.stdout + answer.stderr).decode(errors="replace")

    def _agent(self, step: Step) -> tuple[int, str]:
        """`agent [without capabilities] [FLAGS]`"""
        plain = step.text.removeprefix("without capabilities")
        under = NO_CAPABILITIES if plain != step.text else ()
        log = self._folder / f"agent-{len(self._agents)}.log"
        agent = Agent(self._runtime.nri_socket, log, "/", tuple(shlex.split(plain)), under)
        self._agents.append(agent)
        agent.start(ready=False)
        agent.wait_ready(PATIENCE_S)
        return 0, f"ready, pid {agent.pid}"

    def _log(self, step: Step) -> tuple[int, str]:
        """The log of the agent that was started last; `log EVENT`: only such lines."""
        lines = self._agents[-1].events(step.text or None)
        return 0, "\n".join(" ".join(f"{k}={v}" for k, v in line.items()) for line in lines)

    def _page(self, step: Step) -> tuple[int, str]:
        """`page /metrics`: what the agent that was started last serves there."""
        status, body = self._agents[-1].page(step.text)
        return int(status != 200), body

    def _pod(self, step: Step) -> tuple[int, str]:
        """`pod NAME [gpus=0,1] [user=1000] [network=own] [attach=RAIL:ADDRESS[:DEVICE]]
        [slot=RESOURCE:ID] [nodes=DEVICE] [VARIABLE=VALUE] [KEY/annotation=VALUE]`"""
        words = dict(word.split("=", 1) for word in shlex.split(step.text))
        env = {"PATH": PATH} | {name: words.pop(name) for name in [*words] if name.isupper()}
        devices = {}
        if "gpus" in words:
            indices = [int(index) for index in words.pop("gpus").split(",")]
            env["NVIDIA_VISIBLE_DEVICES"] = ",".join(gpu_uuids()[index] for index in indices)
            devices = {f"/dev/nvidia{index}": f"/dev/nvidia{index}" for index in indices}
        user, attach = words.pop("user", None), words.pop("attach", None)
        slot, nodes = words.pop("slot", None), words.pop("nodes", None)
        own_network = words.pop("network", "host") == "own"
        pod = self._runtime.cri.run_pod(
            step.subject, annotations=words, host_network=not own_network
        )
        if attach:
            subprocess.run(["attach", pod.network_namespace(), *attach.split(":")], check=True)
        if slot:
            self._wait_known(slot.partition(":")[2])
        if nodes:
            devices |= nodes_of(nodes)
        resource, _, identity = (slot or "").partition(":")
        held = {f"allocation.railhead.io/{resource}": identity} if slot else {}
        try:
            container = pod.run(
                env=env,
                annotations=held,
                devices=devices,
                mounts=SHARED,
                user=int(user) if user else None,
            )
        except cri.Refused as refused:
            pod.remove()  # so that it can be tried again, as a kubelet does
            return 1, str(refused)
        self._pods[step.subject] = (pod, container)
        return 0, "started"

    def _wait_known(self, nic: str) -> None:
        """A slot is of a NIC that the agent has read; here it may be made for the pod."""

        def known() -> bool:
            return any(line["nic"] == nic for line in self._agents[-1].events("nic"))

        wait_until(f"the agent has read {nic}", known, PATIENCE_S)

    def _stop(self, step: Step) -> tuple[int, str]:
        """`stop agent` or `stop POD`"""
        if step.subject == "agent":
            return self._agents[-1].terminate(PATIENCE_S), "ended"
        self._pods.pop(step.subject)[0].remove()
        return 0, "removed"

    def end(self) -> None:
        """Nothing of the scenario is left, whatever state it is in."""
        for agent in self._agents:
            if agent.running():
                agent.kill()
        self._runtime.cri.remove_all_pods()
