# SPDX-License-Identifier: Apache-2.0
"""The image and the chart on a real cluster: installed by helm, upgraded, removed; and installed wrongly."""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from kube import traces
from kube.case import ClusterCase
from kube.chart import import_image, reachable_pods, shell, usual_socket, version
from kube.kubelet import NODE
from kube.networks import can_make
from kube.pod import manifest
from lib import paths
from lib.machine import SEED, Machine
from lib.nic import rdma_nic
from lib.process import Failed, wait_until

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HCA = "rdma.io/hca"
NICS = ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1", "mlx5_2", "mlx5_2", "mlx5_3", "mlx5_3"]
TAINT = "railhead.io/not-ready"
DAEMONSET = "daemonset/rdma-device-plugin-railhead"
# The commands are run as the page has them.
BLOCKS = re.findall(r"```sh\n(.*?)\n```", (paths.TREE / "docs/install.md").read_text(), re.DOTALL)
INSTALL, INJECT_ONLY = (block for block in BLOCKS if "rdma-device-plugin" in block)
FROM_REGISTRY = BLOCKS[0].splitlines()[-1].replace("REGISTRY", "localhost")
AFTERWARDS = BLOCKS[1]
UPGRADE = re.search(r"`(helm upgrade railhead [^`]*)`", (paths.TREE / "docs/install.md").read_text())[1]


def process() -> pathlib.Path:
    """The agent's folder in /proc; the jail has no other."""
    names = pathlib.Path("/proc").glob("[0-9]*/comm")
    return next(name.parent for name in names if name.read_text().strip() == "railhead")


class Chart(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        if not can_make("veth"):
            self.skipTest("no veth netdevs: the kubelet could not probe a pod")
        self.machine = Machine(SEED)
        self.cluster.offer_gpus(self.machine)
        import_image(self.cluster, self.dir, "next")
        self._releases: list[tuple[str, str]] = []
        self.enter(usual_socket(self.cluster))
        self.enter(reachable_pods(self.cluster))
        self.addCleanup(self._uninstall_all)

    def tearDown(self) -> None:
        self._uninstall_all()
        with contextlib.suppress(FileNotFoundError):
            pathlib.Path("/run/railhead").rmdir()

    def _uninstall_all(self) -> None:
        for name, namespace in list(self._releases):
            self.uninstall(name, namespace)

    def type(self, text: str) -> str:
        return shell(self.cluster, self.dir, text)

    def values_of_machine(self, **env: str) -> str:
        """The agent takes a machine of the box for the node."""
        values = self.dir / "machine.yaml"
        values.write_text(
            json.dumps(
                {
                    "extraEnv": [{"name": "RAILHEAD_SNAPSHOT", "value": f"/machines/{SEED}.node"},
                                 *({"name": name, "value": value} for name, value in env.items())],
                    "extraVolumes": [{"name": "machines", "hostPath": {"path": str(paths.MACHINES)}}],
                    "extraVolumeMounts": [
                        {"name": "machines", "mountPath": "/machines", "readOnly": True}
                    ],
                }
            )
        )
        return f" -f {values}"

    def install(self, command: str, name: str = "rdma-device-plugin", namespace: str = "kube-system") -> str:
        self._releases.append((name, namespace))
        return self.type(command)

    def uninstall(self, name: str = "rdma-device-plugin", namespace: str = "kube-system") -> None:
        self._releases.remove((name, namespace))
        self.type(f"helm uninstall {name} --namespace {namespace}")
        wait_until("its pods have gone", lambda: not self.agents(name, namespace))

    def wait_rolled_out(self, daemonset: str = DAEMONSET, namespace: str = "kube-system") -> None:
        try:
            self.type(f"kubectl -n {namespace} rollout status {daemonset} --timeout=180s")
        except Failed as failure:
            told = self.type(f"kubectl -n {namespace} describe pods -l app.kubernetes.io/name=railhead")
            logs = self.type(f"kubectl -n {namespace} logs {daemonset} --tail=20 || true")
            raise Failed(f"{failure}\n{told}\n{logs}") from None

    def agents(self, name: str = "rdma-device-plugin", namespace: str = "kube-system") -> list[dict]:
        label = f"app.kubernetes.io/instance={name}"
        found = self.kubectl("-n", namespace, "get", "pods", "-l", label, "-o", "json")
        return json.loads(found)["items"]

    @staticmethod
    def is_running(pod: dict) -> bool:
        states = pod["status"].get("containerStatuses", [])
        return bool(states) and all("running" in state["state"] for state in states)

    @staticmethod
    def page(path: str, pod: dict) -> str:
        try:
            url = f"http://{pod['status']['podIP']}:9479{path}"
            return OPENER.open(url, timeout=5).read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError:
            return ""

    def assert_nearest(self, name: str) -> None:
        inside = self.run_pod(name, gpus=2)
        uuids = inside.env["NVIDIA_VISIBLE_DEVICES"].split(",")
        order = [gpu.uuid for gpu in self.machine.gpus]
        nics = sorted({NICS[order.index(uuid)] for uuid in uuids})
        self.assert_gets(inside, self.machine, nics)

    def node_traces(self) -> dict[str, str]:
        return traces.of_host(self.cluster.nodes[0])

    def test_installed_upgraded_and_removed_without_a_trace(self) -> None:
        host, objects = self.node_traces(), traces.of_cluster(self.cluster)
        notes = self.install(INSTALL + self.values_of_machine())
        self.assertIn("is in no registry", notes)
        self.wait_rolled_out()
        self.cluster.wait_allocatable(HCA, 100)
        self.assert_nearest("first")
        self.assert_gets(self.run_pod("slot", limits={HCA: 1}), self.machine, sorted(set(NICS)))

        self.type(UPGRADE.replace(" railhead ", " rdma-device-plugin ").replace("NEW", "next"))
        wait_until("the old and the new agent run", lambda: sum(map(self.is_running, self.agents())) == 2)
        self.assert_nearest("meanwhile")
        self.wait_rolled_out()
        self.cluster.wait_allocatable(HCA, 100)
        wait_until("one agent", lambda: len(self.agents()) == 1)
        self.assertTrue(self.agents()[0]["spec"]["containers"][0]["image"].endswith(":next"))
        self.assert_nearest("after")

        self._delete_pods()
        self.uninstall()
        self.cluster.wait_allocatable(HCA, 0)
        # A folder of a tmpfs, which the kubelet makes; an agent cannot remove what is mounted into it.
        kept = ["+ /run/railhead"]
        with contextlib.suppress(Failed):  # what is left then is the message
            wait_until("no trace", lambda: traces.difference(host, self.node_traces()) == kept)
            wait_until("no object", lambda: not traces.difference(objects, traces.of_cluster(self.cluster)))
        self.assertEqual(kept, traces.difference(host, self.node_traces()))
        self.assertEqual([], traces.difference(objects, traces.of_cluster(self.cluster)))

    def test_an_upgrade_has_values_that_are_new(self) -> None:
        before = self.dir / "before"
        shutil.copytree(paths.TREE / "deploy/charts", before)
        values, template = before / "values.yaml", before / "templates/daemonset.yaml"
        values.write_text(re.sub(r"^multus:\n(?:  .*\n)+", "", values.read_text(), flags=re.M))
        template.write_text(template.read_text().replace(".Values.multus.enabled", "false"))
        nowhere = " --set-string nodeSelector.nowhere=true"
        self.install(f"helm install railhead {before} --namespace kube-system --set rdma.resourceCount=7{nowhere}", "railhead")
        made = self.type(UPGRADE.replace("NEW", "next") + " --dry-run=server")
        self.assertIn("localhost/railhead:next", made)
        self.assertIn('value: "7"', made, "what was set stays")

    def test_what_the_page_says_to_check_is_there(self) -> None:
        self.install(FROM_REGISTRY + self.values_of_machine(), "railhead")
        self.wait_rolled_out("daemonset/railhead")
        self.cluster.wait_allocatable(HCA, 100)
        told = self.type(AFTERWARDS)
        self.assertIn("successfully rolled out", told)
        self.assertRegex(told, rf"(?m)^{NODE} +true +8 +4/4 ")
        self.assertRegex(told, r"mlx5_0 .*ACTIVE")
        self.assertRegex(told, r"GPU0 .*mlx5_0 +PIX")
        self.assertRegex(told, r"node-1 +100")

    def test_the_node_is_set_up_by_a_daemonset_of_its_own(self) -> None:
        limits = pathlib.Path("/etc/security/limits.d")
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", limits], check=True)
        self.addCleanup(subprocess.run, ["umount", limits], check=True)
        self.addCleanup(shutil.rmtree, "/var/lib/railhead/setup")  # the journal of what is gone then
        self.addCleanup(self._uninstall_all)
        self.enter(rdma_nic())
        wanted = self.config("setup.yaml", "memlock: {limitsFile: true}\n")
        self.install(INSTALL + self.values_of_machine() + f" --set setup.enabled=true --set-file setup.file={wanted}")
        self.wait_rolled_out()
        self.type(f"kubectl -n kube-system rollout status {DAEMONSET}-setup --timeout=120s")
        self.assertIn("memlock", (limits / "99-railhead-memlock.conf").read_text())
        told = self.type(f"kubectl -n kube-system logs {DAEMONSET}-setup -c setup")
        self.assertRegex(told, r"(?m)^done: .*memlock")

    def test_the_api_server_takes_the_examples(self) -> None:
        self.assertEqual(7, len(list((paths.TREE / "examples/jobs").iterdir())))
        self.type("kubectl apply --dry-run=server --validate=strict -f examples/jobs")

    def test_the_api_server_takes_the_kustomization(self) -> None:
        for name in ("base", "overlays/inject-only", "overlays/pods"):
            self.type(f"kubectl apply --dry-run=server --validate=strict -k deploy/kustomize/{name}")

    def test_the_startup_taint_goes_once_pods_are_served(self) -> None:
        self.kubectl("taint", "node", NODE, f"{TAINT}=:NoSchedule")
        self.addCleanup(self.cluster.plane.kubectl, "taint", "node", NODE, f"{TAINT}-", check=False)
        # No kube-proxy runs here: the address of the API server is reached by the host's network.
        address = urllib.parse.urlsplit(self.cluster.plane.server)
        env = {"KUBERNETES_SERVICE_HOST": address.hostname, "KUBERNETES_SERVICE_PORT": str(address.port)}
        self.install(INSTALL + self.values_of_machine(**env)
                     + " --set startupTaint.enabled=true --set hostNetwork=true")
        self.wait_rolled_out()

        def taints() -> str:
            return self.kubectl("get", "node", NODE, "-o", "jsonpath={.spec.taints}")

        wait_until("the taint has gone", lambda: TAINT not in taints())
        self.assert_nearest("after-the-taint")
        self.uninstall()
        for kind in ("clusterroles", "clusterrolebindings"):
            self.assertNotIn("startup-taint", self.kubectl("get", kind, "-o", "name"))

    def test_the_kubectl_plugin_shows_the_fleet_and_cleans_up(self) -> None:
        plugin = "export PATH=$PWD/deploy/kubectl:$PATH; kubectl railhead "
        self.assertRegex(self.type(plugin + "fleet"), rf"{NODE} +- .* no-agent")
        nowhere = "example.com/nowhere"
        config = self.config("config.yaml", f"pools: [{{name: {HCA}, slots: 100}}, "
                                            f"{{name: {nowhere}, slots: 5, include: {{vendors: ffff}}}}]\n")
        self.install("helm install rdma-device-plugin ./deploy/charts --namespace kube-system"
                     + self.values_of_machine() + f" --set-file config={config}")
        self.wait_rolled_out()
        self.cluster.wait_allocatable(HCA, 100)
        self.assertRegex(self.type(plugin + "fleet"),
                         rf"{NODE} +true +8 +4/4 +\S+ +\S*{HCA}=100/100\S* +- +containerd/\S+ +{version()}\n")
        self.assertRegex(self.type(plugin + f"affinity {NODE} --gpus 0"), r"GPU0 .*mlx5_0")
        self.assertRegex(self.type(plugin + f"topology {NODE}"), r"(?m)^GPU0 .*PIX")
        self.assertRegex(self.type(plugin + f"nics {NODE} --no-headers"), r"(?m)^mlx5_0 .*ACTIVE")
        self.assertRegex(self.type(plugin + f"pools {NODE} -o wide"), rf"(?m)^{HCA} ")
        self.assertIn('"kind": "Pods"', self.type(plugin + f"pods {NODE} -o json || [ $? = 2 ]"))
        # The exit code is the command's own: most of what the doctor looks at is not known of such a machine.
        found = json.loads(self.type(plugin + f"doctor {NODE} -o json || [ $? = 2 ]"))
        self.assertEqual("DoctorReport", found["kind"])
        self.assertEqual(0, found["summary"]["fail"])
        self.assertRegex(self.type(plugin + f"doctor {NODE} --explain link.port-state"), "link.port-state")
        self.type(plugin + f"doctor {NODE} --check no.such || [ $? = 64 ]")
        self.type(plugin + "topology node-that-is-not-there || [ $? = 2 ]")
        self.assertIn(f"{NODE}: kept, the kubelet counts 100", self.type(plugin + f"clean-up {HCA} --yes"))
        self.assertRegex(self.type(plugin + f"clean-up {nowhere} --yes"), f"{NODE}: kept, the agent .* serves it")

        # As a plugin leaves it that has gone.
        stale = "example.com/stale"
        path = stale.replace("/", "~1")
        self.kubectl("patch", "node", NODE, "--subresource=status", "--type=json", "-p", json.dumps(
            [{"op": "add", "path": f"/status/{part}/{path}", "value": "0"} for part in ("capacity", "allocatable")]))
        self.assertIn(f"{NODE}: would be taken off", self.type(plugin + f"clean-up {stale}"))
        self.assertIn(stale, self.kubectl("get", "node", NODE, "-o", "json"))
        self.assertIn(f"{NODE}: taken off", self.type(plugin + f"clean-up {stale} --yes"))
        node = json.loads(self.kubectl("get", "node", NODE, "-o", "json"))["status"]
        self.assertNotIn(stale, {**node["capacity"], **node["allocatable"]})
        self.assertEqual("100", node["capacity"][HCA])
        self.assertEqual(f"no node has {stale}\n", self.type(plugin + f"clean-up {stale} --yes"))

    def test_the_fleet_has_an_agent_that_does_not_start(self) -> None:
        self.install(INSTALL + " --set image.tag=absent")
        wait_until("a pod whose image is not there", lambda: any(
            "waiting" in state["state"] for pod in self.agents() for state in pod["status"].get("containerStatuses", [])))
        fleet = "export PATH=$PWD/deploy/kubectl:$PATH; kubectl railhead fleet -o wide || [ $? = 2 ]"
        self.assertRegex(self.type(fleet), rf"(?m)^{NODE} +false +\? .* unknown$")

    def test_the_kubectl_plugin_keeps_what_a_pod_holds(self) -> None:
        stale = "example.com/stale"
        key = "/status/capacity/" + stale.replace("/", "~1")
        patch = ("patch", "node", NODE, "--subresource=status", "--type=json", "-p")
        self.kubectl(*patch, json.dumps([{"op": "add", "path": key, "value": "2"}]))
        self.addCleanup(self.cluster.plane.kubectl, *patch, json.dumps([{"op": "remove", "path": key}]), check=False)
        self.cluster.wait_allocatable(stale, 2)
        self.apply("holder", limits={stale: 1})
        wait_until("it is on the node", lambda: NODE in self.kubectl("get", "pod", "holder", "-o", "wide"))
        self.kubectl(*patch, json.dumps([{"op": "replace", "path": key, "value": "0"}]))
        told = self.type(f"export PATH=$PWD/deploy/kubectl:$PATH; kubectl railhead clean-up {stale} --yes")
        self.assertIn(f"{NODE}: kept, held by default/holder", told)

        # A side-car, which is an init container, holds it as long as the pod lives.
        self.delete("holder")
        self.kubectl(*patch, json.dumps([{"op": "replace", "path": key, "value": "2"}]))
        self.cluster.wait_allocatable(stale, 2)
        pod = manifest("side-car", waits=True)
        pod["spec"]["initContainers"][0] |= {"restartPolicy": "Always", "resources": {"limits": {stale: 1}}}
        self._pods.append("side-car")
        self.kubectl("apply", "-f", "-", text=json.dumps(pod))
        wait_until("it is on the node", lambda: NODE in self.kubectl("get", "pod", "side-car", "-o", "wide"))
        self.kubectl(*patch, json.dumps([{"op": "replace", "path": key, "value": "0"}]))
        told = self.type(f"export PATH=$PWD/deploy/kubectl:$PATH; kubectl railhead clean-up {stale} --yes")
        self.assertIn(f"{NODE}: kept, held by default/side-car", told)

    def test_inject_only_reports_no_resource(self) -> None:
        self.install(INJECT_ONLY + self.values_of_machine())
        self.wait_rolled_out()
        self.assert_nearest("only-injected")
        self.assertEqual(0, self.cluster.allocatable(HCA))

    def test_without_nri_the_agent_says_so_and_is_not_ready(self) -> None:
        notes = self.install(INSTALL + self.values_of_machine() + " --set nri.directory=/run/no-nri")
        self.assertRegex(notes, r'"runtime not connected" there means that the runtime does not offer\n/run/no-nri/nri.sock')
        self.assertIn("disable = false", notes)
        self.addCleanup(pathlib.Path("/run/no-nri").rmdir)
        self.addCleanup(self._uninstall_all)
        wait_until("the agent runs", lambda: any(map(self.is_running, self.agents())))
        wait_until("it says why", lambda: "/run/no-nri/nri.sock" in self.page("/readyz", self.agents()[0]))
        self.assertIn("/run/no-nri/nri.sock", self.type(f"kubectl -n kube-system logs {DAEMONSET}"))
        self.assertFalse(self.agents()[0]["status"]["containerStatuses"][0]["ready"])

    def test_a_kubelet_with_another_root_is_told_by_an_event(self) -> None:
        self.install(INSTALL + " --set kubelet.rootDir=/var/lib/other")

        def told() -> bool:
            events = self.kubectl("-n", "kube-system", "get", "events")
            return "/var/lib/other/pod-resources is not a directory" in events

        wait_until("an event that names the folder", told)

    def test_a_port_in_use_is_logged_and_the_agent_injects(self) -> None:
        with socket.create_server(("0.0.0.0", 0)) as taken:
            port = taken.getsockname()[1]
            self.install(
                INSTALL + self.values_of_machine() + f" --set hostNetwork=true --set metrics.port={port}"
            )
            wait_until("the agent runs", lambda: any(map(self.is_running, self.agents())))

            def logged() -> bool:
                log = self.type(f"kubectl -n kube-system logs {DAEMONSET}")
                return f":{port}" in log and "in use" in log

            wait_until("the log names the port", logged)
            self.cluster.wait_allocatable(HCA, 100)
            self.assert_nearest("despite")

    def test_a_second_release_is_warned_of_and_stands_by(self) -> None:
        self.install(INSTALL + self.values_of_machine())
        self.wait_rolled_out()
        other = "helm install other ./deploy/charts --namespace kube-system" + self.values_of_machine()
        notes = self.install(other, "other")
        self.assertIn("rdma-device-plugin-railhead is another release", notes)
        self.wait_rolled_out("daemonset/other-railhead")
        self.assert_nearest("once")
        self.uninstall()
        self.cluster.wait_allocatable(HCA, 100)
        self.assert_nearest("by-the-other")

    def test_the_files_of_an_old_plugin_and_of_the_release_count(self) -> None:
        self.kubectl(
            *("-n", "kube-system", "create", "configmap", "rdma-devices"),
            f"--from-file=config.json={paths.TREE}/examples/k8s-rdma-shared-dev-plugin.json",
        )
        self.addCleanup(self.kubectl, "-n", "kube-system", "delete", "configmap", "rdma-devices")
        config = self.config("config.yaml", "injection:\n  memlockCap: 4194304 # kept as it is\n")
        self.install(
            "helm install rdma-device-plugin ./deploy/charts --namespace kube-system"
            + self.values_of_machine()
            + f" --set-file config={config}"
            " --set existingConfigs[0].configMap=rdma-devices --set existingConfigs[0].key=config.json"
        )
        self.wait_rolled_out()
        kept = json.loads(self.kubectl("-n", "kube-system", "get", "configmap",
                                       "rdma-device-plugin-railhead", "-o", "json"))
        self.assertEqual(pathlib.Path(config).read_text(), kept["data"]["config.yaml"])
        self.cluster.wait_allocatable("rdma/hca_shared_devices_a", 1000)
        inside = self.run_pod("capped", limits={"rdma/hca_shared_devices_a": 1})
        self.assertEqual("4096", inside.memlock)

    def test_the_agent_is_as_confined_as_the_page_says(self) -> None:
        self.install(INSTALL + self.values_of_machine())
        self.wait_rolled_out()
        status = dict(line.split(":\t", 1) for line in (process() / "status").read_text().splitlines())
        found = {name: status[name].strip() for name in ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")}
        none = f"{0:016x}"
        self.assertEqual({"CapEff": none, "CapBnd": none, "NoNewPrivs": "1", "Seccomp": "2"}, found)
        mounts = [line.split() for line in (process() / "mountinfo").read_text().splitlines()]
        writable = {words[4] for words in mounts if "rw" in words[5].split(",")}
        # What every container has, and what the page says is written.
        usual = ["/proc", "/dev", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/sys"]
        if self.cluster.version == "1.30":  # it does not know recursiveReadOnly, as the page says
            self.assertFalse({"/host/sys", "/host/proc"} & writable)
            usual += ["/host/sys", "/host/proc"]
        ours = {path for path in writable if not any(path == one or path.startswith(one + "/") for one in usual)}
        self.assertEqual({"/run/railhead", "/var/lib/kubelet/device-plugins"}, ours)

    def test_an_installer_needs_rights_in_the_namespace_only(self) -> None:
        self.kubectl("create", "namespace", "node-agents")
        self.addCleanup(self.kubectl, "delete", "namespace", "node-agents", "--wait=false")
        self.kubectl("-n", "node-agents", "create", "serviceaccount", "installer")
        install = (
            "helm install railhead ./deploy/charts --namespace node-agents --dry-run=server "
            "--kube-token=$(kubectl -n node-agents create token installer)"
        )
        with self.assertRaisesRegex(Failed, "cannot .* in the namespace .?node-agents"):
            self.type(install)
        self.kubectl("-n", "node-agents", "create", "rolebinding", "installer", "--clusterrole=admin",
                     "--serviceaccount=node-agents:installer")
        self.assertIn("kind: DaemonSet", self.type(install))

    def test_with_pods_on_the_agent_sees_into_other_pods(self) -> None:
        """This machine itself: with a snapshot the processes would be those of the snapshot."""
        self.install(INSTALL + " --set pods.enabled=true")
        self.wait_rolled_out()
        self.apply("plain")
        self.wait_running("plain")
        container = self.status("plain")["containerStatuses"][0]["containerID"].rpartition("/")[2]
        agent = self.agents()[0]["metadata"]["name"]
        words = ("-n", "kube-system", "exec", agent, "--", "railhead", "pods", "--all", "-o", "json")
        told = self.cluster.plane.kubectl(*words, check=False)  # ends with 2 where a verdict is unknown
        found, _ = json.JSONDecoder().raw_decode(told)
        mine = next(pod for pod in found["pods"] if pod["containerId"] == container)
        self.assertEqual("idle", mine["verdict"], f"its sockets can be read: {mine}")
