# SPDX-License-Identifier: Apache-2.0
"""What Linux shows of a machine with GPUs and RDMA devices, as a sysfs, procfs and /dev tree.

Formats: Linux Documentation/ABI/{testing/sysfs-bus-pci,stable/sysfs-class-infiniband},
drivers/pci/pci-driver.c (uevent), drivers/infiniband/core (char devices 231:192 uverbs, 231:0 umad,
231:64 issm), open-gpu-kernel-modules kernel-open/nvidia/nv-procfs.c.
"""
import hashlib

import hardware as hw
from sysfs_tree import Tree

ZERO_GID = ":".join(["0000"] * 8)
# Slots written of each table; a real mlx5 port has 8 GIDs and 128 pkeys with InfiniBand, 256 GIDs
# and one pkey with Ethernet. The empty ones say nothing and would be most of the file.
GID_SLOTS, PKEY_SLOTS = 8, 4


def address(short):
    """18:00.0 -> 0000:18:00.0"""
    return short if short.count(":") == 2 else f"0000:{short}"


def routing_id(path):
    """Bus, device and function of the function in this folder, as one number."""
    bus, device, function = (int(digits, 16) for digits in path[-7:].replace(".", ":").split(":"))
    return bus << 8 | device << 3 | function


def digest(*words):
    return hashlib.sha256("/".join(map(str, words)).encode()).hexdigest()


def grouped(digits):
    return ":".join(digits[at:at + 4] for at in range(0, len(digits), 4))


class Place:
    """A PCI function, or the host bridge it hangs below."""

    def __init__(self, path, numa):
        self.path, self.numa = path, numa


class Machine:
    def __init__(self, name, numa, vendor="", product="", asset_tag="Not Specified",
                 hypervisor=False, cpu=()):
        """`numa` is a list of (id, cpulist, socket) or (id, cpulist, socket, distances); `cpu` is
        (vendor, family, model) of the processor."""
        self.name = name
        self.tree = Tree()
        self.gid_slots, self.pkey_slots = GID_SLOTS, PKEY_SLOTS
        self._uverbs = self._umads = self._gpus = self._ifindex = 0
        self._drivers = set()
        self._cpulists = {node[0]: node[1] for node in numa}
        self._platform(numa, vendor, product, asset_tag, hypervisor, cpu)

    def _platform(self, numa, vendor, product, asset_tag, hypervisor, cpu):
        tree = self.tree
        tree.text("/proc/sys/kernel/hostname", self.name)
        if vendor:
            tree.attributes("/sys/class/dmi/id", {"sys_vendor": vendor, "product_name": product,
                                                  "chassis_asset_tag": asset_tag})
        flags = "fpu vme de pse tsc msr pae sse2 ht lm" + (" hypervisor" if hypervisor else "")
        names = ("vendor_id\t", "cpu family\t", "model\t\t")
        kind = "".join(f"{name}: {value}\n" for name, value in zip(names, cpu))
        tree.raw("/proc/cpuinfo", f"processor\t: 0\n{kind}flags\t\t: {flags}\n".encode())
        sockets = {node[0]: node[2] for node in numa}
        for node, cpulist, socket, *distances in numa:
            row = distances[0] if distances else " ".join(
                str(10 if other == node else 12 if sockets[other] == socket else 32)
                for other in sockets)
            tree.attributes(f"/sys/devices/system/node/node{node}",
                            {"cpulist": cpulist, "distance": row})
            if cpulist:
                first = cpulist.split(",")[0].split("-")[0]
                tree.text(f"/sys/devices/system/cpu/cpu{first}/topology/physical_package_id", socket)

    # --- PCI ---

    def host_bridge(self, name, numa, above=""):
        """`above`: the folder of a host bridge that is itself a device (Hyper-V)."""
        return Place(f"{above or '/sys/devices'}/{name}", numa)

    def bridge(self, parent, short, ids):
        return self._function(parent, short, 0x060400, ids[:4], ids[4])

    def switch(self, parent, upstream, downstream, ids, downstream_ids=None):
        """An upstream port and its downstream ports; the latter are returned."""
        top = self.bridge(parent, upstream, ids)
        return [self.bridge(top, port, downstream_ids or ids) for port in downstream]

    def root_port(self, bus, numa, ids=hw.INTEL_ROOT_PORT, slot="01.0"):
        """A host bridge of its own with one root port."""
        return self.bridge(self.host_bridge(f"pci0000:{bus:02x}", numa), f"{bus:02x}:{slot}", ids)

    def leaf_switch(self, bus, numa, ports, ids=hw.PEX890XX, root_ids=hw.INTEL_ROOT_PORT):
        """A switch below a root port of its own: what hangs on port n gets bus number bus + 3 + n."""
        return self.switch(self.root_port(bus, numa, root_ids), f"{bus + 1:02x}:00.0",
                           [f"{bus + 2:02x}:{port:02x}.0" for port in range(ports)], ids)

    def function(self, parent, short, model, driver=None, trained=True):
        """`driver`: "" for none, where it is not the model's. `trained`: false where the link status
        reads as nothing, as that of a virtual function does."""
        class_code, *ids = model[:5]
        bound = model[5] if driver is None else driver
        place = self._function(parent, short, class_code, ids, bound)
        if model[6]:
            speed, width = f"{model[6]}.0 GT/s PCIe", model[7]
            self.tree.attributes(place.path, {
                "current_link_speed": speed if trained else "Unknown", "max_link_speed": speed,
                "current_link_width": width if trained else 0, "max_link_width": width})
        return place

    def _function(self, parent, short, class_code, ids, driver):
        bdf, tree = address(short), self.tree
        path = f"{parent.path}/{bdf}"
        vendor, device, sub_vendor, sub_device = ids
        uevent = f"DRIVER={driver}\n" if driver else ""
        uevent += (f"PCI_CLASS={class_code:X}\nPCI_ID={vendor:04X}:{device:04X}\n"
                   f"PCI_SUBSYS_ID={sub_vendor:04X}:{sub_device:04X}\nPCI_SLOT_NAME={bdf}\n")
        tree.raw(f"{path}/uevent", uevent.encode())
        tree.attributes(path, {
            "class": f"0x{class_code:06x}", "vendor": f"0x{vendor:04x}",
            "device": f"0x{device:04x}", "subsystem_vendor": f"0x{sub_vendor:04x}",
            "subsystem_device": f"0x{sub_device:04x}", "numa_node": parent.numa,
            "local_cpulist": self._cpulists.get(parent.numa, "")})
        tree.link(f"/sys/bus/pci/devices/{bdf}", path)
        if driver:
            tree.link(f"{path}/driver", f"/sys/bus/pci/drivers/{driver}")
            tree.link(f"/sys/bus/pci/drivers/{driver}/{bdf}", path)
        return Place(path, parent.numa)

    # --- GPUs ---

    def nvidia_gpu(self, parent, short, model, name, minor=None, excluded=False):
        place = self.function(parent, short, model)
        minor = self._gpus if minor is None else minor
        self._gpus += 1
        code = digest(self.name, "gpu", short)
        uuid = "-".join(code[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
        bdf = address(short)
        self.tree.raw(f"/proc/driver/nvidia/gpus/{bdf}/information", (
            f"Model: \t\t {name}\nIRQ:   \t\t {120 + minor}\nGPU UUID: \t GPU-{uuid}\n"
            f"Video BIOS: \t 96.00.89.00.01\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n"
            f"DMA Mask: \t 0xfffffffffffff\nBus Location: \t {bdf}\nDevice Minor: \t {minor}\n"
            f"GPU Firmware: \t 535.161.08\nGPU Excluded:\t {'Yes' if excluded else 'No'}\n").encode())
        self.tree.device(f"/dev/nvidia{minor}", 195, minor, 0o666)
        return place

    def drm_gpu(self, parent, short, model, card, render):
        place = self.function(parent, short, model)
        tree = self.tree
        for name, minor in ((f"card{card}", card), (f"renderD{render}", render)):
            tree.text(f"{place.path}/drm/{name}/dev", f"226:{minor}")
            tree.link(f"{place.path}/drm/{name}/device", place.path)
            tree.link(f"/sys/class/drm/{name}", f"{place.path}/drm/{name}")
            tree.device(f"/dev/dri/{name}", 226, minor, 0o660, 0, 44)
        self._gpus += 1
        return place

    def amd_gpu(self, parent, short, model, card, render):
        place = self.drm_gpu(parent, short, model, card, render)
        tree, bdf = self.tree, address(short)
        domain, bus, rest = bdf.split(":")
        slot, function = rest.split(".")
        location = int(bus, 16) << 8 | int(slot, 16) << 3 | int(function)
        unique_id = int(digest(self.name, "gpu", short)[:15], 16)
        node = self._gpus + 1  # nodes 0 and 1 are the CPUs
        tree.raw(f"/sys/class/kfd/kfd/topology/nodes/{node}/properties", (
            f"cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\ndevice_id 29857\n"
            f"location_id {location}\ndomain {int(domain, 16)}\ndrm_render_minor {render}\n"
            f"unique_id {unique_id}\n").encode())
        return place

    # --- network ---

    def netdev(self, place, name, up=True, dev_port=0, kind=1, master=None):
        tree, path = self.tree, f"{place.path}/net/{name}"
        self._ifindex += 1
        code = digest(self.name, "mac", name)
        tree.attributes(path, {
            "operstate": "up" if up else "down", "ifindex": self._ifindex + 1, "dev_port": dev_port,
            "mtu": 1500, "type": kind, "dev_id": "0x0",
            "address": ":".join(["02"] + [code[at:at + 2] for at in range(0, 10, 2)])})
        tree.link(f"{path}/device", place.path)
        tree.link(f"/sys/class/net/{name}", path)
        if master:
            above = "" if master.startswith("/") else "/sys/devices/virtual/net/"
            tree.link(f"{path}/master", above + master)

    def virtual_netdev(self, name, operstate="up", lower=(), above="/sys/devices/virtual"):
        """`above`: the device of a netdev that is not the kernel's own (Hyper-V's netvsc)."""
        tree, path = self.tree, f"{above}/net/{name}"
        tree.attributes(path, {"operstate": operstate, "mtu": 1500})
        tree.link(f"/sys/class/net/{name}", path)
        for below, below_path in lower:
            tree.link(f"{path}/lower_{below}", below_path)

    def routes(self, default=None, other=()):
        """The main routing table: a default route by way of `default`, local nets on `other`."""
        head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
        rows = [f"{default}\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0"] if default else []
        rows += [f"{name}\t000{at}0A0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0"
                 for at, name in enumerate(other)]
        text = "".join(f"{row:<127}\n" for row in [head, *rows])
        self.tree.raw("/proc/1/net/route", text.encode())
        loopback = "00000000000000000000000000000001 80 " + "0" * 32 + " 00 " + "0" * 32
        self.tree.raw("/proc/1/net/ipv6_route",
                      f"{loopback} 00000000 00000001 00000000 80200001       lo\n".encode())

    # --- RDMA ---

    def rdma_stack(self, netns="Y"):
        """Modules that all RDMA machines have loaded, and the node of the connection manager."""
        self.tree.text("/sys/module/ib_core/parameters/netns_mode", netns)
        self.tree.attributes("/sys/devices/virtual/misc/rdma_cm", {"dev": "10:121", "abi_version": 4})
        self.tree.link("/sys/class/misc/rdma_cm", "/sys/devices/virtual/misc/rdma_cm")
        self.tree.text("/sys/class/infiniband_verbs/abi_version", 6)
        self.tree.device("/dev/infiniband/rdma_cm", 10, 121, 0o666)

    def rdma(self, place, name, model, gbps, link="InfiniBand", netdev=None, ip=None, up=True,
             lid=None, sm_lid=1, umad=None, uverbs=None, card=None, planes=None):
        """An RDMA device with one port. `card`: what its ports share (sys_image_guid). `planes`:
        (number of ports, those that carry data) of a multi-plane device."""
        path = f"{place.path}/infiniband/{name}"
        hca_type, board, firmware = hw.FIRMWARE[model[2]]
        guid = "a088c20300" + digest(self.name, "guid", name)[:6]
        system = "a088c20300" + digest(self.name, "guid", card or name)[:6]
        self.tree.attributes(path, {
            "node_type": "1: CA", "node_guid": grouped(guid), "sys_image_guid": grouped(system),
            "node_desc": f"{self.name} {name}", "fw_ver": firmware})
        if hca_type:
            self.tree.attributes(path, {"hca_type": hca_type, "board_id": board, "hw_rev": 0})
        self.tree.link(f"{path}/device", place.path)
        self.tree.link(f"/sys/class/infiniband/{name}", path)
        ethernet = link == "Ethernet"
        lid = 0 if ethernet or not up else lid or int(digest(self.name, name)[:2], 16) + 2
        gids = self._roce_gids(guid, ip, netdev) if ethernet else [
            ("fe80:0000:0000:0000:" + grouped(guid), "IB/RoCE v1", None)]
        ports, carrying = planes or (1, [1])
        for number in range(1, ports + 1):
            port, alive = f"{path}/ports/{number}", up and number in carrying
            self._port(port, alive, gbps, link, lid if alive else 0,
                       0 if ethernet or not alive else sm_lid, hw.PLANE_RATE if planes else None)
            self._tables(port, gids, ["0xffff"] if ethernet else ["0xffff", "0x7fff"])
        self._char_devices(place.path, name, uverbs, (not ethernet) if umad is None else umad)

    def efa(self, place, name, gbps):
        """An Elastic Fabric Adapter: no link layer, no GUIDs, no hca_type, one GID and no umad, as
        ibv_devinfo and sysfs of such machines show (linux-rdma/rdma-core#884, uccl#163)."""
        path = f"{place.path}/infiniband/{name}"
        zero = ":".join(["0000"] * 4)
        self.tree.attributes(path, {"node_type": "7: unspecified", "node_guid": zero,
                                    "sys_image_guid": zero, "node_desc": "", "fw_ver": "0.0.0.0"})
        self.tree.link(f"{path}/device", place.path)
        self.tree.link(f"/sys/class/infiniband/{name}", path)
        self._port(f"{path}/ports/1", True, gbps, "Unknown", 0, 0)
        code = digest(self.name, "gid", name)
        gid = "fe80:0000:0000:0000:" + grouped(f"00{code[:4]}fffe{code[4:10]}")
        self._tables(f"{path}/ports/1", [(gid, "IB/RoCE v1", None)], ["0xffff"], (1, 1))
        self._char_devices(place.path, name, None, False)

    def nic(self, parent, short, name, model, gbps, up=True, master=None, ip=None, alone=True):
        """A function with its netdev and its RDMA device; functions of one slot are one card. `alone`:
        the only function of its slot, as the netdev's name tells."""
        place = self.function(parent, short, model)
        ethernet = model[0] >> 8 == 0x0200
        domain, bus, slot = address(short).split(":")
        device, function = slot.split(".")
        netdev = ("en" if ethernet else "ib") + (f"P{int(domain, 16)}" if int(domain, 16) else "")
        netdev += f"p{int(bus, 16)}s{int(device, 16)}" + ("" if alone else f"f{function}")
        self.netdev(place, netdev, up=up, kind=1 if ethernet else 32, master=master)
        self.rdma(place, name, model, gbps, "Ethernet" if ethernet else "InfiniBand",
                  netdev, ip, up, card=f"card of {domain}:{bus}:{device}")
        return place

    def card(self, parent, slot, names, model, gbps, ips=None):
        """A NIC of several functions, one RDMA device each."""
        return [self.nic(parent, f"{slot}.{at}", name, model, gbps, ip=ips and ips.format(at),
                         alone=False) for at, name in enumerate(names)]

    def onboard(self, bus="00", numa=0, port_ids=hw.INTEL_ROOT_PORT):
        """An Ethernet port that is no RDMA device and has the default route."""
        port = self.bridge(self.host_bridge(f"pci0000:{bus}", numa), f"{bus}:1c.0", port_ids)
        self.netdev(self.function(port, f"{int(bus, 16) + 1:02x}:00.0", hw.X550), "eno1")
        self.routes(default="eno1")

    def soft_rdma(self, name, netdev, ip):
        """soft-RoCE: no PCI function, `parent` in place of `device`."""
        path = f"/sys/devices/virtual/infiniband/{name}"
        guid = "505400fffe" + digest(self.name, "guid", name)[:6]
        self.tree.attributes(path, {"node_type": "1: CA", "node_guid": grouped(guid),
                                    "sys_image_guid": grouped(guid), "node_desc": name,
                                    "fw_ver": "", "parent": netdev})
        self.tree.link(f"/sys/class/infiniband/{name}", path)
        self._port(f"{path}/ports/1", True, None, "Ethernet", 0, 0, "10 Gb/sec (1X FDR10)")
        gids = [gid for gid in self._roce_gids(guid, ip, netdev) if gid[1] == "RoCE v2"]
        self._tables(f"{path}/ports/1", gids, ["0xffff"])
        self._char_devices("/sys/devices/virtual", name, None, True, bare=True)

    def _port(self, path, up, gbps, link, lid, sm_lid, rate=None):
        self.tree.attributes(path, {
            "state": "4: ACTIVE" if up else "1: DOWN", "phys_state": "5: LinkUp" if up else "3: Disabled",
            "link_layer": link, "rate": rate or hw.RATES[gbps], "lid": f"0x{lid:x}",
            "sm_lid": f"0x{sm_lid:x}", "lid_mask_count": 0, "sm_sl": 0})

    @staticmethod
    def _roce_gids(guid, ip, netdev):
        local = "fe80:0000:0000:0000:" + grouped(guid)
        kinds = [(gid, kind, netdev) for gid in [local] for kind in ("IB/RoCE v1", "RoCE v2")]
        if ip:
            parts = [int(part) for part in ip.split(".")]
            mapped = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(parts)
            kinds += [(mapped, kind, netdev) for kind in ("IB/RoCE v1", "RoCE v2")]
        return kinds

    def _tables(self, path, gids, pkeys, slots=None):
        tree = self.tree
        gid_slots, pkey_slots = slots or (self.gid_slots, self.pkey_slots)
        for slot in range(gid_slots):
            gid, kind, netdev = gids[slot] if slot < len(gids) else (ZERO_GID, None, None)
            tree.text(f"{path}/gids/{slot}", gid)
            for table, value in (("types", kind), ("ndevs", netdev)):
                if value:
                    tree.text(f"{path}/gid_attrs/{table}/{slot}", value)
                elif slot < len(gids):  # the reader asks for filled slots only
                    tree.error(f"{path}/gid_attrs/{table}/{slot}", "EINVAL")
        for slot in range(pkey_slots):
            tree.text(f"{path}/pkeys/{slot}", pkeys[slot] if slot < len(pkeys) else "0x0000")

    def _char_devices(self, device_path, ibdev, uverbs, umad, bare=False):
        number = self._uverbs if uverbs is None else uverbs
        self._uverbs += 1
        wanted = [("infiniband_verbs", f"uverbs{number}", 192 + number, 0o666)]
        if umad:
            wanted += [("infiniband_mad", f"umad{self._umads}", self._umads, 0o600),
                       ("infiniband_mad", f"issm{self._umads}", 64 + self._umads, 0o600)]
            self._umads += 1
        for folder, name, minor, mode in wanted:
            path = f"{device_path}/{folder}/{name}"
            self.tree.attributes(path, {"dev": f"231:{minor}", "ibdev": ibdev})
            if folder == "infiniband_mad":
                self.tree.text(f"{path}/port", 1)
            else:
                self.tree.text(f"{path}/abi_version", 1)
            if not bare:
                self.tree.link(f"{path}/device", device_path)
            self.tree.link(f"/sys/class/{folder}/{name}", path)
            self.tree.device(f"/dev/infiniband/{name}", 231, minor, mode)

    # --- SR-IOV ---

    def sriov(self, place, total, enabled=0):
        self.tree.attributes(place.path, {"sriov_totalvfs": total, "sriov_numvfs": enabled})

    def virtual_function(self, parent, physical, short, model, index, driver=None):
        place = self.function(parent, short, model, driver)
        if index < 2:  # the first says where they begin, the second how far apart they are
            before = physical.path if index == 0 else self.tree.real(f"{physical.path}/virtfn0")
            self.tree.text(f"{physical.path}/sriov_{('offset', 'stride')[index]}",
                           routing_id(place.path) - routing_id(before))
        self.tree.link(f"{place.path}/physfn", physical.path)
        self.tree.link(f"{physical.path}/virtfn{index}", place.path)
        return place
