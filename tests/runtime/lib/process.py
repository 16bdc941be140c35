# SPDX-License-Identifier: Apache-2.0
"""A command's output, and a daemon under test: started, watched, ended; its output in a file."""

import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable


# A machine beside other work may be ten times slower, and a kubelet waits 80 s before its fifth try of a container.
# What has not come then hangs.
PATIENCE_S = 180.0
END_S = 30.0  # an agent waits 8 s for a container under way


class Failed(Exception):
    """Something outside the test's assertions went wrong; the text says what."""


def output(*words: object, **more: object) -> str:
    """What a command that ends well prints; an assertion fails with all that it printed where it does not."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_until(what: str, ready: Callable[[], object], timeout_s: float = PATIENCE_S) -> object:
    """The first true value of `ready`; Failed after the time-out."""
    end = time.monotonic() + timeout_s
    while True:
        value = ready()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"not within {timeout_s:g} s: {what}")
        time.sleep(0.01)


class Daemon:
    """One process in a session of its own, so that a Ctrl-C of the terminal does not reach it."""

    def __init__(self, argv: list[str], log: pathlib.Path, env: dict | None = None) -> None:
        self.log = log
        with open(log, "ab") as out:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=env,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; -N after signal N."""
        return self._process.poll()

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def end(self, number: int = signal.SIGTERM, timeout_s: float = END_S) -> int:
        """Sends the signal and returns the exit code; kills what does not end in time."""
        if self._process.poll() is None:
            os.kill(self.pid, number)
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise Failed(f"{self._process.args[0]} ignored signal {number}, killed") from None
