# SPDX-License-Identifier: Apache-2.0
"""Messages and methods of a .proto file below api/, compiled when asked for: nothing generated is
committed, and nothing of Railhead's own encoder is used."""

import dataclasses
import os
import pathlib
import subprocess
import types

# Its fork handlers wait for its own threads, some of the time for ever; we fork only to exec.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import grpc  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: E402

API = pathlib.Path(__file__).resolve().parents[2] / "api"


@dataclasses.dataclass(frozen=True)
class Method:
    path: str  # /package.Service/Method
    request: type
    answer: type
    streams: bool  # the server answers with a stream


class Protocol:
    def __init__(self, name: str) -> None:
        command = ["protoc", f"-I{API}", "--descriptor_set_out=/dev/stdout", name]
        compiled = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        file = descriptor_pb2.FileDescriptorSet.FromString(compiled).file[0]
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        found = pool.FindFileByName(name)
        # protobuf 4.22 has the first, the 3.21 of Debian 12 the second.
        message_class = getattr(message_factory, "GetMessageClass", None)
        message_class = message_class or message_factory.MessageFactory(pool).GetPrototype
        names = {kind: message_class(found.message_types_by_name[kind])
                 for kind in found.message_types_by_name}
        for enum in found.enum_types_by_name.values():
            names |= {value.name: value.number for value in enum.values}
        self.pb = types.SimpleNamespace(**names)
        self.methods: dict[tuple[str, str], Method] = {}
        self._package = file.package
        for service in file.service:
            for method in service.method:
                self.methods[service.name, method.name] = Method(
                    f"/{file.package}.{service.name}/{method.name}",
                    names[method.input_type.rpartition(".")[2]],
                    names[method.output_type.rpartition(".")[2]],
                    method.server_streaming,
                )

    def call(self, channel: grpc.Channel, service: str, method: str, request, timeout: float):
        known = self.methods[service, method]
        encode, decode = known.request.SerializeToString, known.answer.FromString
        return channel.unary_unary(known.path, encode, decode)(request, timeout=timeout)

    def handler(self, service: str, implementation: object) -> grpc.GenericRpcHandler:
        """Serves the methods of `service` that `implementation` has."""
        handlers = {}
        for (of, name), method in self.methods.items():
            function = getattr(implementation, name, None)
            if of != service or function is None:
                continue
            make = (grpc.unary_stream_rpc_method_handler if method.streams
                    else grpc.unary_unary_rpc_method_handler)
            handlers[name] = make(function, method.request.FromString,
                                  method.answer.SerializeToString)
        return grpc.method_handlers_generic_handler(f"{self._package}.{service}", handlers)
