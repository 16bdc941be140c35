# SPDX-License-Identifier: Apache-2.0
"""What a part of the agent depends on stands in a struct where a constructor would have more than four parameters."""
import re

from source_tree import ROOT, SOURCE, code_lines, finish

FOLDERS = ("agent", "kube", "kubelet", "loop", "metrics", "nri")
MOST = 4


def body_at(text, begin):
    """From the brace at `begin` to the one that closes it."""
    depth = 0
    for end in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    return text[begin:]


def count(parameters):
    """Commas in types and default values do not count."""
    while (flat := re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", parameters)) != parameters:
        parameters = flat
    return parameters.count(",") + 1 if parameters.strip() else 0


problems, constructors = [], 0
for path in sorted(path for folder in FOLDERS for path in (SOURCE / folder).glob("*.*") if path.suffix in (".h", ".cpp")):
    text = "\n".join(line for _, line in code_lines(path))
    for found in re.finditer(r"\b(?:class|struct) (\w+)\b[^;{(]*\{", text):
        name = found[1]
        pattern = rf"(?<![\w:~>.])(?:explicit )?{name}\(((?:[^()]|\([^()]*\))*)\)\s*[:;{{=]"
        for constructor in re.finditer(pattern, body_at(text, found.end() - 1)):
            constructors += 1
            parameters = count(constructor[1])
            if parameters > MOST:
                problems.append(f"{path.relative_to(ROOT)}: the constructor of {name} has {parameters} parameters")
if constructors < 40:
    problems.append(f"only {constructors} constructors were found: the pattern has to follow the code")
finish("parameters", problems)
