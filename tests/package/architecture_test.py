#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What of another architecture can be tested without its compiler: what it is built of, and the index of its images."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "scripts"))
from architecture import Architecture  # noqa: E402

BUILT = ("amd64", "arm64")


def packages(name: str) -> set[str]:
    """What a variable of ./dev lists."""
    return set(re.search(rf'^{name}="([^"]*)"', (TREE / "dev").read_text(), re.M)[1].split())


def image(folder: pathlib.Path, architecture: str, name: str = "railhead") -> pathlib.Path:
    """An archive as scripts/image writes it, with an empty image."""
    archive = folder / f"{name}-1.2.3-{architecture}.oci.tar"
    buildah = ("buildah", "--root", f"{folder}/root", "--runroot", f"{folder}/run", "--storage-driver", "vfs")
    (folder / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    for words in (("build", "--isolation", "chroot", "--format", "oci", "--layers=false", "--timestamp", "0", "--platform",
                   f"linux/{architecture}", "--tag", "localhost/one", folder),
                  ("push", "localhost/one", f"oci:{folder}/{architecture}:localhost/one")):
        subprocess.run([*buildah, *words], check=True, capture_output=True)
    subprocess.run(["tar", "--create", "--file", archive, "--directory", folder / architecture, "."], check=True)
    return archive


def join(*archives: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([TREE / "scripts/image-index", *archives], capture_output=True, text=True, check=False)


class Libraries(unittest.TestCase):
    def test_arm64_is_built_with_every_library_that_amd64_is_built_with(self) -> None:
        here = {name for name in packages("BUILD_PACKAGES") | packages("TEST_PACKAGES") if name.endswith("-dev")}
        self.assertLess(10, len(here))
        self.assertEqual(set(), here - packages("ARM64_LIBRARIES"))

    def test_a_build_folder_says_of_which_architecture_it_is(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            build, sysroot = pathlib.Path(folder, "build"), pathlib.Path(folder, "sysroot")
            (sysroot / "usr/lib/aarch64-linux-gnu").mkdir(parents=True)
            build.mkdir()
            (build / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Release\n")
            self.assertIsNone(Architecture(build).sysroot)
            (build / "CMakeCache.txt").write_text(f"A:STRING=b\nRAILHEAD_SYSROOT:UNINITIALIZED={sysroot}\n")
            other = Architecture(build)
            self.assertEqual(("arm64", "aarch64-linux-gnu"), (other.name, other.triplet))
            self.assertEqual(sysroot.resolve() / "etc", other.here("/etc"))

    def test_without_libraries_of_arm64_its_preset_says_what_makes_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["cmake", "--preset", "arm64-release", "-B", folder, "-DRAILHEAD_SYSROOT=/nowhere"], cwd=TREE,
                                  capture_output=True, text=True, check=False)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("scripts/fetch-sysroot", done.stderr)


class Index(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.TemporaryDirectory(prefix="railhead-index-")
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name)
        cls.archives = [image(cls.folder, architecture) for architecture in BUILT]

    def test_it_leads_each_platform_to_its_own_manifest(self) -> None:
        joined = self.folder / "railhead-1.2.3.oci.tar"
        digests = set()
        for _ in range(2):
            done = join(*self.archives)
            self.assertEqual((0, f"{joined}\n"), (done.returncode, done.stdout), done.stderr)
            digests.add(hashlib.sha256(joined.read_bytes()).hexdigest())
        self.assertEqual(1, len(digests))
        with tarfile.open(joined) as tar:
            files = {one.name.removeprefix("./"): tar.extractfile(one).read() for one in tar if one.isfile()}
        blob = lambda one: json.loads(files["blobs/" + one["digest"].replace(":", "/")])  # noqa: E731
        outer, = json.loads(files["index.json"])["manifests"]
        self.assertEqual("application/vnd.oci.image.index.v1+json", outer["mediaType"])
        self.assertEqual("localhost/railhead:1.2.3", outer["annotations"]["org.opencontainers.image.ref.name"])
        found = {one["platform"]["architecture"]: one for one in blob(outer)["manifests"]}
        self.assertEqual(set(BUILT), set(found))
        for architecture, manifest in found.items():
            self.assertEqual("linux", manifest["platform"]["os"])
            self.assertEqual(architecture, blob(blob(manifest)["config"])["architecture"])

    def test_what_does_not_belong_together_is_refused(self) -> None:
        other = self.folder / "other-1.2.3-arm64.oci.tar"
        other.write_bytes(self.archives[1].read_bytes())
        for archives in ((), self.archives[:1], (self.archives[0], self.archives[0]), (self.archives[0], other)):
            self.assertIn("usage: image-index", join(*archives).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
