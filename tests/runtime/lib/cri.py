# SPDX-License-Identifier: Apache-2.0
"""What a kubelet does to pods, said to the runtime directly (NRI sees CRI pods only)."""

import dataclasses
import itertools
import json
import pathlib

from peers.protocol import Protocol, grpc

from . import image

TIMEOUT_S = 600  # nothing takes so long, on a slow machine either: it hangs
_PROTOCOL = Protocol("cri.proto")
pb = _PROTOCOL.pb


class Refused(Exception):
    """The runtime answered with an error; the text is what a kubelet would show."""


@dataclasses.dataclass(frozen=True)
class Node:
    """A device node as it is seen inside a container."""

    major: int
    minor: int
    mode: str  # octal
    owner: str  # uid:gid
    kind: str


@dataclasses.dataclass(frozen=True)
class Inside:
    """What a process in the container sees."""

    nodes: dict[str, Node]  # below /dev/infiniband
    memlock: str  # `ulimit -l`: KiB or "unlimited"
    env: dict[str, str]
    uid: int


# One exec for everything. Busybox prints device numbers in hex.
LOOK = """
id -u; ulimit -l
for f in /dev/infiniband/*; do
  [ -e "$f" ] && stat -c '%n %t %T %a %u:%g %F' "$f"
done
echo --env; env
"""


def inside_from(text: str) -> Inside:
    """What LOOK printed."""
    head, _, tail = text.partition("--env\n")
    uid, memlock, *lines = head.splitlines()
    nodes = {}
    for line in lines:
        path, major, minor, mode, owner, kind = line.split(maxsplit=5)
        nodes[path] = Node(int(major, 16), int(minor, 16), mode.zfill(4), owner, kind)
    env = dict(line.split("=", 1) for line in tail.splitlines() if "=" in line)
    return Inside(nodes, memlock, env, int(uid))


class Container:
    def __init__(self, cri: "Cri", identity: str, name: str) -> None:
        self.id = identity
        self.name = name
        self._cri = cri

    def start(self) -> "Container":
        self._cri.call("StartContainer", pb.StartContainerRequest(container_id=self.id))
        return self

    def exec(self, *command: str) -> str:
        """Standard output and error of a command; its exit code does not matter."""
        answer = self._cri.call(
            "ExecSync", pb.ExecSyncRequest(container_id=self.id, cmd=command, timeout=60)
        )
        return answer.stdout.decode() + answer.stderr.decode()

    def look(self) -> Inside:
        return inside_from(self.exec("sh", "-c", LOOK))

    def ended(self) -> bool:
        request = pb.ContainerStatusRequest(container_id=self.id)
        return self._cri.call("ContainerStatus", request).status.state == pb.CONTAINER_EXITED

    def spec(self) -> dict:
        """The OCI specification; also for a container that was not started."""
        request = pb.ContainerStatusRequest(container_id=self.id, verbose=True)
        return json.loads(self._cri.call("ContainerStatus", request).info["info"])["runtimeSpec"]

    def remove(self) -> None:
        self._cri.call("RemoveContainer", pb.RemoveContainerRequest(container_id=self.id))


class Pod:
    def __init__(self, cri: "Cri", identity: str, config: "pb.PodSandboxConfig") -> None:
        self.id = identity
        self.name = config.metadata.name
        self._cri = cri
        self._config = config

    def create(
        self,
        name: str = "main",
        *,
        env: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        devices: dict[str, str] | None = None,
        cdi: tuple[str, ...] = (),
        mounts: dict[str, str] | None = None,
        user: int | None = None,
        privileged: bool = False,
        attempt: int = 0,
        image_name: str = image.NAME,
        args: list[str] | None = None,
        confined: bool = False,
        log: str = "",
    ) -> Container:
        """A container, not started. `devices` and `mounts` map container paths to host paths. With `args` the
        program of the image runs with these, else it idles. `confined`: uid 0 of the image without any
        capability, on a root that is only read. `log`: a file in the pod's folder of logs."""
        config = pb.ContainerConfig(
            metadata=pb.ContainerMetadata(name=name, attempt=attempt),
            image=pb.ImageSpec(image=image_name),
            command=image.IDLE if args is None else [],
            args=args or [],
            log_path=log,
            envs=[pb.KeyValue(key=k, value=v) for k, v in (env or {}).items()],
            annotations=annotations or {},
            devices=[
                pb.Device(container_path=inside, host_path=outside, permissions="rw")
                for inside, outside in (devices or {}).items()
            ],
            mounts=[
                pb.Mount(container_path=inside, host_path=outside)
                for inside, outside in (mounts or {}).items()
            ],
            CDI_devices=[pb.CDIDevice(name=device) for device in cdi],
        )
        security = config.linux.security_context
        security.namespace_options.CopyFrom(self._config.linux.security_context.namespace_options)
        security.privileged = privileged
        if confined:
            security.readonly_rootfs = True
            security.no_new_privs = True
            security.capabilities.drop_capabilities.append("ALL")
        if user is not None:
            security.run_as_user.value = user
            security.run_as_group.value = user
            security.capabilities.drop_capabilities.append("ALL")
        request = pb.CreateContainerRequest(
            pod_sandbox_id=self.id, config=config, sandbox_config=self._config
        )
        answer = self._cri.call("CreateContainer", request)
        return Container(self._cri, answer.container_id, name)

    def info(self) -> dict:
        """What the runtime keeps of its sandbox."""
        request = pb.PodSandboxStatusRequest(pod_sandbox_id=self.id, verbose=True)
        return json.loads(self._cri.call("PodSandboxStatus", request).info["info"])

    def network_namespace(self) -> str:
        """Its path; of a pod with a network of its own."""
        namespaces = self.info()["runtimeSpec"]["linux"]["namespaces"]
        return next(one["path"] for one in namespaces if one["type"] == "network")

    def run(self, name: str = "main", **kind: object) -> Container:
        """A container, created and started."""
        return self.create(name, **kind).start()

    def remove(self) -> None:
        """Containers first, as a kubelet does.

        containerd 2.4.2 locks up for ever if a plugin registers while RemovePodSandbox removes
        containers: it takes the read side of one lock twice (internal/cri/server, sandbox_remove.go
        and container_remove.go), and the registration waits for the write side in between.
        """
        mine = pb.ContainerFilter(pod_sandbox_id=self.id)
        listed = self._cri.call("ListContainers", pb.ListContainersRequest(filter=mine))
        for container in listed.containers:
            request = pb.RemoveContainerRequest(container_id=container.id)
            self._cri.call("RemoveContainer", request)
        self._cri.call("StopPodSandbox", pb.StopPodSandboxRequest(pod_sandbox_id=self.id))
        self._cri.call("RemovePodSandbox", pb.RemovePodSandboxRequest(pod_sandbox_id=self.id))


class Cri:
    """The CRI socket of one runtime."""

    def __init__(self, address: str, cgroup_parent: str) -> None:
        self._address = address
        self._cgroup_parent = cgroup_parent
        self._numbers = itertools.count(1)
        self._channel: grpc.Channel | None = None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def call(self, method: str, request, service: str = "RuntimeService",
             timeout_s: float = TIMEOUT_S):
        if self._channel is None:
            options = [("grpc.enable_http_proxy", 0)]
            self._channel = grpc.insecure_channel(self._address, options)
        try:
            return _PROTOCOL.call(self._channel, service, method, request, timeout_s)
        except grpc.RpcError as error:
            raise Refused(error.details()) from None

    def ready(self) -> bool:
        try:
            status = self.call("Status", pb.StatusRequest()).status
        except Refused:
            self.close()  # a channel that failed waits before it tries again
            return False
        ready = {condition.type for condition in status.conditions if condition.status}
        return {"RuntimeReady", "NetworkReady"} <= ready

    def network(self) -> str:
        """The name of the network that pods get, as the runtime has read it."""
        info = self.call("Status", pb.StatusRequest(verbose=True)).info
        networks = json.loads(info["cniconfig"])["Networks"]
        return networks[-1]["Config"]["Name"]  # the first is the loopback

    def has_image(self, name: str) -> bool:
        request = pb.ImageStatusRequest(image=pb.ImageSpec(image=name))
        return self.call("ImageStatus", request, "ImageService").HasField("image")

    def run_pod(
        self,
        name: str | None = None,
        *,
        annotations: dict[str, str] | None = None,
        host_network: bool = True,
        privileged: bool = False,
        logs: pathlib.Path | None = None,
        handler: str = "",
    ) -> Pod:
        """`handler`: the runtime handler, as a RuntimeClass names it; empty is the default one."""
        number = next(self._numbers)
        config = pb.PodSandboxConfig(
            metadata=pb.PodSandboxMetadata(
                name=name or f"pod-{number}", uid=f"uid-{number}", namespace="default"
            ),
            log_directory=str(logs or ""),
            annotations=annotations or {},
        )
        config.linux.cgroup_parent = self._cgroup_parent
        security = config.linux.security_context
        security.privileged = privileged
        security.namespace_options.network = pb.NODE if host_network else pb.POD
        answer = self.call(
            "RunPodSandbox", pb.RunPodSandboxRequest(config=config, runtime_handler=handler)
        )
        return Pod(self, answer.pod_sandbox_id, config)

    def sandboxes(self) -> list[Pod]:
        items = self.call("ListPodSandbox", pb.ListPodSandboxRequest()).items
        return [Pod(self, i.id, pb.PodSandboxConfig(metadata=i.metadata)) for i in items]

    def sandbox(self, name: str) -> Pod:
        return next(pod for pod in self.sandboxes() if pod.name == name)

    def remove_all_pods(self) -> None:
        for pod in self.sandboxes():
            pod.remove()
