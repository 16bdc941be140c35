# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the program, and what its help says of commands and options."""
import argparse
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments(*flags):
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--bench", help="the program railhead-bench, where a test is of both")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def output(railhead, *words, **more):
    """What it prints, in the width of a file."""
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    return subprocess.run([railhead, *words], capture_output=True, text=True, check=True, env=environment, **more).stdout


def commands(program):
    """Each command with its options, from the page that has all: "setup plan" -> ["-o", "--output", …]."""
    page = output(program, "help", "--markdown")
    found = {}
    for part in re.split(rf"^## {pathlib.Path(program).name}", page, flags=re.M)[1:]:
        name, _, text = part.partition("\n")
        found[name.strip()] = re.findall(r"^  (?:(-\w), )?(--[\w-]+)", text, re.M)
    return {name: [word for pair in options for word in pair if word] for name, options in found.items()}
