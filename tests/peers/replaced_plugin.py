#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for a device plugin that Railhead replaces: replaced_plugin.py KIND KUBELET-ROOT JSON

It tells the kubelet what the real one tells it, on the way on which that one does:
* shared: Mellanox/k8s-rdma-shared-dev-plugin 410b0f3 (pkg/resources/server.go,
  rdma_device_spec.go): ids "0" and on; Allocate gives every node of the pool, rwm, whatever the ids.
  JSON: {"resource", "slots", "nodes": [path…]}
* sriov: k8snetworkplumbingwg/sriov-network-device-plugin 40b6f50 (pkg/resources/server.go,
  pool_stub.go, pkg/infoprovider): ids are PCI addresses, with their NUMA node; Allocate gives the
  nodes of these, rw, and PCIDEVICE_… with PCIDEVICE_…_INFO.
  JSON: {"resource", "functions": {address: {"numa", "rdma_dev", "nodes": [path…]}}}
* flat: jiusanzhou/k8s-rdma-device-plugin af58283 (pkg/plugin/plugin.go): ids "rdma-0" and on;
  Allocate gives two variables and no node: those come by NRI. JSON: {"resource", "slots"}
On 2026-11-22 each was compared with the code that it stands for, at these commits: GetInfo (of the
first two), the options, the list and Allocate for one id and for two were the same. The devices of
the real ones were invented, their servers were not.
The first two are found in plugins_registry, where that folder is, and remove their socket when they
end. The third registers. None asks to be called before a start.
"""

import json
import pathlib
import re
import signal
import sys
import threading
from concurrent import futures

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from peers.gpu_plugin import PROTOCOL, pb, serve_for_ever  # noqa: E402
from peers.protocol import Protocol, grpc  # noqa: E402

REGISTRATION = Protocol("pluginregistration.proto")


class Replaced:
    """What the three have in common."""

    def __init__(self, told: dict) -> None:
        self.resource = told["resource"]
        self.told = told
        self._ended = threading.Event()

    def devices(self) -> list:
        return [pb.Device(ID=identity, health="Healthy") for identity in self.identities()]

    def GetDevicePluginOptions(self, _request, _context):
        return pb.DevicePluginOptions()

    def ListAndWatch(self, _request, context):
        context.add_callback(self._ended.set)
        yield pb.ListAndWatchResponse(devices=self.devices())
        self._ended.wait()

    def Allocate(self, request, _context):
        answers = [self.allocated(list(one.devices_ids)) for one in request.container_requests]
        return pb.AllocateResponse(container_responses=answers)


def specs(paths: list[str], permissions: str) -> list:
    return [pb.DeviceSpec(container_path=p, host_path=p, permissions=permissions) for p in paths]


class Shared(Replaced):
    socket = property(lambda self: f"{self.resource.split('/')[1]}.sock")

    def identities(self) -> list[str]:
        return [str(number) for number in range(self.told["slots"])]

    def allocated(self, _identities: list[str]):
        return pb.ContainerAllocateResponse(devices=specs(self.told["nodes"], "rwm"))


class Sriov(Replaced):
    socket = property(lambda self: f"{self.resource.replace('/', '_')}.sock")

    def identities(self) -> list[str]:
        return list(self.told["functions"])

    def devices(self) -> list:
        devices = super().devices()
        for device in devices:
            device.topology.nodes.add(ID=self.told["functions"][device.ID]["numa"])
        return devices

    def allocated(self, identities: list[str]):
        paths: list[str] = []
        about = {}
        for identity in identities:
            function = self.told["functions"][identity]
            paths += [path for path in function["nodes"] if path not in paths]
            rdma = {re.sub(r"\d*$", "", path.split("/")[-1]): path for path in function["nodes"]}
            about[identity] = {
                "generic": {"deviceID": identity},
                "rdma": {"rdma_dev": function["rdma_dev"], **rdma},
            }
        name = f"PCIDEVICE_{self.resource.replace('/', '_').replace('.', '_').upper()}"
        envs = {name: ",".join(identities), f"{name}_INFO": json.dumps(about)}
        return pb.ContainerAllocateResponse(devices=specs(paths, "rw"), envs=envs)


class Flat(Replaced):
    def identities(self) -> list[str]:
        return [f"rdma-{number}" for number in range(self.told["slots"])]

    def allocated(self, identities: list[str]):
        envs = {"RDMA_RESOURCE": self.resource, "RDMA_ALLOCATED": str(len(identities))}
        return pb.ContainerAllocateResponse(envs=envs)


class Found:
    """How the kubelet's plugin watcher learns of a resource."""

    def __init__(self, plugin: Replaced, endpoint: pathlib.Path) -> None:
        self._plugin = plugin
        self._endpoint = endpoint

    def GetInfo(self, _request, _context):
        return REGISTRATION.pb.PluginInfo(
            type="DevicePlugin",
            name=self._plugin.resource,
            endpoint=str(self._endpoint),
            supported_versions=["v1alpha1", "v1beta1"],
        )

    def NotifyRegistrationStatus(self, _request, _context):
        return REGISTRATION.pb.RegistrationStatusResponse()


def be_found(plugin: Replaced, registry: pathlib.Path) -> None:
    socket = registry / plugin.socket
    socket.unlink(missing_ok=True)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(
        (
            PROTOCOL.handler("DevicePlugin", plugin),
            REGISTRATION.handler("Registration", Found(plugin, socket)),
        )
    )
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    signal.sigwait({signal.SIGTERM})
    server.stop(0)
    socket.unlink(missing_ok=True)


def main() -> None:
    kind, root, told = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    if kind == "flat":
        plugin = Flat(told)
        serve_for_ever(root / "device-plugins", plugin.resource, plugin, "rdma.sock")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    be_found({"shared": Shared, "sriov": Sriov}[kind](told), root / "plugins_registry")


if __name__ == "__main__":
    main()
