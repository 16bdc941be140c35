#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup where it cannot write: a read-only file system and a full disk. It says so, ends, and nothing
is half done. And where the journal's folder is a mount, as in the init container. The file systems are small tmpfs in
a mount namespace of our own, for which it takes root."""

import os
import pathlib
import subprocess
import sys
import tempfile

RAILHEAD = os.environ["RAILHEAD_BIN"]
WANTED = "memlock: {services: [containerd]}\nsysctl: {vm.swappiness: 1}\n"
SKIPPED = 77


def setup(root: pathlib.Path, verb: str) -> subprocess.CompletedProcess:
    wanted = ["--from", "-"] if verb == "apply" else []
    return subprocess.run([RAILHEAD, "setup", verb, "--host-root", root, *wanted], input=WANTED,
                          capture_output=True, text=True)


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def files(root: pathlib.Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
            for path in root.rglob("*") if path.name != "filler"}


def fill(root: pathlib.Path) -> None:
    with open(root / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass


def expect(condition: bool, what: str, done: subprocess.CompletedProcess) -> None:
    if not condition:
        raise SystemExit(f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def node(root: pathlib.Path) -> dict[str, bytes | None]:
    mount("-t", "tmpfs", "-o", "size=256k,mode=0755", "tmpfs", root)
    (root / "usr/lib/systemd/system").mkdir(parents=True)
    (root / "usr/lib/systemd/system/containerd.service").write_text("[Service]\n")
    (root / "etc").mkdir()
    return files(root)


def main() -> int:
    if os.geteuid() != 0:
        return SKIPPED
    if "inside" not in sys.argv:
        return subprocess.run(["unshare", "--mount", sys.executable, __file__, "inside"], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="railhead-media-", ignore_cleanup_errors=True) as folder:
        root = pathlib.Path(folder)
        before = node(root)
        mount("-o", "remount,ro", root)
        done = setup(root, "apply")
        expect(done.returncode != 0 and "read-only file system" in done.stdout + done.stderr, "read-only", done)
        expect(files(root) == before, "read-only, and something has changed", done)
        mount("-o", "remount,rw", root)

        fill(root)
        done = setup(root, "apply")
        expect(done.returncode != 0 and "no space left" in (done.stdout + done.stderr).lower(), "full", done)
        (root / "filler").unlink()
        done = setup(root, "revert")
        expect(done.returncode == 0 and files(root) == before, f"taken back after a full disk: {files(root)}", done)

        done = setup(root, "apply")
        expect(done.returncode == 0, "with room again", done)
        after = files(root)
        fill(root)
        done = setup(root, "revert")
        expect(done.returncode in (0, 1, 2), "revert on a full disk", done)
        (root / "filler").unlink()
        done = setup(root, "revert")
        expect(done.returncode == 0 and files(root) == before, "taken back once there is room", done)
        expect(after != before, "it did nothing", done)

        (root / "var/lib/railhead").mkdir(parents=True)
        mount("-t", "tmpfs", "-o", "size=64k,mode=0755", "tmpfs", root / "var/lib/railhead")
        before = files(root)
        done = setup(root, "apply")
        expect(done.returncode == 0, "with a journal on a mount", done)
        done = setup(root, "revert")
        expect(done.returncode == 0 and files(root) == before, "taken back with a journal on a mount", done)
        done = setup(root, "revert")
        expect(done.returncode == 0, "nothing to take back on a mount", done)
        subprocess.run(["umount", root / "var/lib/railhead", root], check=True)
    print("read-only, full, and with a mount: said, and taken back")
    return 0


sys.exit(main())
