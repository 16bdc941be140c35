# SPDX-License-Identifier: Apache-2.0
"""What README, the pages on installing, on trouble and on RoCE, and the guides tell people to type: each command is run from the text itself, or it is
named here with the reason why it is not."""

import json
import os
import pathlib
import re
import subprocess
from collections.abc import Callable

import yaml
from kube.case import ClusterCase
from kube.chart import import_image, reachable_pods, shell, usual_socket
from kube.kubelet import NODE
from kube.networks import can_make
from lib import paths
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until

GUIDES = sorted((paths.TREE / "docs/guides").glob("*.md"))
PAGES = [paths.TREE / "README.md", *(paths.TREE / "docs" / f"{name}.md" for name in ("install", "roce", "troubleshooting")), *GUIDES]
PLUGIN = paths.TREE / "deploy/kubectl/kubectl-railhead"
USAGE = 64
POOL = "kubernetes.azure.com/agentpool"
OURS = "helm|kubectl|railhead|[.]/dev"

# Beginnings of commands, and why they are not run here.
NOT_HERE = {
    "./dev ": "takes minutes, and is what CI runs",
    "build/release/railhead agent": "tests/runtime runs it",
    "kubectl apply -f examples/volcano/": "other_kinds.py takes its pods",
    "kubectl apply -f examples/mpi/": "other_kinds.py takes its pods",
    "export PATH=": "the plugin is in the path of these tests",
    "export IMAGE_REPOSITORY=": "is for the script of a profile",
    "bash ": "a script of a profile: it needs Azure, OpenShift, or charts of others",
    "skopeo ": "needs a registry",
    "docker ": "needs a registry",
    "kubectl logs ": "needs the job's pods",
    "kubectl -n kube-system logs ": "setup_node.py reads it",
    "kubectl exec ": "needs the job's pods",
    "kubectl port-forward ": "needs the job's pods",
    "kubectl -n kube-system port-forward ": "runs until it is ended",
    "curl localhost:9479/": "is sent through that",
    "kubectl label namespace ": "changes nothing of ours",
    "kubectl get ": "chart.py runs what install.md says to check",
    "kubectl -n kube-system rollout ": "chart.py runs what install.md says to check",
    "kubectl -n kube-system exec ": "chart.py runs what install.md says to check",
    "helm upgrade ": "chart.py upgrades",
    "helm uninstall ": "chart.py uninstalls",
}
# Names of commands, in a sentence.
MENTIONED = re.compile(r"helm \w+|kubectl (debug|railhead)|railhead (agent|bench|lint|migrate|nccl-log|setup)")
# What stands for a file or for standard input, by the first word.
FILES = {"migrate": "examples/sriov-network-device-plugin.json", "config": "examples/pools.yaml"}


def blocks(page: pathlib.Path) -> list[str]:
    """Commands in the page's blocks of shell, one a line there."""
    found = "\n".join(re.findall(r"```sh\n(.*?)\n *```", page.read_text(), re.DOTALL)).replace("\\\n", " ")
    bare = (re.sub(r"(^|\s+)# .*", "", line) for line in found.splitlines())
    lines = (re.sub(r"[<>&] *\S*$", "", line).strip() for line in bare)
    return [re.sub(r" +", " ", line) for line in lines if line]


def commands(page: pathlib.Path) -> list[str]:
    """Also those in its text. What has an ellipsis is a part of one."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    inline = re.findall(rf"`((?:{OURS}) [^`]+)`", text)
    return [command for command in blocks(page) + inline if "…" not in command and not MENTIONED.fullmatch(command)]


class Guides(ClusterCase):
    def type(self, text: str) -> str:
        return shell(self.cluster, self.dir, f"PATH={PLUGIN.parent}:$PATH\n{text}")

    def helm(self, command: str) -> None:
        command = re.sub(r"--set-file (\S+?)=\S+", r"--set \1=", command)
        if "openshift" in command:  # its objects are of no kind that this server knows
            self.type(re.sub("helm (upgrade --)?install ", "helm template ", command))
        else:
            self.dry(command)

    def manifest(self, command: str) -> None:
        path = paths.TREE / command.split()[-1]
        if path.parent.name == "dynamo":
            return self.graph(path)
        kind = "-k" if " -k " in command else "-f"
        self.type(f"kubectl apply --dry-run=server --validate=strict {kind} {path}")
        return None

    def graph(self, path: pathlib.Path) -> None:
        """The pods that Dynamo's operator makes of a graph, as far as the graph says what they are."""
        for name, service in yaml.safe_load(path.read_text())["spec"]["services"].items():
            spec = service["extraPodSpec"]
            limits = service.get("resources", {}).get("limits", {})
            main = {"name": "main", **spec.pop("mainContainer")}
            main["resources"] = {"limits": {**({"nvidia.com/gpu": limits["gpu"]} if "gpu" in limits else {}),
                                            **limits.get("custom", {})}}
            pod = {"apiVersion": "v1", "kind": "Pod", "spec": {**spec, "containers": [main]},
                   "metadata": {"name": name.lower(), **service.get("extraPodMetadata", {})}}
            self.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", text=json.dumps(pod))

    def dry(self, command: str) -> None:
        self.type(command.replace("REGISTRY", "localhost") + " --dry-run=server")

    def plugin(self, command: str) -> None:
        """Its words are ones that the plugin knows."""
        words = command.replace("NODE", NODE).split()[2:]
        done = subprocess.run([PLUGIN, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "KUBECTL": "false"})
        self.assertNotEqual(USAGE, done.returncode, done.stderr)

    def program(self, command: str) -> None:
        """Its words are ones that the program knows: it ends with what it found on this machine."""
        (self.dir / "setup.yaml").write_text("modules: [ib_umad]\n")
        in_clone = command.startswith("build/release/")
        words = command.split("railhead ", 1)[1].split(" | ")[0].split()
        if words[:2] == ["setup", "apply"]:
            words.append("--dry-run")
        words = ["roce" if previous == "--profile" and word in ("NAME", "PROFILE") else word
                 for previous, word in zip(["", *words], words)]
        if "--gpus" in words and "--snapshot" not in words:  # this machine has none
            words += ["--snapshot", str(paths.MACHINES / f"{SEED}.node")]
        file = str(paths.TREE / FILES.get(words[0], "examples/jobs/all-reduce.yaml"))
        if words[0] == "snapshot":  # it writes the file
            file = str(self.dir / "node.txt")
        words = [file if word in ("FILE", "-") else word for word in words]
        done = subprocess.run([paths.railhead(), *words], capture_output=True, text=True, check=False, timeout=60,
                              cwd=paths.TREE if in_clone else self.dir, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)

    def rule(self, command: str) -> Callable[[], None] | None:
        """By the longest beginning that is known."""
        if " | railhead " in command:
            command = "railhead " + command.split(" | railhead ")[1]
        rules = {"helm install ": self.helm, "helm upgrade --install ": self.helm, "kubectl railhead ": self.plugin,
                 "railhead ": self.program, "build/release/railhead ": self.program, "kubectl apply ": self.manifest,
                 "sed ": self.dry}
        beginning = max(filter(command.startswith, [*rules, *NOT_HERE]), key=len, default=None)
        self.assertIsNotNone(beginning, f"no rule for: {command}")
        return (lambda: rules[beginning](command)) if beginning in rules else None

    def test_each_command_is_run_or_named(self) -> None:
        run = 0
        for page in PAGES:
            for command in commands(page):
                with self.subTest(f"{page.name}: {command}"):
                    rule = self.rule(command)
                    if rule is not None and not re.search(r"\b(?:POD|NAMESPACE/NAME|DIR|GPUS)\b", command):
                        rule()
                        run += 1
        self.assertGreater(run, 80)

    def test_no_reason_is_given_for_nothing(self) -> None:
        every = [command for page in PAGES for command in commands(page)]
        for beginning in NOT_HERE:
            self.assertTrue(any(command.startswith(beginning) for command in every), beginning)

    def test_each_guide_ends_with_who_uses_rdma(self) -> None:
        for page in GUIDES:
            if page.name != "which-way.md":
                with self.subTest(page.name):
                    self.assertTrue(any(command.startswith("kubectl railhead pods NODE") for command in blocks(page)))

    def installed(self, page: str, resource: str, slots: int) -> str:
        """What the page says where all else is there, typed on a cluster whose node is of that pool; what `fleet` says then."""
        if not can_make("veth"):
            self.skipTest("no veth netdevs: the kubelet could not probe a pod")
        machine = Machine(SEED)
        self.cluster.offer_gpus(machine)
        import_image(self.cluster, self.dir)
        self.enter(usual_socket(self.cluster))
        self.enter(reachable_pods(self.cluster))
        self.kubectl("label", "node", NODE, f"{POOL}=gpupool")
        self.addCleanup(self.kubectl, "label", "node", NODE, f"{POOL}-")
        values = self.dir / "machine.yaml"
        values.write_text(json.dumps({
            "extraEnv": [{"name": "RAILHEAD_SNAPSHOT", "value": f"/machines/{SEED}.node"}],
            "extraVolumes": [{"name": "machines", "hostPath": {"path": str(paths.MACHINES)}}],
            "extraVolumeMounts": [{"name": "machines", "mountPath": "/machines", "readOnly": True}]}))
        self.addCleanup(self.gone)
        command = next(one for one in blocks(paths.TREE / "docs/guides" / page) if one.startswith("helm upgrade --install "))
        self.type(command.replace("REGISTRY", "localhost") + f" -f {values}")
        for name in ("railhead-setup", "railhead"):
            self.type(f"kubectl -n kube-system rollout status daemonset/{name} --timeout=180s")
        self.cluster.wait_allocatable(resource, slots)
        return self.type("kubectl railhead fleet")

    def gone(self) -> None:
        self.type("helm uninstall railhead --namespace kube-system")
        label = "app.kubernetes.io/instance=railhead"
        wait_until("its pods have gone",
                   lambda: not self.kubectl("-n", "kube-system", "get", "pods", "-l", label, "-o", "name"))

    def worker(self, page: str, slot: str) -> None:
        """What the guide says of a worker: its slot, the raised limit, UCX's own variable, and what `pods` says of it."""
        inside = self.run_pod("worker", gpus=2, limits={slot: 1})
        self.assertRegex(inside.env["UCX_NET_DEVICES"], r"^mlx5_\d:1")
        self.assertNotEqual("64", inside.memlock)
        command = next(line for line in blocks(paths.TREE / "docs/guides" / page) if "railhead pods" in line)
        try:
            self.type(command.replace("NODE", NODE))
        except Failed as failed:  # the processes are those of the snapshot: nothing is proved
            self.assertNotIn("usage", str(failed))

    def test_dynamo_is_installed_as_its_page_says(self) -> None:
        slot = "rdma/hca_shared_devices_a"
        self.assertRegex(self.installed("dynamo.md", slot, 1000), rf"{NODE} +true +8 .*{slot}=1000/1000")
        self.worker("dynamo.md", slot)

    def test_llm_d_is_installed_as_its_page_says(self) -> None:
        self.assertRegex(self.installed("llm-d.md", "rdma/ib", 8), rf"{NODE} +true +8 .*rdma/ib=8/8")
        self.worker("llm-d.md", "rdma/ib")
