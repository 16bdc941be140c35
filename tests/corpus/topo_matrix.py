# SPDX-License-Identifier: Apache-2.0
"""Reads what `nvidia-smi topo -m` printed, as people paste it: with colours, with cells glued
together or cut, with rows missing, in the words of drivers since 2017."""
import dataclasses
import re

WORDS = ("PIX", "PXB", "PHB", "NODE", "SYS")
# SOC is SYS in drivers before 384; "PH0-115" is PHB with the affinity column glued over its end.
CELL = re.compile(r"\s*(NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|X|PH(?=\d))")
TITLES = ("CPU Affinity", "CPU")


@dataclasses.dataclass
class Matrix:
    gpus: list                                        # "GPU0"…
    nics: list                                        # RDMA names, else "NIC0"…
    cells: dict = dataclasses.field(default_factory=dict)     # (a, b) -> word, both ways
    asymmetric: list = dataclasses.field(default_factory=list)
    numa: dict = dataclasses.field(default_factory=dict)      # GPU -> text of NUMA Affinity
    memory_numa: dict = dataclasses.field(default_factory=dict)  # GPU -> GPU NUMA ID, if it has one

    def word(self, a, b):
        """The relation, or None where it is not printed (NVLink, rows that were cut)."""
        return self.cells.get((a, b))


def plain(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def header_of(lines):
    for at, line in enumerate(lines):
        words = line.split()
        if words[:1] == ["GPU0"] and "X" not in words:
            columns = line.split("CPU")[0].split()
            return at, columns
    raise ValueError("no header")


def cells_of(text, count):
    """The first `count` cells and what follows them."""
    cells, at = [], 0
    while len(cells) < count:
        match = CELL.match(text, at)
        if not match:
            raise ValueError(f"{len(cells)} of {count} cells in {text!r}")
        cells.append({"SOC": "SYS", "PH": "PHB"}.get(match[1], match[1]))
        at = match.end()
    return cells, text[at:]


def affinity_of(text):
    """CPU Affinity, NUMA Affinity, GPU NUMA ID: tab cells (empty ones count), or runs of blanks."""
    if "\t" in text:
        cells = [cell.strip() for cell in text.split("\t")]
        if cells and not text[:1].isdigit():
            cells = cells[1:]  # the tab after the last relation
        if len(cells) == 4 and not cells[2]:
            del cells[2]  # nvidia-smi prints two tabs before GPU NUMA ID
        return cells + [""] * (3 - len(cells))
    cells = text.split()
    return (cells + ["", "", ""])[:3]


def read_matrix(path):
    lines = plain(path)
    start, columns = header_of(lines)
    legend = dict(re.match(r"\s*(NIC\d+):\s*(\S+)", line).groups() for line in lines
                  if re.match(r"\s*NIC\d+:\s*\S", line))
    names = [legend.get(column, column) for column in columns]
    matrix = Matrix([name for name in names if name.startswith("GPU")],
                    [name for name in names if not name.startswith("GPU")])
    for line in lines[start + 1:]:
        label, _, rest = line.strip().partition("\t" if "\t" in line else " ")
        if label in columns:
            take_row(matrix, legend.get(label, label), names, rest)
    return matrix


def take_row(matrix, row, names, text):
    cells, rest = cells_of(text, len(names))
    for column, word in zip(names, cells):
        if word not in WORDS or row == column:
            continue
        if matrix.cells.get((column, row), word) != word:
            matrix.asymmetric.append((row, column))
        matrix.cells[row, column] = word
        matrix.cells.setdefault((column, row), word)
    if row.startswith("GPU"):
        _, matrix.numa[row], memory = affinity_of(rest)
        if memory.isdigit():
            matrix.memory_numa[row] = int(memory)
