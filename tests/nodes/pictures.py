#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of all machines, and of machines with hostile names: each is valid XML that librsvg renders without
a word, as wide as a README shows it, with letters that can be read there on a light and on a dark ground; all text
is inside of it and none on another, and the graph is one that Graphviz would read.

--out DIR keeps the pictures as PNG, to be looked at.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import registry

HERE = pathlib.Path(__file__).resolve().parent
SVG = "{http://www.w3.org/2000/svg}"
NOT_COMMITTED = ["many-vfs"]
HOSTILE = "</text><script>&\"' \\ %s {x} ]]> <!-- \u202e\u00e9"
# Narrowest sensible font: what is apart by the program's own, wider estimate is apart by far.
EM = {" ": .28, ".": .28, ",": .28, ":": .28, "i": .22, "l": .22, "t": .28, "f": .28, "I": .28, "m": .83, "W": .94}
USUAL_EM = .54
WIDTH = 830  # of a README's column; report/diagram_layout.h
SMALLEST = 11  # pixels
CONTRAST = 4.5  # WCAG 2.1, 1.4.3
# Links lead from more GPUs to one NIC than stand in a line.
WIDER = {"rtx4090-one-socket": 1200}


def run(command, data):
    return subprocess.run(command, input=data, capture_output=True, check=False)


def width_of(text, size):
    return size * sum(EM.get(character, USUAL_EM) for character in text)


def text_boxes(root):
    for element in root.iter(f"{SVG}text"):
        size = int(element.get("font-size"))
        width = width_of(element.text, size)
        x = int(element.get("x")) - width * {"middle": .5, "end": 1}.get(element.get("text-anchor"), 0)
        y = int(element.get("y"))
        yield element.text, (x, y - .72 * size, x + width, y + .2 * size)


def rect_boxes(root):
    for element in root.iter(f"{SVG}rect"):
        x, y = (int(element.get(name, 0)) for name in "xy")
        yield x, y, x + int(element.get("width")), y + int(element.get("height"))


def apart(a, b):
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def inside(a, width, height):
    return a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= .03928 else ((part + .055) / 1.055) ** 2.4 for part in parts]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def contrast(a, b):
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + .05) / (darker + .05)


def dark_colours(style):
    """What the style makes of a fill, by element and fill."""
    return {(tag, fill): colour
            for selectors, colour in re.findall(r"^(.*?) \{ fill: (#\w+) \}$", style, re.MULTILINE)
            for tag, fill in re.findall(r'(\w+)\[fill="(#\w+)"\]', selectors)}


def contrast_problems(root, style):
    """Each text against the rectangle that was painted below it last."""
    dark = dark_colours(style)
    ground = []
    for element in root.iter():
        tag, fill = element.tag.removeprefix(SVG), element.get("fill")
        if tag == "rect":
            x, y = (int(element.get(name, 0)) for name in "xy")
            ground.append(((x, y, x + int(element.get("width")), y + int(element.get("height"))), fill))
        if tag != "text":
            continue
        at = int(element.get("x")), int(element.get("y")) - 3
        below = next(colour for (left, top, right, bottom), colour in reversed(ground)
                     if left <= at[0] <= right and top <= at[1] <= bottom)
        pairs = {"light": (fill, below), "dark": (dark.get(("text", fill), fill), dark.get(("rect", below), below))}
        yield from (f"on {name} ground {a} on {b} has a contrast of {contrast(a, b):.1f}: {element.text}"
                    for name, (a, b) in pairs.items() if contrast(a, b) < CONTRAST)


def svg_problems(text, widest):
    root = xml.fromstring(text)
    width, height = int(root.get("width")), int(root.get("height"))
    if width > widest:
        yield f"{width} pixels wide"
    if any(int(element.get("font-size")) < SMALLEST for element in root.iter(f"{SVG}text")):
        yield "letters that are too small"
    if root.get("viewBox") != f"0 0 {width} {height}":
        yield "the viewBox is not the size"
    if {element.tag for element in root.iter()} - {SVG + tag for tag in (
            "svg", "title", "desc", "style", "g", "rect", "text", "path", "line")}:
        yield "an element that does not belong there"
    styles = [element.text for element in root.iter(SVG + "style")]
    if len(styles) != 1 or "prefers-color-scheme: dark" not in styles[0] or "url(" in styles[0] or "@import" in styles[0]:
        yield "the style is not that of a dark ground alone"
    else:
        yield from contrast_problems(root, styles[0])
    texts = list(text_boxes(root))
    for i, (content, at) in enumerate(texts):
        if not inside(at, width, height):
            yield f"outside: {content}"
        for other, there in texts[:i]:
            if not apart(at, there):
                yield f"on each other: {content} / {other}"
    if not all(inside(at, width, height) for at in rect_boxes(root)):
        yield "a rectangle is outside"


DOT_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[A-Za-z_0-9.]+|[{}\[\]=;,])')


def dot_tokens(text):
    at = 0
    while text[at:].strip():
        match = DOT_TOKEN.match(text, at)
        if not match:
            raise ValueError(f"no token of DOT: {text[at:at + 30]!r}")
        at = match.end()
        yield match[1]


def dot_problems(text):
    """The part of the DOT grammar that is used: nested braces, statements of names, lists of attributes."""
    depth, listing, nodes, ends = 0, False, set(), []
    tokens = list(dot_tokens(text))
    for i, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if token in "[]":
            if listing == (token == "["):
                yield "brackets do not match"
            listing = token == "["
        if depth < 0:
            yield "braces do not match"
        if token == "[" and tokens[i - 2] != "->":
            nodes.add(tokens[i - 1])
        if token == "->":
            ends += [tokens[i - 1], tokens[i + 1]]
    if depth or listing:
        yield "it does not end"
    yield from (f"an edge of {end}, which is no node" for end in ends if end not in nodes)


def machines():
    for path in sorted(HERE.glob("*.node")):
        yield path.stem, path.read_bytes()
    for name in NOT_COMMITTED:
        yield name, registry.snapshot_of(name)
    # Texts from outside that end on a line of their own in a snapshot.
    text = (HERE / "dgx-h100.node").read_text()
    for part in ("hostname", "product_name", "sys_vendor"):
        text = re.sub(rf"(/{part}) .*", lambda match: f"{match[1]} {HOSTILE}", text)
    yield "hostile-names", text.encode()


def problems_of(railhead, snapshot, out):
    def print_as(form):
        done = run([railhead, "topology", "-o", form, "--snapshot", str(snapshot)], None)
        if done.returncode not in (0, 1) or done.stderr:  # 1: a NIC of this machine cannot carry traffic
            raise ValueError(f"-o {form}: exit {done.returncode}, {done.stderr.decode(errors='replace')}")
        return done.stdout

    svg = print_as("svg")
    yield from svg_problems(svg, WIDER.get(snapshot.stem, WIDTH))
    rendered = run(["rsvg-convert"], svg)
    if rendered.returncode or rendered.stderr:
        yield f"rsvg-convert: {rendered.stderr.decode()}"
    if out:
        (out / f"{snapshot.stem}.png").write_bytes(rendered.stdout)
    yield from dot_problems(print_as("dot").decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--railhead", required=True)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    checked = found = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in machines():
            snapshot = pathlib.Path(folder) / f"{name}.node"
            snapshot.write_bytes(text)
            checked += 1
            try:
                problems = list(problems_of(options.railhead, snapshot, options.out))
            except (ValueError, xml.ParseError) as error:
                problems = [str(error)]
            found += len(problems)
            print("".join(f"{name}: {problem}\n" for problem in problems), end="")
    print(f"{checked} machines drawn, {found} problem(s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
