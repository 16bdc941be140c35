#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for NVIDIA's device plugin: gpu_plugin.py FOLDER RESOURCE ID[@NUMA]…

Serves the device plugin interface on FOLDER/stand-in.sock, registers with FOLDER/kubelet.sock, again
whenever the kubelet makes that anew, and answers Allocate as NVIDIA's does by default: only
NVIDIA_VISIBLE_DEVICES with the ids, from which the NVIDIA runtime would mount the nodes.
"""

import pathlib
import sys
import time
from concurrent import futures

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from peers.protocol import Protocol, grpc  # noqa: E402

PROTOCOL = Protocol("deviceplugin.proto")
pb = PROTOCOL.pb


class GpuPlugin:
    def __init__(self, identities: list[str]) -> None:
        self._devices = []
        for identity in identities:
            name, _, numa_node = identity.partition("@")
            device = pb.Device(ID=name, health="Healthy")
            if numa_node:
                device.topology.nodes.add(ID=int(numa_node))
            self._devices.append(device)

    def GetDevicePluginOptions(self, _request, _context):
        return pb.DevicePluginOptions()

    def ListAndWatch(self, _request, context):
        yield pb.ListAndWatchResponse(devices=self._devices)
        print("listed", flush=True)
        while context.is_active():
            time.sleep(0.2)

    def Allocate(self, request, _context):
        answers = []
        for container in request.container_requests:
            visible = ",".join(container.devices_ids)
            answers.append(
                pb.ContainerAllocateResponse(envs={"NVIDIA_VISIBLE_DEVICES": visible})
            )
        return pb.AllocateResponse(container_responses=answers)


def serve(folder: pathlib.Path, resource: str, plugin: object, name: str = "stand-in.sock") -> None:
    """One registration, until the kubelet goes; returns then."""
    socket = folder / name
    socket.unlink(missing_ok=True)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((PROTOCOL.handler("DevicePlugin", plugin),))
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    kubelet = folder / "kubelet.sock"
    with grpc.insecure_channel(f"unix://{kubelet}") as channel:
        request = pb.RegisterRequest(
            version="v1beta1", endpoint=socket.name, resource_name=resource
        )
        PROTOCOL.call(channel, "Registration", "Register", request, timeout=10)
    while socket.exists():  # the kubelet removes every socket in the folder when it starts
        time.sleep(0.1)
    server.stop(0).wait()


def serve_for_ever(
    folder: pathlib.Path, resource: str, plugin: object, name: str = "stand-in.sock"
) -> None:
    while True:
        try:
            serve(folder, resource, plugin, name)
        except grpc.RpcError:
            pass  # no kubelet just now
        time.sleep(0.1)


def main() -> None:
    folder, resource, *identities = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    serve_for_ever(folder, resource, GpuPlugin(identities))


if __name__ == "__main__":
    main()
