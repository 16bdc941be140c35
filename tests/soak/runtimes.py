# SPDX-License-Identifier: Apache-2.0
"""The real containerd: what its log says of us, and its restarts."""

import itertools
import os
import pathlib
import random
import re
import signal
import threading

from ledger import Ledger
from lib.containerd import Containerd
from lib.cri import Cri, Refused
from lib.process import Failed

RECONNECTED_WITHIN_S = 10.0
ONE_DROP_S = 1.0  # in which containerd writes several lines about the same
# Source: github.com/containerd/nri pkg/adaptation, plugin.go and adaptation.go, of 0.8 to 0.12.
_CONNECTED = re.compile(r'plugin \\?"?(?:\d\d-)?railhead\\?"? (?:connected|.*synchronization success)')
_DROPPED = re.compile(
    r"closing plugin .*railhead"
    r"|connection to plugin .*railhead.* closed"
    r"|ttrpc server for plugin .*railhead.* closed"
    r"|plugin .*railhead.* failed to handle"
    r"|failed to (?:start external|synchronize|create external) plugin"
)


class RestartableContainerd(Containerd):
    def kill(self) -> None:
        """As the kernel does when memory is short."""
        os.kill(self.pid, signal.SIGKILL)
        self._daemon.end(signal.SIGKILL)
        self._daemon = None

    def remove(self) -> None:
        """One that does not answer any more is killed; the jail ends what it leaves."""
        try:
            super().remove()
        except Refused:
            self.kill()
            super().remove()

    def client(self, number: int) -> "Client":
        return Client(f"unix://{self.dir}/containerd.sock", self._cgroup, number)


class Client(Cri):
    """A connection for one thread, whose pods have names that no other's have."""

    def __init__(self, address: str, cgroup_parent: str, number: int) -> None:
        super().__init__(address, cgroup_parent)
        self._numbers = itertools.count(number * 10_000_000 + 1)

    def call(self, method: str, *rest, **named):
        try:
            return super().call(method, *rest, **named)
        except Refused as refused:
            if re.search(r"connect|unavailable|EOF|closing|reset", str(refused)):
                self.close()  # a channel that failed waits ever longer before it tries again
            raise


class RuntimeLog:
    """Follows containerd's log: when the agent connected, and when it was dropped."""

    def __init__(self, path: pathlib.Path, ledger: Ledger) -> None:
        self._path = path
        self._ledger = ledger
        self._connected = threading.Condition()
        self._dropped_at = float("-inf")
        self.connections = 0

    def run(self, stop: threading.Event) -> None:
        with open(self._path, encoding="utf-8", errors="replace") as log:
            half = ""
            while True:
                half += log.readline()
                if half.endswith("\n"):
                    self._see(half)
                    half = ""
                elif stop.wait(0.05):
                    return

    def _see(self, line: str) -> None:
        if _CONNECTED.search(line):
            with self._connected:
                self.connections += 1
                self._connected.notify_all()
        elif _DROPPED.search(line):
            now = self._ledger.now()
            lately = now - self._dropped_at < ONE_DROP_S
            if not lately and not self._ledger.troubled("containerd", now, now, after_s=1):
                self._dropped_at = now
                self._ledger.find("dropped", f"containerd: {line.strip()[:400]}")
                self._ledger.mark("dropped")

    def wait_connections(self, number: int, timeout_s: float) -> bool:
        with self._connected:
            return self._connected.wait_for(lambda: self.connections >= number, timeout_s)


class RuntimeRestarts:
    def __init__(
        self,
        runtime: RestartableContainerd,
        log: RuntimeLog,
        ledger: Ledger,
        chance: random.Random,
        pause_s: tuple[float, float],
    ) -> None:
        self._runtime = runtime
        self._log = log
        self._ledger = ledger
        self._chance = chance
        self._pause_s = pause_s

    def run(self, stop: threading.Event) -> None:
        kills = itertools.cycle((True, False))
        while not stop.wait(self._chance.uniform(*self._pause_s)):
            with self._ledger.trouble("containerd"):
                if not self._restart(next(kills), stop):
                    return

    def _restart(self, kill: bool, stop: threading.Event) -> bool:
        self._ledger.count(f"containerd {'killed' if kill else 'restarted'}")
        before = self._log.connections
        try:
            if kill:
                self._runtime.kill()
            else:
                self._runtime.stop()
            stop.wait(self._chance.uniform(0.2, 4))
            self._runtime.start()
        except Failed as failure:
            self._ledger.find("note", f"containerd does not start again: {failure}")
            stop.set()
            return False
        if not self._log.wait_connections(before + 1, RECONNECTED_WITHIN_S):
            text = f"not connected {RECONNECTED_WITHIN_S:g} s after containerd's start"
            self._ledger.find("wrong", text)
        return True
