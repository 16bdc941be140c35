# SPDX-License-Identifier: Apache-2.0
"""A mount namespace for one node of several: what a node has at fixed places is its own there."""

import contextlib
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

from lib.machine import Machine
from lib.process import Daemon, wait_until

TMPFS = ("/run", "/var/lib", "/var/log", "/opt", "/usr/local")
COPY = pathlib.Path("/mnt/etc")
SYSTEM = "Ubuntu 22.04.5 LTS"
# What a kubelet and a runtime need of the machine that they really run on.
REAL = ("/sys/fs/cgroup", "/sys/devices/system/cpu", "/sys/devices/system/node")
# The snapshot of the machine that a node is, for who does not read it from /sys.
SNAPSHOT = "/var/lib/machine/machine.node"


class Space:
    """`enter` is put before a command that runs in it; `root` is how it is seen from outside."""

    def __init__(self, folder: pathlib.Path, hosts: pathlib.Path) -> None:
        """`hosts` is the node's /etc/hosts."""
        folder.mkdir()
        ours = pathlib.Path("/proc/self/ns/mnt").readlink()
        self._holder = Daemon(["unshare", "--mount", "sleep", "infinity"], folder / "space.log")
        process = pathlib.Path(f"/proc/{self._holder.pid}")
        self.root, self.mountinfo, mounts = process / "root", process / "mountinfo", process / "ns/mnt"
        wait_until("a mount namespace", lambda: mounts.readlink() != ours)
        self.enter = ["nsenter", f"--mount={mounts}", "--"]
        self._copy_etc(hosts)
        for path in TMPFS:
            self.run("mount", "-t", "tmpfs", "tmpfs", path)
        # No module of this machine's kernel is loaded or unloaded by a test.
        if pathlib.Path("/lib/modules").is_dir():
            self.run("mount", "-t", "tmpfs", "tmpfs", "/lib/modules")
        # As systemd makes it: a container may ask to see mounts that come later.
        self.run("mount", "--make-rshared", "/")

    def _copy_etc(self, hosts: pathlib.Path) -> None:
        """A layer above this machine's would change with it."""
        self.run("sh", "-c", f"mount -t tmpfs tmpfs {COPY.parent} && cp -a /etc {COPY} && mount --bind {COPY} /etc && umount -l {COPY.parent}")
        shutil.copy(hosts, self.at("/etc/hosts"))
        release = self.at("/etc/os-release")
        release.unlink(missing_ok=True)  # it leads to a file of this machine
        release.write_text(f'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="{SYSTEM}"\n')

    def run(self, *words: str) -> None:
        subprocess.run([*self.enter, *words], check=True)

    def at(self, path: pathlib.Path | str) -> pathlib.Path:
        """A path of the node, as this process reaches it."""
        return self.root / str(path).lstrip("/")

    @contextlib.contextmanager
    def being(self, machine: Machine, folder: pathlib.Path) -> Iterator[None]:
        """The node is that machine: its /sys, /proc/driver and SNAPSHOT are those of the box."""
        tree = folder / "machine"
        tree.mkdir(parents=True)
        self.run("mount", "-t", "tmpfs", "tmpfs", str(tree))
        machine.unpack(self.at(tree))
        for path in REAL:
            self.at(f"{tree}{path}").mkdir(parents=True, exist_ok=True)
            self._show(path, f"{tree}{path}")
        shown = [path for path in ("/sys", "/proc/driver") if self.at(f"{tree}{path}").is_dir()]
        for path in shown:
            self._show(f"{tree}{path}", path)
        self.at(SNAPSHOT).parent.mkdir()
        shutil.copy(machine.snapshot, self.at(SNAPSHOT))
        try:
            yield
        finally:
            shutil.rmtree(self.at(SNAPSHOT).parent)
            for path in [*shown, str(tree)]:
                self.run("umount", "--lazy", "--recursive", path)

    def _show(self, path: str, where: str) -> None:
        """What goes there later stays where it came from."""
        self.run("mount", "--rbind", path, where)
        self.run("mount", "--make-rslave", where)

    def end(self) -> None:
        self._holder.end()
