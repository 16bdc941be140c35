#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The kubectl plugin: kubectl_plugin.py [pattern…]. Beside a program in kubectl's place a real kubectl of PATH asks, if there is
one, an API server that says what the test wants."""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tests"))

from package.cluster_stub import SPACE, ApiServer, Cluster, stub  # noqa: E402

PLUGIN = TREE / "deploy/kubectl/kubectl-railhead"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
HOSTILE = "boom \x1b]0;pwn\x07\x1b[2J\x9b31m\u202e\u2066\u200b\r\x08\n\"'\\$(id)"


class Plugin(unittest.TestCase):
    programs = ""  # a folder of programs that the plugin finds first

    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls._folder.cleanup()

    def run_in(self, cluster: Cluster, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """`asked` of the answer: what kubectl was asked, a line each."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "tmp").mkdir()
        done = subprocess.run([PLUGIN, *words], capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60, env={
            **os.environ, "KUBECTL": str(stub(cluster, folder)), "KUBECONFIG": "", "TMPDIR": str(folder / "tmp"),
            "PATH": f"{self.programs}:{os.environ['PATH']}", **(env or {})})
        self.assertEqual([], list((folder / "tmp").iterdir()), "nothing is left behind")
        said = folder / "asked"
        done.asked = said.read_text().splitlines() if said.exists() else []
        done.raw = done.stdout
        done.stdout, done.stderr = done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="surrogateescape")
        return done

    @staticmethod
    def of_pages(pages: list[str | None], ready: object = True) -> Cluster:
        """Nodes whose agents have these pages; null: one that does not answer; "": none."""
        cluster = Cluster()
        owner = cluster.daemonset()
        for number, page in enumerate(pages, 1):
            cluster.node(f"node-{number}")
            if page != "":
                cluster.pod(f"node-{number}", f"railhead-{number}", owner, page=page, ready=ready)
        return cluster

    def plugin(self, *words: str, pages: list[str | None], ready: object = True) -> subprocess.CompletedProcess:
        return self.run_in(self.of_pages(pages, ready), *words)

    def fleet(self, page: str | None, ready: object = True, *words: str) -> tuple[int, str]:
        done = self.plugin("fleet", *words, pages=[page], ready=ready)
        return done.returncode, " ".join(done.stdout.splitlines()[1].split())

    WELL = ('# TYPE railhead_compute_nic_usable gauge\n# TYPE railhead_nic_missing gauge\nrailhead_node_gpus 8\nrailhead_node_nics{role="compute",usable="true"} 7\n'
            'railhead_node_nics{role="storage",usable="false"} 1\nrailhead_nri_connected 1\n'
            'railhead_port_active{nic="a",port="1"} 1\nrailhead_build_info{version="0.1.0"} 1\n'
            'railhead_nri_runtime_info{name="containerd",version="2.4.2",nri="0.12"} 1\n'
            'railhead_pool_devices{pool="a/b",state="healthy"} 100\nrailhead_pods_reads_total{outcome="done"} 3\n')

    def test_the_plugin_says_of_a_node_what_its_agent_says(self) -> None:
        well = "node-1 true 8 7/8 1/1 a/b=100/100 0 containerd/2.4.2 0.1.0"
        self.assertEqual((0, well), self.fleet(self.WELL))
        self.assertEqual((1, well.replace("true", "false")), self.fleet(self.WELL, False))
        fallback = 'railhead_pod_silent_fallback{namespace="n",pod="p",container="c"} 1\n'
        self.assertEqual((1, well.replace(" 0 c", " 1 c")), self.fleet(self.WELL + fallback))
        unhealthy = 'railhead_pool_devices{pool="a/b",state="unhealthy",reason="gone"} 2\n'
        self.assertEqual((1, well.replace("100/100", "100/102")), self.fleet(self.WELL + unhealthy))
        self.assertIn("NOT-CONNECTED", self.fleet("railhead_nri_connected 0\n")[1])
        self.assertEqual((2, "node-1 true ? ? ? ? ? ? ?"), self.fleet(None))
        self.assertEqual((0, "node-1 - - - - - - - no-agent"), self.fleet(""))
        self.assertEqual((2, "node-1 false ? ? ? ? ? ? ?"), self.fleet(None, None), "a pod without a status")

    def test_wide_says_what_is_wrong_and_which_ports_are_down(self) -> None:
        self.assertTrue(self.fleet(self.WELL, True, "-o", "wide")[1].endswith(" 0.1.0 - ok"))
        down = 'railhead_port_active{nic="mlx5_3",port="1"} 0\n'
        self.assertTrue(self.fleet(self.WELL + down, True, "-o", "wide")[1].endswith(" 0.1.0 mlx5_3/1 ok"))
        ill = 'railhead_pool_devices{pool="a/b",state="unhealthy"} 2\nrailhead_pod_silent_fallback{pod="p"} 1\n'
        page = ill + self.WELL.replace("nri_connected 1", "nri_connected 0")
        self.assertTrue(self.fleet(page, False, "--output=wide")[1].endswith(
            " not-ready,not-connected,unhealthy-devices,silent-fallback"))
        many = "railhead_node_gpus 8\n" + "".join(f'railhead_port_active{{nic="mlx5_{n}",port="1"}} 0\n' for n in range(1000))
        self.assertTrue(self.fleet(many, True, "-o", "wide")[1].endswith(",mlx5_10/1,... ok"))

    def test_nodes_keep_their_order_and_the_head_can_be_left_out(self) -> None:
        done = self.plugin("fleet", "--no-headers", pages=[self.WELL, "", None] * 14)
        self.assertEqual(2, done.returncode)
        self.assertEqual([f"node-{n}" for n in range(1, 43)], [line.split()[0] for line in done.stdout.splitlines()])
        self.assertEqual(0, self.plugin("fleet", "--no-headers", pages=[]).returncode)

    def test_the_plugin_says_the_same_by_the_programs_of_busybox(self) -> None:
        """As in images of kubectl on Alpine."""
        self.programs = tempfile.mkdtemp(dir=self.folder)
        for name in ("awk", "cat", "date", "dd", "grep", "head", "mktemp", "rm", "sed", "tr", "wc"):
            (pathlib.Path(self.programs) / name).symlink_to("/usr/bin/busybox")
        self.test_the_plugin_says_of_a_node_what_its_agent_says()
        self.test_wide_says_what_is_wrong_and_which_ports_are_down()
        self.test_nodes_keep_their_order_and_the_head_can_be_left_out()
        self.test_the_page_of_the_fleet_loads_nothing_and_has_every_node()
        self.test_what_an_agent_says_stays_text()
        self.test_the_document_of_the_fleet_is_the_committed_one()
        self.test_what_a_command_prints_is_cut_and_has_its_code()
        self.test_a_page_without_an_end_is_left_where_it_is()

    def document(self, pages: list[str | None]) -> dict:
        return json.loads(self.plugin("fleet", "-o", "json", pages=pages).stdout)

    def test_the_document_of_the_fleet_is_the_committed_one(self) -> None:
        """Which tests/cli holds against its schema."""
        ill = ('railhead_pool_devices{pool="a/b",state="unhealthy",reason="gone"} 2\n'
               'railhead_port_active{nic="mlx5_3",port="1"} 0\nrailhead_compute_nic_usable{nic="mlx5_3"} 0\n'
               'railhead_nic_missing{gpu="0000:c3:00.0"} 1\n')
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

    def test_flags_of_kubectl_reach_it_wherever_they_stand(self) -> None:
        for words in (("fleet", "--context", "gpu b", "--kubeconfig=/k 1"), ("--kubeconfig", "/k 1", "--context=gpu b", "fleet"),
                      ("clean-up", "--context=gpu b", "a/b", "--kubeconfig", "/k 1")):
            done = self.plugin(*words, pages=[self.WELL])
            self.assertEqual(0, done.returncode)
            self.assertTrue(done.asked)
            for line in done.asked:
                self.assertTrue(line.startswith("/k 1 --context gpu b get"), line)
        done = self.plugin("fleet", "--context", pages=[])
        self.assertEqual((64, "", []), (done.returncode, done.stdout, done.asked))

    def test_kubectls_completion_knows_commands_and_nodes(self) -> None:
        def last(*words: str, answer: str = "") -> list[str]:
            kubectl = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "kubectl"
            kubectl.write_text(f"#!/bin/sh\nprintf '{answer}'\n")
            kubectl.chmod(0o755)
            said = subprocess.run([TREE / "deploy/kubectl/kubectl_complete-railhead", *words], capture_output=True, text=True, check=True,
                                  env={**os.environ, "KUBECTL": str(kubectl)}).stdout
            self.assertEqual(":4", said.splitlines()[-1])
            return said.splitlines()[:-1]

        usage = subprocess.run([PLUGIN, "help"], capture_output=True, text=True, check=True).stdout
        for command in last(""):
            self.assertIn(command, usage)
        self.assertIn("html", last("fleet", "-o", ""))
        self.assertEqual(["node-1", "node-2"], last("pods", "", answer="node-1\\nnode-2\\n"))
        self.assertEqual(["a/b"], last("clean-up", "", answer="pods\\na/b\\na/b\\n"))
        self.assertEqual(["--yes"], last("clean-up", "a/b", ""))
        self.assertEqual([], last("pods", "node-1", ""))
        self.assertEqual(["node-1", "n2"], last("pods", "", answer="node-1\\nn\\0332\\n\\302\\233\\n"))

    def test_what_was_not_looked_at_is_no_number(self) -> None:
        unlooked = self.WELL.replace('"done"} 3', '"done"} 0')
        self.assertEqual((0, "node-1 true 8 7/8 1/1 a/b=100/100 - containerd/2.4.2 0.1.0"), self.fleet(unlooked))
        for page in (unlooked, self.WELL.partition("railhead_pods_reads")[0], self.WELL + "railhead_pods_complete 0\n"):
            self.assertIsNone(self.document([page])["nodes"][0]["silentFallbacks"])
        self.assertEqual((2, "node-1 true - - - - - - 0.1.0"), self.fleet('railhead_build_info{version="0.1.0"} 1\n'))
        found = self.document(['railhead_build_info{version="0.1.0"} 1\n', None, ""])["nodes"]
        for key in ("gpus", "nics", "ports", "portsDown", "nicsDown", "nicsMissing", "resources", "silentFallbacks", "connected", "runtime"):
            self.assertEqual([None] * 3, [one[key] for one in found], key)
        self.assertEqual([None] * 3, [one["problems"] for one in found])
        self.assertEqual(["unknown", "unknown", "no-agent"], [one["health"] for one in found])
        self.assertEqual((2, "node-1 true ? ? ? ? ? ? ?"), self.fleet("<html>no page of an agent</html>"))
        self.assertEqual((0, "node-1 true 0 0/0 - - - - -"), self.fleet("railhead_node_gpus 0\n"), "a machine without NICs was read")

    def test_a_compute_nic_that_is_down_or_missing_is_no_health(self) -> None:
        usable = "".join(f'railhead_compute_nic_usable{{nic="mlx5_{n}"}} 1\n' for n in range(6))
        down = ('railhead_compute_nic_usable{nic="mlx5_6"} 0\nrailhead_port_active{nic="mlx5_6",port="1"} 0\n'
                'railhead_compute_nic_usable{nic="0000:4f:00.0"} 0\n')
        missing = 'railhead_nic_missing{gpu="0000:c3:00.0"} 1\n'
        self.assertEqual(0, self.fleet(self.WELL + usable)[0])
        code, line = self.fleet(self.WELL + usable + down, True, "-o", "wide")
        self.assertEqual((1, "mlx5_6/1,0000:4f:00.0 nic-down"), (code, " ".join(line.split()[-2:])))
        code, line = self.fleet(self.WELL + usable + missing, True, "-o", "wide")
        self.assertEqual((1, "missing@0000:c3:00.0 nic-missing"), (code, " ".join(line.split()[-2:])))
        node = self.document([self.WELL + usable + down + missing])["nodes"][0]
        self.assertEqual((["nic-down", "nic-missing"], ["mlx5_6", "0000:4f:00.0"], ["0000:c3:00.0"], ["mlx5_6/1"]),
                         (node["problems"], node["nicsDown"], node["nicsMissing"], node["portsDown"]))
        # An agent of 0.1.0 tells only how many.
        old = self.WELL.replace("# TYPE", "# HELP") + 'railhead_node_nics{role="compute",usable="false"} 2\n'
        self.assertEqual((["nic-down"], None, None), tuple(self.document([old])["nodes"][0][key] for key in ("problems", "nicsDown", "nicsMissing")))
        by_design = self.WELL + usable + 'railhead_node_nics{role="compute",usable="false"} 2\n'
        self.assertEqual([], self.document([by_design])["nodes"][0]["problems"])

    def test_a_machine_that_cannot_be_read_is_no_health(self) -> None:
        page = self.WELL + "railhead_node_unread 1\n"
        self.assertEqual((1, "node-1 true - - 1/1 a/b=100/100 0 containerd/2.4.2 0.1.0"), self.fleet(page))
        node = self.document([page])["nodes"][0]
        self.assertEqual((["unread"], None, None, None), tuple(node[key] for key in ("problems", "gpus", "nics", "nicsDown")))
        self.assertEqual(0, self.fleet(self.WELL + "railhead_node_unread 0\n")[0])

    def test_a_pod_with_the_label_is_no_agent(self) -> None:
        cluster = Cluster()
        owner = cluster.daemonset()
        cluster.node("node-1")
        sick = self.WELL + 'railhead_pod_silent_fallback{pod="p"} 1\n'
        cluster.pod("node-1", "railhead-1", owner, page=sick, ready=False)
        cluster.pod("node-1", "aaa", None, space="zz-evil", page=self.WELL)
        forged = {"metadata": {"name": "railhead", "uid": "uid-zz-evil-railhead"}}
        cluster.pod("node-1", "zzz", owner, space="zz-evil", page=self.WELL)
        cluster.pod("node-1", "zzz", None, page=self.WELL)
        cluster.pod("node-1", "zzzz", forged, page=self.WELL)
        cluster.pod("node-1", "replica", owner, page=self.WELL)["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
        cluster.pod("node-1", "owned", owner, page=self.WELL)["metadata"]["ownerReferences"][0]["controller"] = False
        cluster.pod("node-1", "other-uid", owner, page=self.WELL)["metadata"]["ownerReferences"][0]["uid"] = "x"
        for run in (self.run_in, self.real):
            done = run(cluster, "fleet", "-o", "json")
            self.assertEqual((1, ["not-ready", "silent-fallback"]), (done.returncode, json.loads(done.stdout)["nodes"][0]["problems"]))
        for command in ("topology", "affinity", "nics", "pools", "pods", "nfs", "doctor", "config", "snapshot"):
            asked = self.run_in(cluster, command, "node-1").asked
            self.assertEqual([f" exec -n {SPACE} railhead-1 -c agent -- railhead {command}"], [one for one in asked if " exec " in one])
        self.assertEqual(2, self.run_in(cluster, "doctor", "node-2").returncode)

    def test_two_daemonsets_are_an_error_until_one_is_named(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.nodes[0]["status"]["capacity"]["a/c"] = "0"
        evil = cluster.daemonset(space="zz-evil")
        cluster.pod("node-1", "aaa", evil, space="zz-evil", page="railhead_nri_connected 0\n")
        for words in (("fleet",), ("doctor", "node-1"), ("clean-up", "a/c", "--yes")):
            done = self.run_in(cluster, *words)
            self.assertEqual((2, ""), (done.returncode, done.stdout), words)
            for text in ("kube-system/railhead", "zz-evil/railhead", "--agent-namespace"):
                self.assertIn(text, done.stderr)
            self.assertFalse([one for one in done.asked if " exec " in one or " patch " in one or "--raw" in one])
        self.assertEqual(0, self.run_in(cluster, "fleet", "--agent-namespace", SPACE).returncode)
        self.assertEqual(1, self.run_in(cluster, "--agent-namespace=zz-evil", "fleet").returncode)
        self.assertEqual(0, self.run_in(cluster, "fleet", env={"RAILHEAD_AGENT_NAMESPACE": SPACE}).returncode)
        self.assertEqual(2, self.run_in(cluster, "fleet", "--agent-namespace=elsewhere").returncode)
        self.assertEqual(0, self.real(cluster, "fleet", f"--agent-namespace={SPACE}").returncode)
        self.assertEqual(2, self.real(cluster, "fleet").returncode)

    def test_another_daemonset_of_the_chart_is_none_of_agents(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.pod("node-1", "railhead-setup-1", cluster.daemonset("railhead-setup", label="railhead-setup"), page="")
        self.assertEqual(0, self.run_in(cluster, "fleet").returncode)

    def test_of_two_agents_of_an_update_the_ready_one_is_asked(self) -> None:
        def asked(*agents: dict) -> tuple[int, list[str], str]:
            cluster = Cluster()
            cluster.node("node-1")
            sets = [cluster.daemonset(), cluster.daemonset("second")]
            for number, agent in enumerate(agents):
                cluster.pod("node-1", f"agent-{number}", sets[agent.pop("set", 0)], page=self.WELL, **agent)
            done = self.run_in(cluster, "nics", "node-1", f"--agent-namespace={SPACE}")
            pods = [one.split()[3] for one in done.asked if one.startswith(" exec ")]
            fleet = json.loads(self.run_in(cluster, "fleet", "-o", "json", f"--agent-namespace={SPACE}").stdout)["nodes"]
            self.assertEqual(bool(pods), fleet[0]["health"] != "unknown")
            return done.returncode, pods, done.stderr

        new, old = {"born": "2026-01-03T00:00:00Z"}, {"born": "2026-01-01T00:00:00Z"}
        code, pods, told = asked({**new, "ready": False}, {**old, "ready": True})
        self.assertEqual((0, ["agent-1"]), (code, pods))
        self.assertIn("agent-0", told)
        self.assertEqual((0, ["agent-0"]), asked({**new}, {**old, "dying": True})[:2])
        self.assertEqual((0, ["agent-1"]), asked({**new, "ready": False}, {**old, "ready": False})[:2])
        for pair in (({**new}, {**old}), ({**new, "set": 1}, {**old}), ({**new, "set": 1, "ready": False}, {**old})):
            code, pods, told = asked(*pair)
            self.assertEqual((2, []), (code, pods))
            self.assertTrue("agent-0" in told and "agent-1" in told, told)

    def test_ready_is_that_of_the_container_agent(self) -> None:
        for ready, wanted in ((True, True), (False, False), ("yes", None), ("true\nnode-2 x", None), (7, None), (None, False)):
            cluster = Cluster()
            owner = cluster.daemonset()
            cluster.node("node-1")
            cluster.pod("node-1", "agent", owner, ready=ready, page=self.WELL, side_car=True)
            for run in (self.run_in, self.real):
                done = run(cluster, "fleet", "-o", "json")
                node = json.loads(done.stdout)["nodes"][0]
                self.assertEqual((wanted, "ok" if wanted else "problem", 8), (node["ready"], node["health"], node["gpus"]), ready)

    def test_the_document_is_json_whatever_a_page_says(self) -> None:
        numbers = ("nan", "-1", "1e300", "+Inf", "007", "0x10", '1"', "1,2", "{}", "")
        for number in numbers:
            page = re.sub(r" \d+$", lambda _, number=number: f" {number}", self.WELL, flags=re.M)
            node = self.document([page])["nodes"][0]
            self.assertIsInstance(node["gpus"], int if number == "007" else type(None), number)
        for text in ('\\"', "\\", '"', "\x9b", "\u202e", "a,b", "a=1/2", "é", "...", "-", "?"):
            page = self.WELL.replace('"a/b"', f'"{text}"').replace('"a"', f'"{text}"').replace("2.4.2", text).replace("0.1.0", text)
            self.document([page, page + f'railhead_nic_missing{{gpu="{text}"}} 1\nrailhead_compute_nic_usable{{nic="{text}"}} 0\n'])

    def test_a_message_of_the_api_server_is_one_line_that_is_cut(self) -> None:
        cluster = self.of_pages([None])
        cluster.nodes[0]["status"]["capacity"]["a/b"] = "0"
        cluster.refusals[f"{SPACE}/railhead-1"] = HOSTILE + "x" * 100000
        for run in (self.run_in, self.real):
            for words in (("fleet",), ("clean-up", "a/b")):
                done = run(cluster, *words)
                self.assertNotRegex(done.stdout + done.stderr, r"[^\n -~]")
                self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
                self.assertLess(len(done.stderr), 500)
                self.assertIn("node-1: page could not be read: ", done.stderr)
                self.assertIn("boom", done.stderr)

    def test_a_page_without_an_end_is_left_where_it_is(self) -> None:
        cluster = self.of_pages([None])
        cluster.nodes[0]["status"]["capacity"]["a/b"] = "0"
        cluster.endless.append(f"{SPACE}/railhead-1")
        for run in (self.run_in, self.real):
            for words, code in ((("fleet",), 2), (("clean-up", "a/b", "--yes"), 0)):
                began = time.monotonic()
                done = run(cluster, *words)
                self.assertEqual(code, done.returncode)
                self.assertLess(time.monotonic() - began, 30, "as long as a page may take")
                self.assertIn("4194304", done.stderr)
                self.assertNotIn("taken off", done.stdout)

    def test_what_a_command_prints_is_cut_and_has_its_code(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.output = b"well \xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x98\x80\ttab\n" + HOSTILE.encode() + b"\x9b\xc2\x9b\xe2\x80\xae\xff\x00end\n"
        cluster.errors, cluster.code = HOSTILE.encode() + b"\xc2\x9b", 1
        for words in (("doctor", "node-1"), ("nics", "node-1", "--watch"), ("config", "node/node-1", "-o", "json")):
            done = self.run_in(cluster, *words)
            self.assertEqual(1, done.returncode)
            self.assertEqual("well é … 😀\ttab", done.stdout.splitlines()[0])
            for text in (done.stdout, done.stderr):
                self.assertNotRegex(text, UNSAFE)
                self.assertIn("boom", text)
                text.encode()  # nothing but UTF-8
        cluster.code = 64
        self.assertEqual((64, cluster.output), (self.run_in(cluster, "snapshot", "node-1").returncode, self.run_in(cluster, "snapshot", "node-1").raw))

    def test_what_a_command_prints_without_an_end_is_left_out_and_said(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.floods = ["output"]
        for words in (("doctor", "node-1", "-o", "json"), ("snapshot", "node-1")):
            done = self.run_in(cluster, *words)
            self.assertEqual((2, b""), (done.returncode, done.raw), "half a document is none")
            self.assertIn("67108864", done.stderr)

    def test_standard_error_without_an_end_ends(self) -> None:
        for flood, words, code in (("errors", ("doctor", "node-1"), 2), ("list-errors", ("fleet",), 2), ("list-errors", ("doctor", "node-1"), 2),
                                   ("page-errors", ("fleet",), 2), ("list-errors", ("clean-up", "a/b"), 2)):
            cluster = self.of_pages([self.WELL])
            cluster.floods = [flood]
            done = self.run_in(cluster, *words)
            self.assertEqual(code, done.returncode, flood)
            self.assertNotRegex(done.stdout + done.stderr, UNSAFE)
            self.assertLess(len(done.stderr), 300_000)

    def test_many_lines_of_standard_error_end_no_command(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.output, cluster.errors, cluster.code = b"{}\n", b"".join(b"note %d\n" % n for n in range(100_000)), 1
        done = self.run_in(cluster, "doctor", "node-1", "-o", "json")
        self.assertEqual((1, "{}\n"), (done.returncode, done.stdout))
        lines = done.stderr.splitlines()
        self.assertEqual(["note 0", "note 49"], [lines[0], lines[49]])
        self.assertEqual(51, len(lines))

    def test_a_command_that_reached_no_agent_found_no_problem(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.errors = b"Error from server (Forbidden): pods is forbidden\n"
        for code, wanted in ((1, 2), (137, 2), (126, 2), (64, 64), (2, 2)):
            cluster.code = code
            self.assertEqual(wanted, self.run_in(cluster, "doctor", "node-1").returncode)

    def test_a_snapshot_is_cut_where_a_terminal_would_get_it(self) -> None:
        cluster = self.of_pages([self.WELL])
        cluster.output = HOSTILE.encode()
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        ours, theirs = pty.openpty()
        subprocess.run([PLUGIN, "snapshot", "node-1"], stdout=theirs, check=True, stdin=subprocess.DEVNULL,
                       env={**os.environ, "KUBECTL": str(stub(cluster, folder))})
        os.close(theirs)
        self.assertNotRegex(os.read(ours, 10000).decode().replace("\r\n", "\n"), UNSAFE)

    def test_clean_up_keeps_what_is_held_or_served(self) -> None:
        cluster = self.of_pages([self.WELL, self.WELL, ""])
        for node, count in zip(cluster.nodes, ("0", "0", "0")):
            node["status"]["capacity"].update({"a/b": count, "a/c": count})
        cluster.pod("node-3", "evil", None, page=self.WELL)
        told = self.run_in(cluster, "clean-up", "a/b", "--yes")
        self.assertEqual([f"node-1: kept, the agent {SPACE}/railhead-1 serves it", f"node-2: kept, the agent {SPACE}/railhead-2 serves it",
                          "node-3: taken off"], told.stdout.splitlines())
        self.assertEqual(["node-1: would be taken off (--yes does it)"], self.run_in(cluster, "clean-up", "a/c").stdout.splitlines()[:1])
        cluster.pods[0]["holds"] = "x"
        self.assertIn("node-1: kept, held by", self.run_in(cluster, "clean-up", "a/c").stdout)

    def real(self, cluster: Cluster, *words: str) -> subprocess.CompletedProcess:
        """The same by a real kubectl; by the program in its place where there is none."""
        kubectl = shutil.which("kubectl")
        if kubectl is None:
            return self.run_in(cluster, *words)
        server = ApiServer(cluster)
        try:
            home = tempfile.mkdtemp(dir=self.folder)
            return self.run_in(cluster, *words, env={"KUBECTL": f"{kubectl} --server={server.url}", "HOME": home, "KUBECONFIG": "/dev/null"})
        finally:
            server.end()

    def typed(self, *words: str) -> subprocess.CompletedProcess:
        """What the plugin says where no cluster can be asked."""
        return subprocess.run([PLUGIN, *words], capture_output=True, text=True, check=False,
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
        self.assertEqual(0, self.plugin("clean-up", "--yes", "a/b", pages=[self.WELL]).returncode)
        self.assertEqual(64, self.typed("fleet", "--agent-namespace=a b").returncode)
        self.assertEqual(64, self.typed("pods", "a,b").returncode)

    def test_a_cluster_that_cannot_be_asked_proves_nothing(self) -> None:
        for words in (("fleet",), ("pods", "node-1"), ("clean-up", "a/b"), ("clean-up", "a/b", "--yes")):
            done = self.typed(*words)
            self.assertEqual((2, ""), (done.returncode, done.stdout), words)


def main() -> None:
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
