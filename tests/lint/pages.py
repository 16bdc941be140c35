# SPDX-License-Identifier: Apache-2.0
"""What a page, an example or a message tells people to type is there: commands of railhead and of kubectl railhead with their
options, values of the chart, settings, checks of the doctor, alert rules, and files of this tree."""
import json
import re

from source_tree import ROOT, finish

PAGES = [path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "deploy/charts/README.md"]
HELP = (ROOT / "docs/commands.md").read_text()  # which is what the program prints: tests/cli/page.py
KUBE = (ROOT / "deploy/kubectl/kubectl-railhead").read_text()
# What a page calls a command, and is none: a sentence of the log, a placeholder.
NO_COMMAND = re.compile(r"[A-Z…<|]|-|[a-z]+:")
WORDS = re.compile(r"(?:^|[\s|;(\"'/])railhead ((?:[\w-]+)(?: [^|;&><\n]*)?)")
FILE = re.compile(r"(?<![\w./-])((?:docs|deploy|examples)/[\w./-]*\w)(?![\w./-]*[*<{…])")


def commands(text):
    """Each command with its options: "setup plan" -> {"-o", "--output", …}."""
    found = {}
    for part in re.split(r"^## railhead", text, flags=re.M)[1:]:
        name, _, body = part.partition("\n")
        found[name.strip()] = {word for pair in re.findall(r"^  (?:(-\w), )?(--[\w-]+)", body, re.M) for word in pair if word}
    return found


def schema_has(schema, keys):
    """Whether the chart takes a value of this name."""
    for key in keys:
        if "$ref" in schema:
            schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]]
        more = schema.get("additionalProperties", True)
        if key in schema.get("properties", {}):
            schema = schema["properties"][key]
        elif key.isdigit():
            schema = schema.get("items", {})
        elif more:
            return True
        else:
            return False
    return True


def typed(page):
    """Commands of a page: in its blocks and between backticks, each in one line."""
    text = page.read_text()
    for language, block in re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S):
        if language in ("", "sh", "console"):
            yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text))


def command_problems(line):
    line = re.sub(r"(^|\s)#.*", "", line)
    for said in WORDS.findall(line):
        words = said.split()
        if line.startswith(("kubectl railhead ", "$ kubectl railhead ")):
            if words[0] not in KUBE_COMMANDS and not NO_COMMAND.match(words[0]):
                yield f"kubectl railhead has no command {words[0]}"
            if words[0] not in COMMANDS:
                continue
        if NO_COMMAND.match(words[0]):
            continue
        name = max((name for name in COMMANDS if name and words[:len(name.split())] == name.split()), key=len, default=None)
        if name is None:
            yield f"there is no command railhead {words[0]}"
            continue
        for word in words:
            option = re.sub(r"[=,.:)…\]].*", "", word.strip("[]"))
            if re.fullmatch(r"--[\w-]+|-\w", option) and option not in COMMANDS[name]:
                yield f"railhead {name} has no {option}"


def value_problems(line):
    for key in re.findall(r"--set(?:-string|-file)? \"?([\w.\\\"\[\]-]+?)=", line):
        keys = [part.replace("\\.", ".") for part in re.split(r"(?<!\\)[.\[\]]+", key.replace('"', "")) if part]
        if "railhead" in line or "helm" not in line:
            if not schema_has(SCHEMA, keys):
                yield f"the chart has no value {key}"


def name_problems(line):
    for name in re.findall(r"--(?:check|explain) ([a-z]+\.[\w.-]*\w)", line):
        if name not in CHECKS:
            yield f"there is no check {name}"
    for name in re.findall(r"\bRailhead[A-Z]\w+", line):
        if name not in RULES:
            yield f"there is no alert {name}"
    found = re.fullmatch(r"(([a-z]\w*)\.[a-z]\w+(?:\.\w+)*)(?:: .*|=.*)?", line)
    if found and found[2] in SECTIONS and found[1] not in SETTINGS | CHECKS and not found[1].endswith(".railhead.io") and not schema_has(SCHEMA, found[1].split(".")):
        yield f"there is neither a setting nor a value {found[1]}"


def file_problems(path):
    """A path below these folders, or the beginning of one, unless it stands for several."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for name in re.findall(FILE, line):
            if not (ROOT / name).exists() and not any(ROOT.glob(name + "*")):
                yield f"{path.relative_to(ROOT)}:{number}: there is no {name}"


COMMANDS = commands(HELP)
KUBE_COMMANDS = {"clean-up", "fleet", *re.search(r"^  ([a-z |]+)\) in_agent", KUBE, re.M)[1].split(" | ")}
SCHEMA = json.loads((ROOT / "deploy/charts/values.schema.json").read_text())
SETTINGS = {name for page in ("configuration.md", "setup.md")
            for name in re.findall(r"^\| `(\w+\.[\w.]+)` \|", (ROOT / "docs" / page).read_text(), re.M)}
SECTIONS = {setting.split(".")[0] for setting in SETTINGS}
CHECKS = set(re.findall(r"^(?:### |\| `)([a-z]+\.[\w.-]*\w)", (ROOT / "docs/checks.md").read_text()
                        + (ROOT / "docs/doctor.md").read_text() + (ROOT / "docs/lint.md").read_text(), re.M))
RULES = set(re.findall(r"- alert: (\w+)", (ROOT / "deploy/charts/files/alerts.yaml").read_text()))

problems = []
for page in PAGES:
    for line in typed(page):
        problems += [f"{page.relative_to(ROOT)}: {problem}: {line[:100]}"
                     for check in (command_problems, value_problems, name_problems) for problem in check(line)]
MANIFESTS = [path for folder in ("deploy", "examples") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
for path in [*PAGES, *MANIFESTS]:
    problems += file_problems(path)
recipe = re.search(r"--no-install-recommends ([a-z0-9 -]+) &&", (ROOT / "examples/image/Dockerfile").read_text())[1].split()
table = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/guides/image.md").read_text(), re.M)
problems += [f"docs/guides/image.md and examples/image/Dockerfile differ in {name}" for name in sorted({*recipe} ^ {*table})]
finish("pages", problems)
