# SPDX-License-Identifier: Apache-2.0
"""etcd, API server, scheduler and controller manager of one private Kubernetes."""

import pathlib
import socket
import subprocess

from lib.process import Daemon, Failed, wait_until

TOKEN = "railhead-test"  # of this machine's own loopback address, for the minutes of a test
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: test
clusters: [{{name: test, cluster: {{server: "{server}", insecure-skip-tls-verify: true}}}}]
users: [{{name: test, user: {{token: {token}}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
"""


def free_port() -> int:
    """A port that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ControlPlane:
    def __init__(self, programs: pathlib.Path, folder: pathlib.Path) -> None:
        self.dir = folder
        self.bin = programs
        self.kubeconfig = folder / "kubeconfig"
        self._port = free_port()
        self._daemons: dict[str, Daemon] = {}
        folder.mkdir()

    def start(self) -> None:
        self._write_files()
        etcd = self._start_etcd()
        server = self.server
        self.kubeconfig.write_text(KUBECONFIG.format(server=server, token=TOKEN))
        self._start_api_server(etcd, server)
        wait_until("the API server is ready", self._api_ready, 180)
        self._start_controllers()
        wait_until("the default service account", self._has_service_account)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    def _write_files(self) -> None:
        (self.dir / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        subprocess.run(
            ["openssl", "genrsa", "-out", str(self.dir / "sa.key"), "2048"],
            check=True,
            capture_output=True,
        )

    def _daemon(self, name: str, *flags: str) -> None:
        argv = [str(self.bin / name), *flags]
        self._daemons[name] = Daemon(argv, self.dir / f"{name}.log")

    def _start_etcd(self) -> str:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self._daemon(
            "etcd",
            *("--data-dir", str(self.dir / "etcd"), "--unsafe-no-fsync", "--log-level", "warn"),
            *("--listen-client-urls", client, "--advertise-client-urls", client),
            *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            *("--initial-cluster", f"default={peer}"),
        )
        return client

    def _start_api_server(self, etcd: str, server: str) -> None:
        key = str(self.dir / "sa.key")
        self._daemon(
            "kube-apiserver",
            *("--etcd-servers", etcd, "--secure-port", str(self._port)),
            *("--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"),
            "--allow-privileged=true",  # as clusters have it; railhead setup needs it
            *("--cert-dir", str(self.dir / "certs"), "--service-cluster-ip-range", "10.96.0.0/24"),
            *("--token-auth-file", str(self.dir / "tokens.csv")),
            *("--authorization-mode", "Node,RBAC", "--endpoint-reconciler-type", "none"),
            *("--service-account-issuer", server, "--service-account-key-file", key),
            *("--service-account-signing-key-file", key),
            *("--kubelet-preferred-address-types", "Hostname"),
        )

    def _start_controllers(self) -> None:
        common = ("--kubeconfig", str(self.kubeconfig), "--leader-elect=false", "--secure-port=0")
        self._daemon("kube-scheduler", *common)
        self._daemon(
            "kube-controller-manager",
            *common,
            *("--service-account-private-key-file", str(self.dir / "sa.key")),
            *("--root-ca-file", str(self.dir / "certs/apiserver.crt")),
        )

    def kubectl(self, *words: str, text: str | None = None, check: bool = True) -> str:
        """Standard output; Failed with its error output, unless `check` is False."""
        done = subprocess.run(
            [str(self.bin / "kubectl"), "--kubeconfig", str(self.kubeconfig), *words],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise Failed(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout if check else done.stdout + done.stderr

    def _alive(self) -> None:
        for name, daemon in self._daemons.items():
            if daemon.exit_code is not None:
                raise Failed(f"{name} ended with {daemon.exit_code}, see {daemon.log}")

    def _api_ready(self) -> bool:
        self._alive()
        return self.kubectl("get", "--raw", "/readyz", check=False) == "ok"

    def _has_service_account(self) -> bool:
        self._alive()
        found = self.kubectl("get", "serviceaccount", "default", "-o", "name", check=False)
        return found.strip() == "serviceaccount/default"

    def stop(self) -> None:
        for daemon in reversed(self._daemons.values()):
            if daemon.exit_code is None:
                daemon.end(timeout_s=20)
