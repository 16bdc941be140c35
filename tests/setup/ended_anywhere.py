#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup, killed by SIGKILL at each system call that changes something, in apply and in revert.

After each death a second apply ends as one that was never disturbed, and a revert as if there had been
none. strace(1) ends the program: `-e inject=CALL:signal=KILL:when=N`, once for each N until it survives.
"""

import itertools
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable

RAILHEAD = os.environ["RAILHEAD_BIN"]
CALLS = "mkdirat,unlinkat,renameat,write,fsync,openat"
WANTED = """\
modules: [ib_umad]
memlock: {services: [containerd]}
nri: true
rdmaNamespaces: exclusive
"""
FILES = {
    "proc/sys/kernel/osrelease": "6.1.0-test\n",
    "lib/modules/6.1.0-test/modules.dep": "ib_core.ko:\nib_umad.ko: ib_core.ko\nrdma_ucm.ko: ib_core.ko\n",
    "usr/lib/systemd/system/containerd.service": "[Service]\n",
    "usr/lib/systemd/system/kubelet.service": "[Service]\n",
    "etc/containerd/config.toml": "# mine\nversion = 2\nimports = ['conf.d/*.toml']\n",
    "etc/containerd/conf.d/a.toml": "version = 2\n[plugins.'io.containerd.nri.v1.nri']\n  disable = true\n",
    "var/lib/other/file": "",
    "sys/module/.keep": "",
}


def tree(folder: pathlib.Path) -> dict[str, object]:
    """Every file with mode and bytes, every folder with its mode. What the journal says of its own folders
    may differ after a death."""
    found = {}
    for path in folder.rglob("*"):
        if path.name == "journal.json":
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        found[str(path.relative_to(folder))] = (mode, path.read_bytes() if path.is_file() else None)
    return found


def differences(now: dict, wanted: dict) -> list[str]:
    return [f"{name}: {now.get(name)} and not {wanted.get(name)}"
            for name in sorted(now.keys() | wanted.keys()) if now.get(name) != wanted.get(name)]


class Trial:
    def __init__(self, folder: pathlib.Path) -> None:
        self.root = folder / "root"
        self.start = folder / "start"
        (folder / "setup.yaml").write_text(WANTED)
        self.flags = ["--host-root", str(self.root), "-o", "json"]
        self.wanted = ["--from", str(folder / "setup.yaml"), "--allow", "R4"]
        for name, text in FILES.items():
            path = self.start / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.before = tree(self.start)

    def again(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.start, self.root)

    def command(self, verb: str) -> list[str]:
        return [RAILHEAD, "setup", verb, *self.flags, *(self.wanted if verb == "apply" else [])]

    def run(self, verb: str) -> None:
        done = subprocess.run(self.command(verb), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{verb} ends with {done.returncode}: {done.stdout}{done.stderr}")

    def dies(self, verb: str, call: str, number: int) -> bool:
        """False: it came to its end before."""
        strace = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                  "-e", f"inject={call}:signal=KILL:when={number}"]
        done = subprocess.run([*strace, *self.command(verb)], capture_output=True)
        if done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
            return True
        if done.returncode != 0:
            raise SystemExit(f"{verb} under strace ends with {done.returncode}: {done.stderr.decode()}")
        return False

    def expect(self, wanted: dict, what: str) -> None:
        wrong = differences(tree(self.root), wanted)
        if wrong:
            raise SystemExit("\n".join([what, *wrong]))


def interesting(call: str, verb: str, trial: Trial) -> list[int]:
    """The calls of this name, without those of the start of the program, which change nothing."""
    out = subprocess.run(["strace", "-qq", "-e", f"trace={call}", *trial.command(verb)],
                         capture_output=True, text=True).stderr.splitlines()
    changing = [number for number, line in enumerate(out, 1)
                if call != "openat" or "O_CREAT" in line]
    return changing


def disturbed(calls: Iterable[str], disturb: Callable[[Trial, str, str, int], bool], happens: str,
              each: int = 1) -> int:
    """disturb(trial, verb, call, number) at each place, or every so manyth; False: the run came to its end before. Then
    a second apply ends as one that was never disturbed, and a revert as if there had been none. How many were."""
    runs, places = 0, itertools.count()
    with tempfile.TemporaryDirectory(prefix="railhead-setup-") as folder:
        trial = Trial(pathlib.Path(folder))
        trial.again()
        trial.run("apply")
        after = tree(trial.root)
        trial.run("revert")
        trial.expect(trial.before, "revert does not lead back")
        for verb in ("apply", "revert"):
            for call in calls:
                trial.again()
                if verb == "revert":
                    trial.run("apply")
                for number in interesting(call, verb, trial):
                    for ends_as in ("applied", "taken back"):
                        if next(places) % each:
                            continue
                        trial.again()
                        if verb == "revert":
                            trial.run("apply")
                        if not disturb(trial, verb, call, number):
                            continue
                        runs += 1
                        where = f"{call} {number} of {verb} {happens}, then {ends_as}"
                        if ends_as == "applied":
                            trial.run("apply")
                            trial.expect(after, where)
                        trial.run("revert")
                        trial.expect(trial.before, where)
    return runs


def main() -> int:
    deaths = disturbed(CALLS.split(","), Trial.dies, "ends it")
    print(f"{deaths} deaths, each mended")
    return 0 if deaths > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
