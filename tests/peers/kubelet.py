# SPDX-License-Identifier: Apache-2.0
"""A kubelet's device manager and PodResources service that misbehaves when told to.

Of Railhead it shares nothing, its definitions of the interfaces included. What it does otherwise is
what Kubernetes 1.36 does: pkg/kubelet/cm/devicemanager/plugin/v1beta1 (it calls the plugin back
inside Register, then watches) and manager.go (a start removes every socket of the folder).

As a program (`python3 -m peers.kubelet FOLDER`) it is one that can be stopped by a signal; it prints
how many devices each resource's newest list has.
"""

import contextlib
import functools
import os
import pathlib
import stat
import sys
import threading
import time
from concurrent import futures

# Its fork handlers wait for its own threads, some of the time for ever; we fork only to exec.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import grpc  # noqa: E402

from . import kubelet_messages as messages  # noqa: E402
from .protobuf import decode, encode  # noqa: E402

PLUGIN, REGISTRATION = "v1beta1.DevicePlugin", "v1beta1.Registration"
WATCHER, POD_RESOURCES = "pluginregistration.Registration", "v1.PodResourcesLister"
OPTIONS = [("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1)]
TIMEOUT_S = 5
# The library ends with the last object of it, now and then only after ten seconds in which no Python
# thread runs. This one stays.
_FOR_EVER = grpc.insecure_channel("unix:/nowhere")


def _writer(schema: dict):
    return lambda message: message if isinstance(message, bytes) else encode(schema, message)


def _reader(schema: dict):
    return lambda data: decode(schema, data)


class Plugin:
    """A connection to a plugin's socket."""

    def __init__(self, path: pathlib.Path) -> None:
        self._channel = grpc.insecure_channel(f"unix:{path}", OPTIONS)

    def call(
        self, method: str, request: dict, asks: dict, answers: dict, service: str = PLUGIN
    ) -> dict:
        path = f"/{service}/{method}"
        ask = self._channel.unary_unary(path, _writer(asks), _reader(answers))
        return ask(request, timeout=TIMEOUT_S)

    def options(self) -> dict:
        return self.call("GetDevicePluginOptions", {}, messages.EMPTY, messages.OPTIONS)

    def allocate(self, *ids: str) -> dict:
        request = {"container_requests": [{"devices_ids": list(ids)}]}
        kinds = messages.ALLOCATE_REQUEST, messages.ALLOCATE_ANSWER
        return self.call("Allocate", request, *kinds)["container_responses"][0]

    def prefer(self, available: list[str], must: list[str], size: int) -> list[str]:
        wish = {"available_deviceIDs": available, "must_include_deviceIDs": must}
        request = {"container_requests": [{**wish, "allocation_size": size}]}
        kinds = messages.PREFER_REQUEST, messages.PREFER_ANSWER
        answer = self.call("GetPreferredAllocation", request, *kinds)
        return answer["container_responses"][0]["deviceIDs"]

    def pre_start(self, *ids: str) -> None:
        request = {"devices_ids": list(ids)}
        self.call("PreStartContainer", request, messages.PRE_START_REQUEST, messages.EMPTY)

    def info(self) -> dict:
        return self.call("GetInfo", {}, messages.EMPTY, messages.INFO, WATCHER)

    def notify(self, registered: bool, error: str = "") -> None:
        status = {"plugin_registered": int(registered), "error": error}
        kinds = messages.REGISTRATION_STATUS, messages.EMPTY
        self.call("NotifyRegistrationStatus", status, *kinds, WATCHER)

    def watch(self):
        """The stream of device lists."""
        path = f"/{PLUGIN}/ListAndWatch"
        return self._channel.unary_stream(
            path, _writer(messages.EMPTY), _reader(messages.LIST_AND_WATCH)
        )({})

    def close(self) -> None:
        self._channel.close()


class Endpoint:
    """One registration: the newest list, read by a thread of its own."""

    def __init__(self, plugin: Plugin, request: dict, reads: bool) -> None:
        self.plugin = plugin
        self.request = request
        self.options = plugin.options()
        self.devices: list[dict] = []
        self.lists = 0
        self.unhealthy: set[str] = set()  # in any list
        self.ended = False
        self._stream = plugin.watch()
        if reads:
            self.read()

    def read(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for message in self._stream:
                self.devices = message["devices"]
                self.unhealthy |= {one["ID"] for one in self.devices if one["health"] != "Healthy"}
                self.lists += 1
        except grpc.RpcError:
            pass
        self.ended = True

    def health(self) -> dict[str, str]:
        return {device["ID"]: device["health"] for device in self.devices}

    def drop(self) -> None:
        """The stream ends; the connection stays."""
        self.ended = True
        self._stream.cancel()

    def close(self) -> None:
        self.drop()
        self.plugin.close()


class Kubelet:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.plugins = root / "device-plugins"
        self.registry = root / "plugins_registry"
        self.refusal = ""  # every registration ends with this
        self.patience_s = 0.0  # before a registration is answered
        self.reads = True
        self.registrations = 0
        self.endpoints: dict[str, Endpoint] = {}  # by resource, the newest
        self.asked: list[str] = []  # of PodResources
        self.pods: bytes = b""  # the answer to List
        self.answer_after_s = 0.0
        self._servers: list[grpc.Server] = []
        self._lock = threading.Lock()
        self._life = object()  # another after each start

    def start(self) -> "Kubelet":
        for folder in (self.plugins, self.registry, self.root / "pod-resources"):
            folder.mkdir(parents=True, exist_ok=True)
        for entry in self.plugins.iterdir():
            with contextlib.suppress(FileNotFoundError):  # a plugin may remove its own meanwhile
                if stat.S_ISSOCK(entry.lstat().st_mode):
                    entry.unlink()
        life = self._life = object()
        register = functools.partial(self._register, life)
        self._serve(self.plugins, REGISTRATION, {"Register": (register, messages.REGISTER)})
        calls = {"List": (self._list, messages.EMPTY)}
        calls["GetAllocatableResources"] = (self._allocatable, messages.EMPTY)
        self._serve(self.root / "pod-resources", POD_RESOURCES, calls)
        return self

    def _serve(self, folder: pathlib.Path, service: str, calls: dict) -> None:
        server = grpc.server(futures.ThreadPoolExecutor(8))
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(function, _reader(asks), _writer(answers))
            for name, (function, asks), answers in (
                (name, call, messages.ALLOCATABLE_ANSWER if "Alloc" in name else messages.EMPTY)
                for name, call in calls.items()
            )
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        server.add_insecure_port(f"unix:{folder}/kubelet.sock")
        server.start()
        self._servers.append(server)

    def _register(self, life: object, request: dict, context: grpc.ServicerContext) -> dict:
        self.registrations += 1
        if self.refusal:
            context.abort(grpc.StatusCode.UNKNOWN, self.refusal)
        endpoint = Endpoint(Plugin(self.plugins / request["endpoint"]), request, self.reads)
        stale = endpoint  # of a kubelet that has ended meanwhile, which watches nothing
        with self._lock:
            if life is self._life:
                stale = self.endpoints.pop(request["resource_name"], None)
                self.endpoints[request["resource_name"]] = endpoint
        if stale:
            stale.close()
        time.sleep(self.patience_s)
        return {}

    def _list(self, _request: dict, _context: grpc.ServicerContext) -> bytes:
        self.asked.append("List")
        time.sleep(self.answer_after_s)
        return self.pods

    def _allocatable(self, _request: dict, _context: grpc.ServicerContext) -> dict:
        self.asked.append("GetAllocatableResources")
        held = [
            {"resource_name": name, "device_ids": sorted(endpoint.health())}
            for name, endpoint in self.endpoints.items()
        ]
        return {"devices": held}

    def stop(self) -> None:
        with self._lock:
            ended, self.endpoints = self.endpoints, {}
            self._life = object()
        for endpoint in ended.values():
            endpoint.close()
        for server in self._servers:
            server.stop(0).wait()
        self._servers = []

    def restart(self) -> None:
        self.stop()
        self.start()


def main() -> None:
    kubelet, told = Kubelet(pathlib.Path(sys.argv[1])).start(), {}
    while True:
        now = {name: len(endpoint.devices) for name, endpoint in list(kubelet.endpoints.items())}
        if now != told:
            print(*(f"{name}={count}" for name, count in now.items()), flush=True)
            told = now
        time.sleep(0.05)


if __name__ == "__main__":
    main()
