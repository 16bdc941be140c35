# SPDX-License-Identifier: Apache-2.0
"""railhead setup as the manifests of deploy/setup bring it to a node: a Job, and a DaemonSet beside the agent's."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

from kube.case import ClusterCase
from kube.chart import import_image, shell, usual_socket
from kube.kubelet import NODE
from kube.setup_job import REVERT, run_job
from lib.nic import rdma_nic
from lib.process import Failed, wait_until

# It changes files alone, and nothing of the machine that the test runs on.
PROFILE = "aks-dynamo"
LIMITS = "security/limits.d/99-railhead-memlock.conf"
DROP_INS = [f"systemd/system/{name}.service.d/90-railhead-memlock.conf" for name in ("containerd", "kubelet")]


class SetupNode(ClusterCase):
    """The node's /etc is a layer above this machine's."""

    def setUp(self) -> None:
        super().setUp()
        import_image(self.cluster, self.dir)
        # The Job's mount follows those of the node, which for that is shared, as systemd makes it.
        subprocess.run(["mount", "--make-shared", "/"], check=True)
        self.addCleanup(subprocess.run, ["mount", "--make-private", "/"], check=True)
        self.layers = pathlib.Path(tempfile.mkdtemp(prefix="railhead-etc-"))
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.layers], check=True)
        self.addCleanup(self._unlayer)
        upper, work = self.layers / "upper", self.layers / "work"
        upper.mkdir()
        work.mkdir()
        shutil.copy("/etc/hosts", upper / "hosts")  # the kubelet's name is there only
        layers = f"lowerdir=/etc,upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, "/etc"], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", "/etc"], check=True)
        units = pathlib.Path("/etc/systemd/system")
        units.mkdir(parents=True, exist_ok=True)
        for name in ("containerd", "kubelet"):
            (units / f"{name}.service").write_text("[Service]\nExecStart=/bin/true\n")
        self.enter(rdma_nic())
        self.before = self.files()

    def _unlayer(self) -> None:
        subprocess.run(["umount", "--lazy", self.layers], check=True)
        self.layers.rmdir()

    def files(self) -> dict[str, bytes]:
        """Of /etc, and of the journal's folder."""
        found = {}
        for top in (pathlib.Path("/etc"), pathlib.Path("/var/lib/railhead")):
            for path in top.rglob("*"):
                with contextlib.suppress(OSError):
                    found[str(path)] = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        return found

    def type(self, text: str) -> str:
        return shell(self.cluster, self.dir, text)

    def run_job(self, args: str = "") -> str:
        return run_job(self, NODE, PROFILE, args)

    def manifest_of_daemonset(self) -> str:
        """With the folder in which this node's runtime has its files, which is elsewhere than on others."""
        folder = self.cluster.runtime.dir
        text = self.type("kubectl kustomize deploy/setup").replace("bare-metal-ib", PROFILE)
        for before, more in (
            ("        - mountPath: /host/etc\n          name: etc\n", f"        - mountPath: /host{folder}\n          name: runtime\n"),
            ("      volumes:\n", f"      - hostPath:\n          path: {folder}\n        name: runtime\n"),
        ):
            self.assertIn(before, text)
            text = text.replace(before, before + more)
        return text

    def assert_prepared(self, log: str) -> None:
        self.assertRegex(log, r"(?m)^done: people who log in may lock any amount of memory")
        for service in ("containerd", "kubelet"):
            self.assertRegex(log, rf"(?m)^done: {service} may lock any amount of memory")
        self.assertNotIn("FAIL", log)
        for path in (LIMITS, *DROP_INS):
            self.assertIn("memlock", pathlib.Path("/etc", path).read_text().lower())

    def test_a_job_prepares_the_node_and_takes_it_back(self) -> None:
        self.assert_prepared(self.run_job())
        again = self.files()
        self.assert_prepared(self.run_job())
        self.assertEqual(again, self.files(), "a second run changes nothing")
        self.run_job(REVERT)
        self.assertEqual(self.before, self.files())

    def test_a_node_without_a_nic_is_left_as_it_is(self) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/sys/bus/pci/devices"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", "/sys/bus/pci/devices"], check=True)
        self.assertIn("no-rdma-nic", self.run_job())
        self.assertEqual(self.before, self.files())

    def test_a_daemonset_prepares_the_node_beside_the_agent(self) -> None:
        self.enter(usual_socket(self.cluster))
        self.kubectl("apply", "-f", "-", text=self.manifest_of_daemonset())
        self.addCleanup(self.type, "kubectl delete --ignore-not-found -k deploy/setup")
        pods = "kubectl -n kube-system get pods -l app.kubernetes.io/name=railhead-setup -o jsonpath="
        ended = "'{.items[0].status.initContainerStatuses[0].state.terminated.exitCode}'"
        try:
            wait_until("setup has ended", lambda: self.type(f"{pods}{ended} || true").strip() == "0")
        except Failed as failure:
            raise Failed(f"{failure}\n{self.type('kubectl -n kube-system describe pods')[-3000:]}") from None
        log = self.type("kubectl -n kube-system logs daemonset/railhead-setup -c setup")
        self.assert_prepared(log)
        started = "'{.items[0].status.containerStatuses[0].state.running.startedAt}'"
        wait_until("its pod stays", lambda: self.type(f"{pods}{started} || true").strip())
        agent = pods.replace("railhead-setup", "railhead")
        wait_until("the agent runs", lambda: self.type(f"{agent}{started} || true").strip())
        self.assertEqual("", self.type(f"{agent}'{{.items[*].spec.initContainers[*].name}}'").strip(), "nothing of setup is in its pod")
        self.type("kubectl delete -k deploy/setup --wait=true")
        self.run_job(REVERT)
        self.assertEqual(self.before, self.files())
