# SPDX-License-Identifier: Apache-2.0
"""The bytes of NRI, made and read by hand, so that no code is shared with what is under test.

Numbers: ttrpc PROTOCOL.md and request.proto, nri pkg/net/multiplex/mux.go and pkg/api/api.proto.
"""

import struct

PLUGIN, RUNTIME = 1, 2  # connections of the multiplexer: the plugin serves on 1 and calls on 2
REQUEST, RESPONSE, DATA = 1, 2, 3  # ttrpc frame types
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED = 3, 8, 12
CREATE_CONTAINER = 0x0008  # event mask
PLUGIN_SERVICE = "nri.pkg.api.v1alpha1.Plugin"


class Malformed(Exception):
    """The plugin sent something that is not the protocol."""


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """One protobuf field: int as varint, str and bytes with a length, a list as repeated."""
    if isinstance(value, list):
        return b"".join(field(number, item) for item in value)
    if isinstance(value, (bool, int)):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    """A protobuf message of (number, value) pairs."""
    return b"".join(field(number, value) for number, value in fields)


def read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("varint does not end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def parse(data):
    """{number: [values]} of a message; values of length-delimited fields are bytes."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        elif tag & 7 in (1, 5):
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise Malformed(f"wire type {tag & 7}")
        if at > len(data):
            raise Malformed("field longer than its message")
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def one(fields, number, default=b""):
    return fields.get(number, [default])[-1]


def ttrpc(stream, kind, body, flags=0):
    return struct.pack(">IIBB", len(body), stream, kind, flags) + body


def mux(connection, payload):
    return struct.pack(">II", connection, len(payload)) + payload


def as_go(connection, data):
    """A ttrpc message framed as Go sends it: its writer passes on 4096 bytes, then all the rest."""
    rest = mux(connection, data[4096:]) if len(data) > 4096 else b""
    return mux(connection, data[:4096]) + rest


def request(method, payload, service=PLUGIN_SERVICE, timeout_ns=2_000_000_000):
    return message((1, service), (2, method), (3, payload), (4, timeout_ns))


def configure():
    return message((2, "containerd"), (3, "v2.4.2"), (4, 5000), (5, 2000), (6, "v0.12.5"))


def pod():
    """A pod on the host's network: its namespaces are known and lack "network"."""
    namespaces = [message((1, kind)) for kind in ("pid", "ipc", "uts", "mount")]
    return message((1, "pod1"), (2, "worker"), (3, "uid1"), (4, "default"), (8, message((5, namespaces))))


def container(gpus, env=()):
    variables = ["PATH=/bin"] + ([f"NVIDIA_VISIBLE_DEVICES={gpus}"] if gpus else []) + list(env)
    return message((1, "container1"), (2, "pod1"), (3, "main"), (4, 1), (8, variables))


def create(gpus, env=()):
    return message((1, pod()), (2, container(gpus, env)))


def devices_of(create_response):
    """Paths of the devices in a CreateContainerResponse."""
    adjust = parse(one(parse(create_response), 1))
    linux = parse(one(adjust, 6))
    return [one(parse(device), 1).decode() for device in linux.get(1, [])]
