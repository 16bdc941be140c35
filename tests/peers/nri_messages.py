# SPDX-License-Identifier: Apache-2.0
"""The NRI and ttrpc messages that the peers use, as schemas for peers.protobuf.

Numbers are facts of containerd/nri pkg/api/api.proto (v0.12) and containerd/ttrpc request.proto.
"""

from .protobuf import MAP

STATUS = {"code": (1, "int"), "message": (2, "string")}
REQUEST = {
    "service": (1, "string"),
    "method": (2, "string"),
    "payload": (3, "bytes"),
    "timeout_nano": (4, "int"),
}
RESPONSE = {"status": (1, STATUS), "payload": (2, "bytes")}

REGISTER_PLUGIN_REQUEST = {"plugin_name": (1, "string"), "plugin_idx": (2, "string")}
CONFIGURE_REQUEST = {
    "runtime_name": (2, "string"),
    "runtime_version": (3, "string"),
    "request_timeout": (5, "int"),
    "nri_version": (6, "string"),
}
CONFIGURE_RESPONSE = {"events": (2, "int")}

_VALUE = {"value": (1, "int")}
LINUX_DEVICE = {
    "path": (1, "string"),
    "type": (2, "string"),
    "major": (3, "int"),
    "minor": (4, "int"),
    "file_mode": (5, _VALUE),
    "uid": (6, _VALUE),
    "gid": (7, _VALUE),
}
RLIMIT = {"type": (1, "string"), "hard": (2, "int"), "soft": (3, "int")}
POD = {
    "id": (1, "string"),
    "name": (2, "string"),
    "namespace": (4, "string"),
    "annotations": (6, MAP),
}
CONTAINER = {
    "id": (1, "string"),
    "name": (3, "string"),
    "annotations": (6, MAP),
    "env": (8, ["string"]),
    "linux": (11, {"devices": (2, [LINUX_DEVICE])}),
    "rlimits": (13, [RLIMIT]),
}
SYNCHRONIZE_REQUEST = {"pods": (1, [POD]), "containers": (2, [CONTAINER]), "more": (3, "int")}
SYNCHRONIZE_RESPONSE = {"more": (2, "int")}
CREATE_CONTAINER_REQUEST = {"pod": (1, POD), "container": (2, CONTAINER)}
ADJUSTMENT = {
    "annotations": (2, MAP),
    "env": (4, [{"key": (1, "string"), "value": (2, "string")}]),
    "linux": (6, {"devices": (1, [LINUX_DEVICE])}),
    "rlimits": (7, [RLIMIT]),
}
CREATE_CONTAINER_RESPONSE = {"adjust": (1, ADJUSTMENT)}
