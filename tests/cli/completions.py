#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shells complete every command and option that the help has, and the words and files of their values. bash is asked as a
user would; zsh and fish where they are installed."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from commands import arguments, commands, output

# What is typed -> words that must be among what is offered.
TYPED_BENCH = {
    "railhead-bench ": ["pair", "client", "server", "completion"],
    "railhead-bench pair --op w": ["write"],
    "railhead-bench client --color=n": ["never"],
    "railhead-bench client --key-file node.sn": ["node.snapshot"],
    "railhead-bench server --key-file fol": ["folder"],
}
TYPED = {
    "railhead ": ["agent", "nics", "setup", "completion"],
    "railhead to": ["topology"],
    "railhead topology -o ": ["table", "json", "svg", "nccl"],
    "railhead topology --output=j": ["json"],
    "railhead nics --color n": ["never"],
    "railhead agent --handout d": ["device-specs"],
    "railhead setup ": ["plan", "apply", "revert"],
    "railhead setup apply --allow ": ["R1", "R4"],
    "railhead completion ": ["bash", "zsh", "fish"],
    "railhead help ni": ["nics"],
    "railhead setup profile bare": ["bare-metal-ib"],
    "railhead setup plan --profile r": ["roce"],
    "railhead nics --snapshot node.sn": ["node.snapshot"],
    "railhead nccl-log node": ["node.snapshot"],
    "railhead nics --host-root fol": ["folder"],
    "railhead bench ": ["pair", "client", "server"],
    "railhead bench pair --memory g": ["gpu", "gpu:dmabuf"],
}
NOTHING = ["railhead agent --node-name ", "railhead nics --gpsu"]
NOTHING_BENCH = ["railhead-bench pair --size ", "railhead-bench pear --s"]
BASH = r"""
source "$1"
while IFS= read -r line; do
  COMP_LINE=$line; COMP_POINT=${#line}
  # As readline splits: at blanks, and at = as a word of its own.
  COMP_WORDS=(${line//=/ = })
  [[ $line == *" " || $line == *= ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  ${2//-/_}
  echo "${COMPREPLY[*]}"
done
"""


def in_bash(script, lines, folder):
    said = subprocess.run(["bash", "-c", BASH, "bash", script, f"_{pathlib.Path(script).stem}"], input="\n".join(lines) + "\n", capture_output=True,
                          text=True, check=True, cwd=folder)
    if said.stderr:
        raise SystemExit(f"bash: {said.stderr}")
    return [line.split() for line in said.stdout.splitlines()]


def in_fish(script, lines, folder):
    offered = []
    for line in lines:
        asked = f"source {script}; complete -C {line!r}"
        said = subprocess.run(["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True, cwd=folder)
        # What follows a = is offered with what stands before it.
        offered.append([word.split("\t")[0].split("=")[-1].rstrip("/") for word in said.stdout.splitlines()])
    return offered


def wrong(shell, ask, script, folder, known, typed, nothing):
    program = pathlib.Path(script).stem
    typed = dict(typed)
    for name, options in known.items():
        typed[f"{program} {name} -".replace("  ", " ")] = options
    lines = [*typed, *nothing]
    for line, offered in zip(lines, ask(script, lines, folder)):
        missing = [word for word in typed.get(line, []) if word not in offered]
        # fish offers the long form of an option alone.
        missing = [word for word in missing if shell == "bash" or word.startswith("--") or not word.startswith("-")]
        if missing:
            yield f"{shell}: {line!r} offers {offered}, not {missing}"
        if line in nothing and offered:
            yield f"{shell}: {line!r} offers {offered}"


def of_program(program, typed, nothing, folder):
    name = pathlib.Path(program).name
    known = commands(program)
    for shell, ask in (("bash", in_bash), ("fish", in_fish)):
        if shutil.which(shell):
            script = f"{folder}/{name}.{shell}"
            with open(script, "w", encoding="utf-8") as file:
                file.write(output(program, "completion", shell))
            yield from wrong(shell, ask, script, folder, known, typed, nothing)
    if shutil.which("zsh"):
        said = subprocess.run(["zsh", "-n"], input=output(program, "completion", "zsh"), capture_output=True, text=True,
                              check=False)
        yield from (f"zsh: {line}" for line in said.stderr.splitlines())


def main():
    asked = arguments()
    known, of_bench = commands(asked.railhead), commands(asked.bench)
    problems = [] if len(known) > 15 and "--output" in known["nics"] else ["the help is not understood"]
    for name in ("pair", "client", "server"):
        if known[f"bench {name}"] != of_bench[name]:
            problems.append(f"railhead bench {name} and railhead-bench {name} have different options")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run("touch node.snapshot; mkdir folder", shell=True, check=True, cwd=folder)
        problems += of_program(asked.railhead, TYPED, NOTHING, folder)
        problems += of_program(asked.bench, TYPED_BENCH, NOTHING_BENCH, folder)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
