# SPDX-License-Identifier: Apache-2.0
"""The peak memory of each command at the limits of what it reads: at most 64 MiB and ten times the input.

Inputs come from strangers (manifests, logs, snapshots of bug reports, an API server), so a command reads them within limits
or refuses them, and never ends by a signal. Each row has its exit code: an input that is refused early proves nothing of
the rest, so others are just below a limit. Time is printed, not judged; sizes are such that all rows take a minute.

usage: memory.py RAILHEAD [PATTERN…]
"""

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

KIB = 1 << 10
MIB = 1 << 20
BASE = 64 * MIB
TIMES = 10
SECONDS = 120  # an end without an end, no bound


def repeated(unit, size, begin="", end=""):
    """`begin`, as many of unit(i) as there is room for, `end`."""
    parts = [begin]
    length = len(begin) + len(end)
    number = 0
    while True:
        part = unit(number)
        length += len(part)
        if length > size:
            break
        parts.append(part)
        number += 1
    return "".join(parts) + end


# Manifests, at most 4 MiB.
def empty_items(size):
    return repeated(lambda i: "- {}\n", size, "kind: List\napiVersion: v1\nitems:\n")


def pods(size):
    return repeated(lambda i: f"""- apiVersion: v1
  kind: Pod
  metadata: {{name: p{i}, annotations: {{k8s.v1.cni.cncf.io/networks: "a{i}, b{i}"}}}}
  spec:
    containers:
    - name: c
      image: i
      resources: {{limits: {{nvidia.com/gpu: 8, rdma/r{i}: 1}}}}
      env: [{{name: NCCL_IB_HCA, value: mlx5}}, {{name: UCX_NET_DEVICES, value: mlx5_0}}]
""", size, "kind: List\napiVersion: v1\nitems:\n")


def networks(size):
    return repeated(lambda i: f"""- apiVersion: k8s.cni.cncf.io/v1
  kind: NetworkAttachmentDefinition
  metadata: {{name: n{i}}}
  spec: {{config: '{{"type":"sriov","ipam":{{"type":"host-local"}}}}'}}
""", size, "kind: List\napiVersion: v1\nitems:\n")


def policies(size):
    return repeated(lambda i: f"""apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {{name: p{i}}}
spec: {{resourceName: r, numVfs: 8, nodeSelector: {{a: b}}, nicSelector: {{pfNames: ["ens1f0#{i % 7}-7"], vendor: "15b3"}}}}
---
""", size)


def node_policies(size):
    return repeated(lambda i: f"""apiVersion: mellanox.com/v1alpha1
kind: NicNodePolicy
metadata: {{name: p{i}}}
spec: {{nodeSelector: {{a: b}}, rdmaSharedDevicePlugin: {{image: i}}}}
---
""", size)


def annotation(size):
    names = repeated(lambda i: f"net{i},", size - 300)
    return f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n    k8s.v1.cni.cncf.io/networks: {names}\nspec: {{containers: [{{name: c}}]}}\n"


def deep(size):
    return "a: " + "[" * (size - 3)


def one_key(size):
    return "k" * (size - 4) + ": 1\n"


def documents(size):
    return "---\n" * (size // 4)


def shared_plugin(size):
    return repeated(lambda i: ("" if i == 0 else ",") + f'{{"resourceName":"r{i}","rdmaHcaMax":1,"selectors":{{"vendors":["15b3"]}}}}', size,
                    '{"configList":[', "]}")


def configuration(size):
    return repeated(lambda i: f'- {{name: rdma/r{i}, slots: 3, include: {{vendors: ["15b3"]}}}}\n', size, "pools:\n")


def wanted(size):
    return repeated(lambda i: f"  net.core.k{i}: 1\n", size, "sysctl:\n")


# Logs.
def nccl_lines(size):
    return repeated(lambda i: f"host{i % 64}:{i % 4096}:{i} [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{i % 250}<0>\n", size)


def nccl_warnings(size):
    return repeated(lambda i: f"h:{i % 9000}:{i} [{i % 8}] transport/net_ib.cc:{i % 5000} NCCL WARN Call to ibv_reg_mr failed with error E{i}\n", size)


def nccl_processes(size):
    return repeated(lambda i: f"host{i % 64}:{1000 + i}:{i} [{i % 8}] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{i % 250}<0>\n", size)


def one_line(size):
    return "NCCL INFO " + "x" * (size - 11) + "\n"


# Snapshots.
def function(address, pci_class, vendor, device):
    at = f"/sys/devices/pci{address[:7]}/{address}"
    return "".join(f"t {at}/{name} {value}\n" for name, value in
                   (("class", pci_class), ("device", device), ("vendor", vendor))) + f"l /sys/bus/pci/devices/{address} -> ../../..{at[4:]}\n"


def address_of(i):
    return f"{i >> 13:04x}:{(i >> 8) & 31:02x}:{(i >> 3) & 31:02x}.{i & 7}"


HEAD = "railhead-snapshot 1\n"
MACHINE = function("0000:00:00.0", "0x030200", "0x10de", "0x2330")


def gpus(size):
    return repeated(lambda i: function(address_of(i), "0x030200", "0x10de", "0x2330"), size, HEAD)


def nics(size):
    def one(i):
        at = f"/sys/devices/pci{address_of(i)[:7]}/{address_of(i)}"
        return (function(address_of(i), "0x020700", "0x15b3", "0x1021") +
                f"l /sys/class/infiniband/m{i} -> ../..{at[4:]}/infiniband/m{i}\n" +
                f"t {at}/infiniband/m{i}/ports/1/state 4: ACTIVE\nt {at}/infiniband/m{i}/ports/1/link_layer InfiniBand\n" +
                f"l {at}/infiniband/m{i}/device -> ../../../{address_of(i)}\n")
    return repeated(one, size, HEAD)


def mixed(size):
    return repeated(lambda i: function(address_of(i), *(("0x030200", "0x10de", "0x2330") if i % 2 else ("0x020700", "0x15b3", "0x1021"))), size, HEAD)


def block(path, text):
    return f"f {path} {len(text.encode())}\n{text}\n"


def nfs(size):
    half = (size - 500) // 2
    mounts = repeated(lambda i: f"{i + 30} 1 0:{i + 50} / /m{i} rw - nfs4 s{i}:/e{i} rw,vers=4.2,proto=tcp,addr=10.0.0.1\n", min(half, 1000000))
    fstab = repeated(lambda i: f"s{i}:/e{i} /m{i} nfs4 proto=rdma,port=20049 0 0\n", min(half, 1000000))
    return HEAD + MACHINE + block("/etc/fstab", fstab) + block("/proc/1/mountinfo", mounts)


def kernel_log(size):
    lines = repeated(lambda i: f"3,{i},{i},-;mlx5_core 0000:{i % 256:02x}:00.0: mlx5_cmd_out_err:{i}: CREATE_MKEY failed, status no resources\n", min(size - 200, 1000000))
    return HEAD + MACHINE + block("/dev/kmsg", lines)


def names(size):
    return repeated(lambda i: f"x /sys/class/net/n{i}\n", size, HEAD)


def topology_file(size):
    return repeated(lambda i: f'<pci busid="{address_of(i)}" class="0x030200"><gpu dev="{i}" sm="90"/></pci>', size,
                    '<system version="1"><cpu numaid="0">', "</cpu></system>")


def kubeconfig(size):
    return repeated(lambda i: f"- {{name: c{i}, context: {{cluster: a, user: b}}}}\n", size,
                    "apiVersion: v1\nkind: Config\ncurrent-context: none\ncontexts:\n")


def answers(size):
    """Pods of one page of an API server."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [
        {"name": f"c{i}", "image": "i", "env": [{"name": f"V{e}", "value": "x" * 300} for e in range(20)]} for i in range(4)]}}
    return [pod] * (size // (len(json.dumps(pod)) + 2))


SNAPSHOT_COMMANDS = ("nics", "topology", "topology -o json", "topology -o svg", "affinity", "pools", "doctor", "doctor -o json")
# What is written, how much of it, the command, and how it ends.
ROWS = [
    *((make, MIB, "lint {}", code) for make, code in ((empty_items, 0), (pods, 0), (networks, 0), (policies, 1), (node_policies, 1),
                                                      (annotation, 0), (one_key, 1))),
    *((make, 4 * MIB, "lint {}", 2) for make in (pods, deep, documents)),
    (shared_plugin, 256 * KIB, "migrate {}", 1),
    *((make, MIB, "migrate {}", 64) for make in (pods, annotation, deep, shared_plugin)),
    (configuration, 12 * KIB, "config --config {}", 0),
    (shared_plugin, 256 * KIB, "pools --config {} --host-root {root}", 1),
    *((make, MIB, "config --config {}", 64) for make in (configuration, deep, one_key)),
    (wanted, 32 * KIB, "setup plan --host-root {root} --from {}", 0),
    *((make, MIB, "setup plan --host-root {root} --from {}", 64) for make in (wanted, deep, one_key)),
    (kubeconfig, MIB, "doctor --kube --kubeconfig {}", 2),
    (answers, 31 * MIB, "doctor --kube --kubeconfig {}", None),  # 2 where the time that it may take is over
    *((make, 4 * MIB, "nccl-log {}", code) for make, code in ((nccl_lines, 2), (nccl_warnings, 1), (one_line, 2))),
    (nccl_processes, 4 * MIB, "nccl-log {} -o json", 2),
    *((make, MIB, command + " --snapshot {}", None) for make in (nics, mixed) for command in SNAPSHOT_COMMANDS),
    (mixed, 4 * MIB, "topology -o json --snapshot {}", None),
    (nics, 4 * MIB, "doctor -o json --snapshot {}", None),
    (gpus, 4 * MIB, "doctor --snapshot {}", None),
    (nics, 4 * MIB, "snapshot - --snapshot {}", 0),
    *((make, MIB, command + " --snapshot {}", None) for make in (nfs, kernel_log) for command in ("doctor", "doctor -o json", "snapshot --doctor -")),
    (nfs, MIB, "nfs --snapshot {}", None),
    (names, 16 * MIB, "doctor --snapshot {}", 2),
    (gpus, 63 * MIB, "nics --snapshot {}", 2),
    (topology_file, 70 * KIB, "nics --nccl-topo {} --host-root {root}", 0),
    (topology_file, MIB, "topology --nccl-topo {} --host-root {root}", 2),
]


def write(make, size, path):
    """In a process of its own: the peak of a program begins with that of the process that starts it."""
    def work():
        path.write_text(make(size), encoding="utf-8")
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == 0, make


def serve(folder, size, config):
    """An API server with that many bytes of pods, in a process of its own; its kubeconfig is copied there."""
    def work():
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kube_doctor"))
        import fake_api  # pylint: disable=import-outside-toplevel
        with fake_api.FakeApi(folder, {"Pod": answers(size)}, page=1 << 20) as api:
            config.write_text(api.kubeconfig.read_text(), encoding="utf-8")
            ready.set()
            time.sleep(4 * SECONDS)
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=work, daemon=True)
    process.start()
    assert ready.wait(SECONDS)
    return process


def run(railhead, command, path):
    """Exit code (negative: a signal), peak in bytes, seconds."""
    arguments = [path if word == "{}" else word for word in command.split()]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAILHEAD_", "RDMA_"))}
    begin = time.monotonic()
    with subprocess.Popen([railhead, *arguments], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > SECONDS:
                process.kill()
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss * 1024, time.monotonic() - begin


def main():
    railhead = os.path.abspath(sys.argv[1])
    patterns = sys.argv[2:]
    failed = 0
    print(f"{'input':16} {'MiB':>6} {'peak':>7} {'bound':>7} {'s':>6} exit  command")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")
        for name in ("proc/sys/kernel", "sys/bus/pci/devices"):
            (root / name).mkdir(parents=True)
        made = {}
        server = None
        for make, size, command, wanted_code in ROWS:
            name = f"{make.__name__}-{size}"
            if patterns and not any(pattern in f"{name} {command}" for pattern in patterns):
                continue
            path = pathlib.Path(folder, name + (".node" if "--snapshot" in command else ".xml" if "--nccl" in command else ".yaml"))
            if made.get(path) is None:
                if make is answers:
                    server = serve(folder, size, path)
                else:
                    write(make, size, path)
                made[path] = size if make is answers else path.stat().st_size
            exit_code, peak, seconds = run(railhead, command.replace("{root}", str(root)), str(path))
            bound = BASE + TIMES * made[path]
            is_bad = exit_code < 0 or exit_code > 64 or peak > bound or wanted_code not in (None, exit_code)
            failed += is_bad
            print(f"{make.__name__:16} {made[path] / MIB:6.1f} {peak / MIB:7.1f} {bound / MIB:7.1f} {seconds:6.2f} {exit_code:4}  "
                  f"railhead {command}{'   FAILED' if is_bad else ''}", flush=True)
        if server is not None:
            server.kill()
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
