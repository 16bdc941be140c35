# SPDX-License-Identifier: Apache-2.0
"""A private containerd with NRI: its own root, state, sockets, network and image."""

import os
import pathlib
import shutil
import stat
import subprocess

from . import image, paths
from .cri import Cri
from .process import Daemon, Failed, wait_until

SOFT_MEMLOCK = 64 * 1024  # what some managed nodes start their runtime with
HARD_MEMLOCK = 8 * 1024 * 1024
PATIENCE_S = 300  # with a machine that is slow; what takes longer hangs
CAP_SYS_RESOURCE = 1 << 24  # linux/capability.h

# `version = 2` is containerd 1.7's configuration, 3 is that of 2.x; they name the CRI sections
# differently.
CONFIG = """
version = {config_version}
root = "{dir}/root"
state = "{dir}/state"

[grpc]
  address = "{dir}/containerd.sock"

[ttrpc]
  address = "{dir}/containerd.sock.ttrpc"

[plugins."io.containerd.internal.v1.opt"]
  path = "{dir}/opt"

[plugins."io.containerd.nri.v1.nri"]
  disable = false
  socket_path = "{dir}/nri/nri.sock"
  plugin_path = "{dir}/nri/plugins"
  plugin_config_path = "{dir}/nri/conf.d"
  plugin_request_timeout = "{hook_limit_s}s"
{cri}
"""
CRI_1_7 = """
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "{image}"
  netns_mounts_under_state_dir = true
  enable_cdi = true
  cdi_spec_dirs = ["{dir}/cdi"]
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{dir}/cni/bin"
    conf_dir = "{dir}/cni/conf"
{handlers}"""
CRI_2 = """
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{image}"

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  cdi_spec_dirs = ["{dir}/cdi"]
  disable_apparmor = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{dir}/cni/bin"]
    conf_dir = "{dir}/cni/conf"
{handlers}"""
# One runtime handler for each OCI runtime; a pod that names none gets runc.
HANDLER = """
[plugins."{section}".containerd.runtimes.{name}]
  runtime_type = "io.containerd.runc.v2"
  [plugins."{section}".containerd.runtimes.{name}.options]
    BinaryName = "{program}"
"""

# A network whose every operation succeeds and does nothing: a pod gets a namespace of its own and
# an address that goes nowhere. Needs no kernel module.
CNI_LIST = '{"cniVersion":"1.0.0","name":"none","plugins":[{"type":"none"}]}'
CNI_PLUGIN = """#!/bin/sh
cat >/dev/null
case "$CNI_COMMAND" in
ADD) echo '{"cniVersion":"1.0.0","interfaces":[{"name":"'"$CNI_IFNAME"'","sandbox":"'"$CNI_NETNS"'"}],
  "ips":[{"address":"192.0.2.1/32","interface":0}]}' ;;
VERSION) echo '{"cniVersion":"1.0.0","supportedVersions":["0.3.1","0.4.0","1.0.0"]}' ;;
esac
"""


def _may_raise_limits() -> bool:
    with open("/proc/self/status", encoding="ascii") as status:
        bounding = next(line for line in status if line.startswith("CapBnd:"))
    return bool(int(bounding.split()[1], 16) & CAP_SYS_RESOURCE)


class Containerd:
    """One instance; `start` after construction, `remove` at the end.

    It runs with a low soft memlock limit. With a `hard_memlock` it is the same runtime on every
    machine: one without CAP_SYS_RESOURCE, that can raise the limit to that and no further. Without,
    it is as able as the machine lets it be.
    """

    def __init__(
        self,
        version: str,
        folder: pathlib.Path,
        hard_memlock: int | None = HARD_MEMLOCK,
        more_handlers: dict[str, str] | None = None,
        hook_limit_s: int = 2,
        under: tuple[str, ...] = (),
    ) -> None:
        """`more_handlers`: OCI runtimes beside runc by the name that a RuntimeClass has. `hook_limit_s`:
        how long an NRI plugin may think before it is dropped, by default the runtime's own two seconds. `under`:
        what starts it."""
        self.version = version
        self.more_handlers = more_handlers or {}
        self._hard_memlock = hard_memlock
        self._hook_limit_s = hook_limit_s
        self._under = under
        self.dir = folder
        self.bin = paths.fetch("containerd", version)
        self.config = folder / "config.toml"
        self.nri_socket = folder / "nri/nri.sock"
        self.has_nri = True
        self.cdi = folder / "cdi"
        self.log = folder / "containerd.log"
        self._daemon: Daemon | None = None
        self._cgroup = f"/{folder.parent.name}"  # made by mkdtemp, so nobody else has it
        self._devices = 0
        self.cri = Cri(f"unix://{folder}/containerd.sock", self._cgroup)
        self._write_files()

    def _write_files(self) -> None:
        for name in ("cdi", "cni/bin", "cni/conf", "nri/plugins", "nri/conf.d", "devices"):
            (self.dir / name).mkdir(parents=True)
        old = self.version == "1.7"
        section = "io.containerd.grpc.v1.cri" if old else "io.containerd.cri.v1.runtime"
        handlers = "".join(
            HANDLER.format(section=section, name=name, program=program)
            for name, program in {"runc": "runc", **self.more_handlers}.items()
        )
        values = {"dir": self.dir, "image": image.NAME, "handlers": handlers}
        values["hook_limit_s"] = self._hook_limit_s
        values["cri"] = (CRI_1_7 if old else CRI_2).format(**values)
        config = CONFIG.format(config_version=2 if old else 3, **values)
        self.config.write_text(config)
        (self.dir / "cni/conf/10-none.conflist").write_text(CNI_LIST)
        for name in ("none", "loopback"):
            plugin = self.dir / "cni/bin" / name
            plugin.write_text(CNI_PLUGIN)
            plugin.chmod(0o755)

    def start(self) -> None:
        """Returns when pods can be created, and NRI plugins can connect where the file says so (`has_nri`)."""
        confined = self._hard_memlock is not None
        drop = ["setpriv", "--bounding-set=-sys_resource"]
        self._daemon = Daemon(
            [*self._under, "prlimit", f"--memlock={SOFT_MEMLOCK}:{self._hard_memlock if confined else 'unlimited'}"]
            + (drop if confined and _may_raise_limits() else [])
            + [str(self.bin / "containerd"), "--config", str(self.config)],
            self.log,
            env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"},
        )
        wait_until(f"containerd {self.version} ready, see {self.log}", self._ready, PATIENCE_S)

    def _ready(self) -> bool:
        if self._daemon.exit_code is not None:
            raise Failed(f"containerd ended with {self._daemon.exit_code}, see {self.log}")
        return (self.nri_socket.exists() or not self.has_nri) and self.cri.ready()

    def load_image(self) -> None:
        """Imports the test image; once for an instance."""
        archive = self.dir / "busybox.tar"
        image.write(archive)
        ctr = [str(self.bin / "ctr"), "-a", str(self.dir / "containerd.sock"), "-n", "k8s.io"]
        done = subprocess.run(
            [*ctr, "images", "import", str(archive)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Failed(f"ctr images import: {done.stderr.strip()}")
        wait_until("the image is known to CRI", lambda: self.cri.has_image(image.NAME), PATIENCE_S)

    @property
    def pid(self) -> int:
        return self._daemon.pid

    def stop(self) -> None:
        """Ends the daemon; pods live on, as in an upgrade."""
        if self._daemon is not None:
            self._daemon.end()
            self._daemon = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def character_device(self, major: int, minor: int) -> str:
        """A new node outside /dev with these numbers: CRI devices have to exist on the host."""
        self._devices += 1
        path = self.dir / "devices" / str(self._devices)
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        return str(path)

    def remove(self) -> None:
        """Pods, daemon, mounts, cgroups and files; the log file stays."""
        if self._daemon is not None and self._daemon.exit_code is None:
            self.cri.remove_all_pods()
        self.cri.close()
        try:
            self.stop()
        finally:
            self._unmount()
            self._remove_cgroups()
            for child in self.dir.iterdir():
                if child.is_dir():
                    shutil.rmtree(child, ignore_errors=True)
                elif child != self.log:
                    child.unlink()

    def _unmount(self) -> None:
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            points = [line.split()[4] for line in mounts]
        for point in reversed([p for p in points if p.startswith(f"{self.dir}/")]):
            subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)

    def _remove_cgroups(self) -> None:
        roots = [pathlib.Path("/sys/fs/cgroup")]
        roots += [entry for entry in roots[0].iterdir() if entry.is_dir()]
        for root in roots:
            top = pathlib.Path(f"{root}{self._cgroup}")
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:  # still in use by what we could not end; nothing more to do
                    break
