# SPDX-License-Identifier: Apache-2.0
"""docs/log.md has every event that the agent logs, and no other."""
import re

from source_tree import ROOT, SOURCE, finish

# Of an event whose level or name is chosen by a condition, the literals still follow a level.
LITERAL = re.compile(r'LogLevel::\w+[\s,:]+(?:\w+(?:\.\w+)*\(\)\s*\?\s*)?"([^"]+)"(?:\s*:\s*"([^"]+)")?')
BY_LEVEL = re.compile(r'(?:write|tell)\(\s*\w+(?:\([^()]*\))?,\s*"([^"]+)"')

logged = set()
for path in sorted((SOURCE / "agent").glob("*.cpp")):
    text = path.read_text()
    for found in [*LITERAL.findall(text), *BY_LEVEL.findall(text)]:
        logged.update(name for name in ([found] if isinstance(found, str) else found) if name)
logged.add("events are seen again")  # its other half is found

rows = re.findall(r"^\| (`.*?`) \| .* \| .* \| .*\|$", (ROOT / "docs/log.md").read_text(), re.MULTILINE)
told = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
problems = [f"docs/log.md lacks the event \"{name}\"" for name in sorted(logged - told)]
problems += [f"docs/log.md: nothing logs \"{name}\"" for name in sorted(told - logged)]
finish("log_events", problems)
