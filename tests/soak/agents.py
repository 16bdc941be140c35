# SPDX-License-Identifier: Apache-2.0
"""The agent that is soaked: its standard error is a pipe, whose reader now and then stops reading."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import threading

from ledger import Ledger

KEPT_BYTES = 32 << 20  # of the log, twice: this file and the one before
TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Sample:
    t: float
    rss_kib: int
    anon_kib: int
    descriptors: int
    threads: int


class _Log:
    """The file that the agent's lines end up in; begins anew when it is large."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._file = open(path, "ab")  # noqa: SIM115, it is open as long as the agent is

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        if self._file.tell() > KEPT_BYTES:
            self._file.close()
            os.replace(self._path, f"{self._path}.before")
            self._file = open(self._path, "wb")  # noqa: SIM115


class SoakedAgent:
    def __init__(self, argv: list[str], log: pathlib.Path, ledger: Ledger) -> None:
        self._argv = argv
        self._log = _Log(log)
        self._ledger = ledger
        self._reads = threading.Event()
        self._reads.set()
        self.addresses: list[tuple[str, int]] = []
        self._start()

    def _start(self) -> None:
        self.addresses = []
        self._process = subprocess.Popen(
            self._argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        pipe = self._process.stdout
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe) -> None:
        half = b""
        while data := os.read(pipe.fileno(), 65536):
            self._log.write(data)
            *lines, half = (half + data).split(b"\n")
            for line in lines:
                self._see(line)
            self._reads.wait()
        pipe.close()

    def _see(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            return
        if not isinstance(said, dict):
            return
        if said.get("event") == "listening" and not said["address"].startswith("unix:"):
            host, _, port = said["address"].rpartition(":")
            self.addresses.append((host.strip("[]"), int(port)))

    def stop_reading(self, seconds: float, stop: threading.Event) -> None:
        self._reads.clear()
        stop.wait(seconds)
        self._reads.set()

    @property
    def pid(self) -> int:
        return self._process.pid

    def watch(self, stop: threading.Event, samples: list[Sample]) -> None:
        """Samples each second; an agent that ended is said, and started again."""
        while not stop.wait(1):
            code = self._process.poll()
            if code is not None:
                self._ledger.find("ended", f"the agent ended with {code}")
                self._ledger.mark("ended")
                self._start()
                continue
            try:
                samples.append(self._sample())
            except OSError:
                pass  # it ended just now

    def _sample(self) -> Sample:
        folder = pathlib.Path(f"/proc/{self.pid}")
        facts = dict(
            line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line
        )
        rss, anon = (int(facts[key].split()[0]) for key in ("VmRSS", "RssAnon"))
        descriptors = len(os.listdir(folder / "fd"))
        return Sample(self._ledger.now(), rss, anon, descriptors, int(facts["Threads"]))

    def cpu_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def end(self) -> int:
        """SIGTERM; the exit code, -9 where it had to be killed."""
        self._reads.set()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        self._reads.set()
        self._process.kill()
        return self._process.wait()
