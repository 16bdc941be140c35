#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What railhead setup writes for systemd, and its own units, before a real systemd.

Debian's systemd is the first process of namespaces of its own, on a root whose /usr is this machine's with the
program under test above it. containerd is a real 1.7, which has NRI off, and the kubelet a program that sleeps; both
with the limit of 64 KiB that some managed nodes have. It takes root.
"""

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from expectation import Wrong, expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
from lib.nic import mount_nic  # noqa: E402

TREE = pathlib.Path(__file__).resolve().parents[2]
RAILHEAD = os.environ["RAILHEAD_BIN"]
UNITS = TREE / "deploy/systemd"
SYSTEMD = "/lib/systemd/systemd"
SKIPPED = 77
PATIENCE_S = 120
OF_HOST = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
CONTAINERD = 'version = 2  # the distribution\'s own\n[plugins."io.containerd.grpc.v1.cri"]\n  enable_cdi = true\n'
SERVICE = """[Unit]
Description={name}
[Service]
Type={type}
ExecStart={command}
LimitMEMLOCK=64K
[Install]
WantedBy=multi-user.target
"""
NFS = ("/mnt/ai-data", "/mnt/a b", "/srv/\u00e4")
WANTED = """nri: true
memlock: {services: [containerd, kubelet], limitsFile: true}
nfs:
""" + "".join(f"  - {{what: 'nas.example.com:/exports/data', where: '{where}', options: 'vers=4.1'}}\n" for where in NFS)


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def make_root(root: pathlib.Path, above: pathlib.Path) -> None:
    """A machine of its own; only /usr is the host's, below what lies in `above`."""
    for name in ("etc/systemd/system", "etc/railhead", "opt", "proc", "sys", "dev", "run", "tmp", "var/lib", "usr", "root"):
        (root / name).mkdir(parents=True)
    for name in OF_HOST:
        host = pathlib.Path("/", name)
        if host.is_symlink():
            (root / name).symlink_to(os.readlink(host))
        elif host.is_dir():
            raise Wrong(f"{host} is no link into /usr")
    for name in ("upper/bin", "work"):
        (above / name).mkdir(parents=True)
    shutil.copy(RAILHEAD, above / "upper/bin/railhead")
    mount("-t", "overlay", "overlay", "-o", f"lowerdir=/usr,upperdir={above}/upper,workdir={above}/work", root / "usr")
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "etc/os-release").write_text("ID=railhead-test\n")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    (root / "etc/railhead/setup.yaml").write_text(WANTED)
    for name in ("systemd-logind", "systemd-udevd"):  # nobody logs in, and devices are the host's
        (root / f"etc/systemd/system/{name}.service").symlink_to("/dev/null")
    found = subprocess.run([TREE / "scripts/fetch-containerd", "1.7"], check=True, capture_output=True, text=True)
    shutil.copy(pathlib.Path(found.stdout.split()[-1], "bin/containerd"), root / "opt/containerd")
    shutil.copy("/usr/bin/sleep", root / "opt/kubelet")
    (root / "etc/containerd").mkdir()
    (root / "etc/containerd/config.toml").write_text(CONTAINERD)
    for name, kind, argument in (("containerd", "notify", ""), ("kubelet", "simple", " infinity")):
        unit = SERVICE.format(name=name, type=kind, command=f"/opt/{name}{argument}")
        (root / f"etc/systemd/system/{name}.service").write_text(unit)
    for unit in UNITS.glob("railhead-setup*"):
        shutil.copy(unit, root / "etc/systemd/system")


def boot(root: pathlib.Path, log: pathlib.Path) -> None:
    """In the namespaces; does not return."""
    for kind in ("proc", "sysfs"):
        mount("-t", kind, kind, root / kind.removesuffix("fs"))
    mount_nic(root)
    mount("-t", "tmpfs", "tmpfs", root / "run")
    mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", root / "dev")
    # autofs: what an automount waits with. Documentation/admin-guide/devices.txt of Linux.
    for name, major, minor in (("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9),
                               ("tty", 5, 0), ("ptmx", 5, 2), ("autofs", 10, 235)):
        os.mknod(root / "dev" / name, 0o20666, os.makedev(major, minor))
    (root / "dev/kmsg").touch()
    mount("--bind", log, root / "dev/kmsg")  # what it says is written there
    mount("-t", "cgroup2", "cgroup2", root / "sys/fs/cgroup")
    os.chroot(root)
    os.chdir("/")
    # By $container systemd knows that devices and clocks are somebody else's.
    os.execve(SYSTEMD, [SYSTEMD, "--unit=multi-user.target", "--log-target=kmsg", "--show-status=no"],
              {"container": "railhead", "PATH": "/usr/bin:/usr/sbin"})


class Systemd:
    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "root"
        self.log = folder / "systemd.log"
        self._cgroup = pathlib.Path(own_cgroups(), f"railhead-{folder.name}")
        make_root(self.root, folder / "above")
        self._cgroup.mkdir()
        with open(self.log, "wb") as log:
            self._outer = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts", "--ipc", "--cgroup",
                 sys.executable, __file__, "boot", str(self.root), str(self.log)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self._enter)
        self.pid = self._first_process()
        self._wait(lambda: self.run("systemctl", "is-active", "multi-user.target") == "active", "multi-user.target")

    def _enter(self) -> None:
        (self._cgroup / "cgroup.procs").write_text(str(os.getpid()))

    def _wait(self, ready, what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not ready():
            if time.monotonic() > end or self._outer.poll() is not None:
                raise Wrong(f"{what} did not come:\n{self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)

    def _first_process(self) -> int:
        found: list[str] = []

        def runs_systemd() -> bool:
            children = pathlib.Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
            found[:] = children.read_text().split() if children.exists() else []
            return bool(found) and os.readlink(f"/proc/{found[0]}/exe").endswith("/systemd")

        self._wait(runs_systemd, "systemd")
        return int(found[0])

    def run(self, *words: str, status: int | None = None) -> str:
        """A command inside; standard output. `status`: what it has to end with."""
        inside = ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup",
                  "--root", "--wd", "--", *words]
        done = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        if status is not None and done.returncode != status:
            raise Wrong(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def show(self, unit: str, field: str) -> str:
        return self.run("systemctl", "show", "--property", field, "--value", unit, status=0)

    def locked_by(self, service: str) -> str:
        """The limit of its process, in bytes."""
        pid = self.show(f"{service}.service", "MainPID")
        lines = self.run("cat", f"/proc/{pid}/limits", status=0).splitlines()
        return next(line.split()[4] for line in lines if line.startswith("Max locked memory"))

    def files(self) -> dict[str, str]:
        """Of /etc, with their text; where links lead."""
        found = {}
        for path in (self.root / "etc").rglob("*"):
            name = str(path.relative_to(self.root))
            found[name] = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        return found

    def end(self) -> None:
        self._outer.kill()  # --kill-child: with it all of the namespace
        self._outer.wait()
        for _ in range(100):
            with contextlib.suppress(OSError):
                for folder in sorted(self._cgroup.rglob("*"), reverse=True):
                    if folder.is_dir():
                        folder.rmdir()
                self._cgroup.rmdir()
                break
            time.sleep(0.1)


def own_cgroups() -> str:
    """Where the second version of control groups is mounted."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        if " - cgroup2 " in line:
            return line.split()[4]
    raise Wrong("there is no cgroup2 here")


def may_raise_limits() -> bool:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return bool(int(next(line.split()[1] for line in lines if line.startswith("CapBnd:")), 16) & (1 << 24))


def judge_memlock(systemd: Systemd) -> None:
    """The drop-ins are what systemd goes by; with consent it restarts the services, and each has its limit."""
    for service in ("containerd", "kubelet"):
        expect(systemd.show(f"{service}.service", "LimitMEMLOCK"), "65536", f"{service} before")
        expect(systemd.locked_by(service), "65536", f"{service}'s process before")
    before = systemd.show("containerd.service", "MainPID")
    systemd.run("railhead", "setup", "apply", "--allow", "R1")
    expect(systemd.show("containerd.service", "MainPID"), before, "restarted without consent")
    systemd.run("railhead", "setup", "apply", "--allow", "R2")
    if systemd.show("containerd.service", "MainPID") == before:
        raise Wrong("containerd was not restarted")
    for service in ("containerd", "kubelet"):
        expect(systemd.show(f"{service}.service", "LimitMEMLOCK"), "infinity", service)
        if systemd.show(f"{service}.service", "DropInPaths") != \
                f"/etc/systemd/system/{service}.service.d/90-railhead-memlock.conf":
            raise Wrong(f"{service}: {systemd.show(f'{service}.service', 'DropInPaths')}")
    # A machine without CAP_SYS_RESOURCE gives as much as it may.
    limit = systemd.locked_by("containerd")
    if limit != "unlimited" if may_raise_limits() else limit == "65536":
        raise Wrong(f"containerd may lock {limit}")


def judge_nri(systemd: Systemd) -> None:
    """After the restart by systemd it is on."""
    systemd.run("test", "-S", "/run/nri/nri.sock", status=0)
    plan = json.loads(systemd.run("railhead", "setup", "plan", "-o", "json", status=0))
    expect(next(step for step in plan["steps"] if step["id"] == "nri.enabled")["state"], "done", "NRI")


def judge_mounts(systemd: Systemd) -> None:
    """systemd refuses a mount unit whose name is not made of its mount point."""
    systemd.run("systemctl", "daemon-reload", status=0)
    for where in NFS:
        for kind in ("mount", "automount"):
            unit = systemd.run("systemd-escape", "--path", f"--suffix={kind}", where, status=0)
            if not (systemd.root / "etc/systemd/system" / unit).is_file():
                raise Wrong(f"no unit {unit} for {where}")
            expect(systemd.show(unit, "LoadState"), "loaded", unit)
            expect(systemd.show(unit, "Where"), where, unit)
        expect(systemd.show(unit, "ActiveState"), "active", f"{unit} is started")
        options = systemd.show(unit.replace(".automount", ".mount"), "Options")
        expect(options, "rdma,port=20049,vers=4.1", f"options of {where}")
        if unit not in shlex.split(systemd.show("multi-user.target", "Wants")):
            raise Wrong(f"the next boot does not start {unit}")


def judge_units(systemd: Systemd) -> None:
    """At the start, each hour, and with repair."""
    drop_in = systemd.root / "etc/systemd/system/kubelet.service.d/90-railhead-memlock.conf"
    systemd.run("systemctl", "start", "railhead-setup.service", status=0)
    expect(systemd.show("railhead-setup.service", "Result"), "success", "at the start")
    expect(systemd.show("railhead-setup.service", "ActiveState"), "active", "at the start")
    systemd.run("systemctl", "enable", "--now", "railhead-setup-verify.timer", status=0)
    expect(systemd.show("railhead-setup-verify.timer", "Unit"), "railhead-setup-verify.service", "timer")
    expect(systemd.show("railhead-setup-verify.timer", "SubState"), "waiting", "timer")
    drop_in.unlink()
    systemd.run("systemctl", "start", "railhead-setup-verify.service", status=1)
    expect(systemd.show("railhead-setup-verify.service", "Result"), "exit-code", "drift is a failure")
    expect(drop_in.exists(), False, "mended without being asked")
    text = (UNITS / "railhead-setup-verify.service").read_text()
    override = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")]
    expect(override[0], "[Service]", "what the unit says of repair")
    folder = systemd.root / "etc/systemd/system/railhead-setup-verify.service.d"
    folder.mkdir()
    (folder / "override.conf").write_text("\n".join(override) + "\n")
    systemd.run("systemctl", "daemon-reload", status=0)
    systemd.run("systemctl", "start", "railhead-setup-verify.service")
    expect(drop_in.is_file(), True, "mended")
    systemd.run("systemctl", "disable", "--now", "railhead-setup-verify.timer", status=0)
    shutil.rmtree(folder)


def judge(folder: pathlib.Path) -> None:
    systemd = Systemd(folder)
    try:
        systemd.run("systemctl", "start", "containerd.service", "kubelet.service", status=0)
        before = systemd.files()
        systemd.run("test", "-e", "/run/nri/nri.sock", status=1)
        judge_memlock(systemd)
        judge_nri(systemd)
        judge_mounts(systemd)
        judge_units(systemd)
        systemd.run("railhead", "setup", "revert", status=0)
        systemd.run("systemctl", "daemon-reload", status=0)
        expect(systemd.files(), before, "taken back")
        expect(systemd.show("containerd.service", "LimitMEMLOCK"), "65536", "taken back")
    except Wrong:
        print(systemd.log.read_text(errors="replace")[-3000:])
        raise
    finally:
        systemd.end()


def main() -> int:
    if sys.argv[1:2] == ["boot"]:
        boot(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    if os.geteuid() != 0 or not os.path.exists(SYSTEMD):
        print("skipped: needs root and systemd")
        return SKIPPED
    if "inside" not in sys.argv:  # what is mounted goes with this
        return subprocess.run(["unshare", "--mount", sys.executable, __file__, "inside"], check=False).returncode
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="railhead-systemd-", ignore_cleanup_errors=True) as folder:
        mount("-t", "tmpfs", "tmpfs", folder)  # an upper layer cannot lie on every file system
        try:
            judge(pathlib.Path(folder))
        except Wrong as wrong:
            print(f"FAIL {wrong}")
            return 1
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", folder], check=False)
    print("drop-ins, mounts, units: a real systemd takes them, and they go")
    return 0


sys.exit(main())
