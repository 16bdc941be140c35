# SPDX-License-Identifier: Apache-2.0
"""The layer diagram holds: an #include may name only a folder that the layer links, ARCHITECTURE.md has
the folders from the ground up with what each links, each third-party header is seen in one folder,
generated protobuf types stay where they belong, each folder is one namespace and says what it is for and
what it must never do, and files stay short."""
import re

from source_tree import ROOT, SOURCE, code_lines, finish, layers, reach, sources

# Third-party header prefix -> the folders that may include it.
THIRD_PARTY = {
    "nlohmann/": {"data"},
    "yaml-cpp/": {"data"},
    "pugixml": {"data"},
    "toml++/": {"data"},
    "CLI/": {"cli", "shell", "bench_options"},
    "infiniband/": {"bench"},
    "openssl/": {"bench", "kube"},
    "fmt/": {"agent"},
    "google/protobuf/": {"nri", "kubelet"},
    "grpcpp/": {"kubelet"},
    "boost/asio": {"loop", "nri", "metrics", "kube", "agent"},
    "boost/beast": {"metrics", "kube"},
}
# Generated headers -> folder.
GENERATED = {"nri.pb.h": {"nri"}, "deviceplugin.": {"kubelet"}, "pluginregistration.": {"kubelet"},
             "podresources.": {"kubelet"}}
MAX_LINES = 500
WORDS_OF_ALL = {"base"}  # in the namespace railhead itself


# Folder -> the one file of the folders above it that may include it: commands read the configuration, and
# are not agents.
ONE_USER = {"agent": "cli/agent_command.cpp"}


def check_include(path, layer, allowed, name):
    for prefix, folders in {**THIRD_PARTY, **GENERATED}.items():
        if name.startswith(prefix) and layer not in folders:
            return f"{name} belongs to {', '.join(sorted(folders))}"
    folder = name.split("/", 1)[0] if "/" in name else None
    if folder in ONE_USER and layer != folder and path != ONE_USER[folder]:
        return f"only {ONE_USER[folder]} includes {folder}/"
    if folder in graph and folder not in allowed:
        return f"{layer} does not link {folder}"
    return None


graph = layers()
problems = []
for path in sources():
    layer = path.relative_to(SOURCE).parts[0]
    place = path.relative_to(ROOT)
    if layer not in graph:
        problems.append(f"{place}: folder is no layer")
        continue
    lines = len(path.read_text().splitlines())
    if lines > MAX_LINES:
        problems.append(f"{place}: {lines} lines, more than {MAX_LINES}")
    namespace = "railhead" if layer in WORDS_OF_ALL else f"railhead::{layer}"
    opened = re.findall(r"^namespace (railhead[\w:]*) \{", path.read_text(), re.M)
    problems += [f"{place}: namespace {one} in place of {namespace}" for one in opened if one != namespace]
    allowed = reach(graph, layer)
    for number, line in code_lines(path):
        include = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if include:
            wrong = check_include(str(path.relative_to(SOURCE)), layer, allowed, include.group(1))
            if wrong:
                problems.append(f"{place}:{number}: {wrong}")
rows = {layer: (says, uses) for layer, says, uses in re.findall(
    r"^\| `(\w+)/` \| (.*? \| .*?) \| ?(.*?) ?\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)}
above = set()
for layer, (_, uses) in rows.items():
    below = re.findall(r"\w+", uses)
    if sorted(below) != sorted(graph.get(layer, [])):
        problems.append(f"ARCHITECTURE.md: the row of {layer}/ does not use what its CMakeLists.txt links")
    problems += [f"ARCHITECTURE.md: {layer}/ uses {one}/, which stands below it" for one in below if one not in above]
    above.add(layer)
for layer in graph:
    head = (SOURCE / layer / "CMakeLists.txt").read_text().partition("railhead_layer")[0]
    says = " ".join(re.findall(r"^# (.*)", head, re.M)[1:])
    if layer not in rows or not says.startswith(rows[layer][0].replace(" | ", " ")):
        problems.append(f"src/{layer}/CMakeLists.txt does not begin as its row in ARCHITECTURE.md")
    for linked in graph[layer]:
        if layer in reach(graph, linked):
            problems.append(f"{layer} and {linked} link each other")
finish("layers", problems)
