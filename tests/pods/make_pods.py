# SPDX-License-Identifier: Apache-2.0
"""Writes the machines of this folder: a machine of tests/nodes with processes, bundles and answers of the RDMA netlink,
put together here from the numbers of include/uapi/rdma/rdma_netlink.h, independently of the code under test.
`--check` compares instead."""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
BASE = HERE.parent / "nodes" / "a100-nics-on-one-socket.node"

# enum rdma_nldev_command and enum rdma_nldev_attr
GET, QP, CM_ID, MR, PD, CTX = 1, 10, 11, 13, 14, 22
TABLES = {QP: (19, 20), CM_ID: (30, 31), MR: (40, 41), PD: (46, 47), CTX: (86, 87)}
INDEX, NAME, PORT, LQPN, RQPN, RQ_PSN, SQ_PSN, TYPE, STATE, PID, KERN = 1, 2, 3, 21, 22, 23, 24, 26, 27, 28, 29
MRLEN, PDN, MRN, CTXN = 45, 60, 62, 64
RC, UD, GSI, DRIVER = 2, 4, 1, 255
INIT, RTS = 1, 3


def attribute(number, payload):
    data = struct.pack("<HH", len(payload) + 4, number) + payload
    return data + bytes(-len(data) % 4)


def u8(number, value):
    return attribute(number, struct.pack("<B", value))


def u32(number, value):
    return b"" if value is None else attribute(number, struct.pack("<I", value))


def u64(number, value):
    return attribute(number, struct.pack("<Q", value))


def text(number, value):
    return attribute(number, value.encode() + b"\0")


def message(command, payload):
    return struct.pack("<IHHII", len(payload) + 16, (5 << 10) + command, 2, 1, 0) + payload


def table(command, index, name, entries):
    outer, inner = TABLES[command]
    rows = b"".join(attribute(inner, entry) for entry in entries)
    return message(command, u32(INDEX, index) + text(NAME, name) + attribute(outer, rows)) if entries else b""


def qp(number, kind, state, pid=None, remote=None, domain=None, kernel=None, psn=100):
    owner = text(KERN, kernel) if kernel else u32(PID, pid)
    peer = u32(RQPN, remote) + u32(RQ_PSN, psn) if kind == RC else b""  # fill_res_qp_entry_query(): of RC and UC alone
    return (u32(PORT, 1) + u32(LQPN, number) + u32(PDN, domain) + owner + peer + u32(SQ_PSN, psn) + u8(TYPE, kind)
            + u8(STATE, state))


def mr(length, number, domain, pid=None):
    return u64(MRLEN, length) + u32(MRN, number) + u32(PDN, domain) + u32(PID, pid)


def pd(number, context, pid=None, kernel=None):
    return u32(PDN, number) + u32(CTXN, context) + (text(KERN, kernel) if kernel else u32(PID, pid))


def ctx(number, pid=None):
    return u32(CTXN, number) + u32(PID, pid)


def cm_id(pid, pair):
    return u32(LQPN, pair) + u8(TYPE, RC) + u32(PID, pid)


class Machine:
    def __init__(self, title, base=None):
        lines = base or BASE.read_text()
        body = lines[lines.index("\nc /dev/") + 1:]
        self.head = "railhead-snapshot 1\n" + "".join(f"# {line}\n" for line in title) + \
            "# Written by tests/pods/make_pods.py; change it there.\n"
        self.body = body
        self.more = []

    def file(self, path, content):
        self.more.append(f"f {path} {len(content.encode())}\n{content}\n")

    def link(self, path, target):
        self.more.append(f"l {path} -> {target}\n")

    def rdma(self, command, index, answer):
        path = f"/.netlink/rdma/{command}" + ("" if index is None else f".{index}")
        self.more.append(f"d {path}\n" if not answer else f"t {path}/0000 {answer.hex()}\n")

    def device(self, index, name, **objects):
        for command, key in ((QP, "qps"), (MR, "mrs"), (PD, "pds"), (CTX, "ctxs"), (CM_ID, "cm_ids")):
            self.rdma(command, index, table(command, index, name, objects.get(key, [])))

    def process(self, pid, name, parent, cgroup, start, net="net:[4026531840]", thread_of=None):
        fields = " ".join(["S", str(parent)] + ["0"] * 17 + [str(start)] + ["0"] * 30)
        self.file(f"/proc/{pid}/stat", f"{pid} ({name}) {fields}\n")
        self.file(f"/proc/{pid}/status", f"Name:\t{name}\nTgid:\t{thread_of or pid}\nPid:\t{pid}\n")
        self.file(f"/proc/{pid}/cgroup", cgroup + "\n")
        self.link(f"/proc/{pid}/ns/net", net)

    def write(self):
        return self.head + self.body + "".join(self.more)


def tcp(connections):
    """(local, remote, state, inode), addresses as the kernel prints them."""
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    return head + "".join(
        f"   {i}: {local} {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1 0000\n"
        for i, (local, remote, state, inode) in enumerate(connections))


def identity(digit):
    return digit * 64


def uid(digit):
    return f"{digit * 8}-{digit * 4}-{digit * 4}-{digit * 4}-{digit * 12}"


def bundle(annotations, devices, env):
    return json.dumps({"ociVersion": "1.1.0", "annotations": annotations,
                       "process": {"env": ["PATH=/bin", "SECRET=hunter2"] + env},
                       "mounts": [{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]}],
                       "linux": {"namespaces": [{"type": "pid"}, {"type": "network"}],
                                 "devices": [{"path": path, "type": "c", "major": major, "minor": minor}
                                             for path, major, minor in devices]}})


def containerd_names(namespace, pod, container):
    return {"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-namespace": namespace,
            "io.kubernetes.cri.sandbox-name": pod, "io.kubernetes.cri.container-name": container}


def crio_names(namespace, pod, container):
    return {"io.kubernetes.cri-o.ContainerType": "container", "io.kubernetes.pod.namespace": namespace,
            "io.kubernetes.pod.name": pod, "io.kubernetes.container.name": container}


def add_uses_rdma(machine):
    """containerd, systemd driver, cgroup v2; its library makes queue pairs in threads, one of which has ended."""
    cgroup = f"0::/kubepods.slice/kubepods-pod{uid('a').replace('-', '_')}.slice/cri-containerd-{identity('a')}.scope"
    tasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
    machine.process(900, "containerd-shim", 1, "0::/system.slice/containerd.service", 1000)
    machine.link("/proc/900/cwd", f"{tasks}/{identity('b')}")
    machine.file(f"{tasks}/{identity('a')}/config.json", bundle(
        containerd_names("train", "a-0", "main"),
        [("/dev/nvidia0", 195, 0), ("/dev/nvidia1", 195, 1), ("/dev/infiniband/uverbs0", 231, 192),
         ("/dev/infiniband/uverbs1", 231, 193)], ["NVIDIA_VISIBLE_DEVICES=void", "WORLD_SIZE=16"]))
    machine.process(1000, "sh", 900, cgroup, 2000)
    machine.process(1001, "train) (1", 1000, cgroup, 2100)
    machine.process(1005, "proxy", 1000, cgroup, 2200, thread_of=1001)
    machine.file("/proc/1000/net/tcp", tcp([("0100000A:1F90", "0200000A:0050", "01", 31)]))
    machine.link("/proc/1000/fd/3", "socket:[31]")
    machine.device(0, "mlx5_0",
                   qps=[qp(1, GSI, RTS, kernel="ib_core"), qp(17, RC, RTS, 1005, 117, 7), qp(18, RC, RTS, 1005, 118, 7),
                        qp(19, RC, RTS, None, 119, 7), qp(20, RC, RTS, 1001, 20, 7), qp(21, UD, RTS, 1001, domain=7),
                        qp(22, RC, INIT, 1001, 0, 7)],
                   mrs=[mr(1 << 30, 1, 7), mr(4096, 2, 7, 1001)], pds=[pd(7, 3)], ctxs=[ctx(3, 1001)],
                   cm_ids=[cm_id(1001, 17)])
    machine.device(1, "mlx5_1", qps=[qp(30, DRIVER, RTS, 1001, domain=8)], pds=[pd(8, 4, 1001)], ctxs=[ctx(4, 1001)])


def add_fell_back(machine):
    """CRI-O, cgroupfs driver, cgroup v1, a network namespace of its own."""
    path = f"/kubepods/burstable/pod{uid('c')}/crio-{identity('c')}"
    cgroup = f"12:memory:{path}\n4:devices:{path}\n1:name=systemd:{path}"
    folder = f"/run/containers/storage/overlay-containers/{identity('c')}/userdata"
    machine.process(910, "conmon", 1, "1:name=systemd:/kubepods/burstable/crio-conmon-" + identity("c"), 1000)
    machine.file("/proc/910/cmdline", f"/usr/bin/conmon\0-c\0{identity('c')}\0-b\0{folder}\0-n\0main\0")
    machine.file(f"{folder}/config.json", bundle(
        crio_names("train", "a-1", "main"), [("/dev/nvidia2", 195, 2), ("/dev/nvidia3", 195, 3)], []))
    machine.process(1100, "python3", 910, cgroup, 3000, "net:[4026532001]")
    machine.file("/proc/1100/cmdline", "python3\0/bin/torchrun\0--nnodes=2\0--token=hunter2\0train.py\0")
    machine.file("/proc/1100/net/tcp", tcp([("0300000A:1F90", "0400000A:0050", "01", 41),
                                            ("0100007F:1F90", "0100007F:0050", "01", 42),
                                            ("00000000:1F90", "00000000:0000", "0A", 43)]))
    machine.file("/proc/1100/net/dev", "Inter-|   Receive\n face |bytes\n    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
                 "  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n")


def add_neither(machine):
    cgroup = f"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{uid('d').replace('-', '_')}.slice" \
        f"/cri-containerd-{identity('d')}.scope"
    machine.process(1200, "nginx", 900, cgroup, 4000)


def two_pods():
    machine = Machine(["A training pod that uses RDMA, one that fell back to TCP, and a web server."])
    machine.file("/proc/uptime", "1000.00 3000.00\n")
    machine.link("/proc/self", "1")
    machine.link("/proc/1/ns/pid", "pid:[4026531836]")
    machine.process(1, "systemd", 0, "0::/init.scope", 1)
    names = [(0, "mlx5_0"), (1, "mlx5_1")]
    machine.rdma(GET, None, b"".join(message(GET, u32(INDEX, i) + text(NAME, n)) for i, n in names))
    add_uses_rdma(machine)
    add_fell_back(machine)
    add_neither(machine)
    return machine.write()


class Pods:
    """Containers of containerd on cgroup v2, each in a network namespace of its own."""

    def __init__(self, machine):
        self.machine = machine
        self.pid = 2000

    def add(self, digit, namespace, pod, gpus, env, connections, uverbs=()):
        self.pid += 10
        machine, process = self.machine, self.pid
        tasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
        cgroup = f"0::/kubepods.slice/kubepods-pod{uid(digit).replace('-', '_')}.slice/cri-containerd-{identity(digit)}.scope"
        machine.process(process - 1, "containerd-shim", 1, "0::/system.slice/containerd.service", 1000)
        machine.link(f"/proc/{process - 1}/cwd", f"{tasks}/{identity(digit)}")
        machine.file(f"{tasks}/{identity(digit)}/config.json", bundle(
            containerd_names(namespace, pod, "main"),
            [(f"/dev/nvidia{gpu}", 195, gpu) for gpu in gpus]
            + [(f"/dev/infiniband/uverbs{one}", 231, 192 + one) for one in uverbs], env))
        machine.process(process, "python3", process - 1, cgroup, 2000, f"net:[{4026532000 + process}]")
        machine.file(f"/proc/{process}/net/tcp", tcp([("0300000A:1F90", "0400000A:0050", "01", process)] * connections))
        return process


def peers():
    machine = Machine(["Containers that look alike from outside: who has peers, and who is proved to use RDMA."])
    machine.file("/proc/uptime", "1000.00 3000.00\n")
    machine.link("/proc/self", "1")
    machine.link("/proc/1/ns/pid", "pid:[4026531836]")
    machine.process(1, "systemd", 0, "0::/init.scope", 1)
    machine.rdma(GET, None, message(GET, u32(INDEX, 0) + text(NAME, "mlx5_0")))
    pods = Pods(machine)
    pods.add("1", "serve", "vllm-0", [0, 1], ["WORLD_SIZE=1", "NNODES=1"], 1)
    pods.add("2", "train", "hung-0", [0, 1, 2, 3], ["NNODES=4"], 0)
    pods.add("3", "monitoring", "dcgm-exporter-x", range(8), ["NVIDIA_VISIBLE_DEVICES=all"], 1)
    job = pods.add("4", "train", "efa-0", [4, 5], ["WORLD_SIZE=16"], 1)
    torchrun = pods.add("5", "train", "torchrun-0", [6, 7], ["NCCL_IB_HCA=mlx5_0"], 1, [3])
    machine.file(f"/proc/{torchrun}/cmdline", "python3\0-m\0torch.distributed.run\0--nnodes\0" "2\0train.py\0")
    machine.device(0, "mlx5_0", qps=[qp(1, GSI, RTS, kernel="ib_core"), qp(30, DRIVER, RTS, job, domain=8)],
                   mrs=[mr((1 << 64) - 1, 1, 8, job), mr(4096, 2, 8, job)], pds=[pd(8, 4, job)], ctxs=[ctx(4, job)])
    return machine.write()


MACHINES = {"two-pods.node": two_pods, "peers.node": peers}

if __name__ == "__main__":
    wrong = []
    for name, make in MACHINES.items():
        if "--check" not in sys.argv:
            (HERE / name).write_text(make())
        elif (HERE / name).read_text() != make():
            wrong.append(name)
    if wrong:
        sys.exit("not what make_pods.py writes: " + ", ".join(wrong))
