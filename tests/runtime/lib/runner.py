# SPDX-License-Identifier: Apache-2.0
"""Runs unittest cases: one line a test, the folder of a failed test is kept."""

import importlib
import pathlib
import shutil
import time
import unittest

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def short_name(test: unittest.TestCase) -> str:
    """Without the package: file, class and method."""
    return test.id().partition(".")[2]


class Lines(unittest.TestResult):
    """One line a test; the folder of a test that passed is removed."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self.folder = folder
        self.passed = self.failed = 0
        self._started = 0.0
        self._troubles: list[tuple[str, str]] = []

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()

    @staticmethod
    def _of(case: unittest.TestCase) -> unittest.TestCase:
        return getattr(case, "test_case", case)  # of a sub-test

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        seconds = time.monotonic() - self._started
        name = short_name(test)
        trouble = [text for case, text in self.failures + self.errors if self._of(case) is test]
        if trouble:
            self.failed += 1
            self._troubles.append((name, trouble[0]))
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

    def repeat_failures(self, most: int = 3, lines: int = 15) -> None:
        """The first ones' ends once more, for who sees the end of the output alone."""
        for name, text in self._troubles[:most]:
            print(f"failed: {name}", *text.rstrip().splitlines()[-lines:], sep="\n", flush=True)


def collect(package: pathlib.Path, patterns: list[str], left_out: list[str] = ()) -> unittest.TestSuite:
    """The tests of a package whose name contains one of the patterns, all without patterns; less those left out."""
    suite = unittest.TestSuite()
    for file in sorted(package.glob("[a-z]*.py")):
        module = importlib.import_module(f"{package.name}.{file.stem}")
        for case in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in case:
                chosen = not patterns or any(pattern in test.id() for pattern in patterns)
                if chosen and not any(pattern in test.id() for pattern in left_out):
                    suite.addTest(test)
    return suite
