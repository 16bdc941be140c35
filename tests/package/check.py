#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of scripts/package: check.py RAILHEAD [pattern…]. Needs root, as dpkg does."""

import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import yaml

TREE = pathlib.Path(__file__).resolve().parents[2]
UNITS = ("railhead-agent.service", "railhead-setup.service")


def output(*words: object, **more: object) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(str(w) for w in words)}: {done.stdout}{done.stderr}")
    return done.stdout


def package(build: pathlib.Path, out: pathlib.Path) -> dict[str, pathlib.Path]:
    output(TREE / "scripts/package", build, out, "--url", "https://example.com/r",
           env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return {path.name: path for path in out.iterdir()}


class Package(unittest.TestCase):
    railhead: str

    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.files = package(pathlib.Path(cls.railhead).parent, cls.folder / "real")
        cls.deb = next(path for name, path in cls.files.items() if name.startswith("railhead_"))

    @classmethod
    def tearDownClass(cls) -> None:
        cls._folder.cleanup()

    def root(self) -> pathlib.Path:
        """A host without anything, that dpkg knows."""
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        for name in ("updates", "info"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        return root

    def test_lintian_finds_nothing(self) -> None:
        for path in self.files.values():
            if path.suffix == ".deb":
                self.assertEqual("", output("lintian", "--allow-root", "--fail-on", "error,warning", path))

    def test_installed_it_runs_and_removed_it_is_gone(self) -> None:
        root = self.root()
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-script-chrootless")
        output(*dpkg, "--install", self.deb)
        self.assertTrue(output(root / "usr/bin/railhead", "--version").startswith("railhead "))
        for unit in UNITS:
            self.assertTrue((root / "lib/systemd/system" / unit).is_file())
        self.assertFalse(list((root / "etc").rglob("*.service")), "nothing is switched on")
        output(*dpkg, "--purge", "railhead")
        left = [path for path in root.rglob("*") if path.is_file() and "var" not in path.relative_to(root).parts]
        self.assertEqual([], left)

    def test_the_packages_have_man_pages_and_completion_and_no_file_of_each_other(self) -> None:
        owners: dict[str, str] = {}
        for name in ("railhead", "railhead-bench"):
            package = next(path for path in self.files.values() if path.name.startswith(f"{name}_"))
            root = self.root()
            output("dpkg-deb", "--extract", package, root)
            share = root / "usr/share"
            page = "railhead-setup-plan" if name == "railhead" else "railhead-bench-pair"
            for one in (name, page):
                self.assertIn(b".SH NAME", gzip.decompress((share / f"man/man1/{one}.1.gz").read_bytes()))
            self.assertIn(f"complete -F _{name.replace('-', '_')} {name}\n",
                          (share / f"bash-completion/completions/{name}").read_text())
            self.assertTrue((share / f"zsh/vendor-completions/_{name}").read_text().startswith(f"#compdef {name}\n"))
            self.assertIn(f"complete -c {name} ", (share / f"fish/vendor_completions.d/{name}.fish").read_text())
            places = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
            for place in (one for one in places if not one.startswith("var/lib/dpkg/")):
                self.assertIsNone(owners.get(place), place)
                owners[place] = name

    def test_systemd_knows_every_word_of_the_units(self) -> None:
        root = self.root()
        output("dpkg-deb", "--extract", self.deb, root)
        for unit in UNITS:
            text = (root / "lib/systemd/system" / unit).read_text().replace("/usr/bin/railhead", f"{root}/usr/bin/railhead")
            (self.folder / unit).write_text(text)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", self.folder / unit], capture_output=True,
                                  text=True, check=False)
            ours = [line for line in done.stderr.splitlines() if "railhead" in line]
            self.assertEqual([], ours)

    def test_the_same_programs_give_the_same_bytes(self) -> None:
        build = self.folder / "build"
        build.mkdir()
        for name in ("railhead", "railhead-bench"):
            shutil.copy("/usr/bin/true", build / name)
        digests = [{name: hashlib.sha256(path.read_bytes()).hexdigest()
                    for name, path in package(build, self.folder / number).items()} for number in ("first", "second")]
        self.assertEqual(5, len(digests[0]))
        self.assertEqual(*digests)

    def test_krew_gets_the_archive_that_its_manifest_names(self) -> None:
        manifest = yaml.safe_load(self.files["krew-railhead.yaml"].read_text())
        platform = manifest["spec"]["platforms"][0]
        archive = self.files[platform["uri"].rpartition("/")[2]]
        self.assertEqual(hashlib.sha256(archive.read_bytes()).hexdigest(), platform["sha256"])
        with tarfile.open(archive) as inside:
            self.assertEqual({one["from"] for one in platform["files"]}, set(inside.getnames()))
            self.assertEqual(0o755, inside.getmember(platform["bin"]).mode)

    def test_the_tarball_has_program_and_units(self) -> None:
        archive = next(path for name, path in self.files.items() if name.startswith("railhead-") and name.endswith(".gz"))
        with tarfile.open(archive) as inside:
            names = {pathlib.PurePath(name).name for name in inside.getnames()}
        self.assertLessEqual({"railhead", "LICENSE", "README.md", "railhead.1.gz", *UNITS}, names)

    def test_the_playbook_starts_the_units_of_the_package(self) -> None:
        tasks = yaml.safe_load((TREE / "deploy/ansible/railhead.yaml").read_text())[0]["tasks"]
        started = next(task["loop"] for task in tasks if "loop" in task)
        self.assertEqual(set(UNITS), {f"{name}.service" for name in started})

    def fleet(self, page: str | None, ready: str = "true") -> tuple[int, str]:
        """What the plugin says of one node, whose agent has this page; null: it does not answer."""
        answers = self.folder / "page"
        answers.write_text(page or "")
        kubectl = self.folder / "kubectl"
        kubectl.write_text("#!/bin/sh\ncase \"$*\" in\n"
                           "  'get nodes '*) echo node-1 ;;\n"
                           f"  'get pods '*) echo 'node-1 kube-system railhead-x 9479 {ready}' ;;\n"
                           "  'get --raw /api/v1/namespaces/kube-system/pods/railhead-x:9479/proxy/metrics') "
                           + (f"cat {answers}" if page else "exit 1") + " ;;\n  *) exit 3 ;;\nesac\n")
        kubectl.chmod(0o755)
        done = subprocess.run([TREE / "deploy/kubectl/kubectl-railhead", "fleet"], capture_output=True, text=True,
                              check=False, env={**os.environ, "KUBECTL": str(kubectl)})
        return done.returncode, " ".join(done.stdout.splitlines()[1].split())

    def test_the_plugin_says_of_a_node_what_its_agent_says(self) -> None:
        page = ('railhead_node_gpus 8\nrailhead_node_nics{role="compute",usable="true"} 7\n'
                'railhead_node_nics{role="compute",usable="false"} 1\nrailhead_nri_connected 1\n'
                'railhead_port_active{nic="a",port="1"} 1\nrailhead_build_info{version="0.1.0"} 1\n'
                'railhead_nri_runtime_info{name="containerd",version="2.4.2",nri="0.12"} 1\n'
                'railhead_pool_devices{pool="a/b",state="healthy"} 100\n')
        well = "node-1 true 8 7/8 1/1 a/b=100/100 0 containerd/2.4.2 0.1.0"
        self.assertEqual((0, well), self.fleet(page))
        self.assertEqual((1, well.replace("true", "false")), self.fleet(page, "false"))
        fallback = 'railhead_pod_silent_fallback{namespace="n",pod="p",container="c"} 1\n'
        self.assertEqual((1, well.replace(" 0 c", " 1 c")), self.fleet(page + fallback))
        unhealthy = 'railhead_pool_devices{pool="a/b",state="unhealthy",reason="gone"} 2\n'
        self.assertEqual((1, well.replace("100/100", "100/102")), self.fleet(page + unhealthy))
        self.assertIn("NOT-CONNECTED", self.fleet("railhead_nri_connected 0\n")[1])
        self.assertEqual((2, "node-1 true ? ? ? ? ? ? ?"), self.fleet(None))

    def test_the_plugin_refuses_words_that_it_does_not_know(self) -> None:
        for words in ((), ("flet",), ("fleet", "x"), ("clean-up",), ("clean-up", "hca"), ("clean-up", "a/b/c"),
                      ("clean-up", "a/b", "-y"), ("clean-up", 'a/"b'), ("topology",)):
            done = subprocess.run([TREE / "deploy/kubectl/kubectl-railhead", *words], capture_output=True, text=True,
                                  check=False, env={**os.environ, "KUBECTL": "false"})
            self.assertEqual(64, done.returncode, f"{words}: {done.stderr}")


def main() -> None:
    Package.railhead = sys.argv.pop(1)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
