# SPDX-License-Identifier: Apache-2.0
"""A small NRI plugin with its own multiplexer and ttrpc: somebody else's plugin on the node.

Invariants: a ttrpc message goes out as two multiplexer frames, its ten-byte header alone and then
its body, because the Go reader loses a frame larger than its buffer of 4096 bytes; frames that
come in are reassembled for each connection before they are parsed.
"""

import socket
import struct
import threading
from collections.abc import Callable

from . import nri_messages as nri
from .protobuf import decode, encode

PLUGIN, RUNTIME = 1, 2  # connections: the runtime calls us on 1, we call it on 2
REQUEST, RESPONSE = 1, 2  # ttrpc message types
CREATE_CONTAINER = 1 << 3  # event mask
UNIMPLEMENTED = 12
SERVICE = "nri.pkg.api.v1alpha1.Runtime"


def device(path: str, major: int, minor: int, mode: int = 0o666) -> dict:
    """A LinuxDevice of an adjustment."""
    numbers = {"path": path, "type": "c", "major": major, "minor": minor}
    return {**numbers, "file_mode": {"value": mode}, "uid": {"value": 0}, "gid": {"value": 0}}


class NriPlugin:
    """Registers at construction and answers on a thread of its own until `close`.

    `adjust` gets the pod and the container of each creation and returns an adjustment (a dict of
    nri_messages.ADJUSTMENT; empty: none).
    """

    def __init__(
        self, socket_path: str, name: str, index: str, adjust: Callable[[dict, dict], dict]
    ) -> None:
        self.runtime: dict = {}  # what Configure said
        self.containers: list[dict] = []  # of Synchronize
        self.error: Exception | None = None  # why the thread ended early
        self._adjust = adjust
        self._synchronized = threading.Event()
        self._closing = False
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(socket_path)
        register = encode(nri.REGISTER_PLUGIN_REQUEST, {"plugin_name": name, "plugin_idx": index})
        call = {"service": SERVICE, "method": "RegisterPlugin", "payload": register}
        self._send(RUNTIME, 1, REQUEST, encode(nri.REQUEST, call))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def wait_synchronized(self, timeout_s: float = 5) -> None:
        if not self._synchronized.wait(timeout_s):
            raise TimeoutError(f"NRI plugin not synchronized: {self.error}")

    def close(self) -> None:
        self._closing = True
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._socket.close()

    def _send(self, connection: int, stream: int, kind: int, body: bytes) -> None:
        header = struct.pack(">IIBB", len(body), stream, kind, 0)
        frames = struct.pack(">II", connection, len(header)) + header
        if body:
            frames += struct.pack(">II", connection, len(body)) + body
        self._socket.sendall(frames)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise EOFError("the runtime closed the connection")
            data += part
        return data

    def _messages(self):
        """(connection, stream, type, body) of every message, as they become complete."""
        streams = {PLUGIN: b"", RUNTIME: b""}
        while True:
            connection, size = struct.unpack(">II", self._receive(8))
            streams[connection] += self._receive(size)
            while len(streams[connection]) >= 10:
                data = streams[connection]
                length, stream, kind, _ = struct.unpack(">IIBB", data[:10])
                if len(data) < 10 + length:
                    break
                streams[connection] = data[10 + length :]
                yield connection, stream, kind, data[10 : 10 + length]

    def _serve(self) -> None:
        try:
            for connection, stream, kind, body in self._messages():
                if connection == PLUGIN and kind == REQUEST:
                    request = decode(nri.REQUEST, body)
                    answer = self._answer(request.get("method"), request.get("payload", b""))
                    self._send(PLUGIN, stream, RESPONSE, encode(nri.RESPONSE, answer))
                elif connection == RUNTIME and decode(nri.RESPONSE, body).get("status"):
                    raise ConnectionRefusedError(decode(nri.RESPONSE, body)["status"])
        except (OSError, EOFError) as error:
            if not self._closing:
                self.error = error

    def _answer(self, method: str, payload: bytes) -> dict:
        if method == "Configure":
            self.runtime = decode(nri.CONFIGURE_REQUEST, payload)
            return {"payload": encode(nri.CONFIGURE_RESPONSE, {"events": CREATE_CONTAINER})}
        if method == "Synchronize":
            request = decode(nri.SYNCHRONIZE_REQUEST, payload)
            self.containers += request["containers"]
            if request.get("more"):
                return {"payload": encode(nri.SYNCHRONIZE_RESPONSE, {"more": 1})}
            self._synchronized.set()
            return {}
        if method == "CreateContainer":
            request = decode(nri.CREATE_CONTAINER_REQUEST, payload)
            adjustment = self._adjust(request["pod"], request["container"])
            response = {"adjust": adjustment} if adjustment else {}
            return {"payload": encode(nri.CREATE_CONTAINER_RESPONSE, response)}
        return {"status": {"code": UNIMPLEMENTED, "message": f"no method {method}"}}
