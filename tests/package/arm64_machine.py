#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The program of arm64 on a kernel of arm64 with pages of 16 KiB: arm64_machine.py RAILHEAD [pattern…]

The machine is emulated as a whole (scripts/fetch-arm64-machine), and has no network and no disk: what it needs is in its
initial memory file system, which also has the program that runs first (arm64_guest.sh).
"""

import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
SNAPSHOT = TREE / "tests/nodes/dgx-h100.node"
EMULATOR = "qemu-aarch64-static"
LIMIT_S = 400  # some 30 where the machine is alone


def memory_file_system(program: pathlib.Path, machine: pathlib.Path) -> bytes:
    with tempfile.TemporaryDirectory(prefix="railhead-arm64-") as folder:
        root = pathlib.Path(folder)
        for name in ("bin", "proc", "sys", "dev", "tmp"):
            (root / name).mkdir()
        for source, name in ((machine / "busybox", "bin/busybox"), (program, "bin/railhead"), (SNAPSHOT, "node"),
                             (HERE / "arm64_guest.sh", "init")):
            shutil.copy(source, root / name)
            (root / name).chmod(0o755)
        names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
        archive = subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], input=names.encode(), cwd=root, capture_output=True,
                                 check=True)
        return gzip.compress(archive.stdout, 1)


def boot(program: pathlib.Path) -> str:
    """What the machine prints until it switches itself off."""
    fetched = subprocess.run([TREE / "scripts/fetch-arm64-machine"], stdout=subprocess.PIPE, text=True, check=True)
    machine = pathlib.Path(fetched.stdout.strip())
    emulator, libraries = machine / "emulator", machine / "emulator/usr/lib/x86_64-linux-gnu"
    with tempfile.NamedTemporaryFile(prefix="railhead-arm64-") as initial:
        initial.write(memory_file_system(program, machine))
        initial.flush()
        done = subprocess.run(
            [emulator / "lib64/ld-linux-x86-64.so.2", "--library-path", f"{libraries}:{libraries}/pulseaudio",
             emulator / "usr/bin/qemu-system-aarch64", "-M", "virt", "-cpu", "max", "-m", "1024", "-nographic", "-no-reboot",
             "-nic", "none", "-L", emulator / "usr/share/qemu", "-kernel", machine / "vmlinuz", "-initrd", initial.name,
             "-append", "console=ttyAMA0 panic=-1 quiet"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    return done.stdout + done.stderr


class Machine(unittest.TestCase):
    program: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.printed = boot(cls.program).replace("\r", "")
        cls.told = dict(re.findall(r"^(\w+)=(.*)$", cls.printed, re.M))

    def says(self, name: str) -> str:
        self.assertIn(name, self.told, self.printed[-4000:])
        return self.told[name]

    def test_it_is_of_arm64_and_has_large_pages(self) -> None:
        self.assertEqual(("aarch64", "16"), (self.says("machine"), self.says("page")))

    def test_a_snapshot_is_read_as_elsewhere(self) -> None:
        here = subprocess.run([EMULATOR, self.program, "topology", "--snapshot", SNAPSHOT], check=True, capture_output=True,
                              env={key: value for key, value in os.environ.items() if key != "COLUMNS"})
        self.assertEqual(f"0:{hashlib.md5(here.stdout + here.stderr).hexdigest()}", self.says("topology"))
        self.assertRegex(self.says("version"), r"^0:railhead \d")
        self.assertRegex(self.says("doctor"), r"^2:0 FAIL, ")  # 2: much of it is not in a snapshot

    def test_the_machine_itself_is_read_and_recorded(self) -> None:
        self.assertRegex(self.says("here"), r"^0:0 FAIL, ")
        self.assertEqual("0:1", self.says("snapshot"))

    def test_the_agent_serves_its_metrics_and_ends(self) -> None:
        self.assertEqual(("1", "0"), (self.says("gpus"), self.says("agent")), self.printed[-4000:])
        self.assertLess(int(self.says("rss")), 16 * 1024, "KiB")


def main() -> None:
    Machine.program = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
