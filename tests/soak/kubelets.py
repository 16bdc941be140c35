# SPDX-License-Identifier: Apache-2.0
"""A kubelet that knows its pods, and what befalls it: restarts, silence, RESOURCE_EXHAUSTED."""

import pathlib
import random
import threading
import time

from ledger import Ledger
from peers import kubelet_messages as messages
from peers.kubelet import POD_RESOURCES, Kubelet, grpc
from peers.protobuf import encode

HUNG_S = 20.0
BACK_WITHIN_S = 60.0  # after a restart, until the agent has registered again
# How long after a trouble the agent may still take the kubelet for silent.
AFTER_S = 5.0
GPU = "nvidia.com/gpu"


class PodsKubelet(Kubelet):
    """Answers PodResources from a table of pods; can be made silent or busy."""

    def __init__(self, root: pathlib.Path, chance: random.Random) -> None:
        super().__init__(root)
        self._chance = chance
        self._table_lock = threading.Lock()
        self._table: dict[str, dict[str, dict[str, list[str]]]] = {}
        self._awake = threading.Event()
        self._awake.set()
        self.busy = False

    def _serve(self, folder: pathlib.Path, service: str, calls: dict) -> None:
        if service == POD_RESOURCES:
            calls = {name: (self._moody(call), asks) for name, (call, asks) in calls.items()}
        super()._serve(folder, service, calls)

    def _moody(self, call):
        def answer(request, context):
            self._awake.wait(HUNG_S)
            if self.busy and self._chance.random() < 0.5:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")
            return call(request, context)

        return answer

    def silent(self, stop: threading.Event) -> None:
        self._awake.clear()
        self.patience_s = HUNG_S
        stop.wait(HUNG_S)
        self.patience_s = 0.0
        self._awake.set()

    def admit(self, pod: str, containers: dict[str, dict[str, list[str]]]) -> None:
        """`containers`: ids of devices by resource by container."""
        self._write(lambda: self._table.__setitem__(pod, containers))

    def forget(self, pod: str) -> None:
        self._write(lambda: self._table.pop(pod, None))

    def _write(self, edit) -> None:
        with self._table_lock:
            edit()
            pods = [
                {
                    "name": pod,
                    "namespace": "default",
                    "containers": [
                        {
                            "name": name,
                            "devices": [
                                {"resource_name": resource, "device_ids": [one]}  # as the kubelet does
                                for resource, ids in held.items()
                                for one in ids
                            ],
                        }
                        for name, held in containers.items()
                    ],
                }
                for pod, containers in self._table.items()
            ]
            self.pods = encode(messages.LIST_ANSWER, {"pod_resources": pods})


class KubeletTroubles:
    """Restarts the kubelet, silences it, makes it busy, in turns; never two at once."""

    def __init__(
        self,
        kubelet: PodsKubelet,
        ledger: Ledger,
        chance: random.Random,
        resources: tuple[str, ...],
        pause_s: tuple[float, float],
    ) -> None:
        self._kubelet = kubelet
        self._ledger = ledger
        self._chance = chance
        self._resources = resources
        self._pause_s = pause_s

    def run(self, stop: threading.Event) -> None:
        kinds = []
        while not stop.wait(self._chance.uniform(*self._pause_s)):
            if not kinds:
                kinds = [self._restart, self._restart, self._busy, self._silent]
                self._chance.shuffle(kinds)
            kinds.pop()(stop)

    def registered(self) -> bool:
        found = [self._kubelet.endpoints.get(name) for name in self._resources]
        return all(endpoint and endpoint.lists and not endpoint.ended for endpoint in found)

    def _restart(self, stop: threading.Event) -> None:
        self._ledger.count("kubelet restarted")
        with self._ledger.trouble("kubelet"):
            self._kubelet.stop()
            stop.wait(self._chance.uniform(0.5, 5))
            self._kubelet.start()
        self._wait_registered(stop)

    def _wait_registered(self, stop: threading.Event) -> None:
        began = time.monotonic()
        while not self.registered() and not stop.wait(0.1):
            if time.monotonic() - began > BACK_WITHIN_S:
                text = f"not registered {BACK_WITHIN_S:g} s after the kubelet's start"
                self._ledger.find("wrong", text)
                return

    def _silent(self, stop: threading.Event) -> None:
        self._ledger.count("kubelet silent")
        with self._ledger.trouble("kubelet"):
            self._kubelet.silent(stop)

    def _busy(self, stop: threading.Event) -> None:
        self._ledger.count("kubelet busy")
        with self._ledger.trouble("kubelet"):
            self._kubelet.busy = True
            stop.wait(10)
            self._kubelet.busy = False
