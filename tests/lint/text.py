# SPDX-License-Identifier: Apache-2.0
"""Every file of ours names its licence, no TODO stands without an issue number, every relative link in
the documentation leads to a file and to a heading that it has, every page is in the list of pages, no test
is switched off, no name of a test is too long for a list of tests, and README.md stays within two screens."""
import re
import subprocess

from source_tree import ROOT, finish

TEST_NAME_LENGTH = 60  # a name stays below it
README_LINES = 62  # with its picture, two screens
LICENSED = (".h", ".cpp", ".c", ".py", ".go", ".cmake", ".proto", ".sh", ".in")
tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout.split()
problems = []


def anchors(path):
    """The headings of a page, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    bare = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in bare}


def link_problems(path, number, line):
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", line):
        there = path.parent / target if target else path
        if not there.exists():
            yield f"{path.relative_to(ROOT)}:{number}: {target} does not exist"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"{path.relative_to(ROOT)}:{number}: {target} has no heading #{anchor}"


for name in tracked:
    path = ROOT / name
    if not path.is_file():
        continue
    if "fuzz/corpus/" in name or name.endswith((".node", ".golden", ".png")):
        continue
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        problems.append(f"{name}: not UTF-8 text")
        continue
    if name.endswith(LICENSED) or path.name == "CMakeLists.txt":
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.splitlines()[:3]):
            problems.append(f"{name}: no SPDX line at the top")
    if name != "tests/lint/text.py":
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))", line):
                problems.append(f"{name}:{number}: an open end without an issue number")
            if name.startswith("tests/") and re.search(r"\bDISABLED_|GTEST_SKIP\(\)\s*;", line):
                problems.append(f"{name}:{number}: a test that is off or skips without a reason")
    if name.startswith("tests/") and name.endswith((".cpp", ".py")):
        for test in re.findall(r"^TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)|^ +def test_(\w+)\(", text, re.MULTILINE):
            test = "".join(test)
            if len(test) >= TEST_NAME_LENGTH:
                problems.append(f"{name}: {test} has {len(test)} characters; the name of a test "
                                f"stays below {TEST_NAME_LENGTH}")
    if name.endswith(".md"):
        for number, line in enumerate(text.splitlines(), 1):
            problems += link_problems(path, number, line)
index = (ROOT / "docs/README.md").read_text()
problems += [f"docs/README.md lacks {path.relative_to(ROOT / 'docs')}" for path in sorted((ROOT / "docs").rglob("*.md"))
             if path.name != "README.md" and f"({path.relative_to(ROOT / 'docs')})" not in index]
lines = len((ROOT / "README.md").read_text().splitlines())
if lines > README_LINES:
    problems.append(f"README.md has {lines} lines, and {README_LINES} are two screens")
finish("text", problems)
