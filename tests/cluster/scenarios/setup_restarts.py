# SPDX-License-Identifier: Apache-2.0
"""Setup in a pod of the chart that restarts the runtime and the kubelet it runs by: of a node that joins later."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

from kube.case import ClusterCase
from kube.chart import import_image, shell, usual_socket
from kube.control_plane import free_port
from kube.kubelet import NODE
from lib.machine import SEED, Machine
from lib.nic import rdma_nic
from lib.process import Failed, wait_until

LEASE = "railhead-setup-0"
PODS = "-l app.kubernetes.io/name=railhead-setup"
CONFIG = pathlib.Path("/etc/containerd/config.toml")  # a process with another file is not known to be in this unit
# systemd, as setup sees it: it hands its words over and waits for the answer.
SYSTEMCTL = """#!/bin/sh
ask={folder}/$$
echo "$*" >$ask.new
mv $ask.new $ask.ask
until [ -e $ask.done ]; do sleep 0.05; done
"""


class NodeServices:
    """containerd and the kubelet of the cluster as units: a restart of the one restarts the other, as where the
    kubelet's unit requires the runtime's. `held`: they end, and start when `release` is called."""

    def __init__(self, cluster: object, folder: pathlib.Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.asked: list[str] = []
        self.ended = threading.Event()
        self._may_start = threading.Event()
        self._is_over = threading.Event()
        self.failure = ""
        self._thread = threading.Thread(target=self._serve)
        folder.mkdir()
        self._thread.start()

    def release(self) -> None:
        self._may_start.set()

    def _serve(self) -> None:
        while not self._is_over.is_set():
            for ask in sorted(self.folder.glob("*.ask")):
                words = ask.read_text().strip()
                ask.unlink()
                self.asked.append(words)
                if words.startswith("restart "):
                    self._restart(ask.with_suffix(".done"))
                else:
                    ask.with_suffix(".done").touch()
            time.sleep(0.05)

    def _restart(self, done: pathlib.Path) -> None:
        try:
            self.cluster.kubelet.stop()
            self.cluster.runtime.stop()
            done.touch()
            self.ended.set()
            while not self._may_start.wait(0.1) and not self._is_over.is_set():
                pass
            self.cluster.runtime.has_nri = True
            self.cluster.runtime.start()
            self.cluster.kubelet.start()
        except (Failed, OSError) as failure:
            self.failure = str(failure)

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()


class SetupRestarts(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        import_image(self.cluster, self.dir)
        self.machine = Machine(SEED)
        self._layer_etc()
        self.enter(rdma_nic())
        systemd = pathlib.Path("/run/systemd")
        systemd.mkdir(exist_ok=True)
        self._mount("-t", "tmpfs", "tmpfs", systemd)
        (systemd / "system").mkdir()
        asks = self.dir / "systemctl.d"
        stand_in = self.dir / "systemctl"
        stand_in.write_text(SYSTEMCTL.format(folder=asks))
        stand_in.chmod(0o755)
        self._mount("--bind", stand_in, shutil.which("systemctl") or "/usr/bin/systemctl")
        self.addCleanup(shutil.rmtree, "/var/lib/railhead/setup", ignore_errors=True)
        self._without_nri()
        self.services = NodeServices(self.cluster, asks)
        self.addCleanup(self.services.end)
        self.addCleanup(self.services.release)
        self.cluster.offer_gpus(self.machine)

    def _mount(self, *words: object) -> None:
        subprocess.run(["mount", *map(str, words)], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(words[-1])], check=True)

    def _layer_etc(self) -> None:
        """The node's /etc is a layer above this machine's."""
        layers = pathlib.Path(tempfile.mkdtemp(prefix="railhead-etc-"))
        self.addCleanup(layers.rmdir)
        self._mount("-t", "tmpfs", "tmpfs", layers)
        upper, work = layers / "upper", layers / "work"
        upper.mkdir()
        work.mkdir()
        shutil.copy("/etc/hosts", upper / "hosts")  # the kubelet's name is there only
        self._mount("-t", "overlay", "overlay", "-o", f"lowerdir=/etc,upperdir={upper},workdir={work}", "/etc")
        units = pathlib.Path("/etc/systemd/system")
        units.mkdir(parents=True, exist_ok=True)
        (units / "containerd.service").write_text("[Service]\nExecStart=/bin/true\n")

    def _without_nri(self) -> None:
        """The runtime as distributions have it: its file says that NRI is off."""
        runtime = self.cluster.runtime
        CONFIG.parent.mkdir(exist_ok=True)
        before = "disable = false"
        text = runtime.config.read_text()
        self.assertEqual(1, text.count(before))
        CONFIG.write_text(text.replace(before, "disable = true"))
        usual = runtime.config
        self._restart(CONFIG, False)
        self.addCleanup(self._restart, usual, True)

    def _restart(self, config: pathlib.Path, has_nri: bool) -> None:
        runtime = self.cluster.runtime
        self.cluster.kubelet.stop()
        runtime.config, runtime.has_nri = config, has_nri
        runtime.restart()
        self.cluster.kubelet.start()

    def type(self, text: str) -> str:
        return shell(self.cluster, self.dir, text)

    def install(self) -> None:
        wanted = self.config("setup.yaml", "nri: true\n")
        # No kube-proxy runs here: the address of the API server is reached by the host's network.
        address = urllib.parse.urlsplit(self.cluster.plane.server)
        env = {"KUBERNETES_SERVICE_HOST": address.hostname, "KUBERNETES_SERVICE_PORT": address.port}
        lines = "".join(f'\\1- {{name: {name}, value: "{value}"}}\\n' for name, value in env.items())
        with_address = self.dir / "with-address"
        with_address.write_text(f"#!/bin/sh\nexec sed 's/^\\( *\\)- name: NODE_NAME$/{lines}&/'\n")
        with_address.chmod(0o755)
        agent = self.config("agent.yaml", "\n".join((
            f"extraEnv: [{{name: RAILHEAD_SNAPSHOT, value: {self.machine.snapshot}}}]",
            f"extraVolumes: [{{name: machines, hostPath: {{path: {pathlib.Path(self.machine.snapshot).parent}}}}}]",
            f"extraVolumeMounts: [{{name: machines, mountPath: {pathlib.Path(self.machine.snapshot).parent}, readOnly: true}}]",
        )))
        self.addCleanup(self._uninstall)
        self.type(f"helm upgrade --install railhead ./deploy/charts --namespace kube-system -f {agent} --set hostNetwork=true"
                  f" --set metrics.port={free_port()} --set setup.enabled=true --set setup.allow=R2"
                  f" --set-file setup.file={wanted} --post-renderer {with_address}")

    def _uninstall(self) -> None:
        self.type("helm uninstall railhead --namespace kube-system --ignore-not-found --wait")

    def setup_log(self, previous: bool = False) -> str:
        """Of the init container; a kubelet that restarts, or a container that waits for its next try, has none."""
        more = " --previous" if previous else ""
        return self.type(f"kubectl -n kube-system logs {PODS} -c setup --tail=-1{more} 2>/dev/null || true")

    def setup_pod(self, path: str) -> str:
        return self.type(f"kubectl -n kube-system get pods {PODS} -o 'jsonpath={{.items[0]{path}}}' 2>/dev/null || true")

    def holder(self) -> str:
        return self.kubectl("-n", "kube-system", "get", "lease", LEASE, "-o", "jsonpath={.spec.holderIdentity}")

    def setup_processes(self) -> list[int]:
        def words(process: pathlib.Path) -> list[bytes]:
            try:
                return (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                return []

        found = [process for process in pathlib.Path("/proc").glob("[0-9]*") if words(process)[1:3] == [b"setup", b"apply"]]
        return [int(process.name) for process in found]

    def told(self, what: str, pattern: str) -> re.Match:
        try:
            return wait_until(what, lambda: re.search(pattern, self.setup_log()) or re.search(pattern, self.setup_log(True)))
        except Failed as failure:
            pods = self.type("kubectl -n kube-system describe pods")[-4000:]
            raise Failed(f"{failure}\n{self.setup_log()}\n{self.setup_log(True)}\n{pods}\n{self.services.failure}") from None

    def test_a_node_restarts_its_own_runtime_in_its_turn(self) -> None:
        self.run_pod("trainer", gpus=1)
        nri = self.cluster.runtime.nri_socket
        self.enter(usual_socket(self.cluster))
        self.install()

        # A pod holds a GPU here: nothing is restarted, and no turn is taken.
        self.told("it names the pod", r"(?m)^refused: .*default/trainer.*--beside-gpu-pods")
        self.assertEqual(("", []), (self.holder(), self.services.asked))

        # Another node has its turn, and does not come back.
        take = '{"spec":{"holderIdentity":"node-2","acquireTime":"2026-11-28T12:00:00.000000Z"}}'
        self.kubectl("-n", "kube-system", "patch", "lease", LEASE, "--type=merge", "-p", take)
        self.delete("trainer")
        free = self.told("it names the other node", r'"node-2" has kube-system/railhead-setup-0 since .*: (kubectl .*)')[1]
        self.assertEqual(("node-2", []), (self.holder(), self.services.asked))

        # A person frees it by what the log says. This node has its turn, and its runtime and kubelet are away for a while.
        before = self.setup_processes()
        restarts = self.setup_pod(".status.initContainerStatuses[0].restartCount")
        old = self.cluster.runtime.pid
        self.type(free)
        self.assertTrue(self.services.ended.wait(180), "setup restarts the runtime")
        self.assertEqual(["daemon-reload", "restart containerd.service"], self.services.asked)
        self.assertEqual((NODE, before), (self.holder(), self.setup_processes()))
        time.sleep(6)  # longer than a look takes
        self.assertEqual((NODE, before), (self.holder(), self.setup_processes()), "it lives on, and keeps its turn")
        self.services.release()

        self.type(f"kubectl -n kube-system wait pod {PODS} --for=condition=Ready --timeout=180s")
        self.assertEqual("", self.services.failure)
        self.assertRegex(self.setup_log(), r"(?m)^done: containerd runs as its files say")
        self.assertEqual(restarts, self.setup_pod(".status.initContainerStatuses[0].restartCount"), "the container was not started again")
        self.assertEqual("", self.holder())
        self.assertNotEqual(old, self.cluster.runtime.pid)
        self.assertEqual(["daemon-reload", "restart containerd.service"], self.services.asked)

        # NRI works: the agent is ready by it, and a container gets what is due to it.
        self.assertTrue(nri.exists())
        self.type("kubectl -n kube-system rollout status daemonset/railhead --timeout=180s")
        self.cluster.offer_gpus(self.machine)
        self.assert_gets(self.run_pod("after", gpus=8), self.machine, ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"])

        self._delete_pods()
        self._uninstall()
        kinds = "leases.coordination.k8s.io,roles,rolebindings,serviceaccounts"
        self.assertEqual("", self.type(f"kubectl -n kube-system get {kinds} -o name -l app.kubernetes.io/instance=railhead"))
