#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/commands.md is the help of all commands below the text of HEAD. With --bless it is written."""
import sys

from commands import ROOT, arguments, output

PAGE = ROOT / "docs/commands.md"
HEAD = """# Commands

The help of every command, as the program prints it. Written by `./dev bless`; change the command's file in `src/cli/`.

Standard output is data; everything else goes to standard error. Of tables that is so for programs: where standard output is no terminal,
notes (`WARNINGS`, `EMPTY`, legends, columns that are left out, that there is none) go to standard error, and with `--no-headers` standard
output has the rows of the first table and nothing else. On a terminal everything is shown in its order. Every command ends with one of these:

| exit code | meaning |
|---|---|
| 0 | ok: what was asked for was done, and nothing is wrong with it |
| 1 | a problem was found: a NIC that is due to a GPU cannot carry traffic, a check failed, a container fell back to TCP, a resource is left out |
| 2 | it cannot be told: the machine or a file cannot be read, or what was found proves nothing |
| 64 | usage: a command, flag, word or configuration that is wrong |

The help of a command says what they mean there. Every command has 64, and 2 where its output cannot be written. The first three are
those of node-problem-detector's plugins. One of `-o`'s formats ends as another does.

Conventions:

* `-o table|wide|json|yaml` is the format of every command that prints data; some have more. A table fits the terminal, or the variable
  `COLUMNS`: columns are left out and named below. `-o wide`, and a table that goes into a file or a pipe, have them all.
* `--no-headers` leaves out the line of headers and what is no row. Red is what is broken: on a terminal, unless `NO_COLOR` is set; `--color` decides otherwise.
* A time is a number with a unit (`500ms`, `30s`, `5m`, `1h`); settings take whole seconds. A size has `Ki`, `Mi`, `Gi` or `Ti`. A GPU is named as
  it is printed (`GPU0`), by index, by UUID or by PCI address.
* JSON and YAML documents have `apiVersion` and `kind`; [schemas](schemas) say what is in them ([version policy](schemas/README.md)).
* `railhead completion bash|zsh|fish` prints the script that makes a shell complete commands, options and words. `railhead help nics --man | man -l -`
  shows a man page.
* What a file says is read within limits, and memory stays below 64 MiB and ten times the file. Of one machine 256 GPUs and 4,096 RDMA NICs are
  looked at, and what is left out is said. Where memory cannot be had, the program says so and ends with 2.

"""


def main():
    options = arguments("--bless")
    wanted = HEAD + output(options.railhead, "help", "--markdown")
    if options.bless:
        PAGE.write_text(wanted)
    if PAGE.exists() and PAGE.read_text() == wanted:
        return 0
    print("docs/commands.md is not what the program says; ./dev bless writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
