# SPDX-License-Identifier: Apache-2.0
"""Ids of the notes on doctors (D, L, N, C, F: what five published guides check or prescribe) that no check
of the node answers, each with who does, or why nobody can."""

API = "of the cluster: `railhead doctor --kube`"  # page.py adds the checks, which have to be there
LINT = "of a manifest: `railhead lint`"  # which kube.manifests asks, too
BENCH = "is measured: `railhead bench`"
SAID = "is advice: stands in the remedy of the check that is named"

ELSEWHERE = {
    "D01": API, "D04": API, "D07": API, "D08": API, "D09": API, "D10": API, "D12": API,
    "D24": "`railhead pools` says which functions a selector matches, and what each lacks", "D25": API, "D27": API, "D31": SAID + " (log.peermem)", "D32": SAID + " (gdr.peermem)",
    "L09": SAID + " (runtime.memlock)", "L10": API, "L11": LINT, "L12": API,
    "N06": API,
    "N09": "the agent finds a container's GPUs", "N10": "`railhead topology` has index, UUID and address",
    "N11": "`railhead nics` has the PCI function of each device", "N14": API, 
    "C05": "of several nodes: no object of the API says to which fabric a node is cabled; `railhead bench client`, tried between two nodes, says whether they reach each other", "C06": "`railhead pools` says which functions a selector matches", "C07": LINT, "C08": API, "C09": LINT,
    "C11": API, "C13": API, "C14": API, 
    "C21": BENCH,
    "C26": "of another program, which waits for ever; `railhead bench` has a limit for each phase",
    "F04": API, "F10": API, "F11": API,
    "F18": "cannot be judged: the kernel does RoCE in a VLAN; a ban is a site's own policy", "F20": API,
    "F25": "cannot be judged: mounts that fail are seen (nfs.transport), the order of units alone breaks nothing",
    "F33": "has no effect on verbs: interrupt moderation is for the netdev's own traffic",
    "F34": "has no effect on verbs: ring sizes are for the netdev's own traffic",
    "F38": BENCH, "F42": LINT,
}


def every_id():
    """All ids of the notes."""
    for letter, last in (("D", 35), ("L", 13), ("N", 17), ("C", 26), ("F", 42)):
        yield from (f"{letter}{number:02}" for number in range(1, last + 1))
