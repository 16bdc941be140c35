# SPDX-License-Identifier: Apache-2.0
"""The three Grafana dashboards as tables of panels; check.py --bless writes them to deploy/charts/files/dashboards."""
import json

# Kind, title, unit, and (query, legend)…. A stat shows one number, a graph the time. Of a stat also when it is red, of a
# table also what its number is called; "": it is left out.
PORT = "{{node}} {{nic}}/{{port}}"
CONTAINER = "{{namespace}}/{{pod}} {{container}}"
NODE = 'node=~"$node"'
POD = 'node=~"$node",namespace=~"$namespace",pod=~"$pod"'
STAT, GRAPH, TABLE = "stat", "timeseries", "table"
RED_FROM_ONE, RED_BELOW_ONE = [("green", None), ("red", 1)], [("red", None), ("green", 1)]

FLEET = [
    (STAT, "Nodes with an agent", "short", [("count(railhead_build_info)", "")]),
    (STAT, "Not connected to the runtime", "short", [("count(railhead_nri_connected == 0) or vector(0)", "")], RED_FROM_ONE),
    (STAT, "Silent fallbacks now", "short", [("sum(railhead_pod_silent_fallback) or vector(0)", "")], RED_FROM_ONE),
    (STAT, "Ports that are not active", "short", [("count(railhead_port_active == 0) or vector(0)", "")], RED_FROM_ONE),
    (GRAPH, "RDMA traffic by direction", "Bps",
     [("sum by (direction) (rate(railhead_port_bytes_total[$__rate_interval]))", "{{direction}}")]),
    (GRAPH, "Containers by what they use", "short", [("sum by (verdict) (railhead_pod_transport)", "{{verdict}}")]),
    (GRAPH, "Decisions a second", "ops",
     [("sum by (outcome) (rate(railhead_nri_decisions_total[$__rate_interval]))", "{{outcome}}")]),
    (GRAPH, "Warnings in ten minutes", "short",
     [("sum by (code) (increase(railhead_nri_warnings_total[10m])) > 0", "{{code}}")]),
    (GRAPH, "Time of an answer, 99 of 100", "s",
     [("histogram_quantile(0.99, sum by (le) (rate(railhead_nri_answer_seconds_bucket[$__rate_interval])))", "p99")]),
    (GRAPH, "Links that went down, in an hour", "short",
     [("sum by (node) (increase(railhead_port_link_downs_total[1h])) > 0", "{{node}}")]),
    (TABLE, "Nodes: healthy devices by resource", "short",
     [('sum by (node, pool) (railhead_pool_devices{state="healthy"})', "")], "healthy devices"),
    (TABLE, "Nodes: NICs by role and usability", "short", [("sum by (node, role, usable) (railhead_node_nics)", "")], "NICs"),
    (TABLE, "Runtimes", "short", [("count by (name, version) (railhead_nri_runtime_info)", "")], "nodes"),
    (TABLE, "Versions of the agent", "short", [("count by (version) (railhead_build_info)", "")], "nodes"),
]
NODES = [
    (STAT, "Connected to the runtime", "short", [(f"min(railhead_nri_connected{{{NODE}}})", "")], RED_BELOW_ONE),
    (STAT, "Usable NICs", "short", [(f'sum(railhead_node_nics{{{NODE},usable="true"}})', "")]),
    (STAT, "GPUs", "short", [(f"sum(railhead_node_gpus{{{NODE}}})", "")]),
    (STAT, "Containers without their devices", "short",
     [(f"sum(railhead_nri_containers_missing_devices{{{NODE}}})", "")], RED_FROM_ONE),
    (GRAPH, "Received", "Bps",
     [(f'rate(railhead_port_bytes_total{{{NODE},direction="received"}}[$__rate_interval])', PORT)]),
    (GRAPH, "Transmitted", "Bps",
     [(f'rate(railhead_port_bytes_total{{{NODE},direction="transmitted"}}[$__rate_interval])', PORT)]),
    (GRAPH, "Share of the link's rate", "percentunit",
     [(f"rate(railhead_port_bytes_total{{{NODE}}}[$__rate_interval]) * 8"
       f" / on (node, nic, port) group_left () (railhead_port_rate_gbps{{{NODE}}} * 1e9)", PORT + " {{direction}}")]),
    (GRAPH, "Ports that are active", "short", [(f"railhead_port_active{{{NODE}}}", PORT)]),
    (GRAPH, "Errors a second", "short",
     [(f"rate(railhead_port_errors_total{{{NODE}}}[$__rate_interval]) > 0", PORT + " {{kind}}")]),
    (GRAPH, "Congestion a second", "short",
     [(f'rate(railhead_port_congestion_total{{{NODE},kind!="transmit-wait-ticks"}}[$__rate_interval])',
       PORT + " {{kind}}")]),
    (GRAPH, "Ticks of waiting a second", "short",
     [(f'rate(railhead_port_congestion_total{{{NODE},kind="transmit-wait-ticks"}}[$__rate_interval])', PORT)]),
    (GRAPH, "Pause frames a second", "short",
     [(f"rate(railhead_port_pause_frames_total{{{NODE}}}[$__rate_interval])", PORT + " {{priority}} {{direction}}")]),
    (GRAPH, "Links that went down, in an hour", "short",
     [(f"increase(railhead_port_link_downs_total{{{NODE}}}[1h])", PORT)]),
    (GRAPH, "Devices of resources", "short",
     [(f"sum by (node, pool, state) (railhead_pool_devices{{{NODE}}})", "{{node}} {{pool}} {{state}}")]),
    (GRAPH, "Time of an answer", "s",
     [(f"histogram_quantile({share}, sum by (le) (rate(railhead_nri_answer_seconds_bucket{{{NODE}}}"
       "[$__rate_interval])))", name) for share, name in ((0.5, "p50"), (0.99, "p99"))]),
    (GRAPH, "NICs given to containers, in an hour", "short",
     [(f"increase(railhead_nri_injected_nics_total{{{NODE}}}[1h])", "{{node}} {{nic}}")]),
    (GRAPH, "NFS mounts", "short", [(f"sum by (verdict) (railhead_nfs_mounts{{{NODE}}})", "{{verdict}}")]),
]
PODS = [
    (STAT, "Containers that use RDMA", "short",
     [(f'sum(railhead_pod_transport{{{POD},verdict="rdma"}}) or vector(0)', "")]),
    (STAT, "Silent fallbacks", "short", [(f"sum(railhead_pod_silent_fallback{{{POD}}}) or vector(0)", "")], RED_FROM_ONE),
    (STAT, "Looks that saw everything", "percentunit", [(f"avg(railhead_pods_complete{{{NODE}}})", "")], RED_BELOW_ONE),
    (STAT, "Queue pairs without owner", "short", [(f"sum(railhead_queue_pairs_without_owner{{{NODE}}})", "")], RED_FROM_ONE),
    (TABLE, "What each container uses", "short",
     [(f"sum by (node, namespace, pod, container, verdict) (railhead_pod_transport{{{POD}}})", "")], ""),
    (GRAPH, "Silent fallback", "short", [(f"railhead_pod_silent_fallback{{{POD}}}", CONTAINER)]),
    (GRAPH, "Connected queue pairs", "short",
     [(f'railhead_pod_queue_pairs{{{POD},state="connected"}}', CONTAINER + " {{device}}")]),
    (GRAPH, "Registered memory", "bytes",
     [(f"railhead_pod_registered_bytes{{{POD}}}", CONTAINER + " {{device}}")]),
    (GRAPH, "Bytes a second through devices of its own", "Bps",
     [(f"rate(railhead_pod_traffic_bytes_total{{{POD}}}[10m])", CONTAINER)]),
    (GRAPH, "Bytes a second over TCP", "Bps",
     [(f"rate(railhead_pod_tcp_bytes_total{{{POD}}}[10m])", CONTAINER)]),
    (GRAPH, "Share of time over TCP", "percentunit",
     [(f'rate(railhead_pod_transport_seconds_total{{{POD},verdict="tcp"}}[10m])', CONTAINER)]),
    (GRAPH, "Queue pairs made, in ten minutes", "short",
     [(f"increase(railhead_pod_queue_pairs_seen_total{{{POD}}}[10m])", CONTAINER)]),
]
# File and uid, title, panels, and the variables with the metric that their values are of.
DASHBOARDS = [
    ("railhead-fleet", "Railhead: fleet", FLEET, []),
    ("railhead-node", "Railhead: node", NODES, [("node", "railhead_build_info")]),
    ("railhead-pod", "Railhead: pods", PODS,
     [("node", "railhead_build_info"), ("namespace", "railhead_pod_transport"), ("pod", "railhead_pod_transport")]),
]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
# From a node in a table to its own dashboard.
NODE_LINK = [{"matcher": {"id": "byName", "options": "node"}, "properties": [{"id": "links", "value": [
    {"title": "${__value.raw}", "url": "/d/railhead-node?var-node=${__value.raw}&${datasource:queryparam}"}]}]}]
LINKS = [{"type": "dashboards", "title": "Railhead", "tags": ["railhead"], "asDropdown": False, "includeVars": True,
          "keepTime": True}]


def colours(kind: str, more: list) -> dict:
    """Of a number that is neither good nor bad, the text's."""
    if kind != STAT:
        return {}
    steps = [{"color": colour, "value": value} for colour, value in (more[0] if more else [("text", None)])]
    return {"thresholds": {"mode": "absolute", "steps": steps}}


def columns(kind: str, more: list) -> dict:
    if kind != TABLE:
        return {}
    options = {"excludeByName": {"Time": True, "Value": not more[0]}, "renameByName": {"Value": more[0]} if more[0] else {}}
    return {"transformations": [{"id": "organize", "options": options}]}


def placed(panels: list) -> list[dict]:
    """Four stats in a row, else two panels."""
    out, x, y, high = [], 0, 0, 0
    for number, (kind, title, unit, queries, *more) in enumerate(panels, 1):
        width, height = (6, 4) if kind == STAT else (12, 8)
        if x + width > WIDTH or (out and high != height):
            x, y = 0, y + high
        high = height
        targets = [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expr, "legendFormat": legend or "__auto",
                    **({"instant": True, "format": "table"} if kind == TABLE else {})}
                   for i, (expr, legend) in enumerate(queries)]
        out.append({"id": number, "type": kind, "title": title, "datasource": SOURCE,
                    "gridPos": {"x": x, "y": y, "w": width, "h": height},
                    "fieldConfig": {"defaults": {"unit": unit, **colours(kind, more)}, "overrides": NODE_LINK if kind == TABLE else []},
                    **columns(kind, more), "targets": targets})
        x += width
    return out


def variable(name: str, metric: str) -> dict:
    query = f"label_values({metric}, {name})"
    return {"name": name, "type": "query", "datasource": SOURCE, "definition": query,
            "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1, "multi": True,
            "includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}}


def dashboard(uid: str, title: str, panels: list, variables: list) -> str:
    source = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    return json.dumps({
        "uid": uid, "title": title, "tags": ["railhead", "rdma"], "schemaVersion": 38, "editable": True,
        "time": {"from": "now-1h", "to": "now"}, "refresh": "30s", "links": LINKS,
        "templating": {"list": [source, *(variable(*one) for one in variables)]},
        "panels": placed(panels)}, indent=1) + "\n"


def files() -> dict[str, str]:
    return {f"{one[0]}.json": dashboard(*one) for one in DASHBOARDS}
