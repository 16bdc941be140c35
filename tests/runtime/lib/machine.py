# SPDX-License-Identifier: Apache-2.0
"""Facts of a committed machine, read from its snapshot without Railhead's reader."""

import dataclasses
import os
import pathlib
import re
import stat
import urllib.parse

from . import paths


@dataclasses.dataclass(frozen=True)
class Gpu:
    pci: str
    uuid: str
    minor: int


@dataclasses.dataclass(frozen=True)
class CharDevice:
    path: str
    major: int
    minor: int
    mode: str  # octal
    owner: str  # uid:gid


H100 = "dgx-h100"  # InfiniBand, a NIC beside each GPU
ROCE = "hgx-h100-roce"  # the same with Ethernet
SEED = "seed-8gpu-4nic"  # two GPUs a NIC: GPUs 0,1 -> mlx5_0, GPUs 4,5 -> mlx5_2

_ENTRY = re.compile(rb"([a-z]) (\S+)(?: (.*))?")


def _entries(data: bytes):
    """(letter, path, rest) of each entry; for `f` the rest is the content."""
    at = data.index(b"\n") + 1
    while at < len(data):
        end = data.index(b"\n", at)
        line = data[at:end]
        at = end + 1
        match = _ENTRY.fullmatch(line)
        if line.startswith(b"#") or not match:
            continue
        letter, path, rest = (part.decode() if part else "" for part in match.groups())
        if letter == "f":
            rest = data[at : at + int(rest)].decode(errors="replace")
            at += len(rest.encode()) + 1
        yield letter, "/" + path.lstrip("/"), rest


class Machine:
    def __init__(self, name: str) -> None:
        self.name = name
        self.snapshot = paths.machine(name)
        self._text: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._nodes: dict[str, str] = {}
        for letter, path, rest in _entries(pathlib.Path(self.snapshot).read_bytes()):
            if letter in "tf":
                self._text[path] = rest.strip()
            elif letter == "l":
                self._links[path] = os.path.normpath(f"{path}/../{rest.removeprefix('-> ')}")
            elif letter == "c":
                self._nodes[path] = rest

    @property
    def gpus(self) -> list[Gpu]:
        """NVIDIA GPUs in PCI order: the position is nvidia-smi's index."""
        found = []
        for path, text in sorted(self._text.items()):
            match = re.fullmatch(r"/proc/driver/nvidia/gpus/([^/]+)/information", path)
            if match:
                facts = dict(re.findall(r"^([^:]+):\s+(.*?)\s*$", text, re.MULTILINE))
                found.append(Gpu(match[1], facts["GPU UUID"], int(facts["Device Minor"])))
        return found

    def numa_node(self, pci: str) -> int:
        """What the kernel says of a PCI function; -1 where it does not know."""
        return int(self._text[f"{self._links[f'/sys/bus/pci/devices/{pci}']}/numa_node"])

    def uevents(self) -> list[str]:
        """What the kernel says of each PCI function."""
        ways = [way for path, way in self._links.items() if path.startswith("/sys/bus/pci/devices/")]
        return [self._text[f"{way}/uevent"] for way in ways if f"{way}/uevent" in self._text]

    def port_state(self, nic: str) -> str:
        """The file with the state of a NIC's first port."""
        return next(p for p in self._text if p.endswith(f"/infiniband/{nic}/ports/1/state"))

    def nearest(self, *indices: int) -> list[str]:
        """The RDMA devices that share the longest way from the PCI root with each of these GPUs.

        Where one NIC stands beside one GPU, as on the HGX boards, this is the deal.
        """
        ways = {}  # device name -> components of its sysfs path
        for path in [*self._text, *self._links]:
            match = re.match(r"(/sys/devices/pci.*)/infiniband/([^/]+)/", path)
            if match:
                ways[match[2]] = match[1].split("/")
        chosen = set()
        for index in indices:
            way = self._links[f"/sys/bus/pci/devices/{self.gpus[index].pci}"].split("/")
            shared = {n: len(os.path.commonprefix([way, other])) for n, other in ways.items()}
            chosen |= {name for name, steps in shared.items() if steps == max(shared.values())}
        return sorted(chosen)

    def _device(self, path: str, numbers: str) -> CharDevice:
        major, minor = numbers.split(":")
        _, mode, owner = self._nodes.get(path, f"{numbers} 0666 0:0").split()
        return CharDevice(path, int(major), int(minor), mode, owner)

    def uverbs(self, nic: str) -> CharDevice:
        """The verbs node of an RDMA device."""
        for path, text in self._text.items():
            match = re.fullmatch(r"(.*/infiniband_verbs/(uverbs\d+))/ibdev", path)
            if match and text == nic:
                return self._device(f"/dev/infiniband/{match[2]}", self._text[f"{match[1]}/dev"])
        raise KeyError(f"{self.snapshot}: no verbs node of {nic}")

    def function(self, nic: str) -> tuple[str, str]:
        """The PCI address and the netdev of an RDMA device."""
        for path in self._text:
            match = re.match(rf"(/sys/devices/pci.*/([^/]+))/infiniband/{re.escape(nic)}/", path)
            if match:
                netdevs = (re.match(re.escape(f"{match[1]}/net/") + "([^/]+)/", p) for p in self._text)
                return match[2], next(netdev[1] for netdev in netdevs if netdev)
        raise KeyError(f"{self.snapshot}: no function of {nic}")

    @property
    def rdma_cm(self) -> CharDevice:
        numbers = next(t for p, t in self._text.items() if p.endswith("/misc/rdma_cm/dev"))
        return self._device("/dev/infiniband/rdma_cm", numbers)

    def devices(self, nics: list[str]) -> dict[str, CharDevice]:
        """What a container with these NICs has below /dev/infiniband."""
        nodes = [self.rdma_cm, *(self.uverbs(nic) for nic in nics)] if nics else []
        return {node.path: node for node in nodes}

    def mads(self, nics: list[str]) -> dict[str, CharDevice]:
        """The umad and issm nodes of these RDMA devices."""
        nodes = {}
        for path, text in self._text.items():
            match = re.fullmatch(r"(.*/infiniband_mad/((?:umad|issm)\d+))/ibdev", path)
            if match and text in nics:
                node = self._device(f"/dev/infiniband/{match[2]}", self._text[f"{match[1]}/dev"])
                nodes[node.path] = node
        return nodes

    def unpack(self, folder: pathlib.Path) -> "Tree":
        """The machine as a directory tree that can be edited, for --host-root."""
        return Tree(self.snapshot, folder)


class Tree:
    """A snapshot as files; what could not be read or was not recorded is not there."""

    def __init__(self, snapshot: str, folder: pathlib.Path) -> None:
        self.root = folder
        for letter, path, rest in _entries(pathlib.Path(snapshot).read_bytes()):
            at = self.at(urllib.parse.unquote(path))
            at.parent.mkdir(parents=True, exist_ok=True)
            if letter == "t":
                at.write_text(f"{rest}\n")
            elif letter == "f":
                at.write_text(rest)
            elif letter == "l":
                at.symlink_to(urllib.parse.unquote(rest.removeprefix("-> ")))
            elif letter == "c":
                numbers, mode, _ = rest.split()
                self._node(at, numbers, mode)

    def at(self, path: str) -> pathlib.Path:
        return self.root / path.lstrip("/")

    def write(self, path: str, text: str) -> None:
        self.at(path).write_text(f"{text}\n")

    def renumber(self, nic: str, numbers: str) -> None:
        """The verbs node of an RDMA device gets other numbers, as when its driver is loaded anew."""
        for ibdev in self.root.glob("sys/devices/**/infiniband_verbs/uverbs*/ibdev"):
            if ibdev.read_text().strip() == nic:
                (ibdev.parent / "dev").write_text(f"{numbers}\n")
                node = self.at(f"/dev/infiniband/{ibdev.parent.name}")
                node.unlink(missing_ok=True)
                self._node(node, numbers, "0666")
                return
        raise KeyError(f"{self.root}: no verbs node of {nic}")

    @staticmethod
    def _node(at: pathlib.Path, numbers: str, mode: str) -> None:
        major, minor = numbers.split(":")
        os.mknod(at, stat.S_IFCHR, os.makedev(int(major), int(minor)))
        at.chmod(int(mode, 8))
