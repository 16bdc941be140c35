#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A CNI plugin that gives pods more networks, as Multus does: the first by a delegate, and one for each
name in the pod's annotation k8s.v1.cni.cncf.io/networks.

Of a NetworkAttachmentDefinition with a resourceName it asks the kubelet which device the pod holds,
passes that on as deviceID, and copies the device-info file of the device plugin into the pod's status.
Short form only; an error of one network fails the pod. Its configuration:

  {"type": "meta", "delegate": {…}, "kubectl": [PROGRAM, WORD…], "podResources": SOCKET,
   "deviceInfoDir": FOLDER, "state": FOLDER}

Sources: Kubernetes Network Custom Resource Definition De-facto Standard 1.3; device information
specification 1.1.0; CNI specification 1.0.0.
"""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from peers import kubelet_messages as messages  # noqa: E402
from peers import protobuf  # noqa: E402

NETWORKS = "k8s.v1.cni.cncf.io/networks"
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
STATUS = "k8s.v1.cni.cncf.io/network-status"


class Failed(Exception):
    pass


def call(config: dict, command: str, interface: str) -> dict:
    """One CNI operation of one plugin; its result."""
    found = [pathlib.Path(folder) / config["type"] for folder in os.environ["CNI_PATH"].split(":")]
    program = next((path for path in found if path.exists()), None)
    if program is None:
        raise Failed(f"no CNI plugin {config['type']}")
    done = subprocess.run(
        [program],
        input=json.dumps(config).encode(),
        env={**os.environ, "CNI_COMMAND": command, "CNI_IFNAME": interface},
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise Failed(f"{config['type']} {command}: {(done.stdout + done.stderr).decode().strip()}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def held_devices(socket: str, namespace: str, pod: str) -> dict[str, list[str]]:
    """By resource what the kubelet has allocated to the pod."""
    import grpc

    with grpc.insecure_channel(f"unix://{socket}") as channel:
        ask = channel.unary_unary("/v1.PodResourcesLister/List")
        answer = protobuf.decode(messages.LIST_ANSWER, ask(b"", timeout=10))
    held: dict[str, list[str]] = {}
    for one in answer["pod_resources"]:
        if (one["namespace"], one["name"]) != (namespace, pod):
            continue
        for container in one["containers"]:
            for devices in container["devices"]:
                held.setdefault(devices["resource_name"], []).extend(devices["device_ids"])
    return held


class Pod:
    def __init__(self, config: dict, arguments: dict[str, str]) -> None:
        self._config = config
        self.namespace, self.name = arguments["K8S_POD_NAMESPACE"], arguments["K8S_POD_NAME"]
        self._held: dict[str, list[str]] | None = None

    def kubectl(self, *words: str) -> str:
        done = subprocess.run(
            [*self._config["kubectl"], *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Failed(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def get(self, kind: str, namespace: str, name: str) -> dict:
        return json.loads(self.kubectl("get", kind, "-n", namespace, name, "-o", "json"))

    def next_device(self, resource: str) -> str:
        if self._held is None:
            self._held = held_devices(self._config["podResources"], self.namespace, self.name)
        if not self._held.get(resource):
            raise Failed(f"pod {self.name} holds no {resource} that no network has taken")
        return self._held[resource].pop(0)

    def device_info(self, resource: str, device: str) -> dict:
        name = f"{resource.replace('/', '-')}-{device}-device.json"
        return json.loads((pathlib.Path(self._config["deviceInfoDir"]) / name).read_text())

    def networks(self) -> list[dict]:
        """What the annotation asks for: configurations, with what the status says of them."""
        annotations = self.get("pod", self.namespace, self.name)["metadata"].get("annotations", {})
        out = []
        for number, text in enumerate(filter(None, annotations.get(NETWORKS, "").split(",")), 1):
            selected, _, interface = text.strip().partition("@")
            namespace, _, name = selected.rpartition("/")
            namespace = namespace or self.namespace
            definition = self.get("network-attachment-definitions", namespace, name)
            config = json.loads(definition["spec"]["config"])
            status = {"name": f"{namespace}/{name}", "interface": interface or f"net{number}"}
            resource = definition["metadata"].get("annotations", {}).get(RESOURCE)
            if resource:
                device = self.next_device(resource)
                config |= {"deviceID": device, "runtimeConfig": {"deviceID": device}}
                status["device-info"] = self.device_info(resource, device)
            out.append({"config": config, "status": status})
        return out


def add(config: dict, pod: Pod, state: pathlib.Path) -> dict:
    delegate = {"cniVersion": config["cniVersion"], "name": config["name"], **config["delegate"]}
    first = call(delegate, "ADD", os.environ["CNI_IFNAME"])
    done, statuses = [], []
    try:
        for network in pod.networks():
            interface = network["status"]["interface"]
            done.append([network["config"], interface])
            result = call(network["config"], "ADD", interface)
            ips = [one["address"].partition("/")[0] for one in result.get("ips", [])]
            statuses.append({**network["status"], "ips": ips})
    finally:
        state.write_text(json.dumps(done))  # for DEL, which comes after a failure too
    if statuses:
        text = json.dumps(statuses)
        pod.kubectl(
            *("annotate", "pod", "-n", pod.namespace, pod.name, "--overwrite", f"{STATUS}={text}")
        )
    return first


def delete(state: pathlib.Path) -> None:
    if not state.exists():
        return
    for config, interface in reversed(json.loads(state.read_text())):
        call(config, "DEL", interface)
    state.unlink()


def main() -> dict | None:
    command, config = os.environ["CNI_COMMAND"], json.load(sys.stdin)
    if command == "VERSION":
        return {"cniVersion": "1.0.0", "supportedVersions": ["0.4.0", "1.0.0"]}
    state = pathlib.Path(config["state"]) / os.environ["CNI_CONTAINERID"]
    words = os.environ.get("CNI_ARGS", "").split(";")
    arguments = dict(word.split("=", 1) for word in words if "=" in word)
    if command == "ADD":
        return add(config, Pod(config, arguments), state)
    if command == "DEL":
        delete(state)
    return None


if __name__ == "__main__":
    try:
        result = main()
    except Exception as error:  # noqa: BLE001  every failure is the runtime's to show
        print(json.dumps({"cniVersion": "1.0.0", "code": 999, "msg": f"meta: {error}"}))
        sys.exit(1)
    if result is not None:
        print(json.dumps(result))
