#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of scripts/package: check.py RAILHEAD [pattern…]. Needs root, as dpkg does."""

import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests/runtime"))

import jinja2  # noqa: E402
import yaml  # noqa: E402
from lib.process import output  # noqa: E402

UNITS = ("railhead-agent.service", "railhead-setup.service", "railhead-setup-verify.service",
         "railhead-setup-verify.timer")


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

    def told_systemd(self, script: str, *words: str) -> list[str]:
        """What a script of the package asks of a systemd that runs."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        output("dpkg-deb", "--control", self.deb, folder / "control")
        stub = folder / "systemctl"
        stub.write_text(f'#!/bin/sh\necho "$*" >>{folder}/told\nexit 1\n')
        stub.chmod(0o755)
        output("unshare", "--mount", "sh", "-euc", 'mount -t tmpfs none /run; mkdir -p /run/systemd/system; PATH=$1:$PATH; shift; exec "$@"',
               "sh", folder, folder / "control" / script, *words)
        told = folder / "told"
        return told.read_text().splitlines() if told.exists() else []

    def test_an_upgrade_restarts_the_agent_and_a_removal_ends_it(self) -> None:
        self.assertEqual(["daemon-reload"], self.told_systemd("postinst", "configure", ""))
        self.assertEqual(["daemon-reload", "try-restart railhead-agent.service"], self.told_systemd("postinst", "configure", "0.0.9"))
        self.assertEqual([], self.told_systemd("prerm", "upgrade", "0.2.0"))
        disabled, stopped = self.told_systemd("prerm", "remove")
        self.assertEqual({"--quiet", "disable", *UNITS} - {"railhead-setup-verify.service"}, set(disabled.split()))
        self.assertEqual("stop railhead-agent.service railhead-setup-verify.timer", stopped)
        self.assertEqual(["daemon-reload"], self.told_systemd("postrm", "remove"))

    def test_the_packages_have_man_pages_and_completion(self) -> None:
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
        manifest = yaml.safe_load(self.files["railhead.yaml"].read_text())
        platform = manifest["spec"]["platforms"][0]
        archive = self.files[platform["uri"].rpartition("/")[2]]
        self.assertEqual(hashlib.sha256(archive.read_bytes()).hexdigest(), platform["sha256"])
        with tarfile.open(archive) as inside:
            self.assertEqual({one["from"] for one in platform["files"]}, set(inside.getnames()))
            self.assertEqual(0o755, inside.getmember(platform["bin"]).mode)

    def test_the_manifest_keeps_krews_rules(self) -> None:
        """Those of krew's validate-krew-manifest, whose Go module was not to be had; built by hand from krew's
        repository at db921d5 it finds nothing wrong, and krew installs the plugin. Source: there,
        cmd/validate-krew-manifest/main.go and internal/index/validation/validate.go."""
        path = self.files["railhead.yaml"]
        manifest = yaml.safe_load(path.read_text())
        spec = manifest["spec"]
        self.assertEqual(("krew.googlecontainertools.github.com/v1alpha2", "Plugin"), (manifest["apiVersion"], manifest["kind"]))
        self.assertEqual(path.stem, manifest["metadata"]["name"], "the file is called as the plugin is")
        self.assertRegex(spec["version"], r"^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$")
        for text, most in ((spec["description"], 80), (spec["shortDescription"], 70)):
            self.assertLessEqual(max(map(len, text.splitlines())), most)
        self.assertEqual(1, len(spec["shortDescription"].splitlines()))
        for platform in spec["platforms"]:
            self.assertRegex(platform["sha256"], "^[a-f0-9]{64}$")
            self.assertTrue(platform["uri"].startswith("https://"))
            self.assertIn(platform["bin"], {one["from"] for one in platform["files"]})
            self.assertTrue(all(one["to"] for one in platform["files"]))
            self.assertLessEqual({one["key"] for one in platform["selector"]["matchExpressions"]}, {"os", "arch"})
        self.assertEqual(1, len(spec["platforms"]), "no two may match one system")

    def test_the_tarball_has_program_and_units(self) -> None:
        archive = next(path for name, path in self.files.items() if name.startswith("railhead-") and name.endswith(".gz"))
        with tarfile.open(archive) as inside:
            names = {pathlib.PurePath(name).name for name in inside.getnames()}
        self.assertLessEqual({"railhead", "LICENSE", "README.md", "railhead.1.gz", *UNITS}, names)

    def test_the_playbook_starts_the_units_of_the_package(self) -> None:
        tasks = yaml.safe_load((TREE / "deploy/ansible/railhead.yaml").read_text())[0]["tasks"]
        started = next(task["loop"] for task in tasks if "loop" in task)
        self.assertEqual({*UNITS} - {"railhead-setup-verify.service"}, {*started}, "the timer starts that one")

    def test_the_playbook_refuses_a_broken_configuration(self) -> None:
        """By the program, before the file is in its place; ansible puts the name of a copy for %s."""
        tasks = yaml.safe_load((TREE / "deploy/ansible/railhead.yaml").read_text())[0]["tasks"]
        validate = next(task["ansible.builtin.copy"]["validate"] for task in tasks if "validate" in task.get("ansible.builtin.copy", {}))
        for text, wanted in (("nri: {enabled: false}\n", 0), ("nri: {enabled: false} devicePlugin: {}\n", 64), ("nrii: {}\n", 64)):
            copy = self.folder / "config-copy"
            copy.write_text(text)
            words = validate.replace("%s", str(copy)).split()
            done = subprocess.run([self.railhead, *words[1:]], capture_output=True, text=True, check=False)
            self.assertEqual(wanted, done.returncode, done.stderr)

    def test_the_playbook_that_looks_changes_nothing(self) -> None:
        plays = yaml.safe_load((TREE / "deploy/ansible/look.yaml").read_text())
        tasks = [task for play in plays for task in play["tasks"]]
        self.assertEqual([], [play["name"] for play in plays if "handlers" in play or "roles" in play])
        for task in tasks:
            self.assertTrue("ansible.builtin.debug" in task or task.get("changed_when") is False, task)
        commands = [task["ansible.builtin.command"].split("}} ")[1].split() for task in tasks if "ansible.builtin.command" in task]
        self.assertEqual([["nics", "-o", "json"], ["doctor", "-o", "json"]], commands)

    def test_the_playbook_that_looks_tells_two_fabrics_apart(self) -> None:
        """By its own template: seed groups, one of which has the LIDs of the other."""
        nics = subprocess.run([self.railhead, "nics", "-o", "json", "--snapshot", TREE / "tests/nodes/dgx-h100.node"],
                              capture_output=True, text=True, check=True).stdout
        other = subprocess.run([self.railhead, "nics", "-o", "json", "--snapshot", TREE / "tests/nodes/azure-nd-a100-v4.node"],
                               capture_output=True, text=True, check=True).stdout
        report = json.dumps({"findings": [{"state": "FAIL", "id": "link.port-state", "subject": "mlx5_1/1", "observed": "DOWN"},
                                          {"state": "PASS", "id": "link.rate", "subject": "mlx5_1/1", "observed": "400"}]})

        def host(group: str, text: str) -> dict:
            return {"group_names": [group], "nics": {"stdout": text}, "doctor": {"stdout": report}}
        environment = jinja2.Environment(trim_blocks=True)
        environment.filters["from_json"] = json.loads
        template = yaml.safe_load((TREE / "deploy/ansible/look.yaml").read_text())[1]["vars"]["table"]

        def lines_of(**hosts: dict) -> list[str]:
            return environment.from_string(template).render(groups={"all": [*hosts, "absent"]}, hostvars={**hosts, "absent": {"nics": {}}}).splitlines()
        told = lines_of(v1=host("ib-v100", nics), a1=host("ib-a100", nics))
        row = next(line for line in told if line.startswith("v1 ")).split()
        self.assertEqual(["v1", "ib-v100", "mlx5_0/1", "ACTIVE", "InfiniBand", "400.0", "17", "ibp24s0", "compute"], row)
        self.assertIn("v1: FAIL link.port-state mlx5_1/1: DOWN", told)
        self.assertFalse([line for line in told if "link.rate" in line])
        self.assertEqual(12, len([line for line in told if line.startswith("LID ")]))
        self.assertEqual([], [line for line in lines_of(v1=host("ib-v100", nics), a1=host("ib-a100", other)) if line.startswith("LID ")])


def main() -> None:
    Package.railhead = sys.argv.pop(1)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
