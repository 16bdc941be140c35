#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What ./dev image --arch all and ./dev package --arch arm64 have made: arm64.py IMAGES PACKAGES [pattern…]

The programs of arm64 are run by an emulator of the processor, with nothing but what is in their image, and with pages
of 64 KiB as with those of 4 KiB.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests/runtime"))
from lib.process import output  # noqa: E402

EMULATOR = "qemu-aarch64-static"
SNAPSHOT = TREE / "tests/nodes/dgx-h100.node"
LARGEST_PAGE = 65536
PAGES = (4096, LARGEST_PAGE)
START_S = 60
PLATFORMS = {("linux", "amd64"), ("linux", "arm64")}
MACHINES = {"amd64": b"\x3e\x00", "arm64": b"\xb7\x00"}  # e_machine of <elf.h>: EM_X86_64, EM_AARCH64


class Archive:
    """An OCI archive with one image or an index of several."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with tarfile.open(path) as tar:
            self._files = {one.name.removeprefix("./"): tar.extractfile(one).read() for one in tar if one.isfile()}

    def json(self, descriptor: dict) -> dict:
        return json.loads(self._blob(descriptor))

    def _blob(self, descriptor: dict) -> bytes:
        return self._files["blobs/" + descriptor["digest"].replace(":", "/")]

    def manifests(self) -> list[dict]:
        """Descriptors of images, with what is below an index."""
        found = json.loads(self._files["index.json"])["manifests"]
        if "index" in found[0]["mediaType"]:
            found = self.json(found[0])["manifests"]
        return found

    def unpack(self, manifest: dict, root: pathlib.Path) -> None:
        for layer in self.json(manifest)["layers"]:
            (root / "layer").write_bytes(self._blob(layer))
            output("tar", "--extract", "--file", root / "layer", "--directory", root)
            (root / "layer").unlink()


class Arm64(unittest.TestCase):
    images: pathlib.Path
    packages: pathlib.Path

    def root(self) -> pathlib.Path:
        folder = tempfile.TemporaryDirectory(prefix="railhead-arm64-")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def image(self, name: str, ending: str) -> Archive:
        return Archive(next(self.images.glob(f"{name}-[0-9.]*{ending}.oci.tar")))

    def test_the_index_leads_each_platform_to_its_own_program(self) -> None:
        for name in ("railhead", "railhead-bench"):
            joined = Archive(next(path for path in self.images.glob(f"{name}-[0-9]*.oci.tar") if "64" not in path.name))
            manifests = joined.manifests()
            self.assertEqual(PLATFORMS, {(one["platform"]["os"], one["platform"]["architecture"]) for one in manifests})
            for manifest in manifests:
                architecture = manifest["platform"]["architecture"]
                self.assertEqual(architecture, joined.json(joined.json(manifest)["config"])["architecture"])
                root = self.root()
                joined.unpack(manifest, root)
                self.assertEqual(MACHINES[architecture], (root / "usr/bin" / name).read_bytes()[18:20])

    def test_the_image_holds_one_static_program_that_runs(self) -> None:
        archive, root = self.image("railhead", "-arm64"), self.root()
        archive.unpack(archive.manifests()[0], root)
        programs = [path for path in root.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertEqual([root / "usr/bin/railhead"], programs)
        self.assertNotIn("INTERP", output("readelf", "--wide", "--program-headers", programs[0]))
        self.assertIn("railhead ", output(EMULATOR, programs[0], "version"))

    def programs(self) -> dict[str, pathlib.Path]:
        """Of the image of bench, which has both and all that they load."""
        archive, root = self.image("railhead-bench", "-arm64"), self.root()
        archive.unpack(archive.manifests()[0], root)
        return {name: root / "usr/bin" / name for name in ("railhead", "railhead-bench")}

    def test_no_page_of_64_kib_would_be_code_and_data_at_once(self) -> None:
        """A kernel maps a segment by whole pages. The largest pages of arm64 have 64 KiB (arch/arm64/Kconfig)."""
        for name, program in self.programs().items():
            headers = output("readelf", "--wide", "--program-headers", program)
            segments = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"]]
            self.assertEqual(2, len(segments), f"{name}: {headers}")
            used = []
            for words in segments:
                self.assertGreaterEqual(int(words[-1], 16), LARGEST_PAGE, f"{name}: {headers}")
                begin, size = int(words[2], 16), int(words[5], 16)
                used.append(set(range(begin // LARGEST_PAGE, (begin + size - 1) // LARGEST_PAGE + 1)))
            self.assertFalse(used[0] & used[1], f"{name}: {headers}")

    def test_what_reads_a_snapshot_says_the_same_with_large_pages(self) -> None:
        program = self.programs()["railhead"]
        for words in (("topology",), ("nics",), ("affinity",), ("doctor",)):
            said = [subprocess.run([EMULATOR, "-p", str(page), program, *words, "--snapshot", SNAPSHOT], capture_output=True,
                                   text=True, check=False) for page in PAGES]
            took = [re.sub(r"in \d+ m?s$", "", one.stdout.strip()) for one in said]
            self.assertIn("mlx5_0", took[0])
            self.assertEqual((said[0].returncode, took[0]), (said[1].returncode, took[1]))

    def test_the_agent_starts_serves_its_metrics_and_ends(self) -> None:
        program = self.programs()["railhead"]
        for page in PAGES:
            folder = self.root()
            log = folder / "log"
            with log.open("w") as standard_error:
                agent = subprocess.Popen(
                    [EMULATOR, "-p", str(page), program, "agent", "--snapshot", SNAPSHOT, "--nri-socket", folder / "nri.sock",
                     "--kubelet-root-dir", folder / "kubelet", "--device-plugin=false", "--bind-address", "127.0.0.1:0",
                     "--metrics-socket", folder / "agent.sock"], stderr=standard_error)
            try:
                address = self.when(lambda: re.search(r"listening address=(127\S+)", log.read_text()), log)[1]
                text = self.when(lambda: next((one for one in [self.page(address)] if "railhead_node_gpus 8" in one), None), log)
                self.assertIn('railhead_build_info{version="', text)
            finally:
                agent.send_signal(signal.SIGTERM)
                self.assertEqual(0, agent.wait(START_S), log.read_text())

    @staticmethod
    def page(address: str) -> str:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=START_S) as answer:
            return answer.read().decode()

    @staticmethod
    def when(look, log: pathlib.Path):
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    def test_the_image_of_bench_brings_what_it_loads(self) -> None:
        archive, root = self.image("railhead-bench", "-arm64"), self.root()
        archive.unpack(archive.manifests()[0], root)
        self.assertIn("railhead-bench ", output(EMULATOR, "-L", root, root / "usr/bin/railhead-bench", "version"))
        self.assertTrue(list(root.glob("usr/lib/aarch64-linux-gnu/libibverbs/libmlx5*")))

    def test_what_is_linked_is_of_arm64(self) -> None:
        listed = json.loads(next(self.images.glob("railhead-[0-9]*-arm64.spdx.json")).read_text())
        locators = {one["name"]: one["externalRefs"][0]["referenceLocator"] for one in listed["packages"] if "externalRefs" in one}
        for name in ("libc6-dev", "libgrpc-dev", "libssl-dev", "libprotobuf-dev"):
            self.assertTrue(locators[name].endswith("arch=arm64"), locators[name])

    def test_the_packages_are_of_arm64(self) -> None:
        for name in ("railhead", "railhead-bench"):
            package = next(self.packages.glob(f"{name}_*_arm64.deb"))
            self.assertEqual("arm64", output("dpkg-deb", "--field", package, "Architecture").strip())
            self.assertEqual("", output("lintian", "--allow-root", "--fail-on", "error,warning", package))
        self.assertIn("libibverbs1", output("dpkg-deb", "--field", package, "Depends"))
        self.assertTrue(list(self.packages.glob("railhead-*-arm64.tar.gz")))

    def test_an_installed_package_runs_and_brings_its_pages(self) -> None:
        root = self.root()
        for name in ("updates", "info"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        output("dpkg", f"--root={root}", "--force-architecture", "--force-script-chrootless", "--install",
               next(self.packages.glob("railhead_*_arm64.deb")))
        self.assertIn("railhead ", output(EMULATOR, root / "usr/bin/railhead", "--version"))
        for path in ("lib/systemd/system/railhead-agent.service", "usr/share/man/man1/railhead-topology.1.gz",
                     "usr/share/bash-completion/completions/railhead"):
            self.assertTrue((root / path).is_file(), path)


def main() -> None:
    Arm64.images, Arm64.packages = (pathlib.Path(word) for word in (sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
