# SPDX-License-Identifier: Apache-2.0
"""The JSON documents that users' scripts read, typed by hand: every key, in order, and what its value may be.

A type, an optional type (null where it is not known), some words, a list of one thing, or an object; {str: …} is an
object whose keys are names of the machine, and a key that may be left out ends with a question mark.
"""


def optional(kind):
    return (kind, type(None))


TEXT, NUMBER, FLAG = str, int, bool
MAYBE_TEXT, MAYBE_NUMBER, MAYBE_RATE = optional(str), optional(int), optional(float)
RELATION = {"PIX", "PXB", "PHB", "NODE", "SYS"}
ROLE = {"compute", "storage", "management", "front-end", "nvlink-management", "virtual-function", "unknown"}
STATE = {"DOWN", "INIT", "ARMED", "ACTIVE", None}
LINK = {"InfiniBand", "Ethernet", None}
FUNCTION = {"pf", "vf", "sf", "soft"}


def document(kind):
    return {"apiVersion": {"railhead.io/v1alpha1"}, "kind": {kind}, "node": TEXT}


ORIGIN = {"source": {"PCI tree", "topology file", "table of known machines", "NUMA node"}, "origin": MAYBE_TEXT,
          "confidence": {"high", "medium", "low"}}
GPU = {"index": MAYBE_NUMBER, "pci": TEXT, "uuid": MAYBE_TEXT, "minor": MAYBE_NUMBER, "numaNode": MAYBE_NUMBER}
NIC = {"name": TEXT, "pci": MAYBE_TEXT, "numaNode": MAYBE_NUMBER, "linkLayer": LINK, "state": STATE,
       "rateGbps": MAYBE_RATE}
NIC_ROLE = {"role": ROLE, "roleReason": TEXT}
PROBLEMS = [{"path": TEXT, "kind": {"malformed", "unreadable"}, "what": TEXT}]
GID = {"index": NUMBER, "gid": TEXT, "type": MAYBE_TEXT, "netdev": MAYBE_TEXT}
PORT = {"number": NUMBER, "state": STATE, "physState": MAYBE_TEXT, "linkLayer": LINK, "rateGbps": MAYBE_RATE,
        "rate": MAYBE_TEXT, "lid": MAYBE_NUMBER, "smLid": MAYBE_NUMBER, "gids": [GID], "pkeys": [NUMBER]}
CHOICE = {"name": TEXT, "relation": RELATION, "standIn": FLAG, "why": TEXT}
EXPLAINED = {"name": TEXT, "relation": RELATION, "candidate": FLAG, "nearest": FLAG, "dealt": FLAG, "chosen": FLAG,
             "reason": TEXT}
MEMBERSHIP = {"pools": [TEXT], "notInPool": {str: TEXT}}
MEMBER = {"id": TEXT, "kind": FUNCTION, "nics": [TEXT], "pci": MAYBE_TEXT, "netdevs": [TEXT], "numaNode": MAYBE_NUMBER,
          "ready": FLAG, "reason": TEXT}

SHAPES = {
    "topology": {**document("Topology"), **ORIGIN, "gpus": [GPU], "nics": [{**NIC, **NIC_ROLE}],
                 "relations": [[RELATION]], "gpuRelations": [[RELATION]], "nicRelations": optional([[RELATION]]),
                 "warnings": [TEXT], "problems": PROBLEMS},
    "affinity --explain": {
        **document("Affinity"), **ORIGIN, "gpus": [{**GPU, "nics": [CHOICE]}], "nics": [TEXT], "devices": [TEXT],
        "env": {str: TEXT}, "memlock": MAYBE_TEXT, "ownNetwork": {"nics": [TEXT], "reason": TEXT}, "computeNics": NUMBER, "nicsPerGpu": NUMBER,
        "explanation": [{"pci": TEXT, "step": TEXT, "nics": [EXPLAINED]}], "warnings": [TEXT]},
    "nics": {
        **document("Nics"), "rdmaNamespaces": {"shared", "exclusive", None},
        "nics": [{**NIC, "registered": FLAG, "driver": MAYBE_TEXT, "nodeGuid": MAYBE_TEXT, "sysImageGuid": MAYBE_TEXT,
                  "firmware": MAYBE_TEXT, "hcaType": MAYBE_TEXT, "boardId": MAYBE_TEXT, "parent": MAYBE_TEXT,
                  "netdevs": [TEXT], **NIC_ROLE, "usable": FLAG, "usableReason": TEXT, "slowReason": TEXT,
                  "spare": FLAG, "pool": MAYBE_TEXT, **MEMBERSHIP, "ports": [PORT],
                  "devices": [{"path": TEXT, "major": NUMBER, "minor": NUMBER}]}],
        "candidates": [{"pci": TEXT, "driver": MAYBE_TEXT, "module": TEXT, "rdma": {"can", "may", "without-verbs"}}],
        "warnings": [TEXT], "problems": PROBLEMS},
    "pools": {
        **document("Pools"),
        "pools": [{"name": TEXT, "mode": {"shared", "exclusive"}, "slots": MAYBE_NUMBER, "slotsPerNic": MAYBE_NUMBER,
                   "devices": NUMBER, "health": {"link", "device"}, "narrow": FLAG, "source": TEXT, "where": MAYBE_TEXT,
                   "remarks": [TEXT], "members": [MEMBER]}],
        "functions": [{"id": TEXT, "kind": FUNCTION, "nics": [TEXT], **MEMBERSHIP}], "conflicts": [TEXT],
        "warnings": [TEXT], "leftOut": [TEXT], "problems": PROBLEMS},
}


def wrong_shape(value, shape, where="the document"):
    if isinstance(shape, tuple) and isinstance(shape[0], list):
        if value is not None:
            yield from wrong_shape(value, shape[0], where)
    elif isinstance(shape, dict):
        yield from wrong_object(value, shape, where)
    elif isinstance(shape, list) and isinstance(value, list):
        for at, item in enumerate(value):
            yield from wrong_shape(item, shape[0], f"{where}[{at}]")
    elif isinstance(shape, set):
        if isinstance(value, (list, dict)) or value not in shape:
            yield f"{where} is {value!r}"
    elif isinstance(shape, list) or type(value) not in (shape if isinstance(shape, tuple) else (shape,)):
        yield f"{where} is {value!r}"


def wrong_object(value, shape, where):
    if not isinstance(value, dict):
        yield f"{where} is {value!r}"
        return
    if list(shape) == [str]:
        kinds = dict.fromkeys(value, shape[str])
    else:
        kinds = {key.removesuffix("?"): kind for key, kind in shape.items()
                 if not key.endswith("?") or key[:-1] in value}
    if list(value) != list(kinds):
        yield f"{where} has {', '.join(value)}; json_shapes.py says {', '.join(kinds)}"
        return
    for key, item in value.items():
        yield from wrong_shape(item, kinds[key], f"{where}.{key}")
