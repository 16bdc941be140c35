#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests against a real container runtime: run.py --runtime 1.7|2.4 [pattern…]

A pattern selects tests whose name contains it. One line a test, then a summary; exit code 1 if a
test failed, 77 if nothing could be run here. Needs root. RAILHEAD_BIN names the program.
"""

import argparse
import importlib
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from lib import jail, needs, paths  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


class Lines(unittest.TestResult):
    """One line a test; the folder of a test that passed is removed."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self.folder = folder
        self.passed = self.failed = 0
        self._started = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()

    @staticmethod
    def _of(case: unittest.TestCase) -> unittest.TestCase:
        return getattr(case, "test_case", case)  # of a sub-test

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        seconds = time.monotonic() - self._started
        name = test.id().removeprefix("cases.")
        trouble = [text for case, text in self.failures + self.errors if self._of(case) is test]
        if trouble:
            self.failed += 1
            print(f"FAIL  {seconds:5.1f} s  {name}\n{''.join(trouble)}", flush=True)
            print(f"      kept: {self.folder / name}", flush=True)
            return
        shutil.rmtree(self.folder / name, ignore_errors=True)
        reason = next((why for case, why in self.skipped if case is test), None)
        if reason is not None:
            print(f"skip  {seconds:5.1f} s  {name}: {reason}", flush=True)
            return
        self.passed += 1
        print(f"ok    {seconds:5.1f} s  {name}", flush=True)


def collect(patterns: list[str]) -> unittest.TestSuite:
    suite = unittest.TestSuite()
    for file in sorted((HERE / "cases").glob("[a-z]*.py")):
        module = importlib.import_module(f"cases.{file.stem}")
        for case in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in case:
                if not patterns or any(pattern in test.id() for pattern in patterns):
                    suite.addTest(test)
    return suite


def run(version: str, patterns: list[str]) -> int:
    from lib.case import RuntimeCase
    from lib.containerd import Containerd

    began = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"railhead-{version}-"))
    runtime = Containerd(version, folder / "c")
    result = Lines(folder)
    try:
        runtime.start()
        runtime.load_image()
        RuntimeCase.runtime, RuntimeCase.folder = runtime, folder
        collect(patterns).run(result)
    finally:
        runtime.remove()
        failed = result.failed
        if failed == 0 and sys.exc_info()[0] in (None, jail.Interrupted):
            shutil.rmtree(folder)
        else:
            print(f"containerd's log: {runtime.log}")
    seconds = time.monotonic() - began
    print(
        f"containerd {version}: {result.passed} passed, {failed} failed, "
        f"{len(result.skipped)} skipped in {seconds:.0f} s"
    )
    return 1 if failed or not result.passed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=("1.7", "2.4"), required=True)
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    lacking = needs.missing()
    if lacking:
        print(f"containerd {options.runtime}: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    paths.fetch_containerd(options.runtime)
    return jail.run(lambda: run(options.runtime, options.pattern))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        traceback.print_exc()
        sys.exit(f"run.py: {error}")
