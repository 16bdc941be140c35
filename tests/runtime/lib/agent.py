# SPDX-License-Identifier: Apache-2.0
"""The agent under test: started beside a runtime, asked through its own pages and its log."""

import json
import os
import pathlib
import re
import signal
import time
import urllib.error
import urllib.request

from . import paths
from .process import END_S, PATIENCE_S, Daemon, Failed, wait_until

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
# The agent gathers lines for 100 ms before it writes them.
LOG_GATHERS_S = 0.15


class Agent:
    def __init__(
        self,
        nri_socket: pathlib.Path,
        log: pathlib.Path,
        machine: str,
        flags: tuple[str, ...] = (),
        under: tuple[str, ...] = (),
        program: str | None = None,
    ) -> None:
        """`machine`: a snapshot, or the root of a directory tree. `under`: what starts the agent.
        `program`: another than the one under test."""
        source = "--host-root" if os.path.isdir(machine) else "--snapshot"
        self._argv = [
            *(*under, program or paths.railhead(), "agent", source, machine),
            *("--nri-socket", str(nri_socket), "--bind-address", "127.0.0.1:0"),
            *("--metrics-socket", "", "--doctor-history", ""),  # several agents run on one machine
            *("--log-format", "json", *flags),
        ]
        self._log = log
        self._offset = 0  # where this run begins in the log
        self._daemon: Daemon | None = None

    def start(self, ready: bool = True) -> "Agent":
        """With `ready`, returns when the agent says that it is connected to the runtime."""
        self._offset = self._log.stat().st_size if self._log.exists() else 0
        self._daemon = Daemon(self._argv, self._log)
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self, timeout_s: float = PATIENCE_S) -> None:
        wait_until(f"agent ready, see {self._log}", self._is_ready, timeout_s)

    def wait_not_ready(self) -> None:
        wait_until("agent not ready", lambda: not self._is_ready())

    def _is_ready(self) -> bool:
        if self._daemon.exit_code is not None:
            raise Failed(f"agent ended with {self._daemon.exit_code}, see {self._log}")
        return self._address() is not None and self.page("/readyz")[0] == 200

    @property
    def pid(self) -> int:
        return self._daemon.pid

    def running(self) -> bool:
        return self._daemon is not None and self._daemon.exit_code is None

    def terminate(self, timeout_s: float = END_S) -> int:
        """SIGTERM; the exit code."""
        return self._daemon.end(timeout_s=timeout_s)

    def kill(self) -> None:
        self._daemon.end(signal.SIGKILL)

    # What it says

    def events(self, event: str | None = None, least: int = 0) -> list[dict]:
        """The log of this run, one dict a line; only events of that name, if given. A line may be written some time
        after what it tells of can be seen: who knows of `least` lines waits for them."""
        if least:
            what = f"{least} lines of {event} in {self._log}"
            return wait_until(what, lambda: len(self._lines(event)) >= least and self._lines(event))
        time.sleep(LOG_GATHERS_S)
        return self._lines(event)

    def _lines(self, event: str | None) -> list[dict]:
        with open(self._log, "rb") as log:
            log.seek(self._offset)
            lines = log.read().decode(errors="replace").splitlines()
        parsed = [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]
        return [line for line in parsed if event in (None, line.get("event"))]

    def _address(self) -> str | None:
        return next((line["address"] for line in self.events("listening")), None)

    def decision(self, pod: str, container: str = "main") -> dict:
        """The newest decision on a container; it is logged after the runtime got its answer."""

        def newest() -> dict | None:
            wanted = (f"default/{pod}", container)
            mine = [e for e in self.events("container") if (e["pod"], e["container"]) == wanted]
            return mine[-1] if mine else None

        return wait_until(f"a decision on {pod}/{container} in {self._log}", newest)

    def page(self, path: str) -> tuple[int, str]:
        try:
            with _OPENER.open(f"http://{self._address()}{path}", timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples that have these labels; 0 if there is none."""
        total = 0.0
        for line in self.page("/metrics")[1].splitlines():
            match = _SAMPLE.fullmatch(line)
            if match and match[1] == name:
                found = dict(_LABEL.findall(match[2] or ""))
                if labels.items() <= found.items():
                    total += float(match[3])
        return total

    def warnings(self, code: str) -> float:
        return self.metric("railhead_nri_warnings_total", code=code)
