#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts and dashboards: check.py RAILHEAD [pattern…] [--bless]

promtool judges the rules and the page of a real agent. A real Prometheus reads fifty nodes made from that page, and
answers each query of the dashboards and each alert. Grafana itself is not looked at. --bless writes the dashboards.
"""

import json
import pathlib
import re
import socket
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests/runtime"), str(TREE / "tests")]

import yaml  # noqa: E402
from lib.process import Daemon, output, wait_until  # noqa: E402
from monitoring import dashboards  # noqa: E402
from monitoring import expected  # noqa: E402
from monitoring.fleet import FAULTS, NODES, SILENT, Fleet, samples_of  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FILES = TREE / "deploy/charts/files"
ALERTS = FILES / "alerts.yaml"
# What the machine of the recording counts at its ports.
COUNTERS = {"counters/port_rcv_data": 1000, "counters/port_xmit_data": 1000, "counters/symbol_error": 0,
            "counters/link_downed": 0, "counters/port_xmit_wait": 7, "hw_counters/np_cnp_sent": 3,
            "hw_counters/out_of_sequence": 0}
# Of Grafana, in place of what a person chooses.
VARIABLES = {"$__rate_interval": "10s", "$node": ".*", "$namespace": ".*", "$pod": ".*"}
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> str:
    return _OPENER.open(url, timeout=10).read().decode()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def recorded_page(railhead: str, folder: pathlib.Path) -> str:
    """/metrics of a real agent on a machine with two pods."""
    machine = folder / "machine.node"
    snapshot = (TREE / "tests/pods/two-pods.node").read_bytes()
    nics = re.findall(rb"^l /sys/class/infiniband/mlx5_\d+ -> \.\./\.\./(\S+)", snapshot, re.M)
    entries = "".join(f"t /sys/{nic.decode()}/ports/1/{name} {value}\n"
                      for nic in nics for name, value in COUNTERS.items())
    machine.write_bytes(snapshot + entries.encode())
    port = free_port()
    agent = Daemon([railhead, "agent", "--snapshot", str(machine), "--bind-address", f"127.0.0.1:{port}",
                    "--nri-socket", str(folder / "nri.sock"), "--kubelet-root-dir", str(folder),
                    "--metrics-socket", "", "--port-counters-interval", "1", "--doctor-interval", "1",
                    "--doctor-history", ""], folder / "agent.log")
    try:
        url = f"http://127.0.0.1:{port}/metrics"

        def whole_page() -> str | None:
            try:
                page = get(url)
            except OSError:
                return None
            parts = ("railhead_pod_transport{", "railhead_port_bytes_total{", "railhead_check_findings{")
            return page if all(part in page for part in parts) else None

        return wait_until("a whole page of the agent", whole_page, 30)
    finally:
        agent.end()


class Prometheus:
    """Scrapes the fleet every two seconds; the alerts fire without waiting."""

    def __init__(self, folder: pathlib.Path, fleet: Fleet) -> None:
        rules = yaml.safe_load(ALERTS.read_text())
        for rule in rules["groups"][0]["rules"]:
            rule.pop("for", None)
        (folder / "alerts.yaml").write_text(yaml.safe_dump(rules))
        # As the chart's PodMonitor: labels of the agent's pod, which give way to those of the samples.
        targets = [{"targets": [f"127.0.0.1:{fleet.port}"],
                    "labels": {"__metrics_path__": f"/{n}", "node": f"node-{n}", "namespace": "kube-system",
                               "pod": f"railhead-{n}", "container": "agent", "instance": f"10.0.0.{n}:9479"}}
                   for n in range(NODES)]
        (folder / "prometheus.yaml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
            "rule_files": ["alerts.yaml"],
            "scrape_configs": [{"job_name": "railhead", "honor_labels": True, "static_configs": targets}]}))
        output("promtool", "check", "config", folder / "prometheus.yaml")
        port = free_port()
        self._url = f"http://127.0.0.1:{port}/api/v1/"
        self._daemon = Daemon(["prometheus", f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data",
                               f"--web.listen-address=127.0.0.1:{port}"], folder / "prometheus.log")

    def ask(self, what: str, words: dict[str, str]) -> list | dict:
        return json.loads(get(self._url + what + "?" + urllib.parse.urlencode(words)))["data"]

    def answer(self, query: str) -> list:
        return self.ask("query", {"query": query})["result"]

    def firing(self) -> list[dict]:
        return [one for one in self.ask("alerts", {})["alerts"] if one["state"] == "firing"]

    def values_of(self, metric: str, label: str) -> list[str]:
        """What Grafana offers for a variable: label_values(metric, label)."""
        return self.ask(f"label/{label}/values", {"match[]": metric})

    def is_full(self) -> bool:
        """All nodes have been read for so long that rates are there, and those that fall silent are silent."""
        try:
            read = self.answer("count(count_over_time(railhead_build_info[2m]) >= 8)")
            silent = self.answer("count(sum_over_time(up[12s]) == 0)")
        except OSError:
            return False
        return [int(one["value"][1]) for one in read + silent] == [NODES, len(SILENT)]

    def end(self) -> None:
        self._daemon.end()


def queries() -> list[tuple[str, str, str]]:
    """Each query of each dashboard, with where it stands and its legend."""
    out = []
    for name, text in dashboards.files().items():
        for panel in json.loads(text)["panels"]:
            out += [(f"{name}: {panel['title']}", target["expr"], target["legendFormat"]) for target in panel["targets"]]
    return out


def labels_in(text: str) -> set[str]:
    """Labels that a legend or an annotation is made of."""
    return set(re.findall(r"{{ ?(?:\$labels\.)?(\w+) ?}}", text))


class Monitoring(unittest.TestCase):
    railhead: str

    @classmethod
    def setUpClass(cls) -> None:
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.page = recorded_page(cls.railhead, cls.folder)

    @classmethod
    def tearDownClass(cls) -> None:
        cls._folder.cleanup()

    def test_promtool_finds_nothing_in_the_page_of_an_agent(self) -> None:
        self.assertEqual("", output("promtool", "check", "metrics", input=self.page))

    def test_alerts_fire_when_they_should(self) -> None:
        output("promtool", "check", "rules", ALERTS)
        output("promtool", "test", "rules", HERE / "alerts_test.yaml")
        cases = (HERE / "alerts_test.yaml").read_text()
        for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]:
            self.assertIn(rule["alert"], cases)
            self.assertIn(rule["alert"], FAULTS.keys() | SILENT.keys())
            self.assertEqual({"summary", "description"}, set(rule["annotations"]))

    def test_the_page_has_each_rule_and_no_other(self) -> None:
        rules = [rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]]
        page = re.findall(r"^\| `(Railhead\w+)` \|", (TREE / "docs/metrics.md").read_text(), re.M)
        self.assertEqual(sorted(rules), sorted(page))

    def test_rules_and_dashboards_name_metrics_that_exist(self) -> None:
        known = set(re.findall(r"^# TYPE (\S+)", self.page, re.M))
        known |= {f"{name}_bucket" for name in re.findall(r"^# TYPE (\S+) histogram", self.page, re.M)}
        for text in [ALERTS.read_text(), *(expr for _, expr, _ in queries())]:
            self.assertEqual(set(), set(re.findall(r"\brailhead_\w+", text)) - known)

    def test_dashboards_are_as_they_would_be_written(self) -> None:
        folder = FILES / "dashboards"
        self.assertEqual(dashboards.files(), {path.name: path.read_text() for path in folder.iterdir()}, "./dev bless")

    def test_panels_have_places_of_their_own(self) -> None:
        for name, text in dashboards.files().items():
            board, taken = json.loads(text), set()
            self.assertEqual(name, board["uid"] + ".json")
            for panel in board["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & taken, f"{name}: {panel['title']}")
                self.assertLessEqual(at["x"] + at["w"], dashboards.WIDTH)
                taken |= cells

    def test_a_number_of_faults_is_red_and_no_number_is_green_by_chance(self) -> None:
        faults = re.compile("not |fallback|without", re.I)
        for name, text in dashboards.files().items():
            for panel in json.loads(text)["panels"]:
                if panel["type"] != "stat":
                    continue
                steps = [(step["value"], step["color"]) for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]
                if faults.search(panel["title"]):
                    self.assertEqual([(None, "green"), (1, "red")], steps, f"{name}: {panel['title']}")
                else:
                    self.assertIn(steps, ([(None, "text")], [(None, "red"), (1, "green")]), f"{name}: {panel['title']}")

    def test_a_link_of_a_table_leads_to_a_dashboard_that_is_there(self) -> None:
        boards = {uid for uid, *_ in dashboards.DASHBOARDS}
        variables = {f"var-{name}" for name, _ in next(one[3] for one in dashboards.DASHBOARDS if one[0] == "railhead-node")}
        for text in dashboards.files().values():
            for uid, query in re.findall(r'"/d/([^?"]+)\?([^="]+)=', text):
                self.assertIn(uid, boards)
                self.assertIn(query, variables)

    def test_a_fleet_of_fifty_answers_every_query(self) -> None:
        fleet = Fleet(self.page)
        prometheus = Prometheus(self.folder, fleet)
        try:
            wait_until("fifty nodes read eight times", prometheus.is_full, 180)
            panels = expected.panels(samples_of(self.page))
            with self.subTest("alerts"):
                self.fire(prometheus.firing())
            for where, expr, legend in queries():
                for name, value in VARIABLES.items():
                    expr = expr.replace(name, value)
                with self.subTest(where):
                    self.shows(where, panels.pop(where, None), prometheus.answer(expr), legend)
            self.assertEqual({}, panels, "no such panel")
            for name, metric in {one for board in dashboards.DASHBOARDS for one in board[3]}:
                with self.subTest(f"values of ${name}"):
                    self.assertTrue(prometheus.values_of(metric, name))
            with self.subTest("a pod is the one that uses RDMA, not the agent's"):
                found = prometheus.answer('railhead_pod_transport{node="node-3"}')
                self.assertIn("train", {one["metric"]["namespace"] for one in found})
                self.assertNotIn("kube-system", {one["metric"]["namespace"] for one in found})
        finally:
            prometheus.end()
            fleet.end()

    def fire(self, alerts: list[dict]) -> None:
        """Each alert for its node and no other, and each names what its texts say."""
        faults = {name: fault[0] for name, fault in FAULTS.items()} | {name: node for name, (node, _) in SILENT.items()}
        self.assertEqual({(name, f"node-{node}") for name, node in faults.items()},
                         {(one["labels"]["alertname"], one["labels"]["node"]) for one in alerts})
        rules = {rule["alert"]: rule for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]}
        for one in alerts:
            self.assertLessEqual(labels_in(str(rules[one["labels"]["alertname"]]["annotations"])), set(one["labels"]))

    def shows(self, where: str, panel: expected.Panel | None, found: list, legend: str) -> None:
        """It has what these nodes should show, and no two of its lines the same name."""
        self.assertTrue(found)
        self.assertEqual([], expected.differences(panel, found) if panel else [])
        if legend != "__auto":
            for one in found:
                self.assertLessEqual(labels_in(legend), set(one["metric"]))
            # The pods of the recording are on each of the nodes.
            names = [re.sub("{{(\\w+)}}", lambda label, one=one: one["metric"][label[1]], legend)
                     + (one["metric"].get("node", "") if where.startswith("railhead-pod") else "") for one in found]
            self.assertEqual(len(names), len(set(names)), names[:3])


def main() -> None:
    if "--bless" in sys.argv:
        (FILES / "dashboards").mkdir(parents=True, exist_ok=True)
        for name, text in dashboards.files().items():
            (FILES / "dashboards" / name).write_text(text)
        return
    Monitoring.railhead = sys.argv.pop(1)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
