#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts each fault of mutations.py into a copy of the source tree, builds what it touches, and runs tests
until one fails: the unit tests of its folder, then those of the folders that use it, then the machines of
tests/nodes. A mutation that no test notices has SURVIVED: a test is missing.

The copy is kept below RAILHEAD_CACHE (else ~/.cache/railhead), so that a second run builds little. The
checkout that it is made of is only read. Exit code 0: all were caught; 1: not so; 2: nothing could be said.
"""
import argparse
import fcntl
import fnmatch
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from mutations import MUTATIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lint"))
from source_tree import layers, reach  # noqa: E402  (one reading of the layers for all)

RESULT = pathlib.Path(__file__).with_name("result.txt")
BUILD_SECONDS = 3600
TEST_SECONDS = 120  # the slowest program needs 10; a mutation may make a loop that does not end
TEST_BYTES = 4 << 30
OWN, OTHERS, NODES = "by unit tests of its folder", "by other unit tests", "by the machines of tests/nodes"


class Stop(Exception):
    """Nothing can be said of any mutation."""


def command(words, seconds, cwd, limited=False):
    """Exit status (None: it did not end in time) and output, both streams together."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (TEST_BYTES, TEST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    child = subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", start_new_session=True, stdin=subprocess.DEVNULL,
                             preexec_fn=limit if limited else None)
    try:
        output, _ = child.communicate(timeout=seconds)
        return child.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return None, child.communicate()[0]
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)


def place_of(mutation, text):
    """Begin and end of what the mutation replaces. Line breaks and indentation do not count."""
    pattern = r"\s+".join(re.escape(word) for word in mutation.before.split())
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise Stop(f"{mutation.name}: src/{mutation.file} has `{mutation.before}` {len(found)} times, not once; "
                   "mend the entry of tests/mutations/mutations.py")
    return found[0].span()


def list_problems():
    """What is wrong with the list, a sentence each."""
    names = [mutation.name for mutation in MUTATIONS]
    problems = [f"two mutations are called {name}" for name in sorted(set(names)) if names.count(name) > 1]
    for mutation in MUTATIONS:
        path = ROOT / "src" / mutation.file
        try:
            place_of(mutation, path.read_text())
        except FileNotFoundError:
            problems.append(f"{mutation.name}: there is no src/{mutation.file}")
        except Stop as problem:
            problems.append(str(problem))
    return problems


class Copy:
    """A copy of the source tree with a build of its own."""

    def __init__(self):
        cache = pathlib.Path(os.environ.get("RAILHEAD_CACHE", pathlib.Path.home() / ".cache" / "railhead"))
        self.root = cache / "mutations" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
        if self.root.resolve().is_relative_to(ROOT):
            raise Stop(f"{self.root} is inside of the checkout")
        self.build_folder = self.root / "build" / "dev"
        os.environ["CCACHE_BASEDIR"] = str(self.root)  # what the checkout's build compiled serves here
        self.root.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.root.with_suffix(".lock"), "w", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Stop(f"another run uses {self.root}") from None

    def take_over(self):
        """Makes the copy equal to the checkout. Only what differs is written: the time of a file is what
        ninja goes by, and contents tell where a run that was killed has left a mutation."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout.split("\0")
        wanted = {name for name in listed if name and (ROOT / name).is_file()}
        for folder, folders, files in os.walk(self.root):
            at = pathlib.Path(folder)
            if at == self.root and "build" in folders:
                folders.remove("build")
            for name in files:
                if str((at / name).relative_to(self.root)) not in wanted:
                    (at / name).unlink()
        for name in wanted:
            ours, theirs = self.root / name, ROOT / name
            if ours.is_file() and ours.read_bytes() == theirs.read_bytes():
                continue
            ours.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(theirs, ours)
            shutil.copymode(theirs, ours)

    def build(self, targets):
        """Whether it compiles, and what was said."""
        if not (self.build_folder / "build.ninja").exists():
            status, output = command(["cmake", "--preset", "dev"], BUILD_SECONDS, self.root)
            if status != 0:
                raise Stop(output)
        status, output = command(["ninja", "--quiet", "-C", str(self.build_folder), *targets], BUILD_SECONDS,
                                 self.root)
        return status == 0, output


class UnitTests:
    """One test program."""

    def __init__(self, layer, kind):
        self.layer = layer
        self.kind = kind
        self.target = f"test_{layer}"

    def first_failure(self, copy):
        folder = copy.build_folder / "tests" / "unit"
        status, output = command([folder / self.target, "--gtest_fail_fast"], TEST_SECONDS, folder, limited=True)
        if status == 0:
            return None
        failed = re.search(r"^\[  FAILED  \] ([\w./]+)", output, re.MULTILINE)
        if failed:
            return f"unit/{self.layer}: {failed.group(1)}"
        begun = re.findall(r"^\[ RUN      \] ([\w./]+)", output, re.MULTILINE)
        how = "does not end" if status is None else f"ends with status {status}"
        return f"unit/{self.layer}: {begun[-1] if begun else self.target} ({how})"


class Machines:
    """Golden outputs and what is expected by hand of every machine of tests/nodes."""

    kind = NODES
    target = "railhead"

    def first_failure(self, copy):
        status, output = command(["ctest", "--test-dir", copy.build_folder / "tests" / "nodes", "--timeout",
                                  str(2 * TEST_SECONDS), "-j2", "--stop-on-failure"], 8 * TEST_SECONDS,
                                 copy.root)
        if status == 0:
            return None
        failed = re.search(r"^\s*\d+ - (.*?) \((?:Failed|Timeout|\w+)\)", output, re.MULTILINE)
        return failed.group(1) if failed else "nodes: ctest failed"


def tests_of(mutation, graph):
    """Cheapest first. Who does not link the folder cannot notice."""
    folder = mutation.file.split("/")[0]
    users = [layer for layer in graph if layer != folder and folder in reach(graph, layer)]
    with_tests = [layer for layer in users if list((ROOT / "tests" / "unit" / layer).glob("*_test.cpp"))]
    by_distance = sorted(with_tests, key=lambda layer: len(reach(graph, layer)))
    return [UnitTests(folder, OWN), *(UnitTests(layer, OTHERS) for layer in by_distance), Machines()]


def judge(mutation, copy, graph, sound):
    """(kind, text): which tests caught it; kind is None where it was not caught. `sound` has the programs that
    are known to pass without a mutation: one that fails by itself catches nothing."""
    path = copy.root / "src" / mutation.file
    text = path.read_text()
    begin, end = place_of(mutation, text)
    try:
        for tests in tests_of(mutation, graph):
            if tests.target not in sound:
                check_without_mutation(tests, copy)
                sound.add(tests.target)
            path.write_text(text[:begin] + mutation.after + text[end:])
            compiles, output = copy.build([tests.target])
            if not compiles:
                print(output)
                return None, "DOES NOT COMPILE"
            failure = tests.first_failure(copy)
            path.write_text(text)
            if failure:
                return tests.kind, f"caught by {failure}"
        return None, "SURVIVED"
    finally:
        path.write_text(text)


def check_without_mutation(tests, copy):
    print(f"building and running {tests.target} without a mutation", flush=True)
    compiles, output = copy.build([tests.target])
    if not compiles:
        raise Stop(output)
    failure = tests.first_failure(copy)
    if failure:
        raise Stop(f"without any mutation {failure} fails")


def summary(chosen, kinds):
    caught = sum(1 for kind in kinds if kind)
    by = ", ".join(f"{kinds.count(kind)} {kind}" for kind in (OWN, OTHERS, NODES) if kind in kinds)
    return f"{len(chosen)} mutations, {caught} caught" + (f" ({by})" if by else "") + f", {len(chosen) - caught} not"


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "tests", ":!tests/mutations/result.txt")
    return git("log", "-1", "--format=%h (%cs) %s") + (", with changes that are not committed" if changed else "")


def run(options):
    for problem in list_problems():
        raise Stop(problem)
    chosen = [mutation for mutation in MUTATIONS
              if not options.only or any(fnmatch.fnmatch(mutation.name, one) for one in options.only)]
    if not chosen:
        raise Stop("no mutation has such a name")
    if options.write and len(chosen) < len(MUTATIONS):
        raise Stop("--write keeps the result of all mutations, so it does not go with --only")
    graph = layers()
    tree = commit()
    copy = Copy()
    copy.take_over()
    print(f"in {copy.root}", flush=True)
    sound = set()
    width = max(len(mutation.name) for mutation in MUTATIONS)
    lines, kinds = [], []
    for mutation in chosen:
        started = time.monotonic()
        kind, text = judge(mutation, copy, graph, sound)
        lines.append(f"{mutation.name:{width}}  {text}")
        kinds.append(kind)
        print(f"{lines[-1]}  ({time.monotonic() - started:.0f} s)", flush=True)
        if kind is None:
            print(f"{'':{width}}  src/{mutation.file}: {mutation.fault}", flush=True)
    lines.append(summary(chosen, kinds))
    print(lines[-1])
    if options.write:
        RESULT.write_text(f"./dev mutations --write, at {tree}\n\n" + "\n".join(lines[:-1]) + f"\n\n{lines[-1]}\n")
    return 1 if None in kinds else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutations, by name or pattern")
    parser.add_argument("--write", action="store_true", help="keep the result as tests/mutations/result.txt")
    options = parser.parse_args()
    os.environ.update(CCACHE_NOHASHDIR="1", PYTHONDONTWRITEBYTECODE="1")
    try:
        return run(options)
    except Stop as why:
        print(why, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
