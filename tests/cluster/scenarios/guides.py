# SPDX-License-Identifier: Apache-2.0
"""What README and the pages of docs/ tell people to type: each command is run from the text itself, or stands in tests/seeds/not_run.txt with
the reason why it is not."""

import json
import os
import pathlib
import re
import subprocess
import textwrap
from collections.abc import Callable

import yaml
from kube.case import ClusterCase
from kube.chart import import_image, reachable_pods, shell, usual_socket
from kube.kubelet import NODE
from kube.networks import CRD, can_make
from lib import paths
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until

GUIDES = sorted((paths.TREE / "docs/guides").glob("*.md"))
PAGES = [paths.TREE / "README.md", *sorted((paths.TREE / "docs").rglob("*.md"))]
PLUGIN = paths.TREE / "deploy/kubectl/kubectl-railhead"
USAGE = 64
POOL = "kubernetes.azure.com/agentpool"
OURS = "helm|kubectl|railhead|[.]/dev"

# Beginnings of commands, and why they are not run here; patterns, likewise.
NOT_RUN = paths.TREE / "tests/seeds/not_run.txt"
ENTRIES = [line.split("\t") for line in NOT_RUN.read_text().splitlines() if not line.startswith("#")]
NOT_HERE = {beginning: why for beginning, why in ENTRIES if not beginning.startswith("~")}
PATTERNS = [re.compile(beginning[1:]) for beginning, _ in ENTRIES if beginning.startswith("~")]
# Names of commands, in a sentence.
MENTIONED = re.compile(
    r"helm \w+|kubectl (apply|debug|describe|kustomize|railhead)( node| pod)?|railhead (agent|bench|lint|migrate|nccl-log|setup)|railhead agent: WHY"
    r"|railhead bench (client|server|pair)( --nics)?")
# What stands for a word of the reader.
WORDS = {"NODE": NODE, "ID": "link.port-state", "RESOURCE": "example.com/hca", "bash|zsh|fish": "bash"}
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


def manifests(page: pathlib.Path) -> list[str]:
    """Its blocks of YAML."""
    return [textwrap.dedent(block) for block in re.findall(r"```yaml\n(.*?)\n *```", page.read_text(), re.DOTALL)]


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
        words = [WORDS.get(word, word) for word in command.split(" | ")[0].split()[2:]]
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
        words = ["roce" if previous in ("--profile", "profile") and word in ("NAME", "PROFILE") else WORDS.get(word, word)
                 for previous, word in zip(["", *words], words)]
        if "--gpus" in words and "--snapshot" not in words:  # this machine has none
            words += ["--snapshot", str(paths.MACHINES / f"{SEED}.node")]
        file = str(paths.TREE / FILES.get("config" if words[:2] == ["pools", "--config"] else words[0], "examples/jobs/all-reduce.yaml"))
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
        run = named = 0
        for page in PAGES:
            for command in commands(page):
                with self.subTest(f"{page.name}: {command}"):
                    rule = self.rule(command)
                    if rule is None or any(pattern.search(command) for pattern in PATTERNS):
                        named += 1
                        continue
                    rule()
                    run += 1
        print(f"      commands on pages: {run} run, {named} in {NOT_RUN.name}", flush=True)
        self.assertGreater(run, 200)

    def document(self, text: str) -> None:
        """An object, a part of a pod, a file of setup, or one of the agent, taken by who reads it."""
        values = next(iter(yaml.safe_load_all(text)))
        if "kind" in values:
            self.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=text)
        elif values.keys() <= {"metadata", "spec", "tolerations"}:
            spec = {"containers": []} | values.get("spec", {}) | ({"tolerations": values["tolerations"]} if "tolerations" in values else {})
            spec["containers"] = [{"name": "main", "image": "image"} | one for one in spec["containers"] or [{}]]
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "part"} | values.get("metadata", {}), "spec": spec}
            self.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", text=json.dumps(pod))
        else:
            file = self.config("page.yaml", text)
            of_setup = values.keys() & {"link", "nfs"}
            words = ["setup", "plan", "--from", file] if of_setup else ["config", "--config", file]
            done = subprocess.run([paths.railhead(), *words], capture_output=True, text=True, check=False, timeout=60)
            self.assertIn(done.returncode, (0, 1, 2) if of_setup else (0,), done.stderr)

    def test_each_manifest_is_read_or_named(self) -> None:
        self.kubectl("apply", "-f", "-", text=json.dumps(CRD))
        self.addCleanup(self.kubectl, "delete", "--ignore-not-found", "-f", "-", text=json.dumps(CRD))
        self.kubectl("wait", "--for=create", "--timeout=60s", f"crd/{CRD['metadata']['name']}")
        wait_until("the kind is served", lambda: self.cluster.plane.kubectl(
            "get", CRD["metadata"]["name"], "--ignore-not-found", check=False) == "")
        read = named = 0
        for page in PAGES:
            for text in manifests(page):
                with self.subTest(f"{page.name}: {text[:60]}"):
                    if any(f"yaml {text}".startswith(beginning) for beginning in NOT_HERE):
                        named += 1
                        continue
                    self.document(text)
                    read += 1
        print(f"      manifests on pages: {read} read, {named} in {NOT_RUN.name}", flush=True)
        self.assertGreater(read, 8)

    def test_no_reason_is_given_for_nothing(self) -> None:
        every = [command for page in PAGES for command in commands(page)]
        every += [f"yaml {text}" for page in PAGES for text in manifests(page)]
        for beginning in NOT_HERE:
            self.assertTrue(any(command.startswith(beginning) for command in every), beginning)
        for pattern in PATTERNS:
            self.assertTrue(any(pattern.search(command) for command in every), pattern.pattern)

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
