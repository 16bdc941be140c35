# SPDX-License-Identifier: Apache-2.0
"""Every kind of JSON document: its shape, in the words of tests/nodes/json_shapes.py, what it is, and how to get some."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "nodes"))
import json_shapes as nodes  # noqa: E402
from json_shapes import FLAG, MAYBE_NUMBER, MAYBE_RATE, MAYBE_TEXT, NUMBER, TEXT  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAYBE_FLAG = nodes.optional(bool)
CLASS = {"R0", "R1", "R2", "R3", "R4", "R5"}
COUNT = ("queuePairs", "queuePairsReady", "queuePairsConnected", "queuePairsUnproved")


def document(kind):
    return {"apiVersion": {"railhead.io/v1alpha1"}, "kind": {kind}}


FINDING = {"id": TEXT, "subject": TEXT, "state": {"PASS", "WARN", "FAIL", "UNKNOWN", "SKIP"}, "observed": MAYBE_TEXT,
           "expected": MAYBE_TEXT, "evidence": [{"path": TEXT, "value": MAYBE_TEXT, "error?": TEXT}], "reason": MAYBE_TEXT,
           "effect": MAYBE_TEXT, "remedy": MAYBE_TEXT, "remedyClass": CLASS | {None}, "covers": [TEXT], "since?": TEXT}
CHECK = {"id": TEXT, "what": TEXT, "source": TEXT, "rule": TEXT, "effect": TEXT, "remedy": TEXT, "remedyClass": CLASS,
         "scope": {"node", "pod", "cluster"}, "covers": [TEXT], "after": [TEXT]}
MISTAKE = {"severity": {"FAIL", "WARN", "NOTE", "UNKNOWN"}, "why": TEXT, "remedy": TEXT, "covers": [TEXT]}
LINT_RULE = {"id": TEXT, "what": TEXT, **MISTAKE}
POD_DEVICE = {"name": TEXT, **dict.fromkeys(COUNT, NUMBER), "queuePairsLooped": NUMBER, "queuePairsMoving": MAYBE_NUMBER,
              "memoryRegions": NUMBER, "implicitRegions": NUMBER, "registeredBytes": NUMBER, "contexts": NUMBER,
              "connectionIds": NUMBER, "bytesPerSecond": MAYBE_RATE, "packetsPerSecond": MAYBE_RATE, "soleUser": FLAG,
              "provedByTraffic": FLAG}
POD = {"namespace": TEXT, "pod": TEXT, "container": TEXT, "podUid": TEXT, "containerId": TEXT, "gpus": [TEXT], "nics": [TEXT],
       **dict.fromkeys(COUNT, NUMBER), "queuePairsMoving": MAYBE_NUMBER, "implicitRegions": NUMBER, "registeredBytes": NUMBER,
       "verdict": {"RDMA", "TCP", "idle", "unknown"}, "rung": TEXT, "why": TEXT, "rdmaExpectedBy": [TEXT],
       "suspiciousLooks": NUMBER, "silentFallback": FLAG, "ignored": FLAG, "ageSeconds": MAYBE_RATE, "processes": [NUMBER],
       "tcpConnections": MAYBE_NUMBER, "tcpBytesPerSecond": MAYBE_RATE, "devxFiles": NUMBER, "imexChannels": NUMBER,
       "netdevBytesPerSecond": MAYBE_RATE, "devices": [POD_DEVICE], "evidence": [{"source": TEXT, "value": TEXT}]}
MOUNT = {"server": MAYBE_TEXT, "path": MAYBE_TEXT, "mountPoint": TEXT, "version": MAYBE_TEXT, "requestedProtocol": MAYBE_TEXT,
         "address": MAYBE_TEXT, "port": MAYBE_NUMBER, "transport": MAYBE_TEXT, "verdict": TEXT, "why": TEXT,
         "nconnect": MAYBE_NUMBER, "fewerConnections": MAYBE_TEXT,
         "connections": [{"transport": TEXT, "connects": MAYBE_NUMBER, "sends": MAYBE_NUMBER, "receives": MAYBE_NUMBER}]}
POOL = {"name": TEXT, "mode": {"shared", "exclusive"}, "slots": MAYBE_NUMBER, "slotsPerNic": MAYBE_NUMBER, "devices": [TEXT],
        "excludeTopology": FLAG, "health": {"link", "device"}, "prefer": TEXT, "narrow": FLAG, "source": TEXT,
        "where": MAYBE_TEXT, "functions": [TEXT]}
RULE = {"name": TEXT, "pci": TEXT, "device": TEXT, "linkLayer": TEXT, "netdev": TEXT}
RANK_NIC = {"network": TEXT, "index": NUMBER, "name": MAYBE_TEXT, "linkLayer": MAYBE_TEXT, "sends": NUMBER, "receives": NUMBER,
            "gpuDirect": NUMBER, "staged": NUMBER, "throughOtherRank": FLAG}
RANK = {"library": TEXT, "rank": MAYBE_NUMBER, "ranks": MAYBE_NUMBER, "host": MAYBE_TEXT, "pid": MAYBE_NUMBER,
        "gpu": MAYBE_NUMBER, "verdict": TEXT, "why": TEXT, "transport": MAYBE_TEXT, "plugin": MAYBE_TEXT, "gpuDirect": TEXT,
        "gpuDirectRoute": MAYBE_TEXT, "channels": NUMBER, "communicators": NUMBER, "nics": [RANK_NIC],
        "available": [{"index": NUMBER, "name": TEXT, "port": MAYBE_NUMBER, "linkLayer": TEXT}], "relaxedOrdering": FLAG,
        "evidence": [{"file": TEXT, "line": NUMBER, "text": TEXT}]}
STEP = {"id": TEXT, "title": TEXT, "class": CLASS, "state": TEXT, "before": MAYBE_TEXT, "after": MAYBE_TEXT,
        "reason": MAYBE_TEXT, "changes": [{"subject": TEXT, "value": MAYBE_TEXT}]}
AFFINITY = dict(nodes.SHAPES["affinity --explain"])
for only_explained in ("computeNics", "nicsPerGpu", "explanation"):
    AFFINITY[only_explained + "?"] = AFFINITY.pop(only_explained)

PCIE = ({"gts": float, "width": NUMBER, "payloadGbps": float}, type(None))
LANE = {"nic": TEXT, "port": NUMBER, "linkLayer": {"InfiniBand", "Ethernet"}, "rateGbps": MAYBE_RATE, "gidIndex": MAYBE_NUMBER,
        "gid": MAYBE_TEXT, "gidType": MAYBE_TEXT, "pci": MAYBE_TEXT, "numaNode": MAYBE_NUMBER, "pcie": PCIE, "pcieDegraded": FLAG,
        "pciePossible": PCIE, "firmware": MAYBE_TEXT, "driver": MAYBE_TEXT, "pinned": FLAG, "pathMtu": NUMBER,
        "queuePairs": [NUMBER], "counters": {str: {"before": NUMBER, "after": NUMBER}},
        "portBytes": ({"sent": NUMBER, "received": NUMBER}, type(None))}
# What the other side sends is passed on as it came.
SIDE = ({"host": TEXT, "memory": TEXT, "lanes": [LANE], "remarks": [TEXT],
         "gpu?": {"pci": TEXT, "cudaDriver": TEXT, "gpuDirect": MAYBE_FLAG, "dmabuf": MAYBE_FLAG}}, type(None))
MEASURED = {
    "operation": {"write", "read", "send"}, "measure": {"bandwidth", "latency"}, "sizeBytes": NUMBER, "queuePairs": NUMBER,
    "depth": NUMBER, "warmUp": NUMBER, "messages": NUMBER, "seconds": float, "rateCapBps": MAYBE_NUMBER, "validated": FLAG,
    "messagesCompared": NUMBER,
    "latencyUs?": {"samples": NUMBER, **dict.fromkeys(("min", "p50", "p99", "p999", "max", "mean"), float)},
    "gbps?": float, "messagesPerSecond?": float, "expectedGbps?": MAYBE_RATE, "expectedLimitedBy?": MAYBE_TEXT,
    "share?": MAYBE_RATE,
    "lanes?": [{"messages": NUMBER, "bytes": NUMBER, "seconds": float, "gbps": float, "tenthsOfASecondGbps":
                ({"number": NUMBER, "min": float, "p50": float, "max": float}, type(None))}]}
# Kind -> what says it, and its shape.
DOCUMENTS = {
    "Topology": ("railhead topology", nodes.SHAPES["topology"]),
    "Affinity": ("railhead affinity", AFFINITY),
    "Nics": ("railhead nics", nodes.SHAPES["nics"]),
    "Pools": ("railhead pools", nodes.SHAPES["pools"]),
    "DoctorReport": ("railhead doctor, and the agent's page /doctor", {
        **document("DoctorReport"), "node": TEXT, "time?": TEXT, "bootId?": TEXT,
        "summary": dict.fromkeys(("pass", "warn", "fail", "unknown", "skip"), NUMBER), "milliseconds": NUMBER,
        "limitMilliseconds": NUMBER, "leftOut": NUMBER, "findings": [FINDING]}),
    "DoctorChecks": ("railhead doctor --list", {**document("DoctorChecks"), "checks": [CHECK]}),
    "DoctorCheck": ("railhead doctor --explain ID", {**document("DoctorCheck"), **CHECK}),
    "LintReport": ("railhead lint", {
        **document("LintReport"), "objects": NUMBER, "summary": dict.fromkeys(("fail", "unknown", "warn", "note"), NUMBER),
        "findings": [{"id": TEXT, "object": TEXT, "file": TEXT, "line": NUMBER, "column": NUMBER, "what": TEXT, **MISTAKE}]}),
    "LintRules": ("railhead lint --list", {**document("LintRules"), "rules": [LINT_RULE]}),
    "LintRule": ("railhead lint --explain ID", {**document("LintRule"), **LINT_RULE}),
    "Pods": ("railhead pods, and the agent's page /pods", {
        **document("Pods"), "time": MAYBE_TEXT, "node": TEXT, "pods": [POD], "queuePairsOfHost": NUMBER,
        "queuePairsOfKernel": NUMBER, "queuePairsWithoutOwner": NUMBER, "complete": FLAG, "warnings": [TEXT]}),
    "NfsMounts": ("railhead nfs", {**document("NfsMounts"), "node": TEXT, "mounts": [MOUNT], "warnings": [TEXT]}),
    "NcclLog": ("railhead nccl-log", {
        **document("NcclLog"), "source": TEXT, "files": [TEXT], "verdict": TEXT, "gpuDirect": TEXT, "why": TEXT,
        "versions": [TEXT], "summary": {str: NUMBER}, "ranks": [RANK],
        "problems": [{"severity": TEXT, "meaning": MAYBE_TEXT, "code": MAYBE_TEXT, "count": NUMBER, "host": MAYBE_TEXT, "file": TEXT,
                      "line": NUMBER, "text": TEXT}],
        "warnings": [TEXT], "lines": NUMBER, "messages": NUMBER}),
    "EffectiveConfig": ("railhead config", {
        **document("EffectiveConfig"),
        "settings": [{"key": TEXT, "value": TEXT, "from": TEXT, "where": TEXT, "changes": TEXT}], "pools": [POOL],
        "warnings": [TEXT], "leftOut": [TEXT], "roles": [{**RULE, "role": TEXT, "where": TEXT}],
        "expect": [{**RULE, "port": TEXT, "unused": TEXT, "oneUp": TEXT, "rateGbps": TEXT, "where": TEXT}]}),
    "Migration": ("railhead migrate", {
        **document("Migration"), "configuration": TEXT, "changes": [{"id": TEXT, "text": TEXT, "setting": MAYBE_TEXT}],
        "steps": [TEXT], "rollback": [TEXT], "warnings": [TEXT], "leftOut": [TEXT]}),
    "Setup": ("railhead setup plan, apply, verify and revert",
              {**document("Setup"), "wanted": MAYBE_TEXT, "skipped": {"no-rdma-nic"} | {None}, "steps": [STEP]}),
    "SetupStatus": ("railhead setup status", {**document("SetupStatus"), "wanted": MAYBE_TEXT, "steps": [STEP]}),
    "Bench": ("railhead bench pair and client", {
        **document("Bench"), "version": TEXT, "started": TEXT, "state": TEXT, "why": TEXT, "requiredShare": MAYBE_RATE,
        "runs": [{"memory": {"host", "gpu:dmabuf", "gpu:peermem"}, "state": TEXT, "why": TEXT, "steps": [MEASURED],
                  "client": SIDE, "server": SIDE}]}),
    "Fleet": ("kubectl railhead fleet", {
        **document("Fleet"), "time": TEXT, "nodes": [{
            "node": TEXT, "health": {"ok", "problem", "no-agent", "unknown"}, "problems": ([TEXT], type(None)), "ready": MAYBE_FLAG,
            "gpus": MAYBE_NUMBER, "nics": ({"usable": NUMBER, "all": NUMBER}, type(None)),
            "ports": ({"active": NUMBER, "all": NUMBER}, type(None)), "portsDown": ([TEXT], type(None)),
            "nicsDown": ([TEXT], type(None)), "nicsMissing": ([TEXT], type(None)),
            "resources": ([{"name": TEXT, "healthy": NUMBER, "all": NUMBER}], type(None)), "silentFallbacks": MAYBE_NUMBER,
            "connected": MAYBE_FLAG, "runtime": MAYBE_TEXT, "agent": MAYBE_TEXT}]}),
    "Version": ("railhead version and railhead-bench version", {
        **document("Version"), "version": TEXT, "commit": MAYBE_TEXT, "commitDate": MAYBE_TEXT, "compiler": TEXT,
        "buildType": MAYBE_TEXT}),
}

NCCL_LOG = """host:11:12 [0] NCCL INFO NCCL version 2.23.4+cuda12.6
host:11:12 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
host:11:12 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
host:11:12 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA
host:11:12 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 19000 commId 0x2 - Init COMPLETE
"""
NFS_MOUNT = """device 10.0.0.1:/data mounted on /data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,proto=rdma,port=20049,timeo=600,retrans=2,sec=sys,clientaddr=10.0.0.2,addr=10.0.0.1
\txprt:\trdma 0 0 1 1 0 5 5 0 5 0 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""

# What cannot be printed here, as other tests print it (BenchReport.the_whole_document_is_the_committed_one, tests/package).
COMMITTED = [ROOT / "tests/cli" / name for name in ("bench.json", "fleet.json")]


def runs(folder):
    """Command lines that print documents; `folder` is for their files."""
    machines = sorted((ROOT / "tests/nodes").glob("*.node"))
    for machine in machines:
        for command in ("topology", "affinity", "affinity --explain", "nics", "pools", "doctor"):
            yield [*command.split(), "--snapshot", str(machine)]
    for machine in sorted((ROOT / "tests/pods").glob("*.node")):
        yield ["pods", "--all", "--snapshot", str(machine)]
    for file in sorted((ROOT / "examples").glob("*device-plugin*")) + sorted((ROOT / "examples").glob("*shared*")):
        yield ["migrate", str(file)]
    log = folder / "nccl.log"
    log.write_text(NCCL_LOG)
    yield ["nccl-log", str(log)]
    config = folder / "railhead.yaml"
    config.write_text("roles:\n- {name: mlx5_0, role: storage}\nexpect:\n- {name: mlx5_1, rateGbps: 400}\n")
    yield ["config", "--config", str(config)]
    proc = folder / "root/proc/self"
    proc.mkdir(parents=True)
    (folder / "root/sys/class").mkdir(parents=True)
    (proc / "mountstats").write_text(NFS_MOUNT)
    yield ["nfs", "--host-root", str(folder / "root")]
    yield ["setup", "plan", "--profile", "bare-metal-ib", "--host-root", str(folder / "root")]
    yield ["setup", "status", "--host-root", str(folder / "root")]
    yield ["lint", *map(str, sorted((ROOT / "examples").glob("*/*.yaml")))]
    yield ["lint", *map(str, sorted((ROOT / "tests/lint_manifests").glob("**/*.yaml")))]
    yield ["bench", "pair", "none", "none"]
    yield from (["version"], ["doctor", "--list"], ["doctor", "--explain", "link.port-state"], ["doctor", "--kube", "--list"],
                ["doctor", "--kube", "--explain", "kube.pending"], ["lint", "--list"], ["lint", "--explain", "pod.memlock"])
