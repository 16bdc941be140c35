#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup asks a real kernel how a link is set, sets it, and sets it back: the coalescing of a tap device, which
has no rings and no DCB. In a network namespace of its own; it takes root and /dev/net/tun."""

import fcntl
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from expectation import expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
from lib.nic import rdma_nic  # noqa: E402

RAILHEAD = os.environ["RAILHEAD_BIN"]
SKIPPED = 77
TUN = "/dev/net/tun"
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000  # linux/if_tun.h
WANTED = "link: {tap7: {coalesce: {rx-frames: 48}, rings: {rx: 512}, pause: {rx: true}, pfc: [3]}}\n"


def tap(name: str) -> int:
    """A netdev that lives as long as its descriptor."""
    device = os.open(TUN, os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def setup(root: pathlib.Path, verb: str) -> dict[str, dict]:
    wanted = ["--from", "-"] if verb != "revert" else []
    done = subprocess.run([RAILHEAD, "setup", verb, "--host-root", root, "-o", "json", *wanted], input=WANTED,
                          capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"setup {verb}: {done.stderr}")
    return {step["id"]: step for step in json.loads(done.stdout)["steps"]}


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def judge(root: pathlib.Path) -> None:
    for name in ("proc", "sys", "etc", "var/lib"):
        (root / name).mkdir(parents=True)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "sysfs", "sysfs", root / "sys")
    with rdma_nic(root):
        tune(root)


def tune(root: pathlib.Path) -> None:
    coalescing, rings, pause = (f"link.{name}/tap7" for name in ("coalesce.rx-frames", "rings.rx", "pause.rx"))
    plan = setup(root, "plan")
    expect((plan[coalescing]["state"], plan[coalescing]["before"]), ("todo", "0"), "coalescing")
    for step in (rings, pause, "link.pfc/tap7"):
        expect(plan[step]["state"], "refused", step)
        expect("EOPNOTSUPP" in plan[step]["reason"], True, plan[step]["reason"])
    expect(setup(root, "apply")[coalescing]["state"], "done", "set")
    expect(setup(root, "plan")[coalescing]["before"], "48", "as the kernel says")
    back = setup(root, "revert")[f"revert.link/tap7/coalesce.rx-frames"]
    expect((back["before"], back["after"], back["state"]), ("48", "0", "done"), "taken back")
    expect(setup(root, "plan")[coalescing]["before"], "0", "as the kernel says")
    expect(list((root / "var/lib").iterdir()), [], "left behind")


def main() -> int:
    if os.geteuid() != 0 or not os.path.exists(TUN):
        print(f"skipped: needs root and {TUN}")
        return SKIPPED
    if "inside" not in sys.argv:
        inside = ["unshare", "--mount", "--net", sys.executable, __file__, "inside"]
        return subprocess.run(inside, check=False).returncode
    device = tap("tap7")
    with tempfile.TemporaryDirectory(prefix="railhead-link-", ignore_cleanup_errors=True) as folder:
        root = pathlib.Path(folder)
        try:
            judge(root)
        finally:
            for name in ("proc", "sys"):
                subprocess.run(["umount", "--lazy", root / name], check=False, stderr=subprocess.DEVNULL)
    os.close(device)
    print("a link is measured, set and set back")
    return 0


sys.exit(main())
