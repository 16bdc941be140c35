# SPDX-License-Identifier: Apache-2.0
"""What panels have to show of the fifty nodes, computed from the page and the faults, not by Prometheus."""
import re

from monitoring.fleet import FAULTS, NODES, SILENT, TRAFFIC

SILENT_NODES = {node for node, _ in SILENT.values()}
ANSWERING = [node for node in range(NODES) if node not in SILENT_NODES]
NEAR = .15  # of a rate
ABOVE_ZERO = None
POOL = "rdma.io/hca"

# Names of labels, and the number for their values: an int is exact, a float near.
Lines = dict[tuple[str, ...], int | float | None]
Panel = tuple[tuple[str, ...], Lines]


def label(series: str, name: str) -> str:
    found = re.search(rf'[{{,]{name}="([^"]*)"', series)
    return found[1] if found else ""


def nodes_of(alert: str) -> str:
    return f"node-{FAULTS[alert][0]}"


def panels(page: dict[str, float]) -> dict[str, Panel]:
    """By dashboard and title."""
    agents = len(ANSWERING)

    def samples(metric: str, with_text: str = "") -> dict[str, float]:
        return {name: value for name, value in page.items() if name.split("{")[0] == metric and with_text in name}

    def of_page(metric: str, with_text: str = "") -> int:
        return int(sum(samples(metric, with_text).values()))

    def stat(number: int) -> Panel:
        return (), {(): number}

    ports = [(label(name, "nic"), label(name, "port")) for name in samples("railhead_port_active")]
    rates = {label(name, "nic"): value for name, value in samples("railhead_port_rate_gbps").items()}
    silent_ports = sum(value == 0 for value in samples("railhead_port_active").values())
    verdicts = {label(name, "verdict") for name in samples("railhead_pod_transport")}
    version = label(next(iter(samples("railhead_build_info"))), "version")
    return {
        "railhead-fleet.json: Nodes with an agent": stat(agents),
        "railhead-fleet.json: Not connected to the runtime": stat(1),
        "railhead-fleet.json: Silent fallbacks now": stat(1),
        "railhead-fleet.json: Ports that are not active": stat(silent_ports * agents + 1),
        "railhead-fleet.json: RDMA traffic by direction": (("direction",), {
            (direction,): TRAFFIC * sum(ANSWERING) * len(ports) for direction in ("received", "transmitted")}),
        "railhead-fleet.json: Containers by what they use": (("verdict",), {
            (verdict,): of_page("railhead_pod_transport", f'verdict="{verdict}"') * agents for verdict in verdicts}),
        "railhead-fleet.json: Warnings in ten minutes": (("code",), {
            ("environment-contradicts",): ABOVE_ZERO, ("memlock-clamped",): ABOVE_ZERO}),
        "railhead-fleet.json: Time of an answer, 99 of 100": ((), {(): .00025 * .99}),
        "railhead-fleet.json: Links that went down, in an hour": (("node",), {
            (nodes_of("RailheadLinkFlapping"),): ABOVE_ZERO}),
        "railhead-fleet.json: Nodes: healthy devices by resource": (("node", "pool"), {
            (f"node-{node}", POOL): 0 if f"node-{node}" == nodes_of("RailheadResourceAtZero") else 100 for node in ANSWERING}),
        "railhead-fleet.json: Runtimes": (("name", "version"), {("containerd", "2.4.2"): agents}),
        "railhead-fleet.json: Versions of the agent": (("version",), {(version,): agents}),
        "railhead-node.json: Connected to the runtime": stat(0),
        "railhead-node.json: Usable NICs": stat(of_page("railhead_node_nics", 'usable="true"') * agents),
        "railhead-node.json: GPUs": stat(of_page("railhead_node_gpus") * agents),
        "railhead-node.json: Containers without their devices": stat(2),
        **{f"railhead-node.json: {title}": (("node", "nic", "port"), {
            (f"node-{node}", *port): TRAFFIC * node for node in ANSWERING for port in ports})
            for title in ("Received", "Transmitted")},
        "railhead-node.json: Share of the link's rate": (("node", "nic", "direction"), {
            (f"node-{node}", nic, direction): TRAFFIC * node * 8 / (rates[nic] * 1e9)
            for node in ANSWERING for nic, _ in ports for direction in ("received", "transmitted")}),
        "railhead-node.json: NFS mounts": (("verdict",), {("rdma",): 2 * agents}),
        "railhead-pod.json: Containers that use RDMA": stat(of_page("railhead_pod_transport", 'verdict="rdma"') * agents),
        "railhead-pod.json: Silent fallbacks": stat(1),
        "railhead-pod.json: Queue pairs without owner": stat(of_page("railhead_queue_pairs_without_owner") * agents),
        "railhead-pod.json: What each container uses": (("node", "namespace", "pod", "container", "verdict"), {
            (f"node-{node}", *(label(name, one) for one in ("namespace", "pod", "container", "verdict"))): int(value)
            for node in ANSWERING for name, value in samples("railhead_pod_transport").items()}),
    }


def differences(panel: Panel, found: list[dict]) -> list[str]:
    """Where Prometheus says something else."""
    names, lines = panel
    said = {tuple(one["metric"].get(name, "") for name in names): float(one["value"][1]) for one in found}
    wrong = [f"{key}: {said.get(key)}, wanted {lines.get(key)}" for key in sorted(said.keys() ^ lines.keys())]
    for key in said.keys() & lines.keys():
        wanted = lines[key]
        if wanted is ABOVE_ZERO:
            fits = said[key] > 0
        else:
            fits = abs(said[key] - wanted) <= (abs(wanted) * NEAR if isinstance(wanted, float) else 0)
        wrong += [] if fits else [f"{key}: {said[key]}, wanted {wanted}"]
    return wrong
