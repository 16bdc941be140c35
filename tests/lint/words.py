# SPDX-License-Identifier: Apache-2.0
"""No name of ours is a word that is not the field's, and no variable is called `of`."""
import re

from source_tree import ROOT, SOURCE, code_lines, finish, sources

BANNED = re.compile(r"\b(?:(?:class|struct) \w*(?:Manager|Helper|Util)|Face|Book|Dealer|Holder|Standing|told|silence)\b")
VARIABLE_OF = re.compile(r"(?:\bauto|[\w>])[&*]* of(?:[,;)={]|\s=)")

problems = [f"{path.relative_to(ROOT)}:{number}: {found.group(0).strip()} is no word of the field"
            for folder in (SOURCE, ROOT / "tests" / "unit") for path in sources(folder)
            for number, line in code_lines(path)
            for found in (*BANNED.finditer(line), *VARIABLE_OF.finditer(line))]
finish("words", problems)
