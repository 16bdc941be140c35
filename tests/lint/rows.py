# SPDX-License-Identifier: Apache-2.0
"""A row of a table that users meet stands on its page, a metric is counted somewhere, and no page names a
metric that does not exist."""
import re

from source_tree import ROOT, SOURCE, finish

# What its rows are called, the table, what each of them says, the page, and how the page names it.
TABLES = [
    ("annotation", "inject/annotations.cpp", r'^    (\{"[\w.]+", read_.*)', "pod-interface.md", "`{}/…`"),
    ("selector", "pools/selectors.cpp", r'^    \{Fact::\w+, ("\w+")', "configuration.md", "`{}`"),
    ("key of setup", "setup/wanted.cpp", r"(?s) kKeys\[\] = \{(.*?)\n\};", "setup.md", "`{}"),
    ("GPU vendor", "gpu/vendors.h", r'\.name = ("[^"]+")', "compatibility.md", "{}"),
]
METRIC = re.compile(r'(\w+)\{\s*\*this,\s*"(railhead_\w+)"')

problems = []
for what, table, row, page, form in TABLES:
    text = (ROOT / "docs" / page).read_text()
    names = [name for said in re.findall(row, (SOURCE / table).read_text(), re.M)
             for name in re.findall(r'"([^"]+)"', said)]
    problems += [f"docs/{page} lacks the {what} {name}" for name in names if form.format(name) not in text]
    if not names:
        problems.append(f"src/{table}: this check finds no {what} there; its pattern has to follow the table")

metrics = {name: member for member, name in METRIC.findall((SOURCE / "agent/metrics.h").read_text())}
code = "\n".join(path.read_text() for path in sorted((SOURCE / "agent").glob("*.cpp")))
problems += [f"src/agent/metrics.h: nothing counts {name}" for name, member in metrics.items()
             if not re.search(rf"(?:\.|->){member}\b", code)]
for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        problems += [f"{path.relative_to(ROOT)}:{number}: no metric is called {name}"
                     for name in re.findall(r"railhead_\w*[a-z](?![\w*])", line) if name not in metrics]
finish("rows", problems)
