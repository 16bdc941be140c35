# SPDX-License-Identifier: Apache-2.0
"""A cluster for the kubectl plugin, from objects as the API has them: an API server for a real kubectl, and a program in
kubectl's place that prints what the plugin's templates make of them."""

import dataclasses
import http.server
import json
import pathlib
import threading
import urllib.parse

LABEL = "app.kubernetes.io/name"
SPACE = "kube-system"


@dataclasses.dataclass
class Cluster:
    sets: list[dict] = dataclasses.field(default_factory=list)
    pods: list[dict] = dataclasses.field(default_factory=list)
    nodes: list[dict] = dataclasses.field(default_factory=list)
    # NAMESPACE/POD -> its page, or the message with which the API server refuses it; no page never ends.
    pages: dict[str, bytes] = dataclasses.field(default_factory=dict)
    refusals: dict[str, str] = dataclasses.field(default_factory=dict)
    endless: list[str] = dataclasses.field(default_factory=list)
    # What a command in an agent prints, what it says beside that, and its code.
    output: bytes = b""
    errors: bytes = b""
    code: int = 0
    # Which streams of a program in kubectl's place have no end: "page-errors" of one that asks for a page.
    floods: list[str] = dataclasses.field(default_factory=list)

    def node(self, name: str, **capacity: str) -> None:
        self.nodes.append({"metadata": {"name": name}, "status": {"capacity": capacity, "allocatable": capacity}})

    def daemonset(self, name: str = "railhead", space: str = SPACE, label: str = "railhead") -> dict:
        made = {"metadata": {"name": name, "namespace": space, "uid": f"uid-{space}-{name}", "labels": {LABEL: label}}}
        self.sets.append(made)
        return made

    def pod(self, node: str | None, name: str, owner: dict | None, *, space: str = SPACE, ready: object = True, page: str | None = "",
            born: str = "2026-01-01T00:00:00Z", dying: bool = False, side_car: bool = False) -> dict:
        """An agent; page None: it does not answer."""
        statuses = [{"name": "agent", "ready": ready}] if ready is not None else []
        containers = [{"name": "agent", "ports": [{"name": "metrics", "containerPort": 9479}]}]
        if side_car:
            statuses.append({"name": "istio-proxy", "ready": True})
            containers.append({"name": "istio-proxy", "ports": [{"name": "metrics", "containerPort": 15020}]})
        meta = {"name": name, "namespace": space, "labels": {LABEL: "railhead"}, "creationTimestamp": born}
        if dying:
            meta["deletionTimestamp"] = "2026-01-02T00:00:00Z"
        if owner:
            meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner["metadata"]["name"],
                                        "uid": owner["metadata"]["uid"], "controller": True}]
        made = {"metadata": meta, "spec": {"nodeName": node, "containers": containers},
                "status": {"phase": "Running", "containerStatuses": statuses}}
        self.pods.append(made)
        if page is not None:
            self.pages[f"{space}/{name}"] = page.encode()
        return made

    def listed(self, kind: str, space: str | None, query: dict[str, str]) -> list[dict]:
        def text(one: dict, path: str) -> str:
            for key in path.split("."):
                one = (one or {}).get(key)
            return one or ""

        def fits(one: dict) -> bool:
            if space and one["metadata"].get("namespace") != space:
                return False
            if (label := query.get("labelSelector")) and one["metadata"].get("labels", {}).get(LABEL) != label.partition("=")[2]:
                return False
            for field in filter(None, query.get("fieldSelector", "").split(",")):
                path, _, value = field.replace("!=", "=").partition("=")
                if (text(one, path) == value) == ("!=" in field):
                    return False
            return True

        return [one for one in getattr(self, kind) if fits(one)]


class ApiServer:
    """As much of one as kubectl's get asks; everything is allowed."""

    def __init__(self, cluster: Cluster) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802
                at = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(at.query))
                found = {"/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"},
                         "/api": {"kind": "APIVersions", "versions": ["v1"]},
                         "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                             {"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
                              "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}}]},
                         "/api/v1": self.resources("v1", ("pods", True, "Pod"), ("nodes", False, "Node")),
                         "/apis/apps/v1": self.resources("apps/v1", ("daemonsets", True, "DaemonSet"))}.get(at.path)
                words = at.path.removeprefix("/apis/apps/v1").removeprefix("/api/v1").strip("/").split("/")
                if words[-1] == "metrics":
                    return self.page(f"{words[1]}/{words[3].partition(':')[0]}")
                if found is None and words[-1] not in ("pods", "nodes", "daemonsets"):
                    return self.answer(404, b"{}")
                if found is None:
                    kind, what, version = {"pods": ("pods", "Pod", "v1"), "nodes": ("nodes", "Node", "v1"),
                                           "daemonsets": ("sets", "DaemonSet", "apps/v1")}[words[-1]]
                    space = words[1] if words[0] == "namespaces" else None
                    items = [{"apiVersion": version, "kind": what, **one} for one in cluster.listed(kind, space, query)]
                    found = {"kind": f"{what}List", "apiVersion": version, "metadata": {}, "items": items}
                return self.answer(200, json.dumps(found).encode())

            def resources(self, version: str, *kinds: tuple[str, bool, str]) -> dict:
                return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": [
                    {"name": name, "namespaced": namespaced, "kind": kind, "verbs": ["get", "list"]} for name, namespaced, kind in kinds]}

            def page(self, pod: str) -> None:
                if pod in cluster.endless:
                    self.send_response(200)
                    self.end_headers()
                    try:
                        while True:
                            self.wfile.write(b"x" * 65536)
                    except OSError:
                        return
                if pod in cluster.pages:
                    return self.answer(200, cluster.pages[pod], "text/plain")
                status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError", "code": 500,
                          "message": cluster.refusals.get(pod, "no answer")}
                return self.answer(500, json.dumps(status).encode())

            def answer(self, code: int, body: bytes, kind: str = "application/json") -> None:
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()


# Reads FOLDER/cluster.json and FOLDER/pages, and writes what it was asked into FOLDER/asked.
_PROGRAM = r'''#!/usr/bin/python3 -SE
import json, os, sys
FOLDER = os.path.dirname(os.path.abspath(__file__))
LABEL = "app.kubernetes.io/name"
with open(FOLDER + "/asked", "a") as asked:
    asked.write(os.environ.get("KUBECONFIG", "") + " " + " ".join(word for word in sys.argv[1:] if "\n" not in word) + "\n")
words = sys.argv[1:]
if words[0] == "--context":
    words = words[2:]
cluster = json.load(open(FOLDER + "/cluster.json"))
out = sys.stdout.buffer

def quoted(value):
    """As %+q of Go."""
    text = "<nil>" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    cut = ""
    for one in text[:512]:
        code = ord(one)
        cut += "\\" + one if one in '"\\' else one if 32 <= code < 127 else "\\n" if one == "\n" else \
            "\\x%02x" % code if code < 128 else "\\u%04x" % code
    return ' "' + cut + '"'

def flag(name):
    for at, word in enumerate(words):
        if word == name:
            return words[at + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return None

def labelled(kind):
    space = flag("-n")
    return [one for one in cluster[kind] if one["metadata"].get("labels", {}).get(LABEL) == "railhead"
            and space in (None, one["metadata"].get("namespace"))]

def selected(pod):
    """As --field-selector has it of the node; the other fields are passed over."""
    for field in (flag("--field-selector") or "").split(","):
        name, found, wanted = field.partition("spec.nodeName=")
        if found and not name and pod["spec"].get("nodeName") != wanted:
            return False
    return True

def get(what):
    template = flag("-o") or ""
    if what == "daemonsets":
        for one in labelled("sets"):
            meta = one["metadata"]
            yield "set" + "".join(map(quoted, (meta["namespace"], meta["name"], meta["uid"], meta["labels"][LABEL])))
    elif what == "pods" and "--all-namespaces" in words:
        for one in cluster["pods"]:
            yield one["metadata"]["namespace"] + "/" + one["metadata"]["name"] + " " + one.get("holds", "")
    elif what == "pods":
        for one in filter(selected, labelled("pods")):
            meta, status = one["metadata"], one["status"]
            yield "pod" + "".join(map(quoted, (one["spec"].get("nodeName"), meta["namespace"], meta["name"], meta.get("creationTimestamp"),
                                               meta.get("deletionTimestamp"), status.get("phase"))))
            for owner in meta.get("ownerReferences", []):
                yield "owner" + "".join(quoted(owner.get(key)) for key in ("apiVersion", "kind", "name", "uid", "controller"))
            for container in one["spec"]["containers"]:
                for port in container["ports"]:
                    yield "port" + quoted(container["name"]) + quoted(port["name"]) + quoted(port["containerPort"])
            for container in status.get("containerStatuses", []):
                yield "ready" + quoted(container["name"]) + quoted(container["ready"])
    elif what == "nodes" and "capacity" in template:
        for one in cluster["nodes"]:
            for name, count in one["status"]["capacity"].items():
                if 'eq $name "%s"' % name in template:
                    yield "node" + quoted(one["metadata"]["name"]) + quoted(count) + " allocatable"
    else:
        for one in cluster["nodes"]:
            yield "node" + quoted(one["metadata"]["name"])

def flood(stream, name):
    if name in cluster["floods"]:
        stream.buffer.write(b"\x1b[31mflood\xc2\x9b\n")
        while True:
            stream.buffer.write(b"x" * 65536)

if words[0] == "exec":
    flood(sys.stdout, "output")
    flood(sys.stderr, "errors")
    out.write(cluster["output"].encode("latin-1"))
    out.flush()
    sys.stderr.buffer.write(cluster["errors"].encode("latin-1"))
    sys.exit(cluster["code"])
if words[0] == "patch":
    sys.exit(0)
path = flag("--raw")
if path is None:
    flood(sys.stderr, "list-errors")
    out.write("".join(line + "\n" for line in get(words[1])).encode())
    sys.exit(0)
space, pod = path.split("/")[4], path.split("/")[6].partition(":")[0]
if space + "/" + pod in cluster["endless"]:
    while True:
        out.write(b"x" * 65536)
flood(sys.stderr, "page-errors")
try:
    with open(FOLDER + "/page-" + space + "-" + pod, "rb") as page:
        out.write(page.read())
except OSError:
    sys.stderr.write("Error from server (InternalError): " + cluster["refusals"].get(space + "/" + pod, "no answer") + "\n")
    sys.exit(1)
'''


def stub(cluster: Cluster, folder: pathlib.Path) -> pathlib.Path:
    """A program in kubectl's place."""
    program = folder / "kubectl"
    program.write_text(_PROGRAM)
    program.chmod(0o755)
    (folder / "cluster.json").write_text(json.dumps({
        "sets": cluster.sets, "pods": cluster.pods, "nodes": cluster.nodes, "refusals": cluster.refusals, "endless": cluster.endless,
        "output": cluster.output.decode("latin-1"), "errors": cluster.errors.decode("latin-1"), "code": cluster.code, "floods": cluster.floods}))
    for pod, page in cluster.pages.items():
        (folder / f"page-{pod.replace('/', '-')}").write_bytes(page)
    return program
