# SPDX-License-Identifier: Apache-2.0
"""A machine as a published source tells it. What the source does not say stays None."""
import dataclasses
from typing import Optional

NVIDIA, AMD, HYGON = 0x10de, 0x1002, 0x1d94
GPU_CLASSES = (0x0300, 0x0302, 0x0380, 0x1200)


@dataclasses.dataclass
class Function:
    """A PCI function that is no bridge."""
    address: str                      # "0000:18:00.0"
    root: str                         # "pci0000:15"
    bridges: list                     # addresses from the root down to the one it hangs below
    class_code: int = 0               # six digits: 0x020700
    ids: tuple = (0, 0, 0, 0)         # vendor, device, subsystem vendor, subsystem device
    numa: Optional[int] = None        # -1: the source says that it is unknown
    rdma: list = dataclasses.field(default_factory=list)     # Rdma
    netdevs: list = dataclasses.field(default_factory=list)  # names
    physfn: Optional[str] = None      # address of its physical function
    gts: Optional[float] = None       # link as trained
    width: Optional[int] = None
    bond: Optional[str] = None        # netdev above its netdevs

    def is_gpu(self):
        return self.ids[0] in (NVIDIA, AMD, HYGON) and self.class_code >> 8 in GPU_CLASSES


@dataclasses.dataclass
class Rdma:
    name: str
    link: Optional[str] = None        # "InfiniBand", "Ethernet"
    gbps: Optional[int] = None
    state: int = 4                    # enum ib_port_state: 1 DOWN, 4 ACTIVE
    system: Optional[str] = None      # sys_image_guid


@dataclasses.dataclass
class NumaNode:
    id: int
    cpus: str                         # "0-31,64-95"; "" for memory only
    socket: Optional[int] = None
    distances: Optional[list] = None  # in the order of node ids


@dataclasses.dataclass
class Published:
    name: str
    functions: list = dataclasses.field(default_factory=list)
    bridge_links: dict = dataclasses.field(default_factory=dict)  # address -> (GT/s, lanes), each may be None
    numa: list = dataclasses.field(default_factory=list)
    dmi: dict = dataclasses.field(default_factory=dict)  # sysfs file name -> text
    hypervisor: bool = False

    def gpus(self):
        return sorted((f for f in self.functions if f.is_gpu()), key=lambda f: sort_key(f.address))

    def nics(self):
        """Functions with RDMA devices."""
        return sorted((f for f in self.functions if f.rdma), key=lambda f: sort_key(f.address))


def sort_key(address):
    domain, bus, rest = address.split(":")
    return int(domain, 16), int(bus, 16), rest


def ranges(numbers):
    """{0, 1, 2, 8} -> "0-2,8"."""
    out = []
    for number in sorted(numbers):
        if out and out[-1][1] + 1 == number:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def first_number(cpus):
    return int(cpus.replace("-", ",").split(",")[0])
