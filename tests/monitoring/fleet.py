# SPDX-License-Identifier: Apache-2.0
"""Fifty nodes for Prometheus: the page of a real agent, changed as each node's fault says."""
import contextlib
import http.server
import re
import threading
import time
from collections.abc import Callable

NODES = 50
SAMPLE = re.compile(r"(railhead_\w+?)(\{.*\})? (\S+)$")
# Bytes a second of each port, times the number of the node.
TRAFFIC = 1e9
BROKE_AFTER_S = 5
Value = Callable[[float], float]


def always(value: float) -> Value:
    return lambda _seconds: value


def grows(seconds: float) -> float:
    return int(seconds)


def breaks(seconds: float) -> float:
    return 1 if seconds < BROKE_AFTER_S else 0


# Alert -> number of the one node that has it, the beginning of the sample and what it is in time.
FAULTS: dict[str, tuple[int, str, Value]] = {
    "RailheadSilentFallback": (3, 'railhead_pod_silent_fallback{namespace="train",pod="a-1"', always(1)),
    "RailheadEnvironmentContradicts": (4, 'railhead_nri_warnings_total{code="environment-contradicts"}', grows),
    "RailheadPortDown": (5, 'railhead_port_active{nic="mlx5_0",port="1"', breaks),
    "RailheadComputeNicDown": (20, 'railhead_compute_nic_usable{nic="mlx5_1"}', always(0)),
    "RailheadNicMissing": (21, 'railhead_nic_missing{gpu="0000:c3:00.0"}', always(1)),
    "RailheadMachineUnread": (22, "railhead_node_unread", always(1)),
    "RailheadLinkFlapping": (6, 'railhead_port_link_downs_total{nic="mlx5_0",port="1"}', grows),
    "RailheadNotConnected": (7, "railhead_nri_connected", always(0)),
    "RailheadNotEnrolled": (8, 'railhead_kubelet_enrolled{pool="rdma.io/hca"}', always(0)),
    "RailheadResourceAtZero": (9, 'railhead_pool_devices{pool="rdma.io/hca",state="healthy"}', always(0)),
    "RailheadMemlockRefused": (10, 'railhead_nri_warnings_total{code="memlock-clamped"}', grows),
    "RailheadFieldIgnored": (11, 'railhead_nri_missing_features{what="rlimits"}', always(1)),
    "RailheadRefused": (12, 'railhead_nri_decisions_total{outcome="refused",reason="no-usable-nic"}', grows),
    "RailheadContainersMissingDevices": (13, "railhead_nri_containers_missing_devices", always(2)),
    "RailheadDeadlineMissed": (14, "railhead_nri_deadlines_missed_total", grows),
    "RailheadReadingHangs": (15, "railhead_node_reading_seconds", always(90)),
    "RailheadConfigurationRefused": (16, "railhead_config_last_reload_successful", always(0)),
    "RailheadCheckFails": (18, 'railhead_check_findings{check="link.sm",state="fail"}', always(1)),
    "RailheadStartupTaintStays": (17, 'railhead_startup_taint_looks_total{outcome="failed"}', grows),
}
# Alert -> number of the node whose agent answers so often and then no more.
SILENT = {"RailheadAgentDown": (19, 10)}
# Beside the fault.
ALSO: list[tuple[int, str, Value]] = [
    (9, 'railhead_pool_devices{pool="rdma.io/hca",state="unhealthy",reason="not-ready"}', always(100)),
]
# What the agent of the recording lacks, as it had neither a runtime nor a kubelet.
WELL: list[tuple[str, Value]] = [
    ("railhead_nri_connected", always(1)),
    ('railhead_nri_runtime_info{name="containerd",version="2.4.2",nri="0.12.5"}', always(1)),
    ('railhead_kubelet_enrolled{pool="rdma.io/hca"}', always(1)),
    ('railhead_pool_devices{pool="rdma.io/hca",state="healthy"}', always(100)),
    ('railhead_pool_devices{pool="rdma.io/hca",state="unhealthy",reason="not-ready"}', always(0)),
    ('railhead_nri_injected_nics_total{nic="mlx5_0"}', grows),
    *((f'railhead_port_pause_frames_total{{nic="mlx5_0",port="1",priority="3",direction="{direction}"}}', grows)
      for direction in ("received", "transmitted")),
    ("railhead_nri_containers_missing_devices", always(0)),
    ("railhead_node_reading_seconds", always(0)),
    ("railhead_config_last_reload_successful", always(1)),
    ('railhead_nri_answer_seconds_bucket{le="0.00025"}', grows),
    *((f'railhead_nri_answer_seconds_bucket{{le="{bound}"}}', grows)
      for bound in ("0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2", "+Inf")),
    ("railhead_nri_answer_seconds_count", grows),
    ('railhead_nfs_mounts{verdict="rdma"}', always(2)),
]


def samples_of(page: str) -> dict[str, float]:
    found = (SAMPLE.match(line) for line in page.splitlines() if not line.startswith("#"))
    return {match[1] + (match[2] or ""): float(match[3]) for match in found if match}


class Fleet:
    """Serves /0 to /49 at a port of 127.0.0.1."""

    def __init__(self, page: str) -> None:
        self._heads = [line for line in page.splitlines() if line.startswith("#")]
        self._samples = samples_of(page)
        self._began: dict[int, float] = {}  # of a node: when it was first asked
        self._answers_left = dict(SILENT.values())
        fleet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                node = int(self.path.strip("/"))
                if not fleet.answers(node):
                    return self.send_error(503)
                body = fleet.page(node).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # it waited too long
                    self.wfile.write(body)
                return None

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answers(self, node: int) -> bool:
        if node in self._answers_left:
            self._answers_left[node] -= 1
        return self._answers_left.get(node, 0) >= 0

    def page(self, node: int) -> str:
        seconds = time.monotonic() - self._began.setdefault(node, time.monotonic())
        samples = dict(self._samples)
        for name in samples:
            if name.startswith(("railhead_port_bytes_total", "railhead_pod_traffic", "railhead_pod_tcp")):
                samples[name] += TRAFFIC * node * seconds
            elif name.startswith(("railhead_port_congestion", "railhead_nri_decisions_total{outcome=\"adjusted")):
                samples[name] += int(seconds)
            elif name.startswith("railhead_port_errors"):
                samples[name] += int(seconds) if node % 2 else 0
        edits = [*WELL, *((series, value) for at, series, value in [*FAULTS.values(), *ALSO] if at == node)]
        for series, value in edits:
            keys = [key for key in samples if key.startswith(series)] or [series]
            for key in keys:
                samples[key] = value(seconds)
        by_family: dict[str, list[str]] = {}
        for key, value in samples.items():
            family = re.sub(r"_(bucket|sum|count)$", "", key.split("{")[0])
            by_family.setdefault(family, []).append(f"{key} {value}")
        lines = []
        for head in self._heads:
            lines.append(head)
            if head.startswith("# TYPE"):
                lines += by_family.pop(head.split()[2], [])
        assert not by_family, f"the agent has no {sorted(by_family)}"
        return "\n".join(lines) + "\n"

    def end(self) -> None:
        self._server.shutdown()
