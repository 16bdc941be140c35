# SPDX-License-Identifier: Apache-2.0
"""Writes a published machine as the snapshot that Linux would give of it: the PCI tree, NUMA nodes,
GPUs as their drivers show them, RDMA devices. Formats as in tests/nodes/machine.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "nodes"))
from published import AMD, HYGON, NVIDIA, first_number  # noqa: E402
from sysfs_tree import Tree  # noqa: E402

GPU_MODULES = {NVIDIA: "nvidia", AMD: "amdgpu", HYGON: "hydcu"}
MODULES = {0x15b3: "mlx5_core", 0x1d0f: "efa", 0x14e4: "bnxt_en", 0x1077: "qib", 0x17db: "cxi_ss1",
           0x8086: "ice"}
BRIDGE_IDS = (0x1000, 0xc030, 0, 0)
UNKNOWN_CLASS = 0xff0000


class Writer:
    def __init__(self, machine):
        self.machine = machine
        self.tree = Tree()
        self.bridges = set()
        self.minor = self.verbs = self.index = 0
        self.cpulists = {node.id: node.cpus for node in machine.numa}

    def write(self):
        self.platform()
        for node in self.machine.numa:
            self.numa_node(node)
        for function in self.machine.functions:
            self.function(function)
        if self.verbs:
            self.rdma_stack()
        return self.tree.snapshot([f"from published data of {self.machine.name}"])

    def platform(self):
        tree = self.tree
        tree.text("/proc/sys/kernel/hostname", self.machine.name)
        flags = "fpu vme hypervisor lm" if self.machine.hypervisor else "fpu vme lm"
        tree.raw("/proc/cpuinfo", f"processor\t: 0\nflags\t\t: {flags}\n".encode())
        tree.attributes("/sys/class/dmi/id", self.machine.dmi)

    def numa_node(self, node):
        folder = f"/sys/devices/system/node/node{node.id}"
        self.tree.text(f"{folder}/cpulist", node.cpus)
        if node.distances:
            self.tree.text(f"{folder}/distance", " ".join(map(str, node.distances)))
        if node.cpus and node.socket is not None:
            cpu = f"/sys/devices/system/cpu/cpu{first_number(node.cpus)}"
            self.tree.text(f"{cpu}/topology/physical_package_id", node.socket)

    def place(self, function):
        path = f"/sys/devices/{function.root}"
        for bridge in function.bridges:
            path += f"/{bridge}"
            if bridge not in self.bridges:
                self.bridges.add(bridge)
                self.pci(path, bridge, 0x060400, BRIDGE_IDS, function.numa, "pcieport")
                self.link(path, "max", *self.machine.bridge_links.get(bridge, (None, None)))
        return f"{path}/{function.address}"

    def pci(self, path, address, class_code, ids, numa, driver):
        tree = self.tree
        vendor, device, sub_vendor, sub_device = ids
        uevent = f"DRIVER={driver}\n" if driver else ""
        uevent += (f"PCI_CLASS={class_code:X}\nPCI_ID={vendor:04X}:{device:04X}\n"
                   f"PCI_SUBSYS_ID={sub_vendor:04X}:{sub_device:04X}\nPCI_SLOT_NAME={address}\n")
        tree.raw(f"{path}/uevent", uevent.encode())
        tree.text(f"{path}/class", f"0x{class_code:06x}")
        tree.text(f"{path}/numa_node", -1 if numa is None else numa)
        tree.link(f"/sys/bus/pci/devices/{address}", path)
        if driver:
            tree.link(f"{path}/driver", f"/sys/bus/pci/drivers/{driver}")
            tree.link(f"/sys/bus/pci/drivers/{driver}/{address}", path)

    def function(self, function):
        path = self.place(function)
        vendor = function.ids[0]
        gpu = function.is_gpu()
        driver = (GPU_MODULES if gpu else MODULES).get(vendor)
        if function.rdma and not driver:
            driver = "mlx5_core"
        self.pci(path, function.address, function.class_code or UNKNOWN_CLASS, function.ids,
                 function.numa, driver)
        for prefix in ("current", "max"):
            self.link(path, prefix, function.gts, function.width)
        if function.physfn:
            self.tree.link(f"{path}/physfn", self.path_of(function.physfn))
        if gpu and vendor == NVIDIA:
            self.nvidia(function.address)
        elif gpu:
            self.amd(path)
        for name in function.netdevs:
            self.netdev(path, name, function.bond)
        for rdma in function.rdma:
            self.rdma(path, rdma)

    def link(self, path, prefix, gts, width):
        if gts:
            self.tree.text(f"{path}/{prefix}_link_speed", f"{gts} GT/s PCIe")
        if width:
            self.tree.text(f"{path}/{prefix}_link_width", width)

    def path_of(self, address):
        other = next(f for f in self.machine.functions if f.address == address)
        return "/".join(["/sys/devices", other.root, *other.bridges, address])

    def nvidia(self, address):
        self.tree.raw(f"/proc/driver/nvidia/gpus/{address}/information", (
            f"GPU UUID: \t GPU-{self.minor:08x}-0000-0000-0000-000000000000\n"
            f"Bus Location: \t {address}\nDevice Minor: \t {self.minor}\n").encode())
        self.tree.device(f"/dev/nvidia{self.minor}", 195, self.minor, 0o666)
        self.minor += 1

    def amd(self, path):
        name, minor = f"renderD{128 + self.minor}", 128 + self.minor
        self.tree.text(f"{path}/drm/{name}/dev", f"226:{minor}")
        self.tree.link(f"{path}/drm/{name}/device", path)
        self.tree.link(f"/sys/class/drm/{name}", f"{path}/drm/{name}")
        self.tree.device(f"/dev/dri/{name}", 226, minor, 0o660, 0, 44)
        self.minor += 1

    def netdev(self, path, name, bond):
        folder = f"{path}/net/{name}"
        self.index += 1
        self.tree.attributes(folder, {"operstate": "up", "ifindex": self.index + 1, "type": 1})
        self.tree.link(f"{folder}/device", path)
        self.tree.link(f"/sys/class/net/{name}", folder)
        if bond:
            self.tree.link(f"{folder}/master", f"/sys/devices/virtual/net/{bond}")
            if f"/sys/class/net/{bond}" not in self.tree.entries:
                self.tree.text(f"/sys/devices/virtual/net/{bond}/operstate", "up")
                self.tree.link(f"/sys/class/net/{bond}", f"/sys/devices/virtual/net/{bond}")

    def rdma(self, path, rdma):
        folder = f"{path}/infiniband/{rdma.name}"
        self.tree.text(f"{folder}/node_type", "1: CA")
        if rdma.system:
            self.tree.text(f"{folder}/sys_image_guid", rdma.system)
        port = f"{folder}/ports/1"
        self.tree.text(f"{port}/state", {1: "1: DOWN", 2: "2: INIT"}.get(rdma.state, "4: ACTIVE"))
        if rdma.link:
            self.tree.text(f"{port}/link_layer", rdma.link)
        if rdma.gbps:
            self.tree.text(f"{port}/rate", f"{rdma.gbps} Gb/sec (4X)")
        self.tree.link(f"{folder}/device", path)
        self.tree.link(f"/sys/class/infiniband/{rdma.name}", folder)
        self.char_device(path, rdma.name)

    def char_device(self, path, ibdev):
        name, minor = f"uverbs{self.verbs}", 192 + self.verbs
        self.verbs += 1
        folder = f"{path}/infiniband_verbs/{name}"
        self.tree.attributes(folder, {"dev": f"231:{minor}", "ibdev": ibdev, "abi_version": 1})
        self.tree.link(f"{folder}/device", path)
        self.tree.link(f"/sys/class/infiniband_verbs/{name}", folder)
        self.tree.device(f"/dev/infiniband/{name}", 231, minor, 0o666)

    def rdma_stack(self):
        self.tree.text("/sys/module/ib_core/parameters/netns_mode", "Y")
        self.tree.text("/sys/devices/virtual/misc/rdma_cm/dev", "10:121")
        self.tree.link("/sys/class/misc/rdma_cm", "/sys/devices/virtual/misc/rdma_cm")
        self.tree.device("/dev/infiniband/rdma_cm", 10, 121, 0o666)


def snapshot_of(machine):
    return Writer(machine).write()
