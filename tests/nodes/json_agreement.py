# SPDX-License-Identifier: Apache-2.0
"""Facts that stand in a JSON document twice, or in two documents of one machine: yields what is not the same."""
import re

# The pool that every node has where nobody configured any.
DEFAULT_POOL = {"name": "rdma.io/hca", "mode": "shared", "slots": 100, "slotsPerNic": None, "source": "railhead",
                "where": None}


def parts(items, keys):
    return [{key: item[key] for key in keys} for item in items]


def wrong_sizes(topology, affinity):
    """Matrices have a row for each thing and a column for each thing; an explanation is there for each GPU."""
    gpus, nics = len(topology["gpus"]), len(topology["nics"])
    for key, rows, columns in (("relations", gpus, nics), ("gpuRelations", gpus, gpus), ("nicRelations", nics, nics)):
        if [len(row) for row in topology[key]] != [columns] * rows:
            yield f"topology: {key} is not {rows} x {columns}"
    if [gpu["pci"] for gpu in affinity["explanation"]] != [gpu["pci"] for gpu in topology["gpus"]]:
        yield "affinity: the explanation is of other GPUs"


def wrong_heads(topology, affinity, nics, pools):
    for kind, other, keys in (("affinity", affinity, ["node", "source", "origin", "confidence"]),
                              ("nics", nics, ["node", "problems"]), ("pools", pools, ["node"])):
        yield from (f"topology and {kind}: {key} is not the same" for key in keys if topology[key] != other[key])
    if parts(affinity["gpus"], topology["gpus"][0] if topology["gpus"] else []) != topology["gpus"]:
        yield "topology and affinity: the GPUs are not the same"
    registered = [nic for nic in nics["nics"] if nic["registered"]]
    if parts(registered, topology["nics"][0] if topology["nics"] else []) != topology["nics"]:
        yield "topology and nics: the NICs are not the same"


def wrong_matrices(topology):
    for key in ("gpuRelations", "nicRelations"):
        matrix = topology[key]
        if [list(column) for column in zip(*matrix)] != matrix:
            yield f"{key} is not symmetric"
        if any(row[at] != "PIX" for at, row in enumerate(matrix)):
            yield f"{key}: something is far from itself"
    # Of GPUs and NICs together: below a host bridge, each shares it with all the others.
    columns = list(zip(*topology["relations"])) or [()] * len(topology["nics"])
    whole = [[*left, *right] for left, right in [*zip(topology["gpuRelations"], topology["relations"]),
                                                 *zip(columns, topology["nicRelations"])]]
    sharing = [{at for at, word in enumerate(row) if word in ("PIX", "PXB", "PHB")} for row in whole]
    if any(sharing[other] != mates for mates in sharing for other in mates):
        yield "relations: something is below two host bridges"


def wrong_relations(topology, affinity):
    for gpu, row, explained in zip(affinity["gpus"], topology["relations"], affinity["explanation"]):
        relation = {nic["name"]: word for nic, word in zip(topology["nics"], row)}
        for nic in gpu["nics"] + explained.get("nics", []):
            if relation.get(nic["name"], nic["relation"]) != nic["relation"]:
                yield f"{gpu['pci']} to {nic['name']} is {nic['relation']} in affinity, not in topology"


def wrong_explanation(affinity, nics):
    """The flags of --explain, beside the reason in words and the list of what was chosen."""
    dealt = set()
    for gpu, explained in zip(affinity["gpus"], affinity["explanation"]):
        stands_in = {nic["name"]: nic["standIn"] for nic in gpu["nics"]}
        said = explained.get("nics", [])
        if {nic["name"] for nic in said if nic["chosen"]} != set(stands_in):
            yield f"{gpu['pci']}: what is chosen is not what it gets"
        if {nic["name"] for nic in said} != {nic["name"] for nic in nics["nics"]}:
            yield f"{gpu['pci']}: other NICs are explained than are there"
        yield from (f"{gpu['pci']}, {nic['name']}: standIn is {nic['standIn']}, why is {nic['why']!r}"
                    for nic in gpu["nics"] if nic["standIn"] != ("stands in" in nic["why"]))
        for nic in said:
            word = re.match(r"excluded|further away|as near|dealt|", nic["reason"])[0]
            given = word == "dealt" or stands_in.get(nic["name"]) is False
            near = nic["nearest"] if stands_in.get(nic["name"]) else given or word == "as near"
            if (nic["candidate"], nic["nearest"], nic["dealt"]) != (word != "excluded", near, given):
                yield f"{gpu['pci']}, {nic['name']}: its flags are not those of {nic['reason']!r}"
        dealt |= {nic["name"] for nic in said if nic["dealt"]}
    for nic in nics["nics"]:
        if nic["spare"] != (nic["role"] == "compute" and nic["name"] not in dealt):
            yield f"{nic['name']}: spare is {nic['spare']}"


def wrong_counts(affinity, nics):
    if not affinity["gpus"]:
        return
    steps = " ".join(explained["step"] for explained in affinity["explanation"])
    any_compute = int(any(nic["role"] == "compute" for nic in nics["nics"]))
    stated = {int(count) for count in re.findall(r" of (\d+) NICs ", steps)} or {any_compute}
    if stated != {affinity["computeNics"]}:
        yield f"computeNics is {affinity['computeNics']}, the steps say {stated}"
    if affinity["nicsPerGpu"] != max(affinity["computeNics"] // len(affinity["gpus"]), 1):
        yield f"nicsPerGpu is {affinity['nicsPerGpu']}"


def wrong_functions(pools, nics):
    """A function has the RDMA devices, pools and reasons that `nics` shows of them."""
    wanted = {}
    for nic in nics["nics"]:
        function = {"nics": [], "pools": nic["pools"], "notInPool": nic["notInPool"]}
        wanted.setdefault(nic["pci"] or nic["name"], function)["nics"] += [nic["name"]] if nic["registered"] else []
        if nic["pool"] != next(iter(nic["pools"]), None):
            yield f"{nic['name']}: pool is {nic['pool']}, pools are {nic['pools']}"
        if nic["usable"] == bool(nic["usableReason"]):
            yield f"{nic['name']}: usable is {nic['usable']}, because {nic['usableReason']!r}"
    got = {function["id"]: parts([function], ["nics", "pools", "notInPool"])[0] for function in pools["functions"]}
    yield from (f"{name}: nics and pools do not say the same" for name in sorted(set(got) | set(wanted))
                if got.get(name) != wanted.get(name))


def wrong_pools(pools, nics):
    """Where nobody configured any."""
    by_id = {nic["pci"] or nic["name"]: nic for nic in reversed(nics["nics"])}
    names = {function["id"]: function["nics"] for function in pools["functions"]}
    if parts(pools["pools"], DEFAULT_POOL) != [DEFAULT_POOL]:
        yield "pools: not the default pool alone"
    for pool in pools["pools"]:
        ids = [function["id"] for function in pools["functions"] if pool["name"] in function["pools"]]
        if [member["id"] for member in pool["members"]] != ids or pool["devices"] != (pool["slots"] if ids else 0):
            yield f"{pool['name']}: its members are not the functions that are in it"
            continue
        for member in pool["members"]:
            nic = by_id[member["id"]]
            # A function with virtual functions is not dealt and may be in a pool.
            ready = nic["usable"] or "virtual functions enabled" in nic["usableReason"]
            wanted = {**nic, "nics": names[member["id"]], "ready": ready,
                      "reason": "" if ready else nic["usableReason"]}
            keys = ["nics", "pci", "netdevs", "numaNode", "ready", "reason"]
            if parts([member], keys) != parts([wanted], keys):
                yield f"{member['id']}: nics and pools do not say the same of it"


def contradictions(topology, affinity, nics, pools):
    return list(wrong_sizes(topology, affinity)) or [
        *wrong_heads(topology, affinity, nics, pools), *wrong_matrices(topology), *wrong_relations(topology, affinity),
        *wrong_explanation(affinity, nics), *wrong_counts(affinity, nics), *wrong_functions(pools, nics),
        *wrong_pools(pools, nics)]
