#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command keeps the conventions of docs/commands.md: formats, exit codes, headers, colours, times, mistyped words.

A command without a row in RUNS fails, and so does an option whose meaning is another than in another command."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from commands import ROOT, arguments, output
from documents import NCCL_LOG, NFS_MOUNT

NODES = ROOT / "tests/nodes"
NODE = str(NODES / "dgx-h100.node")
BROKEN = str(NODES / "dgx-h100-degraded.node")
POLICY = str(ROOT / "examples/k8s-rdma-shared-dev-plugin.json")
FOLDER = "FOLDER"  # stands for the test's own folder
TREE = ("--host-root", f"{FOLDER}/root")
# Command -> how it is run here.
RUNS = {
    "topology": ("--snapshot", BROKEN),
    "affinity": ("--snapshot", BROKEN),
    "nics": ("--snapshot", BROKEN),
    "pools": ("--snapshot", BROKEN),
    "doctor": ("--snapshot", BROKEN),
    "pods": ("--snapshot", str(sorted((ROOT / "tests/pods").glob("*.node"))[0])),
    "nfs": TREE,
    "nccl-log": (f"{FOLDER}/nccl.log",),
    "snapshot": ("--snapshot", NODE),
    "bench pair": ("none", "none"),
    "bench client": ("127.0.0.1:1", "--key-file", f"{FOLDER}/nccl.log"),
    "bench server": ("--bind-address", "127.0.0.1:0", "--nics", "none"),
    "config": ("--snapshot", NODE),
    "migrate": (POLICY,),
    "setup plan": ("--profile", "roce", *TREE),
    "setup apply": ("--dry-run", "--profile", "roce", *TREE),
    "setup verify": ("--profile", "roce", *TREE),
    "setup revert": ("--dry-run", *TREE),
    "setup status": TREE,
    "setup machine-config": ("--profile", "roce"),
    "setup profile": (),
    "lint": tuple(map(str, sorted((ROOT / "examples/jobs").iterdir()))),
    "version": (),
    "completion": ("bash",),
    "help": (),
}
# What prints no data of a format, and why.
WITHOUT_FORMATS = {
    "agent": "it serves", "bench server": "it serves", "snapshot": "a snapshot has one format", "completion": "a script",
    "help": "a page", "setup machine-config": "a manifest, as oc reads it", "setup profile": "a file, as --from reads it",
}
GROUPS = {"", "bench", "setup"}
FORMATS = ["table", "wide", "json", "yaml"]
# Of options: their meaning differs, and why.
TWO_MEANINGS = {
    "--gpus": "the agent's and config's: which NICs GPUs get; affinity's: which GPUs",
    "--explain": "of a rule by its id; of what is printed, as a whole",
    "--all": "what else is shown, in the words of each command",
    "--list": "checks or rules",
    "--before": "for errors, for traffic",
    "--interval": "likewise",
    "--nri": "the doctor looks at what the agent does",
    "--doctor-history": "likewise",
    "--nics": "this side's, those of clients",
    "--kubeconfig": "default of a person and of an agent",
    "--bind-address": "of pages, of a server for clients",
}
USAGE, CANNOT_TELL = 64, 2
NOTES = ("WARNINGS", "EMPTY", "REMARKS", "CONFLICTS")  # titles, of what is no data
MOVING = {"milliseconds", "time", "started"}  # keys whose values are of the moment


class Command:
    def __init__(self, name, page):
        self.name = name
        self.words = name.split()
        self.page = page
        # "-o, --output SHAPE" with what follows on this line and the next ones.
        self.options = {}
        for match in re.finditer(r"^  (?:-\w, )?(--[\w-]+)(\[?=?[^\n]*(?:\n {10,}\S[^\n]*)*)", page, re.M):
            self.options[match[1]] = " ".join(match[2].split())

    def formats(self):
        return self.options["--output"].split()[0].split("|") if "--output" in self.options else []


def all_commands(railhead):
    """Of railhead's own page; bench's come from there, too."""
    page = output(railhead, "help", "--markdown")
    parts = re.split(r"^## railhead", page, flags=re.M)[1:]
    return [Command(part.partition("\n")[0].strip(), part.partition("\n")[2]) for part in parts]


class Conventions:
    def __init__(self, railhead, folder):
        self.railhead = railhead
        self.folder = folder
        self.problems = []
        self.mistyped = set()
        (folder / "nccl.log").write_text(NCCL_LOG)
        proc = folder / "root/proc/self"
        proc.mkdir(parents=True)
        (folder / "root/sys/class").mkdir(parents=True)
        (proc / "mountstats").write_text(NFS_MOUNT)

    def run(self, command, *more, plain=False, out=subprocess.PIPE, closed=False, **variables):
        """The command as RUNS has it with more words; plain: without what RUNS has."""
        words = () if plain else RUNS.get(command.name, ())
        words = [word.replace(FOLDER, str(self.folder)) for word in words]
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("COLUMNS", "NO_COLOR") and not key.startswith(("RAILHEAD_", "RDMA_"))}
        shell = ["sh", "-c", 'exec "$@" >&-', "sh"] if closed else []
        return subprocess.run([*shell, self.railhead, *command.words, *words, *more], stdout=out, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, env={**environment, **variables}, timeout=60, check=False)

    def expect(self, condition, command, what):
        if not condition:
            self.problems.append(f"railhead {command.name}: {what}")

    def check_usage(self, command):
        """What is wrong is named, and nothing is printed."""
        for option in ("--no-such-option", "-Z"):
            said = self.run(command, option)
            self.expect((said.returncode, said.stdout) == (USAGE, "") and f'"{option}"' in said.stderr, command,
                        f"{option}: {said.returncode}, {said.stderr!r}")
        for option in set(command.options) - self.mistyped:
            self.mistyped.add(option)
            mistyped = option[:-1] + "x" + option[-1]
            said = self.run(command, mistyped, "x", plain=True)
            self.expect(said.returncode == USAGE and "did you mean --" in said.stderr, command, f"{mistyped}: {said.stderr!r}")

    def check_shapes(self, command):
        """Times are times everywhere."""
        for option, text in command.options.items():
            shape = text.split()[0] if text else ""
            if shape == "TIME":
                for wrong in ("5x", "-1s", "ten", "1h30m"):
                    said = self.run(command, f"{option}={wrong}")
                    self.expect((said.returncode, said.stdout) == (USAGE, ""), command,
                                f"{option}={wrong}: {said.returncode}, {said.stderr!r}")

    def document(self, command, form):
        said = self.run(command, "-o", form)
        try:
            found = said.stdout and (json.loads(said.stdout) if form == "json" else yaml.safe_load(said.stdout))
            return said.returncode, still(found)
        except (ValueError, yaml.YAMLError) as error:
            return said.returncode, f"{error}: {said.stdout[:60]!r} {said.stderr!r}"

    def check_formats(self, command):
        formats = command.formats()
        if not formats:
            self.expect(command.name in WITHOUT_FORMATS, command, "has no -o")
            return
        self.expect(formats[:4] == FORMATS and command.name not in WITHOUT_FORMATS, command, f"has formats {formats}")
        said = self.run(command, "-o", "jsn")
        self.expect((said.returncode, said.stdout) == (USAGE, "") and "did you mean json?" in said.stderr, command, said.stderr)
        code, document = self.document(command, "json")
        self.expect(isinstance(document, dict) and {"apiVersion", "kind"} <= set(document) or code == CANNOT_TELL, command,
                    f"-o json is no document: {document}")
        self.expect(self.document(command, "yaml") == (code, document), command, "-o yaml is not -o json")
        for form in formats:
            said = self.run(command, "-o", form)
            self.expect(said.returncode == code, command, f"ends with {said.returncode} as {form}, with {code} as json")
            self.expect("\x1b" not in said.stdout, command, f"-o {form} has colours in a file")

    def check_tables(self, command):
        if not command.formats():
            return
        said, bare = self.run(command), self.run(command, "--no-headers")
        text = moment(said.stdout)
        data, everything, rows, without = (words_of(printed) for printed in (
            said.stdout, said.stdout + said.stderr, bare.stdout, bare.stdout + bare.stderr))
        headers = [line for line in everything if line and line not in without]
        self.expect(all(re.match("[A-Z]{3,} ", line) for line in headers), command, f"--no-headers leaves out {headers}")
        self.expect(set(without) <= set(everything), command, "--no-headers changes other lines")
        self.expect(not any(line in NOTES for line in data), command, f"has notes on standard output: {data}")
        if headers:
            table = data[data.index(headers[0]) + 1:]
            self.expect(rows == table[:(table + [""]).index("")], command, f"--no-headers: standard output is {rows}")
        coloured = moment(self.run(command, "--color", "always", NO_COLOR="1").stdout)
        self.expect(re.sub(r"\x1b\[\d*m", "", coloured) == text, command, "--color always changes more than colours")
        self.expect(self.run(command, "--color", "yes").returncode == USAGE, command, "--color yes")

    def check_endings(self, command):
        """The exit code is one that the help names; what cannot be written is no success."""
        said = self.run(command)
        codes = re.search(r"Exit codes: (.*?)\n(?:Example|[A-Z-])", command.page + "\nExample", re.S)
        named = {int(code) for code in re.findall(r"(?:^|[;,] |\n)(\d+)\b", codes[1])} if codes else set()
        self.expect(0 in named, command, "the help has no exit codes")
        self.expect(said.returncode in named, command, f"ends with {said.returncode}, its help has {sorted(named)}: {said.stderr}")
        if said.stdout:
            with open("/dev/full", "w") as full:
                lost = self.run(command, out=full)
            self.expect(lost.returncode == CANNOT_TELL and "could not be written" in lost.stderr, command,
                        f"into a full disk: {lost.returncode}, {lost.stderr!r}")
            closed = self.run(command, closed=True)
            self.expect(closed.returncode == CANNOT_TELL, command, f"ends with {closed.returncode} where standard output is closed")

    def check_files(self, command):
        """A file that is not there is named; a configuration that cannot be used is the user's."""
        nothing = str(self.folder / "none.yaml")
        for option, code in (("--snapshot", CANNOT_TELL), ("--config", USAGE)):
            # config says before an agent's start that it would not start.
            if option not in command.options or (command.name, option) == ("config", "--snapshot"):
                continue
            words = [] if option == "--snapshot" else RUNS[command.name]
            said = self.run(command, *words, option, nothing, plain=True)
            self.expect((said.returncode, said.stdout) == (code, "") and nothing in said.stderr, command,
                        f"{option} {nothing}: {said.returncode}, {said.stderr!r}")

    def check(self, command):
        if command.name in GROUPS:
            for words in ((), ("nothing",)):
                said = self.run(command, *words)
                self.expect((said.returncode, said.stdout) == (USAGE, ""), command, f"{words}: {said.returncode}")
            return
        self.check_usage(command)
        if command.name == "agent":  # config has the same options, and ends
            return
        if command.name not in RUNS:
            self.expect(False, command, "has no row in RUNS of tests/cli/conventions.py")
            return
        for check in (self.check_shapes, self.check_formats, self.check_tables, self.check_endings, self.check_files):
            check(command)

    def check_meanings(self, commands):
        """An option is the same wherever it is, but for what a row says."""
        seen = {}
        for command in commands:
            for option, text in command.options.items():
                seen.setdefault(option, set()).add(text)
        differing = {option for option, texts in seen.items() if len(texts) > 1} - {"--output"}
        for option in sorted(differing - set(TWO_MEANINGS)):
            self.problems.append(f"{option} has several meanings: {sorted(seen[option])}")
        self.problems += [f"{option} has one meaning, and TWO_MEANINGS names it" for option in sorted(set(TWO_MEANINGS) - differing)]


def still(value):
    if isinstance(value, dict):
        return {key: still(one) for key, one in value.items() if key not in MOVING}
    return [still(one) for one in value] if isinstance(value, list) else value


def words_of(text):
    """Its lines; a column is as wide as its header, too."""
    return [" ".join(line.split()) for line in moment(text).splitlines()]


def moment(text):
    return re.sub(r"in \d+ m?s\b", "in N ms", text)


def main():
    railhead = str(pathlib.Path(arguments().railhead).resolve())
    with tempfile.TemporaryDirectory() as folder:
        conventions = Conventions(railhead, pathlib.Path(folder))
        commands = all_commands(railhead)
        for command in commands:
            conventions.check(command)
        conventions.check_meanings(commands)
    print("\n".join(conventions.problems))
    print(f"conventions: {len(commands)} commands, {len(conventions.problems)} problem(s)")
    return 1 if conventions.problems else 0


if __name__ == "__main__":
    sys.exit(main())
