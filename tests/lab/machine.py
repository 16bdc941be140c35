# SPDX-License-Identifier: Apache-2.0
"""The lab's machine: QEMU without hardware support, so that it is the same everywhere.

Two NUMA nodes, each with a PCIe root of its own, a root port, a switch, and below the switch a NIC
(igb) and a display adapter that stands in for a GPU. The NICs are on one wire. A third NIC is the
front end.
"""

import pathlib
import shutil
import signal
import subprocess
import threading
import time

MEMORY_MIB = 2048


def _root(node: int, bus: int, has_switch: bool = True) -> list[str]:
    """A PCIe root with a switch, and what is below it; its buses count from `bus`. QEMU's switch has no ACS, its
    root port has: at that the NIC's functions have an IOMMU group each."""
    switch = [
        f"pcie-root-port,id=port{node},bus=root{node},chassis={node + 1}",
        f"x3130-upstream,id=up{node},bus=port{node}",
        f"xio3130-downstream,id=down{node}a,bus=up{node},chassis={10 + node},slot=1",
        f"xio3130-downstream,id=down{node}b,bus=up{node},chassis={10 + node},slot=2",
    ]
    ports = [f"pcie-root-port,id=down{node}{port},bus=root{node},chassis={20 + node},slot={slot}"
             for slot, port in enumerate("ab", 1)]
    device = [
        f"pxb-pcie,id=root{node},bus_nr={bus},numa_node={node},bus=pcie.0",
        *(switch if has_switch else ports),
        f"igb,netdev=rail{node},bus=down{node}a,mac=02:00:00:00:00:0{node + 1}",
        f"bochs-display,bus=down{node}b",
    ]
    arguments = ["-netdev", f"hubport,id=rail{node},hubid=7"]
    for text in device:
        arguments += ["-device", text]
    return arguments


def _hardware(iommu: bool) -> list[str]:
    half = MEMORY_MIB // 2
    return [
        *("-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", str(MEMORY_MIB)),
        *("-smp", "2,sockets=2", "-nodefaults", "-vga", "none", "-display", "none", "-no-reboot"),
        *("-object", f"memory-backend-ram,id=m0,size={half}M"),
        *("-object", f"memory-backend-ram,id=m1,size={half}M"),
        *("-numa", "node,nodeid=0,memdev=m0,cpus=0", "-numa", "node,nodeid=1,memdev=m1,cpus=1"),
        *(("-device", "intel-iommu") if iommu else ()),  # before what is behind it
        *_root(0, 0x20, has_switch=not iommu),
        *_root(1, 0x40),
        *("-netdev", "user,id=front,restrict=on", "-device", "virtio-net-pci,netdev=front,bus=pcie.0"),
    ]


def _drive(name: str, what: str) -> list[str]:
    drive = f"if=none,id={name},format=raw,{what}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name},bus=pcie.0"]


def _emulator(lab: pathlib.Path) -> list[str]:
    """QEMU from the cache, with the libraries that came with it."""
    tree = lab / "emulator"
    data = tree / "usr/share"
    return [
        str(tree / "lib64/ld-linux-x86-64.so.2"),
        *("--library-path", f"{tree}/usr/lib/x86_64-linux-gnu"),
        str(tree / "usr/bin/qemu-system-x86_64"),
        *("-L", str(data / "qemu"), "-L", str(data / "seabios")),
        *("-L", str(tree / "usr/lib/ipxe/qemu")),
    ]


def make_disk(tree: pathlib.Path, disk: pathlib.Path) -> None:
    """The run's own disk: what is tested and what tests it; artefacts come back on it."""
    command = ["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", str(tree), str(disk)]
    subprocess.run([*command, "256M"], check=True, stdout=subprocess.DEVNULL)


def read_disk(disk: pathlib.Path, folder: str, out: pathlib.Path) -> None:
    """Copies a folder of the disk to `out`; the machine must be off."""
    out.mkdir(parents=True, exist_ok=True)
    command = ["debugfs", "-R", f"rdump /{folder} {out}", str(disk)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


SLICE_S = 0.1  # as a CPU quota of a cgroup


class Machine:
    """One boot. `lines` are what its player says, until it is off. Its processors run one `slow`th of
    the time."""

    def __init__(
        self, lab: pathlib.Path, folder: pathlib.Path, linux: str = "", kernel: str = "", slow: int = 1
    ) -> None:
        which = f"-{linux}" if linux else ""
        self.console = folder / "console.log"
        self.disk = folder / "run.ext4"
        system = _drive("system", f"file={lab}/guest.ext4,snapshot=on")
        # On a busy host the kernel would not see its timer tick in time, and panic.
        arguments = f"console=ttyS0 panic=-1 quiet no_timer_check pci=realloc {kernel}".strip()
        command = [
            *_emulator(lab),
            *_hardware("intel_iommu=on" in kernel),
            *(*system, *_drive("run", f"file={self.disk}")),
            *("-kernel", f"{lab}/vmlinuz{which}", "-initrd", f"{lab}/initrd{which}"),
            *("-append", arguments),
            *("-serial", f"file:{self.console}", "-serial", "stdio", "-monitor", "none"),
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=open(folder / "qemu.log", "wb"),  # noqa: SIM115  the process keeps it
            env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin"},
        )
        if slow > 1:
            threading.Thread(target=self._throttle, args=(slow,), daemon=True).start()

    def _throttle(self, slow: int) -> None:
        """What a cgroup with a CPU quota does, without one: no time but the clock's passes meanwhile."""
        while self._process.returncode is None:
            self._process.send_signal(signal.SIGSTOP)
            time.sleep(SLICE_S * (slow - 1) / slow)
            self._process.send_signal(signal.SIGCONT)
            time.sleep(SLICE_S / slow)

    @property
    def lines(self):
        return self._process.stdout

    def off(self) -> int:
        return self._process.wait(30)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def missing() -> list[str]:
    """What this host lacks, each with the package that brings it."""
    programs = {"mke2fs": "e2fsprogs", "debugfs": "e2fsprogs", "xz": "xz-utils"}
    path = "/usr/sbin:/sbin:/usr/bin:/bin"
    return [f"{name} (package {deb})" for name, deb in programs.items()
            if not shutil.which(name, path=path)]
