#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--watch prints again when something is another than before, and nothing when nothing is."""
import pathlib
import subprocess
import sys
import tempfile
import time

from commands import ROOT, arguments

WAITED = 60  # seconds for a look every two


def main():
    railhead = arguments().railhead
    with tempfile.TemporaryDirectory() as folder:
        node = pathlib.Path(folder, "node")
        printed = pathlib.Path(folder, "printed")
        node.write_text((ROOT / "tests/nodes/dgx-h100.node").read_text())
        with printed.open("w") as out:
            watcher = subprocess.Popen([railhead, "nics", "-w", "--snapshot", node], stdout=out)
            try:
                until = time.monotonic() + WAITED
                while "NAME" not in printed.read_text() and time.monotonic() < until:
                    time.sleep(0.1)
                time.sleep(5)
                if printed.read_text().count("NAME ") != 1:
                    print("what did not change was printed again")
                    return 1
                other = pathlib.Path(folder, "other")
                other.write_text((ROOT / "tests/nodes/dgx-h100-degraded.node").read_text())
                other.rename(node)
                while printed.read_text().count("NAME ") != 2 and time.monotonic() < until:
                    time.sleep(0.1)
                if printed.read_text().count("NAME ") != 2 or "DOWN" not in printed.read_text():
                    print("what changed was not printed")
                    return 1
            finally:
                watcher.kill()
                watcher.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
