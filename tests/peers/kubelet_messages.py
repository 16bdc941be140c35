# SPDX-License-Identifier: Apache-2.0
"""The kubelet's side of three interfaces, written down by hand from its own definitions: field
numbers for peers.protobuf, nothing of api/. Source: k8s.io/kubelet pkg/apis/deviceplugin/v1beta1,
pluginregistration/v1 and podresources/v1, api.proto."""

EMPTY: dict = {}

OPTIONS = {"pre_start_required": (1, "int"), "get_preferred_allocation_available": (2, "int")}
REGISTER = {
    "version": (1, "string"),
    "endpoint": (2, "string"),
    "resource_name": (3, "string"),
    "options": (4, OPTIONS),
}
DEVICE = {
    "ID": (1, "string"),
    "health": (2, "string"),
    "topology": (3, {"nodes": (1, [{"ID": (1, "int")}])}),
}
LIST_AND_WATCH = {"devices": (1, [DEVICE])}

PREFER = {
    "available_deviceIDs": (1, ["string"]),
    "must_include_deviceIDs": (2, ["string"]),
    "allocation_size": (3, "int"),
}
PREFER_REQUEST = {"container_requests": (1, [PREFER])}
PREFER_ANSWER = {"container_responses": (1, [{"deviceIDs": (1, ["string"])}])}

SPEC = {"container_path": (1, "string"), "host_path": (2, "string"), "permissions": (3, "string")}
ALLOCATE_REQUEST = {"container_requests": (1, [{"devices_ids": (1, ["string"])}])}
ALLOCATED = {
    "envs": (1, "map<string, string>"),
    "devices": (3, [SPEC]),
    "annotations": (4, "map<string, string>"),
}
ALLOCATE_ANSWER = {"container_responses": (1, [ALLOCATED])}
PRE_START_REQUEST = {"devices_ids": (1, ["string"])}

INFO = {
    "type": (1, "string"),
    "name": (2, "string"),
    "endpoint": (3, "string"),
    "supported_versions": (4, ["string"]),
}
REGISTRATION_STATUS = {"plugin_registered": (1, "int"), "error": (2, "string")}

HELD = {"resource_name": (1, "string"), "device_ids": (2, ["string"])}
POD = {
    "name": (1, "string"),
    "namespace": (2, "string"),
    "containers": (3, [{"name": (1, "string"), "devices": (2, [HELD])}]),
}
LIST_ANSWER = {"pod_resources": (1, [POD])}
ALLOCATABLE_ANSWER = {"devices": (1, [HELD])}
