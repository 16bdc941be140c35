#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether shell is right: shell_scripts.py RAILHEAD

`bash -n` and shellcheck read every script of the repository, every one that `railhead setup profile NAME --rest` prints, and every block of shell
of the pages.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

from source_tree import ROOT

# Their parts stand in the scripts that are printed.
PARTS = "src/setup/profiles/"
IN_SCRIPTS = ("SC1091",  # a file that is read is not looked at
              "SC2016",  # in single quotes nothing is replaced: programs of jq, sed and kubectl have "$", too
              "SC2187")  # busybox's shell is judged as dash
# A page shows one command, not a program: a word may stand for something, and a folder that is not there ends it.
IN_PAGES = (*IN_SCRIPTS, "SC2034", "SC2154", "SC2164")
BLOCK = re.compile(r"^( *)```(sh|bash|console)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def listed(*patterns: str) -> list[pathlib.Path]:
    said = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *patterns], capture_output=True, text=True, check=True)
    return [ROOT / name for name in said.stdout.splitlines() if (ROOT / name).is_file()]


def scripts() -> dict[str, str]:
    found = {}
    for path in listed():
        name = str(path.relative_to(ROOT))
        with path.open("rb") as file:
            first = file.readline(200)
        if re.match(rb"#! ?/\S*(/| )(ba|da)?sh\b", first) and not name.startswith(PARTS):
            found[name] = path.read_text()
    return found


def printed(railhead: str) -> dict[str, str]:
    def say(*words: str) -> str:
        return subprocess.run([railhead, "setup", "profile", *words], capture_output=True, text=True, check=True).stdout

    return {f"setup profile {name} --rest": say(name, "--rest") for name in say().split()}


def typed(block: str) -> str:
    """What is typed in a block that shows answers, too: a command goes on behind a backslash, and while a quote is open."""
    commands: list[str] = []
    goes_on = False
    for line in block.splitlines():
        if goes_on:
            commands[-1] += f"\n{line}"
        elif line.startswith("$ "):
            commands.append(line[2:])
        else:
            continue
        goes_on = line.endswith("\\") or commands[-1].count("'") % 2 == 1
    return "\n".join(commands) + "\n"


def blocks() -> dict[str, str]:
    found = {}
    for path in listed("*.md"):
        text = path.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            block = textwrap.dedent(match[3])
            shows_answers = match[2] == "console" and re.search(r"^\$ ", block, re.MULTILINE)
            found[f"{path.relative_to(ROOT)}:{line}"] = typed(block) if shows_answers else block
    return found


def problems(texts: dict[str, str], excluded: tuple, *flags: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for number, (name, text) in enumerate(texts.items()):
            path = pathlib.Path(folder, f"{number}.sh")
            path.write_text(text)
            names[str(path)] = name
        said = [subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False).stderr for path in names]
        judged = subprocess.run(["shellcheck", "--format=gcc", f"--exclude={','.join(excluded)}", *flags, *names], capture_output=True, text=True,
                                check=False)
        lines = [*"".join(said).splitlines(), *judged.stdout.splitlines(), *judged.stderr.splitlines()]
        return [re.sub(rf"{folder}/\d+\.sh", lambda match: names[match[0]], line) for line in lines]


def main() -> int:
    own, rest, pages = scripts(), printed(sys.argv[1]), blocks()
    found = problems({**own, **rest}, IN_SCRIPTS) + problems(pages, IN_PAGES, "--shell=bash")
    print("\n".join(found))
    print(f"shell_scripts: {len(own)} scripts, {len(rest)} printed, {len(pages)} blocks of pages, {len(found)} problem(s)")
    return 1 if found or len(rest) < 6 or len(pages) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
