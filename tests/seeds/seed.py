# SPDX-License-Identifier: Apache-2.0
"""The base of every guide that is played: its machines, the stand-ins in the path, and a look for traces."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

from kube import traces
from kube.case import ClusterCase
from kube.chart import import_image, reachable_pods, usual_socket
from kube.setup_job import REVERT, run_job
from kube.space import SNAPSHOT
from lib import paths
from lib.machine import Machine
from lib.process import Failed, wait_until
from operators import Operators

HERE = pathlib.Path(__file__).resolve().parent
GPU_NODES = ("gpu-1", "gpu-2")
SYSTEM_NODE = "system-1"
# Of a release of ours each revision is a Secret, and a second run makes one more.
REVISIONS = "Secret kube-system/sh.helm.release.v1."


class SeedCase(ClusterCase):
    machines: dict[str, str] = {}  # node -> the machine of the box that it is
    kept: tuple[str, ...] = ()  # files of the agent that stay in /run/railhead until the next boot
    nics: list[str] = []  # which all GPUs of such a machine get together
    size = ""  # as the cloud calls the machines with GPUs

    def setUp(self) -> None:
        super().setUp()
        self.railhead = paths.railhead()
        self.machine = Machine(self.machines[GPU_NODES[0]])
        import_image(self.cluster, self.dir)
        for name, machine in self.machines.items():
            node = self.cluster.node(name)
            self.enter(node.space.being(Machine(machine), self.dir / name))
        self.enter(usual_socket(self.cluster))
        self.enter(reachable_pods(self.cluster))
        self._make_standins()
        self.before = self.traces()
        self.operators = Operators(self.cluster, {node.name: self._machine_of(node.name) for node in self.cluster.nodes})
        self.operators.start()
        self.addCleanup(self.operators.end)

    def _machine_of(self, node: str) -> Machine | None:
        return Machine(self.machines[node]) if node in self.machines else None

    def _make_standins(self) -> None:
        self.standins = self.dir / "standins"
        (self.standins / "bin").mkdir(parents=True)
        for name in ("az", "helm"):
            (self.standins / "bin" / name).symlink_to(HERE / "standins.py")
        sizes = {node: self.size for node in GPU_NODES} | {SYSTEM_NODE: "Standard_D4s_v5"}
        (self.standins / "machines.json").write_text(json.dumps(sizes))
        self.values = self.dir / "machine.yaml"
        folder = str(pathlib.Path(SNAPSHOT).parent)
        self.values.write_text(json.dumps({
            "extraEnv": [{"name": "RAILHEAD_SNAPSHOT", "value": SNAPSHOT}],
            "extraVolumes": [{"name": "machine", "hostPath": {"path": folder}}],
            "extraVolumeMounts": [{"name": "machine", "mountPath": folder, "readOnly": True}]}))
        folders = (self.standins / "bin", self.cluster.plane.bin, paths.TREE / "deploy/kubectl")
        self.env = {
            **os.environ,
            **{f"HELM_{kind}_HOME": str(self.dir / "helm") for kind in ("CACHE", "CONFIG", "DATA")},
            "PATH": ":".join(map(str, [*folders, os.environ["PATH"]])),
            "KUBECONFIG": str(self.cluster.plane.kubeconfig),
            "STANDINS": str(self.standins),
            "REAL_HELM": f"{paths.fetch('go-tool', 'helm')}/helm",
            "IMAGE_REPOSITORY": "localhost/railhead",
        }

    def type(self, text: str, **env: str) -> str:
        """What a user types in a clone; standard output."""
        return self._run(["bash", "-euc", text], env)

    def play(self, profile: str, **env: str) -> str:
        """Our script for a profile, as it is printed; its last line."""
        script = self.dir / f"{profile}.sh"
        script.write_text(subprocess.run([paths.railhead(), "setup", "profile", profile, "--rest"], check=True,
                                         capture_output=True, text=True).stdout)
        said = self._run(["bash", str(script), "-f", str(self.values)], env)
        return said.splitlines()[-1]

    def _run(self, command: list[str], env: dict[str, str]) -> str:
        done = subprocess.run(command, cwd=paths.TREE, env=self.env | env, capture_output=True, text=True, check=False)
        if done.returncode != 0 or self.operators.trouble:
            raise Failed(f"{' '.join(command)}: {done.stdout[-1500:]}{done.stderr[-1500:]}{self.operators.trouble}\n{self.operators.last_failure}\n{self._state()}")
        return done.stdout

    def _state(self) -> str:
        return "\n" + self.kubectl("get", "pods", "--all-namespaces", "-o", "wide", check=False)

    def kubectl(self, *words: str, text: str | None = None, check: bool = True) -> str:
        return self.cluster.plane.kubectl(*words, text=text, check=check)

    # How it ended

    def answers(self, command: str) -> list[dict]:
        """What it prints: JSON values, one after the other."""
        text, found = self.type(command).strip(), []
        while text:
            value, end = json.JSONDecoder().raw_decode(text)
            found.append(value)
            text = text[end:].lstrip()
        return found

    def pods(self, namespace: str, label: str) -> list[dict]:
        return json.loads(self.kubectl("--namespace", namespace, "get", "pods", "-l", label, "-o", "json"))["items"]

    def assert_running(self, namespace: str, label: str, nodes: tuple[str, ...] = ()) -> None:
        """Pods of it are there and ready, one on each of these nodes and none elsewhere."""
        pods = self.pods(namespace, label)
        for pod in pods:
            self.assertTrue(all(one["ready"] for one in pod["status"]["containerStatuses"]), pod["metadata"]["name"])
        self.assertTrue(pods, f"{namespace} {label}")
        if nodes:
            self.assertEqual(sorted(nodes), sorted(pod["spec"]["nodeName"] for pod in pods))

    def assert_prepared(self, memlock: bool) -> None:
        """Setup has ended on each node with GPUs, and no other node was touched. With `memlock` it wrote the files of that: what
        else a profile wants is there (NRI) or needs a kernel's modules."""
        pods = {pod["spec"]["nodeName"]: pod for pod in self.pods("kube-system", "app.kubernetes.io/name=railhead-setup")}
        self.assertEqual(set(GPU_NODES), set(pods))
        for node in GPU_NODES:
            log = self.kubectl("--namespace", "kube-system", "logs", pods[node]["metadata"]["name"], "-c", "setup")
            self.assertNotRegex(log, "(?m)^(failed|refused|FAIL)")
            self.assertEqual(memlock, self.cluster.node(node).at("/etc/security/limits.d/99-railhead-memlock.conf").exists(), log)
        self.assertFalse(self.cluster.node(SYSTEM_NODE).at("/var/lib/railhead").exists())

    def assert_whole_node_gets_all(self, slot: str) -> None:
        """A pod of each node's eight GPUs has all compute NICs, and may lock the memory that they need."""
        for node in GPU_NODES:
            name = f"worker-{node}"
            inside = self.run_pod(name, gpus=8, limits={slot: 1}, host_network=False)
            self.assert_gets(inside, self.machine, self.nics)
            self.assertNotEqual("64", inside.memlock)

    def assert_fleet_and_doctor(self, resource: str, count: int) -> None:
        fleet = self.type("kubectl railhead fleet")
        for node in GPU_NODES:
            self.assertRegex(fleet, rf"(?m)^{node} +true +8 .*{resource}={count}/{count}")
        said = subprocess.run([paths.railhead(), "doctor", "--kube", "-o", "json", "--time-limit", "60000"],
                              env=self.env | {"KUBECONFIG": self._verified_kubeconfig()}, capture_output=True, text=True, check=False)
        self.assertIn(said.returncode, (0, 2), said.stderr)
        findings = json.loads(said.stdout)["findings"]
        self.assertEqual([], [one for one in findings if one["state"] == "FAIL"])
        states = {(one["id"], one["subject"]): one["state"] for one in findings}
        for node in GPU_NODES:
            self.assertEqual("PASS", states["kube.resources", f"{node}/{resource}"])

    def _verified_kubeconfig(self) -> str:
        """It trusts the API server's certificate alone: railhead asks no other."""
        authority = self.cluster.plane.dir / "certs/apiserver.crt"
        text = self.cluster.plane.kubeconfig.read_text()
        return self.config("kubeconfig", text.replace("insecure-skip-tls-verify: true", f"certificate-authority: {authority}"))

    # What is left

    def remove_railhead(self, profile: str) -> None:
        self._delete_pods()
        self.type("helm uninstall railhead --namespace kube-system --wait")
        for node in GPU_NODES:
            run_job(self, node, profile, REVERT)

    def wait_without_labels(self) -> None:
        """The operators have taken their labels off."""
        def labels() -> str:
            return self.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.labels}")

        wait_until("no label of an operator", lambda: "feature.node" not in labels() and "nvidia.com" not in labels())

    def traces(self) -> dict[str, str]:
        found = traces.of_cluster(self.cluster)
        for node in self.cluster.nodes:
            found |= {f"{node.name} {what}": value for what, value in traces.of_host(node).items()}
        return found

    def objects(self) -> dict[str, str]:
        """Without the revisions of our release."""
        return {what: value for what, value in traces.of_cluster(self.cluster).items() if not what.startswith(REVISIONS)}

    def assert_no_trace(self) -> None:
        """Nothing but what docs/install.md says is left: in a tmpfs, a folder that the kubelet made, and the topology file
        that containers may have mounted."""
        self.assertEqual("", self.operators.trouble)
        kept = [f"+ {node} /run/railhead{file}" for node in GPU_NODES for file in ("", *self.kept)]
        with contextlib.suppress(Failed):  # what is left then is the message
            wait_until("no trace", lambda: traces.difference(self.before, self.traces()) == kept, 60)
        self.assertEqual(kept, traces.difference(self.before, self.traces()))
        for node in GPU_NODES:
            shutil.rmtree(self.cluster.node(node).at("/run/railhead"))
