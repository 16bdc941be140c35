# SPDX-License-Identifier: Apache-2.0
"""What happened in a run, and when: written by every actor, read by the judge."""

import collections
import contextlib
import threading
import time
from collections.abc import Iterator

KEPT = 200  # findings of a kind whose text is kept; all are counted


class Ledger:
    """Safe to use from every thread. Times are monotonic seconds since the run began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._counts: collections.Counter[str] = collections.Counter()
        self._findings: dict[str, list[str]] = collections.defaultdict(list)
        self._troubles: dict[str, list[list[float]]] = collections.defaultdict(list)
        self._marks: list[tuple[float, str, float]] = []
        self._creations: list[tuple[float, float]] = []

    def now(self) -> float:
        return time.monotonic() - self._began

    def count(self, what: str, by: int = 1) -> None:
        with self._lock:
            self._counts[what] += by

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._counts)

    def find(self, kind: str, text: str) -> None:
        """Something that the judge has to see: `wrong`, `failed`, `dropped`, `ended`, `note`."""
        with self._lock:
            self._counts[kind] += 1
            if len(self._findings[kind]) < KEPT:
                self._findings[kind].append(f"{self.now():.1f} s: {text}")

    def findings(self, kind: str) -> list[str]:
        with self._lock:
            return list(self._findings[kind])

    def mark(self, kind: str) -> None:
        """A moment for the graph."""
        with self._lock:
            self._marks.append((self.now(), kind, self.now()))

    def marks(self) -> list[tuple[float, str, float]]:
        """(start, kind, end) of every moment and every trouble that is over."""
        with self._lock:
            return sorted(self._marks)

    def created(self, seconds: float) -> None:
        with self._lock:
            self._creations.append((self.now(), seconds))

    def creations(self) -> list[tuple[float, float]]:
        """When each CreateContainer was answered, and how long that took."""
        with self._lock:
            return list(self._creations)

    @contextlib.contextmanager
    def trouble(self, kind: str) -> Iterator[None]:
        """While this lasts, others judge by it: see `troubled`."""
        with self._lock:
            span = [self.now(), float("inf")]
            self._troubles[kind].append(span)
        try:
            yield
        finally:
            with self._lock:
                span[1] = self.now()
                self._marks.append((span[0], kind, span[1]))

    def troubled(self, kind: str, start: float, end: float, after_s: float = 0.0) -> bool:
        """Whether this trouble, and `after_s` seconds after it, met the time between these."""
        with self._lock:
            spans = self._troubles[kind]
            return any(first <= end and last + after_s >= start for first, last in spans)
