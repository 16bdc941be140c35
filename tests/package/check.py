#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The packages of scripts/package: check.py RAILHEAD [pattern…]. Needs root, as dpkg does."""

import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests/runtime"))

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
    programs = ""  # a folder of programs that the plugin finds first

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

    def plugin(self, *words: str, pages: list[str | None], ready: str = "true") -> subprocess.CompletedProcess:
        """What the plugin says of nodes whose agents have these pages; null: one that does not answer; "": none."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        kubectl = folder / "kubectl"
        nodes = [f"node-{number}" for number in range(1, len(pages) + 1)]
        agents = [f"{node} kube-system railhead-{node} 9479 {ready}" for node, page in zip(nodes, pages) if page != ""]
        (folder / "nodes").write_text("".join(f"{node}\n" for node in nodes))
        (folder / "agents").write_text("".join(f"{agent}\n" for agent in agents))
        for node, page in zip(nodes, pages):
            if page:
                (folder / node).write_text(page)
        kubectl.write_text("#!/bin/sh\ncase \"$*\" in\n"
                           f"  'get nodes '*) cat {folder}/nodes ;;\n  'get pods '*) cat {folder}/agents ;;\n"
                           "  'get --request-timeout=30s --raw /api/v1/namespaces/kube-system/pods/railhead-'*)\n"
                           "    node=${4#*/pods/railhead-}\n"
                           f"    cat {folder}/${{node%:9479/proxy/metrics}} ;;\n  *) exit 3 ;;\nesac\n")
        kubectl.chmod(0o755)
        return subprocess.run([TREE / "deploy/kubectl/kubectl-railhead", *words], capture_output=True, text=True,
                              check=False, env={**os.environ, "KUBECTL": str(kubectl), "TMPDIR": str(folder),
                                                "PATH": f"{self.programs}:{os.environ['PATH']}"})

    def fleet(self, page: str | None, ready: str = "true", *words: str) -> tuple[int, str]:
        done = self.plugin("fleet", *words, pages=[page], ready=ready)
        return done.returncode, " ".join(done.stdout.splitlines()[1].split())

    WELL = ('railhead_node_gpus 8\nrailhead_node_nics{role="compute",usable="true"} 7\n'
            'railhead_node_nics{role="compute",usable="false"} 1\nrailhead_nri_connected 1\n'
            'railhead_port_active{nic="a",port="1"} 1\nrailhead_build_info{version="0.1.0"} 1\n'
            'railhead_nri_runtime_info{name="containerd",version="2.4.2",nri="0.12"} 1\n'
            'railhead_pool_devices{pool="a/b",state="healthy"} 100\n')

    def test_the_plugin_says_of_a_node_what_its_agent_says(self) -> None:
        well = "node-1 true 8 7/8 1/1 a/b=100/100 0 containerd/2.4.2 0.1.0"
        self.assertEqual((0, well), self.fleet(self.WELL))
        self.assertEqual((1, well.replace("true", "false")), self.fleet(self.WELL, "false"))
        fallback = 'railhead_pod_silent_fallback{namespace="n",pod="p",container="c"} 1\n'
        self.assertEqual((1, well.replace(" 0 c", " 1 c")), self.fleet(self.WELL + fallback))
        unhealthy = 'railhead_pool_devices{pool="a/b",state="unhealthy",reason="gone"} 2\n'
        self.assertEqual((1, well.replace("100/100", "100/102")), self.fleet(self.WELL + unhealthy))
        self.assertIn("NOT-CONNECTED", self.fleet("railhead_nri_connected 0\n")[1])
        self.assertEqual((2, "node-1 true ? ? ? ? ? ? ?"), self.fleet(None))
        self.assertEqual((0, "node-1 - - - - - - - no-agent"), self.fleet(""))
        self.assertEqual((2, "node-1 false ? ? ? ? ? ? ?"), self.fleet(None, ""), "a pod without a status")

    def test_wide_says_what_is_wrong_and_which_ports_are_down(self) -> None:
        self.assertTrue(self.fleet(self.WELL, "true", "-o", "wide")[1].endswith(" 0.1.0 - ok"))
        down = 'railhead_port_active{nic="mlx5_3",port="1"} 0\n'
        self.assertTrue(self.fleet(self.WELL + down, "true", "-o", "wide")[1].endswith(" 0.1.0 mlx5_3/1 ok"))
        ill = 'railhead_pool_devices{pool="a/b",state="unhealthy"} 2\nrailhead_pod_silent_fallback{pod="p"} 1\n'
        page = ill + self.WELL.replace("nri_connected 1", "nri_connected 0")
        self.assertTrue(self.fleet(page, "false", "--output=wide")[1].endswith(
            " not-ready,not-connected,unhealthy-devices,silent-fallback"))
        many = "".join(f'railhead_port_active{{nic="mlx5_{n}",port="1"}} 0\n' for n in range(1000))
        self.assertTrue(self.fleet(many, "true", "-o", "wide")[1].endswith(",mlx5_10/1,... not-connected"))

    def test_nodes_keep_their_order_and_the_head_can_be_left_out(self) -> None:
        done = self.plugin("fleet", "--no-headers", pages=[self.WELL, "", None] * 14)
        self.assertEqual(2, done.returncode)
        self.assertEqual([f"node-{n}" for n in range(1, 43)], [line.split()[0] for line in done.stdout.splitlines()])
        self.assertEqual(0, self.plugin("fleet", "--no-headers", pages=[]).returncode)

    def test_the_plugin_says_the_same_by_the_programs_of_busybox(self) -> None:
        """As in images of kubectl on Alpine."""
        self.programs = tempfile.mkdtemp(dir=self.folder)
        for name in ("awk", "cut", "date", "head", "mktemp", "sed", "sort"):
            (pathlib.Path(self.programs) / name).symlink_to("/usr/bin/busybox")
        self.test_the_plugin_says_of_a_node_what_its_agent_says()
        self.test_wide_says_what_is_wrong_and_which_ports_are_down()
        self.test_nodes_keep_their_order_and_the_head_can_be_left_out()
        self.test_the_page_of_the_fleet_loads_nothing_and_has_every_node()
        self.test_what_an_agent_says_stays_text()
        self.test_the_document_of_the_fleet_is_the_committed_one()

    def document(self, pages: list[str | None]) -> dict:
        return json.loads(self.plugin("fleet", "-o", "json", pages=pages).stdout)

    def test_the_document_of_the_fleet_is_the_committed_one(self) -> None:
        """Which tests/cli holds against its schema."""
        ill = ('railhead_pool_devices{pool="a/b",state="unhealthy",reason="gone"} 2\n'
               'railhead_port_active{nic="mlx5_3",port="1"} 0\n')
        found = self.document([self.WELL, self.WELL + ill, None, "", "railhead_nri_connected 0\n"])
        self.assertRegex(found["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        wanted = json.loads((TREE / "tests/cli/fleet.json").read_text())
        self.assertEqual(wanted, {**found, "time": wanted["time"]})
        self.assertEqual([], self.document([])["nodes"])

    def test_the_document_has_every_resource(self) -> None:
        pools = [f"example.com/p{n}" for n in range(256)]
        page = self.WELL + "".join(f'railhead_pool_devices{{pool="{name}",state="healthy"}} 1\n' for name in pools[1:])
        self.assertEqual(["a/b", *pools[1:]], [one["name"] for one in self.document([page])["nodes"][0]["resources"]])

    def html(self, pages: list[str | None]) -> str:
        return self.plugin("fleet", "-o", "html", pages=pages).stdout

    def test_the_page_of_the_fleet_loads_nothing_and_has_every_node(self) -> None:
        text = self.html([self.WELL, None, "", "railhead_nri_connected 0\n"])
        self.assertIn("4 nodes: 1 ok, 1 with a problem, 1 unknown, 1 without an agent.", text)
        self.assertNotRegex(text, r"https?:|//|src=|href=|url\(|@import|<link|<img|<iframe|fetch|XMLHttp")
        self.assertIn("default-src 'none'", text)
        rows = re.findall(r"<tr class=(\w+)><td>(node-\d)</td>", text)
        self.assertEqual([("ok", "node-1"), ("unknown", "node-2"), ("none", "node-3"), ("bad", "node-4")], rows)
        self.assertIn("<td>a/b</td><td class=n>1</td><td class=n>100</td><td class=n>100</td>", text)

    def test_the_page_marks_the_number_that_is_too_small(self) -> None:
        text = self.html([self.WELL + 'railhead_pool_devices{pool="a/b",state="unhealthy"} 2\n'])
        self.assertIn('<tr class=bad><td>a/b</td><td class=n>1</td><td class="n bad">100</td><td class=n>102</td>', text)

    def test_the_page_sums_up_more_resources_than_a_line_shows(self) -> None:
        names = [f"example.com/p{n}" for n in range(20)]
        text = self.html(["".join(f'railhead_pool_devices{{pool="{name}",state="healthy"}} 8\n' for name in names)])
        self.assertEqual(names, re.findall(r"<td>(example\.com/p\d+)</td>", text))
        self.assertIn("example.com/p10=8/8,<br>...</td>", text)

    def test_what_an_agent_says_stays_text(self) -> None:
        hostile = "</td><script>alert(1)</script>\x1b[31m ,\\u202e"
        page = self.WELL.replace("2.4.2", hostile).replace("a/b", hostile).replace('nic="a"', f'nic="{hostile}"')
        text = self.html([page])
        self.assertEqual(1, text.count("<script>"))
        self.assertNotRegex(text, r"alert\(|[^\n -~]")
        wide = self.plugin("fleet", "-o", "wide", pages=[page]).stdout
        self.assertNotRegex(wide, r"[^\n -~]")
        self.assertEqual(11, len(wide.splitlines()[1].split()))
        self.document([page, "railhead_node_gpus nan\nrailhead_port_active{nic=\"a\"} -1e300\n"])

    def test_the_page_has_a_size_that_is_known(self) -> None:
        long = "x" * 5000
        page = "".join(f'railhead_pool_devices{{pool="{n}{long}",state="healthy"}} 1\n' for n in range(200))
        page += "".join(f'railhead_port_active{{nic="{n}{long}",port="1"}} 0\n' for n in range(200))
        self.assertLess(len(self.html([page])), 24_000)  # 100 rows of resources
        self.assertLess(len(self.html([self.WELL] * 100)), 40_000)

    def asked(self, program: str, *words: str, answer: str = "") -> tuple[int, str, list[str]]:
        """Exit code, output, and what kubectl was asked: its KUBECONFIG and its words."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        kubectl = folder / "kubectl"
        kubectl.write_text(f"#!/bin/sh\necho \"$KUBECONFIG $1 $2 $3\" >>{folder}/asked\nprintf '{answer}'\n")
        kubectl.chmod(0o755)
        done = subprocess.run([TREE / "deploy/kubectl" / program, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "KUBECTL": str(kubectl), "KUBECONFIG": "", "TMPDIR": str(folder)})
        said = folder / "asked"
        return done.returncode, done.stdout, said.read_text().splitlines() if said.exists() else []

    def test_flags_of_kubectl_reach_it_wherever_they_stand(self) -> None:
        for words in (("fleet", "--context", "gpu b", "--kubeconfig=/k 1"), ("--kubeconfig", "/k 1", "--context=gpu b", "fleet"),
                      ("clean-up", "--context=gpu b", "a/b", "--kubeconfig", "/k 1")):
            code, _, asked = self.asked("kubectl-railhead", *words)
            self.assertEqual(0, code)
            self.assertTrue(asked)
            for line in asked:
                self.assertTrue(line.startswith("/k 1 --context gpu b get"), line)
        self.assertEqual((64, "", []), self.asked("kubectl-railhead", "fleet", "--context"))

    def test_kubectls_completion_knows_commands_and_nodes(self) -> None:
        def last(*words: str, answer: str = "") -> list[str]:
            code, said, _ = self.asked("kubectl_complete-railhead", *words, answer=answer)
            self.assertEqual((0, ":4"), (code, said.splitlines()[-1]))
            return said.splitlines()[:-1]

        usage = subprocess.run([TREE / "deploy/kubectl/kubectl-railhead", "help"], capture_output=True, text=True, check=True).stdout
        for command in last(""):
            self.assertIn(command, usage)
        self.assertIn("html", last("fleet", "-o", ""))
        self.assertEqual(["node-1", "node-2"], last("pods", "", answer="node-1\\nnode-2\\n"))
        self.assertEqual(["a/b"], last("clean-up", "", answer="pods\\na/b\\na/b\\n"))
        self.assertEqual(["--yes"], last("clean-up", "a/b", ""))
        self.assertEqual([], last("pods", "node-1", ""))

    def typed(self, *words: str) -> subprocess.CompletedProcess:
        """What the plugin says where no cluster can be asked."""
        return subprocess.run([TREE / "deploy/kubectl/kubectl-railhead", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "KUBECTL": "false"})

    def test_the_plugin_names_the_word_that_it_does_not_know(self) -> None:
        for words, what in (((), "no command"), (("flet",), '"flet"'), (("fleet", "x"), '"x"'), (("fleet", "-o"), "table, wide, json or html"),
                            (("fleet", "-o", "xml"), '"xml"'), (("clean-up",), "RESOURCE"), (("clean-up", "hca"), '"hca"'),
                            (("clean-up", "a/b/c"), '"a/b/c"'), (("clean-up", "a/b", "-y"), '"-y"'), (("clean-up", 'a/"b'), '"a/"b"'),
                            (("clean-up", "a/b", "--yes", "c"), '"c"'), (("topology",), "NODE"), (("affinity", "--gpus", "0"), '"--gpus"')):
            done = self.typed(*words)
            self.assertEqual((64, ""), (done.returncode, done.stdout), f"{words}: {done.stderr}")
            self.assertIn(what, done.stderr.splitlines()[0])
        for words in (("--help",), ("fleet", "--help"), ("pods", "-h"), ("clean-up", "--help")):
            self.assertIn("usage: ", self.typed(*words).stdout)
            self.assertEqual(0, self.typed(*words).returncode, words)
        self.assertEqual(0, self.asked("kubectl-railhead", "clean-up", "--yes", "a/b")[0])

    def test_a_cluster_that_cannot_be_asked_proves_nothing(self) -> None:
        for words in (("fleet",), ("pods", "node-1"), ("clean-up", "a/b"), ("clean-up", "a/b", "--yes")):
            done = self.typed(*words)
            self.assertEqual((2, "", ""), (done.returncode, done.stdout, done.stderr), words)


def main() -> None:
    Package.railhead = sys.argv.pop(1)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
