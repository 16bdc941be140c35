# SPDX-License-Identifier: Apache-2.0
"""Writes printed/: the manifests of five published guides, as they are printed there. `extract.py FOLDER`, which
has the guides; the files are committed, so only who has the guides needs this.

A block ends at its last line (a number), before a text that stands on its last line (a word), or before an empty
line (None)."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Guide, name of the manifest, its first line, its end.
BLOCKS = [
    ("002", "privileged", 14, 16), ("002", "host-path", 17, 21), ("002", "annotations", 62, 75),
    ("002", "vllm-pod", 99, 112), ("002", "sglang-pod", 115, "Inject-only"),
    ("003", "shared-policy", 139, None), ("003", "hostdev-policy", 254, None), ("003", "hostdev-network", 328, None),
    ("003", "hostdev-pod", 366, None), ("003", "rdma-pod", 466, None), ("003", "volcano-job", 589, None),
    ("004", "cluster-policy", 45, "Why open kernel"), ("004", "nic-cluster-policy", 105, "Verify DOCA"),
    ("004", "sriov-policy", 205, "Why deviceType"), ("004", "sriov-network", 245, "Step 5"),
    ("004", "machine-config", 263, "Mount options explained"), ("004", "training-pod", 300, "Verifying the Full"),
]
# Guides with fences: the YAML blocks in their order.
FENCED = {"000": ["network-operator-values", "ib-node-config", "rdma-devices", "shared-plugin", "resources"], "001": []}


def block(lines, first, end):
    if isinstance(end, int):
        return lines[first - 1:end]
    taken = []
    for line in lines[first - 1:]:
        if end is None and not line.strip():
            break
        if end is not None and end in line:
            taken.append(line.partition(end)[0])
            break
        taken.append(line)
    return taken


folder = pathlib.Path(sys.argv[1])
texts = {path.name[:3]: path.read_text() for path in folder.glob("*.txt")}
written = {}
for guide, name, first, end in BLOCKS:
    written[f"{guide}-{name}"] = "\n".join(block(texts[guide].splitlines(), first, end)).rstrip() + "\n"
for guide, names in FENCED.items():
    blocks = re.findall(r"^```yaml\n(.*?)^```", texts[guide], re.M | re.S)
    assert len(blocks) == len(names), (guide, len(blocks))
    written.update({f"{guide}-{name}": text for name, text in zip(names, blocks)})
for name, text in written.items():
    (HERE / "printed" / f"{name}.yaml").write_text(text)
