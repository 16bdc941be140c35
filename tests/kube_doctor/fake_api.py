# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes API server that says what a test wants, with the faults that it wants. Nothing of it is Railhead's."""
import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

PATHS = {
    "Node": "/api/v1/nodes", "Pod": "/api/v1/pods", "Namespace": "/api/v1/namespaces", "ConfigMap": "/api/v1/configmaps",
    "PersistentVolume": "/api/v1/persistentvolumes", "DaemonSet": "/apis/apps/v1/daemonsets",
    "Deployment": "/apis/apps/v1/deployments", "StatefulSet": "/apis/apps/v1/statefulsets", "Job": "/apis/batch/v1/jobs",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses", "ClusterPolicy": "/apis/nvidia.com/v1/clusterpolicies",
    "NicClusterPolicy": "/apis/mellanox.com/v1alpha1/nicclusterpolicies",
    "SriovNetworkNodePolicy": "/apis/sriovnetwork.openshift.io/v1/sriovnetworknodepolicies",
    "HostDeviceNetwork": "/apis/mellanox.com/v1alpha1/hostdevicenetworks",
    "SriovNetwork": "/apis/sriovnetwork.openshift.io/v1/sriovnetworks",
    "MachineConfig": "/apis/machineconfiguration.openshift.io/v1/machineconfigs",
    "NetworkAttachmentDefinition": "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
    "IPPool": "/apis/nv-ipam.nvidia.com/v1alpha1/ippools",
    "VolcanoJob": "/apis/batch.volcano.sh/v1alpha1/jobs",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
}
BUILT_IN = {"Node", "Pod", "Namespace", "ConfigMap", "PersistentVolume", "DaemonSet", "Deployment", "StatefulSet", "Job", "StorageClass"}


def certificate(folder):
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    folder = pathlib.Path(folder)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=fake",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


class FakeApi:
    """`objects`: by kind. `replies`: by path, a text. `faults`: by path, what happens in place of the answer: a status,
    "hang", "cut", "garbage", "endless" (pages without an end), or before it "slow"."""

    def __init__(self, folder, objects=None, replies=None, faults=None, page=500):
        self.objects = {PATHS[kind]: list(items) for kind, items in (objects or {}).items()}
        for kind in BUILT_IN:
            self.objects.setdefault(PATHS[kind], [])
        self.replies = {"/version": json.dumps({"major": "1", "minor": "31", "gitVersion": "v1.31.2"}), **(replies or {})}
        self.faults = faults or {}
        self.page = page
        self.asked = []
        cert, key = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                api.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        self.kubeconfig = pathlib.Path(folder) / "kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority": str(cert)}}],
            "users": [{"name": "u", "user": {"token": "secret-token"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))

    def __enter__(self):
        self.ends = False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        url = urllib.parse.urlsplit(request.path)
        query = urllib.parse.parse_qs(url.query)
        self.asked.append(request.path)
        fault = self.faults.get(url.path, self.faults.get("*"))
        if fault == "hang":
            while not self.ends:
                time.sleep(0.05)
            return None
        if fault == "slow":
            time.sleep(0.3)
        if fault == "cut":
            request.connection.shutdown(socket.SHUT_RDWR)
            return None
        if isinstance(fault, int):
            return self.send(request, fault, json.dumps({"kind": "Status", "message": f"{url.path} is forbidden to you"}))
        if fault == "garbage":
            return self.send(request, 200, "{\"items\": [")
        if fault == "endless":
            return self.send(request, 200, json.dumps({"metadata": {"continue": "more"}, "items": []}))
        if url.path in self.replies:
            return self.send(request, 200, self.replies[url.path])
        if url.path not in self.objects:
            return self.send(request, 404, json.dumps({"kind": "Status", "message": "not found"}))
        items = self.objects[url.path]
        first = int(query.get("continue", ["0"])[0])
        more = {"continue": str(first + self.page)} if first + self.page < len(items) else {}
        return self.send(request, 200, json.dumps({"metadata": more, "items": items[first:first + self.page]}))

    @staticmethod
    def send(request, status, body):
        request.send_response(status)
        request.send_header("Content-Length", str(len(body.encode())))
        request.end_headers()
        request.wfile.write(body.encode())
