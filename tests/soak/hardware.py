# SPDX-License-Identifier: Apache-2.0
"""What befalls the NICs: ports that go down, cards that are unplugged, drivers that are loaded anew."""

import random
import threading

from nics import LiveMachine

EVERY_S = (2.0, 7.0)
BETWEEN_STEPS_S = 0.3  # of one event, such as: the driver lets go, the function leaves
AFFECTED = 2  # NICs at most that are not up at a time


class Hardware:
    def __init__(self, live: LiveMachine, chance: random.Random) -> None:
        self._live = live
        self._chance = chance
        self._numbers = {name: 0 for name in live.tree.nics}

    def run(self, stop: threading.Event) -> None:
        affected: list[str] = []
        while not stop.wait(self._chance.uniform(*EVERY_S)):
            if len(affected) == AFFECTED or (affected and self._chance.random() < 0.4):
                self._mend(affected.pop(0), stop)
                continue
            name = self._chance.choice([n for n in self._numbers if n not in affected])
            if self._befall(name, stop):
                affected.append(name)
        for name in affected:
            self._mend(name, stop)

    def _befall(self, name: str, stop: threading.Event) -> bool:
        """Whether it is not up afterwards."""
        what = self._chance.choices(("down", "unplugged", "reloaded"), (4, 3, 3))[0]
        if what == "down":
            self._live.change(name, "down")
            return True
        self._live.change(name, "unbound")
        stop.wait(BETWEEN_STEPS_S)
        if what == "unplugged":
            self._live.change(name, "gone")
            return True
        self._up(name)
        return False

    def _mend(self, name: str, stop: threading.Event) -> None:
        status = self._live.status(name)
        if status == "down":
            self._live.change(name, "up")
            return
        if status == "gone":
            self._live.change(name, "unbound")
            stop.wait(BETWEEN_STEPS_S)
        self._up(name)

    def _up(self, name: str) -> None:
        """Bound to its driver; every second time its verbs node has another number."""
        numbers = None
        if self._chance.random() < 0.5:
            self._numbers[name] = 1 - self._numbers[name]
            numbers = self._live.tree.nics[name].numbers[self._numbers[name]]
        self._live.change(name, "up", numbers)
