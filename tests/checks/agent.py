#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent's doctor says what `railhead doctor` says: its page /doctor is the same document, its metrics count the
same findings, and who has neither the Unix socket nor the token reads no page."""
import argparse
import collections
import contextlib
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "tests/nodes")]
from documents import DOCUMENTS  # noqa: E402
from json_shapes import wrong_shape  # noqa: E402

MACHINE = ROOT / "tests/nodes/dgx-h100-degraded.node"
PATIENCE_S = 30
TOKEN = "secret"
SAMPLE = re.compile(r'^railhead_check_findings\{check="([^"]+)",state="([^"]+)"\} (\d+)$', re.M)
TIMED = re.compile(r'^railhead_check_(?:last_run_timestamp|duration)_seconds\{check="([^"]+)"\} (\S+)$', re.M)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("agent")
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def get(connection, path, headers=None):
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def agent_on(railhead, folder, machine):
    port = free_port()
    (folder / "token").write_text(TOKEN)
    command = [railhead, "agent", "--snapshot", machine, "--nri=false", "--device-plugin=false", "--pods-interval", "0",
               "--bind-address", f"127.0.0.1:{port}", "--metrics-socket", folder / "agent.sock",
               "--metrics-token-file", folder / "token", "--doctor-interval", "1s",
               "--doctor-history", folder / "history.json"]
    with (folder / "agent.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def first_page(folder):
    """The page before the first look, and the first that is there."""
    early, end = None, time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            status, text = get(UnixConnection(folder / "agent.sock"), "/doctor")
            if status == 200:
                return early, json.loads(text)
            early = status, text
        time.sleep(0.05)
    raise RuntimeError(f"no page: {early}, {(folder / 'agent.log').read_text()}")


def states(report):
    return collections.Counter((one["id"], one["subject"], one["state"]) for one in report["findings"])


def wrong_metrics(text, report):
    counted = collections.Counter({(check, state): int(number) for check, state, number in SAMPLE.findall(text)})
    found = collections.Counter((one["id"], one["state"].lower()) for one in report["findings"])
    if counted != found:
        yield f"metrics: {sorted((counted - found) + (found - counted))}"
    times = collections.Counter(check for check, _ in TIMED.findall(text))
    checks = {one["id"] for one in report["findings"]}
    yield from (f"metrics: {check} has {times[check]} times, not 2" for check in checks if times[check] != 2)


def wrong(railhead):
    told = json.loads(subprocess.run([railhead, "doctor", "--snapshot", MACHINE, "--nri=false", "-o", "json"],
                                     capture_output=True, text=True, check=False).stdout)
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        with agent_on(railhead, folder, MACHINE) as port:
            early, page = first_page(folder)
            yield from wrong_shape(page, DOCUMENTS["DoctorReport"][1])
            if states(page) != states(told):
                yield f"the page: {states(page) - states(told)}, the command: {states(told) - states(page)}"
            if early and (early[0] != 404 or "doctor.everySeconds" not in early[1]):
                yield f"before the first look: {early}"
            if "time" not in page or any("since" not in one for one in page["findings"]):
                yield "the page says no time, or not since when"
            metrics = get(http.client.HTTPConnection("127.0.0.1", port), "/metrics")[1]
            yield from wrong_metrics(metrics, page)
            for headers, expected in ({}, 403), ({"Authorization": "Bearer wrong"}, 403), (
                    {"Authorization": f"Bearer {TOKEN}"}, 200):
                status = get(http.client.HTTPConnection("127.0.0.1", port), "/doctor", headers)[0]
                if status != expected:
                    yield f"TCP with {headers}: {status}"
        log = (folder / "agent.log").read_text()
        if " warn check id=link.port-state subject=mlx5_3/1 state=FAIL" not in log:
            yield f"the log says nothing of the failure: {log}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--railhead", required=True)
    options = parser.parse_args()
    found = list(wrong(options.railhead))
    print("\n".join(map(str, found)))
    sys.exit(1 if found else 0)


main()
