# SPDX-License-Identifier: Apache-2.0
"""Usages of RDMA, each a small machine with the verdict that a person gives who knows it: tests/pods/usages/*.node, put
together from the kernel's formats (make_pods.py), independently of the code under test.

A usage is a function with @usage(title, expected, ...). `expected` is, for each pod: verdict, rung, and "fallback" where
it is one. Three moments of a machine are NAME.first.node, NAME.before.node and NAME.node. `--check` compares instead of writing;
check_usages.py asks the program for its verdicts."""
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "nodes"))

import hardware as hw  # noqa: E402
import machine as nodes  # noqa: E402
from make_pods import (CM_ID, CTX, DRIVER, GET, GSI, INDEX, INIT, MR, NAME, PD, QP, RC, RTS, UD,  # noqa: E402
                       Machine, bundle, containerd_names, ctx, identity, message, mr, pd, qp, table, text,
                       u32, uid)

FOLDER = HERE / "usages"
RTR = 2
BNXT = (0x020000, 0x14e4, 0x1760, 0x14e4, 0x5208, "bnxt_en", 32, 16)
HFI1 = (0x020800, 0x8086, 0x24f0, 0x8086, 0x24f0, "hfi1", 16, 16)
MODELS = {"mlx5": ("mlx5_0", hw.CX7_IB, "InfiniBand"), "roce": ("mlx5_0", hw.CX7_ETH, "Ethernet"),
          "bnxt": ("bnxt_re0", BNXT, "Ethernet"), "irdma": ("rocep25s0", hw.E810, "Ethernet"),
          "efa": ("rdmap25s0", hw.EFA, ""), "hfi1": ("hfi1_0", HFI1, "InfiniBand")}
for model in (BNXT, hw.E810, HFI1):
    hw.FIRMWARE.setdefault(model[2], (None, None, "1.0.0.0"))
USAGES = {}
SECOND = 100  # ticks
# What a usage is put together from, by the beginning of its name. All: Linux drivers/infiniband/core/{nldev,restrack}.c.
SOURCES = {
    "nccl": "NCCL src/transport/net_ib.cc: RC queue pairs of verbs, and one that is looped for each GPU",
    "ucx-ud": "UCX src/uct/ib/ud/verbs/ud_verbs.c",
    "ucx": "UCX src/uct/ib/mlx5/rc/rc_mlx5_iface.c (UCX_IB_MLX5_DEVX_OBJECTS), Linux drivers/infiniband/hw/mlx5/devx.c",
    "nixl": "vLLM's NixlConnector and NIXL's plugin of UCX; UCX as above; issue of vLLM: 98 s to the first token by TCP",
    "dynamo": "NVIDIA Dynamo, components of vLLM: --is-prefill-worker",
    "sglang": "SGLang, disaggregation by Mooncake; Mooncake's rdma_transport makes queue pairs by ibv_create_qp",
    "ibgda": "NVSHMEM src/modules/transport/ibgda: queue pairs of DEVX, memory by ibv_reg_mr",
    "mnnvl": "NVIDIA IMEX service for NVLink networks: /dev/nvidia-caps-imex-channels",
    "efa": "Linux drivers/infiniband/hw/efa/efa_verbs.c: SRD, which names no peer; counters rx_bytes and tx_bytes",
    "bnxt-direct": "BNXT_RE_METHOD_DV_CREATE_QP of Broadcom's driver, linux-rdma November 2025",
    "bnxt": "Linux drivers/infiniband/hw/bnxt_re/ib_verbs.c",
    "irdma": "Linux drivers/infiniband/hw/irdma/verbs.c: query_qp says the first sequence numbers",
    "psm2": "Linux drivers/infiniband/hw/hfi1/file_ops.c",
    "only-receives": "perftest src/perftest_resources.c: the server of a one-way write stays in RTR",
    "passive": "perftest, as above",
    "model": "vLLM's arguments --tensor-parallel-size and --pipeline-parallel-size",
    "ray": "Ray's raylet: --gcs-address and --node_ip_address",
    "volcano": "Volcano's plugin svc: VC_*_NUM",
    "torchrun": "PyTorch torch/distributed/run.py",
    "monitor": "DCGM: NVIDIA_VISIBLE_DEVICES=all",
    "slot": "a device plugin's Allocate, as docs/pod-interface.md says",
    "smc": "Linux net/smc/smc_ib.c: a protection domain and queue pairs of the kernel",
    "nfs": "Linux net/sunrpc/xprtrdma: queue pairs of the kernel",
    "lists-lie": "nobody's: contradictions",
    "bytes-cut": "nobody's: contradictions",
}


def source_of(name):
    return next((SOURCES[start] for start in sorted(SOURCES, key=len, reverse=True) if name.startswith(start)),
                "Linux drivers/infiniband/core/nldev.c, fs/proc, net/ipv4/inet_diag.c")


def usage(title, expected, nic="mlx5", moments=1, options=()):
    """`moments`: 2 or 3 where traffic tells. `options`: of railhead pods."""
    def add(make):
        USAGES[make.__name__.replace("_", "-")] = (title, expected, nic, moments, list(options), make)
        return make
    return add


def base(nic, netns="Y"):
    """Two GPUs and a NIC below one root port each."""
    m = nodes.Machine("node", [(0, "0-31", 0)], "Supermicro", "SYS-421GE-TNRT")
    m.rdma_stack(netns)
    for number in range(2):
        port = m.bridge(m.host_bridge(f"pci0000:{number + 1}0", 0), f"{number + 1}0:01.0", hw.INTEL_ROOT_PORT)
        m.nvidia_gpu(port, f"{number + 1}1:00.0", hw.H100, "NVIDIA H100 80GB HBM3")
    port = m.bridge(m.host_bridge("pci0000:30", 0), "30:01.0", hw.INTEL_ROOT_PORT)
    name, model, link = MODELS[nic]
    place = m.function(port, "31:00.0", model)
    if nic == "efa":
        m.efa(place, name, 100)
    else:
        m.netdev(place, "nic0", kind=1 if link == "Ethernet" else 32)
        m.rdma(place, name, model, 400, link, "nic0", "10.9.0.1" if link == "Ethernet" else None)
    return m.tree.snapshot([]).decode(), f"{place.path}/infiniband/{name}", name


class Node(Machine):
    """One moment of a machine, `late` seconds after the first. Objects of its NIC are collected until it is written."""

    def __init__(self, name, title, expected, nic, late, netns="Y"):
        body, self.nic_path, self.nic = base(nic, netns)
        super().__init__([title] + [f"Verdict: {pod}: {verdict}" for pod, verdict in expected.items()] +
                         [f"Source: {source_of(name)}"], body)
        self.head = self.head.replace("make_pods.py", "make_usages.py")
        self.late, self.pid, self.socket = late, 2000, 7000
        self.qps, self.mrs, self.pds, self.ctxs, self.cm_ids = [qp(1, GSI, RTS, kernel="ib_core")], [], [], [], []
        self.answers = {}
        self.nodes_net = []
        self.cgroups = {}
        self.file("/proc/uptime", f"{10000 + late}.00 3000.00\n")
        self.link("/proc/self", "1")
        self.link("/proc/1/ns/pid", "pid:[4026531836]")
        self.process(1, "systemd", 0, "0::/init.scope", 1)

    def pod(self, name, gpus=(0, 1), env=(), args=(), sockets=(), fds=(), host=False, start=2000, slot="",
            devices=(), uverbs=True, gpu_since=None):
        """A container; `sockets` are bytes that each of its TCP connections moved until now. Returns its process."""
        self.pid += 10
        digit, process = f"{len(self.more) % 16:x}", self.pid
        place = identity(digit)[:-4] + f"{process:04d}"
        names = containerd_names("ns", name, "main")
        if slot:
            names["allocation.railhead.io/rdma.io/hca"] = slot
        nodes_ = [(f"/dev/nvidia{gpu}", 195, gpu) for gpu in gpus] + list(devices)
        if uverbs:
            nodes_.append(("/dev/infiniband/uverbs0", 231, 192))
        tasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"
        self.process(process - 1, "containerd-shim", 1, "0::/system.slice/containerd.service", 1000)
        self.link(f"/proc/{process - 1}/cwd", f"{tasks}/{place}")
        self.file(f"{tasks}/{place}/config.json", bundle(names, nodes_, list(env)))
        cgroup = f"0::/kubepods.slice/kubepods-pod{uid(digit).replace('-', '_')}.slice/cri-containerd-{place}.scope"
        self.cgroups[process] = cgroup
        net = 4026531840 if host else 4026532000 + process
        self.process(process, "python3", process - 1, cgroup, start, f"net:[{net}]")
        if args:
            self.file(f"/proc/{process}/cmdline", "\0".join(args) + "\0")
        if gpu_since is not None:
            self.process(process + 1, "worker", process, cgroup, gpu_since, f"net:[{net}]")
            self.link(f"/proc/{process + 1}/fd/9", "/dev/nvidia0")
        lines = []
        for number, moved in enumerate(sockets):
            self.socket += 1
            lines.append(f"{self.socket} {moved // 2} {moved - moved // 2}\n")
            self.link(f"/proc/{process}/fd/{number + 20}", f"socket:[{self.socket}]")
        for number, target in enumerate(fds):
            self.link(f"/proc/{process}/fd/{number + 60}", "".join(c if c > " " else f"%{ord(c):02x}" for c in target))
        if host:
            self.nodes_net += lines
        else:
            self.file(f"/.netlink/tcp/{net}", "".join(lines))
        return process

    def opens(self, process, number, domain, regions=(), thread=None):
        """A context with a protection domain and memory."""
        self.ctxs.append(ctx(number, process))
        self.pds.append(pd(domain, number, process))
        self.mrs += [mr(length, 100 * number + at, domain, thread or process) for at, length in enumerate(regions)]

    def counts(self, moved):
        """Bytes that its port moved until now, each way."""
        if self.nic.startswith("rdmap"):
            for name in ("rx_bytes", "tx_bytes"):
                self.file(f"{self.nic_path}/ports/1/hw_counters/{name}", f"{moved}\n")
            return
        for name in ("port_rcv_data", "port_xmit_data"):
            self.file(f"{self.nic_path}/ports/1/counters/{name}", f"{moved // 4}\n")

    def snapshot(self):
        self.rdma(GET, None, message(GET, u32(INDEX, 0) + text(NAME, self.nic)))
        for command, objects in ((QP, self.qps), (MR, self.mrs), (PD, self.pds), (CTX, self.ctxs),
                                 (CM_ID, self.cm_ids)):
            answer = self.answers.get(command, table(command, 0, self.nic, objects))
            if isinstance(answer, str):
                self.more.append(answer)
            else:
                self.rdma(command, 0, answer)
        if self.nodes_net:
            self.file("/.netlink/tcp/4026531840", "".join(self.nodes_net))
        return self.write()


DEVX = ["anon_inode:[devx_async_event]", "anon_inode:[infinibandevent]"]
GB = 1 << 30
NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
VLLM = ("python3", "/usr/bin/vllm", "serve", "model")


def closing(errno):
    return struct.pack("<IHHIIi", 20, 3, 2, 1, 0, -errno)


@usage("NCCL with queue pairs of its own", {"job": "RDMA queue-pair"})
def nccl_rc(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.opens(job, 3, 7, [GB])
    node.qps += [qp(17, RC, RTS, job, 117, 7), qp(18, RC, RTS, job, 18, 7)]


@usage("NCCL whose threads have ended: the context tells whose its queue pairs are", {"job": "RDMA queue-pair"})
def nccl_threads_ended(node):
    job = node.pod("job", env=["NNODES=2"])
    node.opens(job, 3, 7, [GB])
    node.qps += [qp(17, RC, RTS, None, 117, 7)]


@usage("NCCL of two nodes that took sockets", {"job": "TCP nothing fallback"})
def nccl_on_tcp(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000, 9000])


@usage("NCCL that was told not to take RDMA", {"job": "TCP nothing fallback"})
def nccl_ib_disabled(node):
    node.pod("job", env=["NNODES=2", "NCCL_IB_DISABLE=1"], sockets=[4000])


@usage("A job of four nodes that hangs before it connects", {"job": "idle nothing fallback"})
def hung_job(node):
    node.pod("job", env=["NNODES=4"])


@usage("UCX: its RC queue pairs are DEVX objects", {"job": "unknown devx-objects"})
def ucx_devx(node):
    job = node.pod("job", env=["OMPI_COMM_WORLD_SIZE=16"], sockets=[4000], fds=DEVX)
    node.opens(job, 3, 7, [GB, 4096])


@usage("UCX whose threads have ended, every one that made an object", {"job": "unknown nothing"})
def ucx_threads_ended(node):
    node.pod("job", env=["OMPI_COMM_WORLD_SIZE=16"], sockets=[4000], fds=DEVX)
    node.ctxs.append(ctx(3, None))
    node.pds.append(pd(7, 3, None))
    node.mrs.append(mr(GB, 300, 7, None))


@usage("UCX, alone on its NIC while data moves", {"job": "RDMA sole-user"}, moments=3)
def ucx_devx_moves(node):
    ucx_devx(node)
    node.counts(10 * GB * (1 + node.late))


@usage("The same in two looks alone: a program that began and ended between them may have moved the data",
       {"job": "unknown sole-user"}, moments=2)
def ucx_devx_moves_once(node):
    ucx_devx_moves(node)


@usage("What moved its NIC's counters was the kernel's: NFS over RDMA, which is unmounted now",
       {"job": "unknown devx-objects"}, moments=2)
def ucx_devx_after_nfs(node):
    ucx_devx_moves(node)
    if not node.late:
        node.qps.append(qp(50, RC, RTS, remote=51, kernel="rpcrdma"))


@usage("Two of them on one NIC: whose data is it?", {"a": "unknown devx-objects", "b": "unknown devx-objects"}, moments=3)
def ucx_devx_shared(node):
    for number, name in enumerate("ab"):
        job = node.pod(name, gpus=[number], env=["NNODES=2"], sockets=[4000], fds=DEVX)
        node.opens(job, 3 + number, 7 + number, [GB])
    node.counts(10 * GB * (1 + node.late))


@usage("What moved its NIC's counters was another's, which has ended",
       {"job": "unknown devx-objects", "perftest": "idle nothing"}, moments=2)
def ucx_devx_after_another(node):
    ucx_devx(node)
    other = node.pod("perftest", gpus=[])
    if not node.late:
        node.opens(other, 4, 8, [65536])
        node.qps.append(qp(19, RC, RTS, other, 119, 8))
    node.counts(10 * GB * (1 + node.late))


@usage("The same as ucx-devx-moves beside IP over InfiniBand", {"job": "unknown devx-objects"}, moments=3)
def ucx_devx_beside_ipoib(node):
    ucx_devx_moves(node)
    node.pds.append(pd(90, None, kernel="ib_ipoib"))
    node.qps.append(qp(40, UD, RTS, kernel="ib_ipoib"))


@usage("UCX with UD queue pairs, which name no peer", {"job": "unknown nothing"}, nic="irdma")
def ucx_ud(node):
    job = node.pod("job", env=["OMPI_COMM_WORLD_SIZE=16"], sockets=[4000])
    node.opens(job, 3, 7, [GB])
    node.qps.append(qp(17, UD, RTS, job, domain=7))


@usage("NIXL in vLLM, by UCX", {"decode": "unknown devx-objects"})
def nixl_vllm(node):
    job = node.pod("decode", gpus=[0], args=[*VLLM, "--kv-transfer-config", NIXL], sockets=[4000], fds=DEVX)
    node.opens(job, 3, 7, [40 * GB])


@usage("NIXL in vLLM without RDMA: 98 s to the first token", {"decode": "TCP nothing fallback"}, moments=2)
def nixl_vllm_on_tcp(node):
    node.pod("decode", gpus=[0], env=["LWS_GROUP_SIZE=1", "VLLM_NIXL_SIDE_CHANNEL_HOST=10.0.0.7"],
             args=[*VLLM, "--kv-transfer-config", NIXL], sockets=[GB * (1 + node.late), 4000])


@usage("Dynamo's prefill worker without RDMA, on one GPU", {"prefill": "TCP nothing fallback"})
def dynamo_prefill_on_tcp(node):
    node.pod("prefill", gpus=[1], args=["python3", "-m", "dynamo.vllm", "--is-prefill-worker"], sockets=[4000],
             uverbs=False)


@usage("SGLang's decode worker without RDMA, on the node's network", {"decode": "TCP nothing fallback", "web": "TCP nothing"})
def sglang_on_tcp_host_network(node):
    node.pod("decode", gpus=[0], args=["python3", "-m", "sglang.launch_server", "--disaggregation-mode", "decode"],
             sockets=[4000], host=True)
    node.pod("web", gpus=[1], sockets=[10, 10, 10], host=True)


@usage("SGLang with Mooncake, which makes its queue pairs by verbs", {"prefill": "RDMA queue-pair"})
def sglang_mooncake(node):
    job = node.pod("prefill", gpus=[0], args=["python3", "-m", "sglang.launch_server", "--disaggregation-mode", "prefill"],
                   sockets=[4000])
    node.opens(job, 3, 7, [40 * GB])
    node.qps.append(qp(17, RC, RTS, job, 117, 7))


@usage("NVSHMEM IBGDA (DeepEP): DEVX objects without a channel for events", {"job": "unknown devx-objects"})
def ibgda(node):
    job = node.pod("job", args=[*VLLM, "-dp", "16", "--enable-expert-parallel"], sockets=[4000])
    node.opens(job, 3, 7, [GB])


@usage("IBGDA beside NCCL's own queue pairs", {"job": "RDMA queue-pair"})
def ibgda_and_nccl(node):
    ibgda(node)
    node.qps.append(qp(17, RC, RTS, node.pid, 117, 7))


@usage("A process that opened its NIC and no more", {"job": "unknown nothing"})
def opened_only(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.ctxs.append(ctx(3, job))


@usage("GB200: NVLink between nodes needs no queue pair", {"job": "unknown nothing"})
def mnnvl(node):
    node.pod("job", env=["NNODES=4"], sockets=[4000], devices=[("/dev/nvidia-caps-imex-channels/channel0", 511, 0)])


@usage("EFA: a queue pair of SRD is ready as soon as it is made", {"job": "unknown nothing"}, nic="efa")
def efa_srd(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.opens(job, 3, 7, [GB])
    node.qps.append(qp(30, DRIVER, RTS, job, domain=7))


@usage("EFA, alone on its device while data moves", {"job": "RDMA sole-user"}, nic="efa", moments=3)
def efa_srd_moves(node):
    efa_srd(node)
    node.counts(10 * GB * (1 + node.late))


@usage("EFA that two containers share", {"job": "unknown nothing", "other": "unknown nothing"}, nic="efa", moments=3)
def efa_shared(node):
    efa_srd_moves(node)
    other = node.pod("other", env=["NNODES=2"])
    node.opens(other, 4, 8, [GB])


@usage("A job without EFA on a node that has it", {"job": "TCP nothing fallback"}, nic="efa")
def efa_not_used(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000])


@usage("Broadcom with queue pairs of its own", {"job": "RDMA queue-pair"}, nic="bnxt")
def bnxt_rc(node):
    nccl_rc(node)


@usage("Broadcom's direct verbs", {"job": "unknown nothing"}, nic="bnxt")
def bnxt_direct_verbs(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.opens(job, 3, 7, [GB])


@usage("Intel with queue pairs of its own", {"job": "RDMA queue-pair"}, nic="irdma")
def irdma_rc(node):
    nccl_rc(node)


@usage("Intel: equal numbers on both sides, and sequence numbers that never change", {"job": "unknown nothing"}, nic="irdma")
def irdma_equal_numbers(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.opens(job, 3, 7, [GB])
    node.qps += [qp(number, RC, RTS, job, number, 7) for number in range(17, 33)]


@usage("PSM2 on Omni-Path uses no verbs", {"job": "unknown nothing"}, nic="hfi1")
def psm2(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000], fds=["/dev/hfi1_0"])


@usage("Files that are named like nodes of Omni-Path and Cassini, and are none", {"job": "TCP nothing fallback"})
def named_like_a_fabric(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000],
             fds=["/dev/hfi1_zero", "/dev/cxi0 (deleted)", "/dev/cxi", "/dev/hfi1_0\x1b[2J", "/tmp/dev/cxi0"])


@usage("A container that names a cgroup of its own like another pod's container",
       {"forger": "unknown devx-objects", "job": "TCP nothing fallback"})
def cgroup_named_like_anothers(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    forger = node.pod("forger", gpus=[1])
    node.opens(forger + 5, 3, 7, [GB])
    node.process(forger + 5, "forged", forger, node.cgroups[forger] + node.cgroups[job].removeprefix("0::"), 2000,
                 f"net:[{4026532000 + forger}]")


@usage("perftest's passive side never leaves RTR", {"job": "RDMA queue-pair"}, moments=2)
def only_receives(node):
    job = node.pod("job")
    node.opens(job, 3, 7, [65536])
    node.qps.append(qp(17, RC, RTR, job, 117, 7, psn=100 + 50 * node.late))


@usage("One moment of a passive side", {"job": "unknown devx-objects"})
def passive_at_one_moment(node):
    only_receives(node)


@usage("A job that has made queue pairs and not connected them", {"job": "TCP nothing fallback"}, nic="irdma")
def not_connected_yet(node):
    job = node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.qps.append(qp(17, RC, INIT, job, 0, 7))


@usage("A model server on the two GPUs of one node", {"server": "TCP nothing"})
def model_server(node):
    node.pod("server", args=[*VLLM, "-tp", "2"], sockets=[4000])


@usage("A model server that states nothing", {"server": "TCP nothing"})
def model_server_that_states_nothing(node):
    node.pod("server", args=[*VLLM], sockets=[4000])


@usage("A model over more GPUs than the node has, on TCP", {"server": "TCP nothing fallback"})
def model_over_nodes_on_tcp(node):
    node.pod("server", args=[*VLLM, "--tensor-parallel-size", "2", "--pipeline-parallel-size", "2"], sockets=[4000])


@usage("The worker of a Ray cluster, on TCP", {"worker": "TCP nothing fallback"})
def ray_worker_on_tcp(node):
    node.pod("worker", args=["/ray/raylet", "--gcs-address=10.0.0.1:6379", "--node_ip_address=10.0.0.2"], sockets=[4000])


@usage("A task of Volcano, on TCP", {"worker": "TCP nothing fallback"})
def volcano_on_tcp(node):
    node.pod("worker", env=["VC_MASTER_NUM=1", "VC_WORKER_NUM=1"], sockets=[4000])


@usage("torchrun on one node", {"job": "TCP nothing"})
def torchrun_one_node(node):
    node.pod("job", args=["python3", "/bin/torchrun", "--nnodes=1", "--nproc-per-node=2", "t.py"], sockets=[4000])


@usage("A monitor that has every GPU", {"dcgm": "TCP nothing"})
def monitor(node):
    node.pod("dcgm", env=["NVIDIA_VISIBLE_DEVICES=all"], sockets=[4000])


@usage("A pod with a slot that sleeps", {"shell": "TCP nothing"}, moments=2)
def slot_at_rest(node):
    node.pod("shell", gpus=[0], slot="0000:31:00.0", sockets=[4000 + node.late])


@usage("A pod with a slot whose data goes over TCP", {"job": "TCP nothing fallback"}, moments=2)
def slot_on_tcp(node):
    node.pod("job", gpus=[0], slot="0000:31:00.0", sockets=[GB * (1 + node.late)])


@usage("A job that began a minute ago", {"job": "TCP nothing"})
def young(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000], start=(10000 - 60) * SECOND)


@usage("A job that loaded its image and model for hours, and its GPU since a minute", {"job": "TCP nothing"})
def loading(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000], gpu_since=(10000 - 60) * SECOND)


@usage("A sidecar of a container that uses RDMA", {"job": "RDMA queue-pair", "web": "TCP nothing"})
def beside_rdma(node):
    nccl_rc(node)
    node.pod("web", gpus=[1], sockets=[4000])


@usage("The kernel's own queue pairs: NFS over RDMA", {"job": "TCP nothing fallback"})
def nfs_of_the_kernel(node):
    node.qps.append(qp(50, RC, RTS, remote=51, kernel="rpcrdma"))
    node.pod("job", env=["NNODES=2"], sockets=[4000])


@usage("The kernel's own queue pairs: SMC-R, which carries TCP sockets of programs", {"job": "unknown nothing"})
def smc_of_the_kernel(node):
    node.pds.append(pd(90, None, kernel="smc"))
    node.qps.append(qp(50, RC, RTS, remote=51, kernel="smc"))
    node.pod("job", env=["NNODES=2"], sockets=[4000])


@usage("The driver fails at the second queue pair: what was listed counts", {"job": "RDMA queue-pair", "other": "unknown nothing"},
       nic="irdma")
def list_cut_short(node):
    nccl_rc(node)
    node.answers[QP] = table(QP, 0, node.nic, node.qps) + closing(22)
    other = node.pod("other", env=["NNODES=2"], sockets=[4000])
    node.opens(other, 4, 8, [GB])


@usage("The driver fails at the first queue pair", {"job": "unknown nothing", "tcp": "TCP nothing fallback"}, nic="irdma")
def list_fails_at_once(node):
    nccl_rc(node)
    node.answers[QP] = ""
    node.pod("tcp", env=["NNODES=2"], sockets=[4000])


@usage("The list of queue pairs is refused", {"job": "unknown nothing", "tcp": "TCP nothing fallback"}, nic="irdma")
def list_refused(node):
    nccl_rc(node)
    node.answers[QP] = "e /.netlink/rdma/10.0 EPERM\n"
    node.pod("tcp", env=["NNODES=2"], sockets=[4000])


@usage("Queue pairs are not asked for, and nothing moves", {"job": "unknown devx-objects"}, options=["--queue-pairs", "never"])
def not_asked_for(node):
    nccl_rc(node)


@usage("Queue pairs are not asked for, and data moves", {"job": "RDMA sole-user"}, moments=3, options=["--queue-pairs", "never"])
def not_asked_for_and_moves(node):
    nccl_rc(node)
    node.counts(10 * GB * (1 + node.late))


@usage("Queue pairs whose owner cannot be seen", {"job": "unknown nothing"})
def without_owner(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.qps.append(qp(17, RC, RTS, None, 117, 7))


@usage("Contexts of nobody: any container may have them", {"job": "unknown nothing"})
def context_without_owner(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.ctxs.append(ctx(9, None))
    node.qps.append(qp(17, RC, RTS, None, 117, 7))


@usage("The lists are cut in the middle of a message", {"job": "unknown nothing"})
def bytes_cut(node):
    nccl_rc(node)
    for command, objects in ((QP, node.qps), (MR, node.mrs), (PD, node.pds), (CTX, node.ctxs)):
        node.answers[command] = table(command, 0, node.nic, objects)[:-7]


@usage("The lists lie: numbers of processes that are none, sizes beyond any memory", {"job": "unknown nothing"})
def lists_lie(node):
    node.pod("job", env=["NNODES=2"], sockets=[4000])
    node.qps += [qp(17, RC, RTS, 0xffffffff, 117, 7), qp(17, RC, RTS, 1, 117, 7)]
    node.mrs += [mr((1 << 64) - 2, 1, 7, 0), mr((1 << 64) - 2, 2, 7, 0xffffffff)]
    node.pds.append(pd(7, 7, 0xffffffff))


def written():
    for name, (title, expected, nic, moments, _, make) in USAGES.items():
        for late in range(moments):
            node = Node(name, title, expected, nic, late)
            make(node)
            yield name + (".node", ".before.node", ".first.node")[moments - 1 - late], node.snapshot()


if __name__ == "__main__":
    wrong = []
    for file, snapshot in written():
        if "--check" not in sys.argv:
            (FOLDER / file).write_text(snapshot)
        elif not (FOLDER / file).exists() or (FOLDER / file).read_text() != snapshot:
            wrong.append(file)
    if wrong:
        sys.exit("not what make_usages.py writes: " + ", ".join(wrong))
