# SPDX-License-Identifier: Apache-2.0
"""Only src/host/ opens doors to the machine: files, environment, clocks, sleeping. nri/, metrics/ and
agent/ may use the sockets and timers of the event loop they are given, and nothing else."""
import re

from source_tree import ROOT, SOURCE, code_lines, finish, sources

BANNED = {
    r"\b(?:std::)?(?:i|o)?fstream\b": "file streams",
    r"std::filesystem": "std::filesystem",
    r"(?<![\w.>])(?:::)?(?:open|openat|fopen|creat|opendir|readlink|stat|lstat|fstatat|mknod|unlink|rename)\s*\(":
        "a file system call",
    r"\b(?:secure_)?getenv\b|\benviron\b": "the environment",
    r"::now\s*\(|\btime\s*\(\s*(?:NULL|nullptr|0)\s*\)|\bgettimeofday\b|\bclock_gettime\b": "a clock",
    r"\b(?:u|nano)?sleep(?:_for|_until)?\s*\(": "sleeping",
    r"\bsystem\s*\(|\bpopen\s*\(|\bfork\s*\(|\bexecv\w*\s*\(": "starting processes",
}
DOORS = {"host"}
# Layers whose result may depend on their arguments only.
PURE = {"topology", "affinity", "inject", "pools", "proof", "report", "wire", "config", "data", "base",
        "gpu", "container", "transports", "features", "checks", "lint"}
IMPURE = {r"std::c(?:out|err|in)\b": "a standard stream", r"\brand(?:om_device)?\b": "randomness",
          r"\bstatic\s+(?!const|constexpr|_cast)\w[\w:<>, ]*\s+\w+\s*[;=]": "mutable static state"}
# `Result<…>> open(…)` and `Watch::open(…)` are names of ours, not the system call.
OURS = re.compile(r"(?:\w::|Result<[^;]*>\s+(?:\w+::)?)(?:open|readlink)\s*\(")

problems = []
for path in sources():
    layer = path.relative_to(SOURCE).parts[0]
    place = path.relative_to(ROOT)
    rules = {} if layer in DOORS else dict(BANNED)
    if layer in PURE:
        rules.update(IMPURE)
    for number, line in code_lines(path):
        if "#include" in line:
            continue
        line = OURS.sub("ours(", line)
        for pattern, what in rules.items():
            if re.search(pattern, line):
                problems.append(f"{place}:{number}: {what} belongs to src/host: {line.strip()}")
finish("doors", problems)
