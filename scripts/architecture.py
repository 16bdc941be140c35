# SPDX-License-Identifier: Apache-2.0
"""Of which files a program of some architecture is made, and of which Debian packages they are."""

import os
import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
# The loader, which libc names, too, is there already where the program asks for it.
NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[((?!ld-linux).+)\]")
LOADER = re.compile(r"\[Requesting program interpreter: (.+)\]")


def output(*words: object, check: bool = True, **more: object) -> str:
    """Standard output; ends the program with the command's error output where it fails."""
    done = subprocess.run([str(w) for w in words], **{"cwd": TREE, **more}, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(str(w) for w in words)}: {done.stderr.strip()}")
    return done.stdout


def version() -> str:
    return re.search(r"project\(railhead VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1]


class Architecture:
    """This machine's, or the one that a build folder was configured for, with the libraries of its sysroot."""

    def __init__(self, build: pathlib.Path) -> None:
        cache = build / "CMakeCache.txt"
        found = re.search(r"^RAILHEAD_SYSROOT:\w+=(.+)$", cache.read_text(), re.M) if cache.exists() else None
        self.sysroot = pathlib.Path(found[1]).resolve() if found else None
        self.name = "arm64" if found else output("dpkg", "--print-architecture").strip()
        self.triplet = TRIPLETS[self.name]
        self._tools = f"{self.triplet}-" if self.sysroot else ""
        self._libraries = f"{self.sysroot}/usr/lib/{self.triplet}" if self.sysroot else ""

    def here(self, path: str) -> pathlib.Path:
        """Where on this machine is what a program finds at `path`."""
        return pathlib.Path(f"{self.sysroot or ''}{path}")

    def strip(self, program: pathlib.Path, into: pathlib.Path) -> None:
        output(f"{self._tools}strip", "-o", into, program)

    def run(self, program: pathlib.Path, *words: str) -> str:
        """What a program prints, by an emulator of the processor where it is not of this machine's."""
        emulator = (f"qemu-{self.triplet.split('-')[0]}-static", "-L", self.sysroot) if self.sysroot else ()
        return output(*emulator, program, *words, env={key: value for key, value in os.environ.items() if key != "COLUMNS"})

    def of_compiler(self, name: str) -> str:
        """The path of an archive that the compiler links without being told."""
        where = (f"--sysroot={self.sysroot}", f"-B{self._libraries}") if self.sysroot else ()
        return output(f"{self._tools}g++", *where, f"-print-file-name={name}").strip()

    def _find(self, library: str) -> str | None:
        folders = (f"/lib/{self.triplet}", f"/usr/lib/{self.triplet}", "/lib", "/usr/lib", "/usr/local/lib")
        return next((f"{folder}/{library}" for folder in folders if self.here(f"{folder}/{library}").exists()), None)

    def libraries(self, program: pathlib.Path) -> list[str]:
        """The shared libraries that a program or library loads, the loader among them; none of a static one."""
        found: list[str] = []
        todo = [program]
        while todo:
            told = output("readelf", "--wide", "--dynamic", "--program-headers", todo.pop(), env={**os.environ, "LC_ALL": "C"})
            for path in (*LOADER.findall(told), *map(self._find, NEEDED.findall(told))):
                if path and path not in found:
                    found.append(path)
                    todo.append(self.here(path))
        return found

    def packages(self, files: list[str]) -> list["Package"]:
        """The Debian packages that files of this machine are from; files of no package are passed over."""
        wanted = {*files, *(os.path.realpath(path) for path in files)}
        inside = {path.removeprefix(str(self.sysroot)) for path in wanted if self.sysroot and path.startswith(str(self.sysroot))}
        outside = {path for path in wanted if not (self.sysroot and path.startswith(str(self.sysroot)))}
        found = set()
        for paths, database in ((inside, f"{self.sysroot}/var/lib/dpkg"), (outside, "/var/lib/dpkg")):
            # By either name: dpkg knows only one of /lib and /usr/lib.
            names = sorted({*paths, *(path.removeprefix("/usr") for path in paths)})
            told = output("dpkg-query", f"--admindir={database}", "--search", *names, check=False) if names else ""
            found |= {Package(name.strip(), database) for line in told.splitlines()
                      for name in line.rpartition(": ")[0].split(",")}
        return sorted(found, key=lambda one: one.name)


class Package:
    """A Debian package, in the database that knows it."""

    def __init__(self, name: str, database: str) -> None:
        self.name = name
        self._database = database

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Package) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def show(self, form: str) -> str:
        return output("dpkg-query", f"--admindir={self._database}", "--show", f"--showformat={form}", self.name)
