# SPDX-License-Identifier: Apache-2.0
"""Reports from the field, each with the answer that is right: tests/cases/NN-name/case.txt and its inputs.

A case.txt has comments (#: the public source and what was wrong there) and one line for each run:

    COMMAND | says TEXT | never TEXT | json PATH=VALUE | exit CODE

COMMAND is what follows `railhead`, run in the folder of the case, $CASE. `says` and `never` look at standard output and
standard error together and may be repeated; they name codes, ids, keys and values, not sentences. `json` looks at a value
of the document on standard output: names and [KEY=VALUE] or [NUMBER] of a list, as
findings[id=runtime.nri].state=FAIL; VALUE `null` is null, and `absent` means that the path is not there.
A line without `exit` expects 0. Spaces around the bars are not part of a field.

usage: run.py RAILHEAD [PATTERN…]
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ABSENT = object()


class Malformed(Exception):
    """A case that cannot be read."""


def at(document, path):
    """The value at a path, or ABSENT."""
    value = document
    for name, inside in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", path):
        if name:
            value = value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
        elif "=" in inside:
            key, wanted = inside.split("=", 1)
            found = [one for one in value if isinstance(one, dict) and str(one.get(key)) == wanted] if isinstance(value, list) else []
            value = found[0] if found else ABSENT
        else:
            index = int(inside)
            value = value[index] if isinstance(value, list) and index < len(value) else ABSENT
        if value is ABSENT:
            return ABSENT
    return value


def is_equal(value, wanted):
    if wanted == "absent":
        return value is ABSENT
    if value is ABSENT:
        return False
    if value is None or isinstance(value, bool):
        return json.dumps(value) == wanted
    return str(value) == wanted


def faults_of(line, folder, railhead):
    """What one run did otherwise than its line says."""
    fields = [field.strip() for field in line.split(" | ")]
    expected_exit = 0
    expectations = []
    for field in fields[1:]:
        word, _, rest = field.partition(" ")
        if word == "exit" and rest.isdigit():
            expected_exit = int(rest)
        elif word in ("says", "never", "json") and rest:
            expectations.append((word, rest))
        else:
            raise Malformed(f"not understood: {field!r}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAILHEAD_", "RDMA_"))}
    environment.update(LC_ALL="C.UTF-8", COLUMNS="200", NODES=str(HERE.parent / "nodes"))
    arguments = [word.replace("$NODES", environment["NODES"]).replace("$CASE", str(folder)) for word in shlex.split(fields[0])]
    done = subprocess.run([railhead, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    text = done.stdout + done.stderr
    faults = []
    if done.returncode != expected_exit:
        faults.append(f"exit {done.returncode}, not {expected_exit}")
    document = ABSENT
    for word, rest in expectations:
        if word == "says" and rest not in text:
            faults.append(f"does not say {rest!r}")
        elif word == "never" and rest in text:
            faults.append(f"says {rest!r}")
        elif word == "json":
            if document is ABSENT:
                try:
                    document = json.loads(done.stdout)
                except ValueError:
                    faults.append("standard output is no JSON")
                    break
            path, _, wanted = rest.rpartition("=")
            value = at(document, path)
            if not is_equal(value, wanted):
                faults.append(f"{path} is {'absent' if value is ABSENT else json.dumps(value)}, not {wanted}")
    if faults:
        faults.append("it printed:\n" + text)
    return faults


def main():
    railhead = os.path.abspath(sys.argv[1])
    patterns = sys.argv[2:]
    runs = failed = 0
    for case in sorted(HERE.glob("[0-9]*/case.txt")):
        if patterns and not any(pattern in case.parent.name for pattern in patterns):
            continue
        lines = [(number, line) for number, line in enumerate(case.read_text(encoding="utf-8").splitlines(), 1)
                 if line.strip() and not line.startswith("#")]
        for number, line in lines:
            runs += 1
            try:
                faults = faults_of(line, case.parent, railhead)
            except Malformed as error:
                faults = [str(error)]
            if faults:
                failed += 1
                print(f"{case.relative_to(HERE)}:{number}: railhead {line}")
                for fault in faults:
                    print("    " + fault.replace("\n", "\n    "))
        if not lines:
            failed += 1
            print(f"{case.relative_to(HERE)}: no run")
    print(f"{runs} runs, {failed} failed")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
