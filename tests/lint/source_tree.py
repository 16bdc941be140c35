# SPDX-License-Identifier: Apache-2.0
"""What every check of the source tree needs: the files, the layers, and a way to say what is wrong."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


def layers():
    """Layer -> (linked layers, directly), from the railhead_layer() calls that are the diagram."""
    found = {}
    for path in sorted(SOURCE.glob("*/CMakeLists.txt")):
        call = re.search(r"railhead_layer\((\w+)([^)]*)\)", path.read_text())
        if call:
            words = call.group(2).split()
            links = []
            for word in words[words.index("LINKS") + 1:] if "LINKS" in words else []:
                if word == "USES":
                    break
                links.append(word)
            found[call.group(1)] = links
    return found


def reach(graph, layer):
    """A layer with everything it links, directly or through others."""
    seen, todo = set(), [layer]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo.extend(graph.get(at, []))
    return seen


def sources(folder=SOURCE):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cpp", ".in"))


def code_lines(path):
    """(number, line) without comments and string contents, so that words in prose do not count."""
    inside = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = re.sub(r'"(\\.|[^"\\])*"', '""', line) if "#include" not in line else line
        if inside:
            if "*/" not in line:
                continue
            line, inside = line.split("*/", 1)[1], False
        line = re.sub(r"/\*.*?\*/", "", line)
        if "/*" in line:
            line, inside = line.split("/*", 1)[0], True
        line = line.split("//", 1)[0]
        if line.strip():
            yield number, line


def finish(name, problems):
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
