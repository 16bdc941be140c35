# SPDX-License-Identifier: Apache-2.0
"""The images of scripts/image, in a real runtime: what is in them runs, as confined as the chart has it."""

import json
import pathlib
import re
import socket
import subprocess
import tarfile

from lib import paths
from lib.case import RuntimeCase
from lib.machine import SEED, Machine
from lib.process import Failed, wait_until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def documents(archive: pathlib.Path) -> list[dict]:
    """What is JSON in an OCI archive: index, manifest, configuration of the image."""
    with tarfile.open(archive) as tar:
        small = [tar.extractfile(one).read() for one in tar if one.isfile() and one.size < 65536]
    return [json.loads(data) for data in small if data.startswith(b"{")]


class Images(RuntimeCase):
    def make(self, *more: str) -> pathlib.Path:
        """The archive."""
        folder = self.dir / f"image-{len(list(self.dir.glob('image-*')))}"
        build = pathlib.Path(paths.railhead()).parent
        done = subprocess.run(
            [paths.TREE / "scripts/image", build, folder, *more], check=True, stdout=subprocess.PIPE, text=True
        )
        return pathlib.Path(done.stdout.strip())

    def load(self, archive: pathlib.Path) -> str:
        """Its name in the runtime."""
        ctr = [self.runtime.bin / "ctr", "-a", f"{self.runtime.dir}/containerd.sock", "-n", "k8s.io"]
        done = subprocess.run([*ctr, "images", "import", archive], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"ctr images import: {done.stderr.strip()}")
        name, version = re.fullmatch(r"(.*)-([0-9.]+)-[a-z0-9]+\.oci\.tar", archive.name).groups()
        wait_until("CRI knows the image", lambda: self.runtime.cri.has_image(f"localhost/{name}:{version}"))
        return f"localhost/{name}:{version}"

    def said(self, image_name: str, *args: str) -> str:
        """What the program of an image prints until it ends."""
        pod = self.runtime.cri.run_pod(logs=self.dir)
        container = pod.run(image_name=image_name, args=list(args), confined=True, log="said.log")
        wait_until("the program has ended", container.ended)
        lines = (self.dir / "said.log").read_text().splitlines()
        return "\n".join(line.split(" ", 3)[3] for line in lines)  # time, stream, whether it is whole

    def test_the_image_holds_the_program_and_says_what_is_linked(self) -> None:
        archive = self.make()
        self.assertEqual(archive.read_bytes(), self.make().read_bytes(), "built twice")
        labels = next(one["config"]["Labels"] for one in documents(archive) if "rootfs" in one)
        for label in ("title", "description", "licenses", "version", "revision", "created"):
            self.assertTrue(labels[f"org.opencontainers.image.{label}"], label)
        version = labels["org.opencontainers.image.version"]
        name = self.load(archive)
        self.assertIn(f"railhead {version}", self.said(name, "--version"))
        self.assertIn("libgrpc-dev", self.packages(archive))

    def packages(self, archive: pathlib.Path) -> list[str]:
        """What its SBOM lists, read by the library of the SPDX project."""
        reader = paths.TREE / "tests/runtime/sbom"
        listed = archive.with_name(archive.name.replace(".oci.tar", ".spdx.json"))
        done = subprocess.run(["go", "run", ".", listed], cwd=reader, capture_output=True, text=True, check=False)
        self.assertEqual("", done.stderr if done.returncode else "")
        return done.stdout.split()

    def test_the_agent_of_the_image_serves_the_runtime_it_runs_in(self) -> None:
        machine = Machine(SEED)
        name = self.load(self.make())
        port = free_port()
        pod = self.runtime.cri.run_pod(logs=self.dir)
        pod.run(
            "agent",
            image_name=name,
            args=[
                *("agent", "--snapshot", machine.snapshot, "--nri-socket", str(self.runtime.nri_socket)),
                *("--host-proc", "/host/proc", "--bind-address", f"127.0.0.1:{port}"),
                *("--metrics-socket", "", "--device-plugin=false"),
            ],
            mounts={
                str(paths.MACHINES): str(paths.MACHINES),
                str(self.runtime.nri_socket.parent): str(self.runtime.nri_socket.parent),
                "/host/proc": "/proc",
            },
            confined=True,
            log="agent.log",
        )

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(f"the agent listens, see {self.dir}/agent.log", listens)
        wait_until("it is registered", lambda: "runtime connected" in (self.dir / "agent.log").read_text())
        env = {"NVIDIA_VISIBLE_DEVICES": machine.gpus[0].uuid}
        self.assert_gets(self.pod().run(env=env, user=1000).look(), machine, ["mlx5_0"])

    def test_the_image_of_bench_brings_what_it_loads(self) -> None:
        name = self.load(self.make("--bench"))
        self.assertIn("Usage: railhead bench COMMAND", self.said(name, "--help"))
