# SPDX-License-Identifier: Apache-2.0
"""No name that is local to a source means something else in another source of the same folder: several
sources are compiled as one (CMAKE_UNITY_BUILD). Overloads of a function may, but not of one that a header
of the folder declares: the local one hides it."""
import collections
import re

from source_tree import ROOT, finish

BODY = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.M | re.S)
TYPE = re.compile(r"^(?:struct|class|enum class|union) (?:\[\[\w+\]\] )?(\w+)[^;]*$", re.M)
VALUE = re.compile(r"^(?:constexpr|const|inline|std::|char|int|bool)[^=;(]*?\b(\w+)(?:\[[^]]*\])?(?: =|\{|;)", re.M)
ALIAS = re.compile(r"^(?:using (\w+) =|namespace (\w+) =)\s*([^;]*);", re.M)
FUNCTION = re.compile(r"^(?!TEST|INSTANTIATE|using|return|struct|class|namespace|constexpr std::array)[\w:<][^;{}()=]*?[ &*](\w+)\(", re.M)

DECLARED = re.compile(r"^(?!using|return|struct|class|namespace|friend|#)[\w:<][^;{}()=]*?[ &*](\w+)\([^;{]*\);", re.M)


def parameters(text, start):
    """Types in the parentheses that open before `start`, without the names and defaults."""
    depth, at = 1, start
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    words, level, one = [], 0, ""
    for c in text[start:at - 1] + ",":
        level += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
        if c == "," and level == 0:
            words.append(re.sub(r"\s+", " ", one.split("=")[0].strip()))
            one = ""
        else:
            one += c
    return ", ".join(re.sub(r"[ ]\w+$|(?<=[&*>])\s*\w+$", "", word) for word in words)


def local_names(path):
    """Pairs of a name and what it means: an alias its target, all else what this source defines."""
    for body in BODY.findall(path.read_text()):
        for kind in (TYPE, VALUE):
            yield from ((found.group(1), path) for found in kind.finditer(body))
        yield from ((found.group(1) or found.group(2), found.group(3)) for found in ALIAS.finditer(body))
        yield from ((f"{found.group(1)}({parameters(body, found.end())})", path) for found in FUNCTION.finditer(body))


problems = []
for base in ("src", "tests/unit"):
    for folder in sorted({path.parent for path in (ROOT / base).rglob("*.cpp")}):
        meanings = collections.defaultdict(lambda: collections.defaultdict(set))
        for path in sorted(folder.glob("*.cpp")):
            for name, meaning in local_names(path):
                meanings[name][meaning].add(path.name)
        # A local function hides what a header of the folder declares, from the sources behind it too.
        declared = {found.group(1) for header in folder.glob("*.h") for found in DECLARED.finditer(header.read_text())}
        problems += [f"{folder.relative_to(ROOT)}: {name} is local to {', '.join(sorted(set().union(*sources.values())))} and hides "
                     f"what a header declares" for name, sources in sorted(meanings.items()) if name.split("(")[0] in declared]
        problems += [f"{folder.relative_to(ROOT)}: {name} is local to {' and to '.join(sorted(set().union(*sources.values())))}"
                     for name, sources in sorted(meanings.items()) if len(sources) > 1]
finish("local_names", problems)
