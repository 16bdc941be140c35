# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers by hand: messages are dicts, a schema says which fields there are.

A schema maps a field's name to (number, kind) where kind is "string", "bytes", "int", a nested
schema, or one of these in a list (repeated); MAP is map<string, string>. Fields that the schema
does not name are skipped. Source: protobuf encoding, wire types 0, 1, 2 and 5.
"""

MAP = "map<string, string>"
_ENTRY = {"key": (1, "string"), "value": (2, "string")}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # a negative int64 is ten bytes of two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _encode_one(number: int, kind, value) -> bytes:
    if kind == "int":
        return _varint(number << 3) + _varint(value)
    if isinstance(kind, dict):
        value = encode(kind, value)
    elif kind == "string":
        value = value.encode()
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def encode(schema: dict, message: dict) -> bytes:
    out = b""
    for name, value in message.items():
        number, kind = schema[name]
        if kind == MAP:
            kind = [_ENTRY]
            value = [{"key": key, "value": text} for key, text in value.items()]
        values, kind = (value, kind[0]) if isinstance(kind, list) else ([value], kind)
        out += b"".join(_encode_one(number, kind, each) for each in values)
    return out


def _decode_one(kind, raw):
    if isinstance(kind, dict):
        return decode(kind, raw)
    if kind == "string":
        return raw.decode()
    return raw


def decode(schema: dict, data: bytes) -> dict:
    """Only what is there; repeated fields and maps always."""
    names = {number: (name, kind) for name, (number, kind) in schema.items()}
    message = {
        name: {} if kind == MAP else []
        for name, (_, kind) in schema.items()
        if kind == MAP or isinstance(kind, list)
    }
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag & 7 == 0:
            raw, at = _read_varint(data, at)
        else:
            if tag & 7 == 2:
                size, at = _read_varint(data, at)
            else:
                size = {1: 8, 5: 4}[tag & 7]
            raw, at = data[at : at + size], at + size
        if tag >> 3 not in names:
            continue
        name, kind = names[tag >> 3]
        if kind == MAP:
            entry = decode(_ENTRY, raw)
            message[name][entry.get("key", "")] = entry.get("value", "")
        elif isinstance(kind, list):
            message[name].append(_decode_one(kind[0], raw))
        else:
            message[name] = _decode_one(kind, raw)
    return message
