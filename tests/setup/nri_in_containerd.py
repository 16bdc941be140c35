#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""NRI is off in a real containerd 1.7, as that comes. railhead setup switches it on; then a pod with a GPU gets its
NICs from the agent. Taken back, the file is byte for byte what it was, and the runtime runs on without NRI."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "runtime"), str(HERE.parent)]

from expectation import Wrong, expect  # noqa: E402
from lib import jail, needs, paths  # noqa: E402

SKIPPED = 77
RELEASE = "1.7"


def setup(root: pathlib.Path, verb: str) -> str:
    wanted = ["--from", "-"] if verb != "revert" else []
    done = subprocess.run([paths.railhead(), "setup", verb, "--host-root", root, *wanted], input="nri: true\n",
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"setup {verb}: {done.stdout}{done.stderr}")
    return done.stdout


def judge(folder: pathlib.Path) -> None:
    from lib.agent import Agent
    from lib.containerd import Containerd
    from lib.machine import H100, Machine

    root = folder / "node"
    runtime = Containerd(RELEASE, folder / "c")
    runtime.has_nri = False  # its file names no `disable`: in 1.7 that is off
    read = runtime.dir / "config.toml"
    own = "# the distribution's own words\n" + read.read_text().replace("  disable = false\n", "  # no word of it\n")
    file = root / "etc/containerd/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(own)
    read.write_text(own)
    machine = Machine(H100)
    env = {"NVIDIA_VISIBLE_DEVICES": machine.gpus[0].uuid}
    try:
        runtime.start()
        runtime.load_image()
        expect(runtime.nri_socket.exists(), False, "NRI before")
        expect(runtime.cri.run_pod().run(env=env).look().nodes, {}, "a pod before")
        setup(root, "apply")
        runtime.cri.remove_all_pods()
        runtime.has_nri = True
        shutil.copy(file, read)
        runtime.restart()
        agent = Agent(runtime.nri_socket, folder / "agent.log", machine.snapshot).start()
        inside = runtime.cri.run_pod().run(env=env).look()
        expect(sorted(inside.nodes), sorted(machine.devices(machine.nearest(0))), "a pod's NICs")
        agent.terminate()
        runtime.cri.remove_all_pods()
        setup(root, "revert")
        expect(file.read_text(), own, "taken back")
        runtime.stop()
        runtime.nri_socket.unlink(missing_ok=True)
        runtime.has_nri = False
        shutil.copy(file, read)
        runtime.start()
        expect(runtime.nri_socket.exists(), False, "NRI afterwards")
        expect(runtime.cri.run_pod().run(env=env).look().nodes, {}, "a pod afterwards")
    except BaseException:
        print(runtime.log.read_text(errors="replace")[-3000:])
        raise
    finally:
        runtime.remove()


def run() -> int:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="railhead-nri-"))
    try:
        judge(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"containerd {RELEASE}: NRI off, on and working, off and as it was")
    return 0


def main() -> int:
    lacking = needs.missing()
    if lacking:
        print(f"skipped, needs {', '.join(lacking)}")
        return SKIPPED
    os.environ["RAILHEAD_BIN"] = os.path.abspath(os.environ["RAILHEAD_BIN"])
    paths.fetch("containerd", RELEASE)
    return jail.run(run)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        traceback.print_exc()
        sys.exit(f"nri_in_containerd.py: {error}")
