#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup beside others who change the machine: an edit that is made while it writes stays, revert gives a file no
more rights than it has by now, nobody but root holds its lock, and what others may write is not done as root.

strace(1) makes the time in which the edit is made: `-e inject=CALL:delay_enter=MICROSECONDS`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from expectation import expect

RAILHEAD = os.environ["RAILHEAD_BIN"]
NOBODY = 65534
OFF = 'version = 2\n[plugins."io.containerd.nri.v1.nri"]\n  disable = true\n'
THEIRS = "# theirs\n" + OFF
WANTED = "nri: true\n"


class Node:
    """A machine whose containerd has NRI off, and what is wanted of it."""

    def __init__(self, folder: str) -> None:
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root"
        self.config = self.root / "etc/containerd/config.toml"
        for name in ("sys/class", "proc", "run", "etc/containerd", "usr/lib/systemd/system"):
            (self.root / name).mkdir(parents=True)
        (self.root / "usr/lib/systemd/system/containerd.service").write_text("[Service]\n")
        self.config.write_text(OFF)
        self.wanted = self.folder / "setup.yaml"
        self.wanted.write_text(WANTED)

    def command(self, verb: str, *more: str) -> list[str]:
        wanted = ["--from", str(self.wanted)] if verb not in ("revert", "status") else []
        return [RAILHEAD, "setup", verb, "--host-root", str(self.root), *wanted, *more]

    def run(self, verb: str, *more: str, **options: object) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(verb, *more), capture_output=True, text=True, check=False, **options)

    def states(self, verb: str, *more: str) -> list[tuple[str, str]]:
        done = self.run(verb, *more, "-o", "json")
        return [(step["id"], step["state"]) for step in json.loads(done.stdout)["steps"]]


def put_in_place(path: pathlib.Path) -> None:
    beside = path.parent / "theirs"
    beside.write_text(THEIRS)
    beside.rename(path)


def write_over(path: pathlib.Path) -> None:
    path.write_text(THEIRS)


def with_edit(node: Node, verb: str, call: str, edit) -> int:
    """The exit code of a run that somebody edits the file beside, while `call` waits for it to be put in its place."""
    known = set(os.listdir(node.config.parent))
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:delay_enter=400000"]
    run = subprocess.Popen([*strace, *node.command(verb)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while set(os.listdir(node.config.parent)) == known and run.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    expect(run.poll(), None, f"{verb} has written beside the file, and not yet put it in its place")
    edit(node.config)
    return run.wait(timeout=60)


def edits_stay() -> None:
    for verb in ("apply", "revert"):
        for call in ("renameat2", "fsync"):
            for edit in (put_in_place, write_over):
                with tempfile.TemporaryDirectory() as folder:
                    node = Node(folder)
                    if verb == "revert":
                        expect(node.run("apply").returncode, 0, "apply")
                    what = f"{verb}, {edit.__name__}, {call} is slow"
                    expect(with_edit(node, verb, call, edit), 1, what)
                    expect(node.config.read_text(), THEIRS, what)
                    expect(sorted(os.listdir(node.config.parent)), ["config.toml"], what)
                    if verb == "apply":
                        expect(node.run("apply").returncode, 0, what + ", again")
                        node.run("revert")
                        expect(node.config.read_text(), THEIRS, what + ", taken back")


def rights_stay() -> None:
    with tempfile.TemporaryDirectory() as folder:
        node = Node(folder)
        expect(node.run("apply").returncode, 0, "apply")
        node.config.chmod(0o600)
        os.chown(node.config, NOBODY, NOBODY)
        expect(node.run("revert").returncode, 0, "revert of a file whose rights were taken away")
        status = node.config.stat()
        expect((status.st_mode & 0o7777, status.st_uid, status.st_gid), (0o600, NOBODY, NOBODY), "its rights")
        expect(node.config.read_text(), OFF, "its text")


def lock_is_roots() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o755)
        node = Node(folder)
        (node.root / "var/lib/railhead/setup").mkdir(parents=True)
        locks = ["/", "etc", "var/lib/railhead/setup", "var/lib/railhead/setup/lock"]
        holders = [subprocess.Popen(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "flock", "--nonblock",
                                     str(node.root / name.strip("/")), "sleep", "60"], stderr=subprocess.DEVNULL) for name in locks]
        try:
            time.sleep(0.3)
            expect(node.run("apply").returncode, 0, "apply while a user has every lock that he can take")
            expect(node.run("revert").returncode, 0, "revert likewise")
        finally:
            for holder in holders:
                holder.kill()
                holder.wait()


def foreign_wishes_are_not_done() -> None:
    """Mode and owner of what is wanted; a person who became root by sudo is the owner of his files."""
    cases = [("root's", 0o644, 0, None, 0), ("anybody may write", 0o666, 0, None, 2), ("the group may write", 0o664, 0, None, 2),
             ("another user's", 0o644, NOBODY, None, 2), ("that of who called sudo", 0o644, NOBODY, str(NOBODY), 0),
             ("of another than who called sudo", 0o644, NOBODY, "1000", 2), ("sudo without a number", 0o644, NOBODY, "x", 2),
             ("anybody may write it, by sudo", 0o666, NOBODY, str(NOBODY), 2)]
    for what, mode, owner, sudo, code in cases:
        with tempfile.TemporaryDirectory() as folder:
            node = Node(folder)
            node.wanted.chmod(mode)
            os.chown(node.wanted, owner, 0)
            environment = {name: value for name, value in os.environ.items() if name != "SUDO_UID"}
            if sudo is not None:
                environment["SUDO_UID"] = sudo
            expect(node.run("plan", env=environment).returncode, 0, f"plan, {what}")
            expect(node.run("apply", env=environment).returncode, code, f"apply, {what}")
            expect(node.config.read_text() == OFF, code == 2, f"the file is as it was, {what}")
            repaired = node.run("verify", "--repair", env=environment).returncode
            expect(repaired == 2, code == 2, f"verify --repair, {what}")


def plan_and_apply_use_the_same_words() -> None:
    with tempfile.TemporaryDirectory() as folder:
        node = Node(folder)
        node.wanted.write_text("nri: true\nmodules: [ib_umad]\nmemlock: {services: [crio], limitsFile: true}\nrdmaNamespaces: exclusive\n")
        lines = node.run("apply").stdout.splitlines()[:-1]
        words = {line.split(":")[0] for line in lines}
        expect(words <= {"todo", "done", "refused", "parked"}, True, f"words of apply: {words}")
        by_title = {line.split(": ", 1)[1].split(" (")[0]: line.split(":")[0] for line in lines}
        steps = json.loads(node.run("plan", "-o", "json").stdout)["steps"]
        planned = {step["title"]: step["state"] for step in steps}
        expect(by_title, {title: planned[title] for title in by_title}, "what a plan says of each step after it")


def main() -> int:
    for test in (edits_stay, rights_stay, lock_is_roots, foreign_wishes_are_not_done, plan_and_apply_use_the_same_words):
        test()
    return 0


sys.exit(main())
