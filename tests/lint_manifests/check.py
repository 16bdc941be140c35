# SPDX-License-Identifier: Apache-2.0
"""`railhead lint` finds in the manifests of five published guides what golden.txt says, nothing in the repaired
twin of each nor in our own examples, and docs/lint.md has every rule. `check.py PROGRAM`; with --bless it writes both files."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "lint.md"
# Manifests of one guide are looked at together, too: some mistakes are between two of them.
GUIDES = ["000", "002", "003", "004"]
HEAD, TAIL = "<!-- rules: written by tests/lint_manifests/check.py --bless -->\n", "<!-- end of rules -->\n"


def lint(program, *paths):
    said = subprocess.run([program, "lint", "-o", "json", *paths], cwd=HERE, capture_output=True, text=True, timeout=60)
    assert said.stdout, said.stderr
    report = json.loads(said.stdout)
    summary = report["summary"]
    expected = 1 if summary["fail"] else 2 if summary["unknown"] else 0
    assert said.returncode == expected, (paths, said.returncode, summary)
    return report["findings"]


def line_of(finding):
    return f"  {finding['severity']} {finding['id']} {finding['file']}:{finding['line']}:{finding['column']} {finding['what']}\n"


def golden(program):
    text = ""
    for folder in ("printed", "indented"):
        for path in sorted((HERE / folder).glob("*.yaml")):
            found = lint(program, f"{folder}/{path.name}")
            text += f"{folder}/{path.name}\n" + "".join(map(line_of, found))
    for guide in GUIDES:
        paths = sorted(f"indented/{path.name}" for path in (HERE / "indented").glob(f"{guide}-*.yaml"))
        paths += sorted(f"printed/{path.name}" for path in (HERE / "printed").glob(f"{guide}-*.yaml")
                        if not (HERE / "indented" / path.name).exists())
        alone = {line_of(one) for path in paths for one in lint(program, path)}
        together = [line_of(one) for one in lint(program, *paths)]
        text += f"{guide} together, besides\n" + "".join(one for one in together if one not in alone)
    return text


def rules(program):
    said = subprocess.run([program, "lint", "--list", "-o", "json"], check=True, capture_output=True, text=True)
    table = "| rule | severity | what is wrong | why | what helps | covers |\n|---|---|---|---|---|---|\n"
    for rule in json.loads(said.stdout)["rules"]:
        cells = [f"`{rule['id']}`", rule["severity"], rule["what"], rule["why"], rule["remedy"], " ".join(rule["covers"])]
        table += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
    return table


def page(program):
    before, _, rest = PAGE.read_text().partition(HEAD)
    return before + HEAD + "\n" + rules(program) + "\n" + TAIL + rest.partition(TAIL)[2]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for path, text in ((HERE / "golden.txt", golden(program)), (PAGE, page(program))):
        if "--bless" in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path} is not what the program says; check.py --bless writes it. It says:\n{text}")
    names = {path.name for path in (HERE / "printed").glob("*.yaml")}
    repaired = {path.name for path in (HERE / "repaired").glob("*.yaml")}
    assert names == repaired, names ^ repaired
    for path in sorted((HERE / "repaired").glob("*.yaml")):
        found = lint(program, f"repaired/{path.name}")
        assert not found, "".join(map(line_of, found))
    for guide in GUIDES:
        found = lint(program, *sorted(f"repaired/{path.name}" for path in (HERE / "repaired").glob(f"{guide}-*.yaml")))
        assert not found, "".join(map(line_of, found))
    ours = sorted(str(path) for path in (HERE.parents[1] / "examples").glob("*/*.yaml"))
    assert len(ours) > 7
    found = [one for one in lint(program, *ours) if one["severity"] != "NOTE"]
    assert not found, "".join(map(line_of, found))


main()
