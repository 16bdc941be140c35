# SPDX-License-Identifier: Apache-2.0
"""The graph of a run: memory, descriptors and threads over time, and what happened meanwhile; pure."""

import math

WIDTH, LEFT, RIGHT = 830, 96, 30
PANEL, GAP, TOP, ROW = 132, 36, 82, 20
FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
INK, SOFT, LINE = "#1b1f24", "#59636e", "#d0d7de"
PAPER, RESTART = "#ffffff", "#cf222e"
PANELS = (("RSS, MiB", "#0b6bcb"), ("descriptors", "#1a7f37"), ("threads", "#8250df"))
# By kind of mark: the word beside its row, and its colour.
ROWS = {
    "containerd": ("containerd", RESTART),
    "kubelet": ("kubelet", "#bc4c00"),
    "nic": ("NICs", "#0b6bcb"),
    "log": ("log reader", "#59636e"),
}
BAD = {"dropped": "plugin dropped", "ended": "agent ended"}
# For viewers that prefer a dark ground: each colour of the light picture, and what it becomes.
DARK = {
    PAPER: "#0d1117",
    INK: "#e6edf3",
    SOFT: "#9198a1",
    LINE: "#30363d",
    "#0b6bcb": "#58a6ff",
    "#1a7f37": "#3fb950",
    "#8250df": "#bc8cff",
    RESTART: "#ff7b72",
    "#bc4c00": "#f0883e",
}


def nice(highest: float) -> tuple[float, float]:
    """The top of an axis that begins at 0, and the step between its lines."""
    highest = max(highest, 1)
    step = 10 ** math.floor(math.log10(highest / 2))
    for factor in (1, 2, 5, 10):
        if highest / (factor * step) <= 4:
            step *= factor
            break
    return math.ceil(highest / step) * step, step


def _text(x: float, y: float, text: str, colour: str = SOFT, more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" fill="{colour}"{more}>{text}</text>'


def _dark_ground() -> str:
    rules = "".join(
        f'[{part}="{light}"] {{ {part}: {dark} }}\n'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    return f"<style>@media (prefers-color-scheme: dark) {{\n{rules}}}</style>"


class _Plot:
    def __init__(self, end_s: float) -> None:
        self.end_s = max(end_s, 1.0)
        self.out: list[str] = []

    def x(self, t: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(t, self.end_s) / self.end_s

    def panel(self, top: float, name: str, colour: str, points: list[tuple[float, float]]) -> None:
        highest, step = nice(max((value for _, value in points), default=1))

        def y(value: float) -> float:
            return top + PANEL * (1 - value / highest)

        self.out.append(_text(LEFT, top - 10, name, INK, ' font-weight="bold"'))
        for index in range(round(highest / step) + 1):
            at = y(index * step)
            self.out.append(
                f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="{LINE}" stroke-width="1"/>'
            )
            label = _text(LEFT - 8, at + 4, f"{index * step:g}", SOFT, ' text-anchor="end"')
            self.out.append(label)
        way = " ".join(f"{self.x(t):.1f},{y(value):.1f}" for t, value in points)
        line = f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        self.out.append(line)

    def restarts(self, top: float, bottom: float, marks: list) -> None:
        for at, kind, _ in marks:
            if kind == "containerd" or kind in BAD:
                dash = "" if kind in BAD else ' stroke-dasharray="2 3"'
                self.out.append(
                    f'<path d="M{self.x(at):.1f} {top:.0f}V{bottom:.0f}" stroke="{RESTART}" '
                    f'stroke-width="{2 if kind in BAD else 1}" stroke-opacity="0.55"{dash}/>'
                )

    def row(self, y: float, kind: str, marks: list) -> None:
        word, colour = ROWS[kind]
        self.out.append(_text(LEFT - 8, y + 4, word, SOFT, ' text-anchor="end"'))
        spans = [(self.x(start), self.x(end)) for start, one, end in marks if one == kind]
        ways = "".join(f"M{a:.1f} {y - 6:.0f}h{max(1.2, b - a):.1f}v12H{a:.1f}z" for a, b in spans)
        if ways:
            self.out.append(f'<path d="{ways}" fill="{colour}"/>')

    def minutes(self, y: float) -> None:
        whole, step = nice(self.end_s / 60)
        if self.end_s / 60 > 60:
            step = 15.0
        for index in range(int(whole / step) + 1):
            at = index * step
            if at * 60 <= self.end_s + 1:
                label = f"{at:g} min"
                self.out.append(_text(self.x(at * 60), y, label, SOFT, ' text-anchor="middle"'))


def svg(found: dict) -> str:
    """From the figures of judge.figures and the run's facts."""
    series, marks = found["series"], found["marks"]
    end = max([found["minutes"] * 60, *(row[0] for row in series)])
    plot = _Plot(end)
    bottom = TOP + len(PANELS) * (PANEL + GAP)
    height = bottom + len(ROWS) * ROW + 24
    plot.restarts(TOP, bottom + ROW / 2, marks)
    for index, (name, colour) in enumerate(PANELS):
        points = [(row[0], row[index + 1]) for row in series]
        plot.panel(TOP + index * (PANEL + GAP), name, colour, points)
    for index, kind in enumerate(ROWS):
        plot.row(bottom + index * ROW, kind, marks)
    plot.minutes(height - 10)
    counts, bad = found["counts"], found["bad"]
    head = f"{found['minutes']:g} minutes, {counts.get('containers', 0)} containers, containerd {found['runtime']}"
    words = f"{bad['wrong']} wrong, {bad['failed']} failed by us, {bad['ended']} ends of the agent"
    title = f"The agent's memory, descriptors and threads over {head}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
            f'viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="title" '
            f'font-family="{FONT}">',
            f'<title id="title">{title}</title>',
            _dark_ground(),
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="{PAPER}"/>',
            f'<text x="16" y="24" font-size="15" font-weight="bold" fill="{INK}">{head}</text>',
            _text(16, 42, words),
            *plot.out,
            "</svg>\n",
        ]
    )
