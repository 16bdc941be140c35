# SPDX-License-Identifier: Apache-2.0
"""What CRI-O says and does over NRI, by its source; no code is shared with what is under test.

Read in cri-o/cri-o at the tags v1.28.11 to v1.36.3 and at f954a17 (1.37): internal/nri, server/nri-api.go,
internal/factory/container, server/sandbox_run_linux.go, and pkg/runtime-tools/generate of the NRI that each
vendors. It is untested beside a real CRI-O.
"""

import dataclasses
import itertools
import json

import wire
from runtime_side import Closed, expect

ADJUSTS = {  # fields of ContainerAdjustment that a release applies; what it does not know, it ignores
    "annotations": 2, "mounts": 3, "env": 4, "hooks": 5, "linux": 6, "rlimits": 7, "CDI_devices": 8, "args": 9,
}


@dataclasses.dataclass(frozen=True)
class Release:
    """One CRI-O, with the NRI that it is built with."""

    version: str
    applies: tuple[str, ...]
    events: int = 0x07FF  # the mask that Configure may answer with
    says_timeouts: bool = True  # in Configure; NRI 0.7 and later
    says_nri: bool = False  # in Configure; NRI 0.12 and later
    shows_limits: bool = False  # of the container

    @property
    def number(self):
        return tuple(int(part) for part in self.version.split(".")[:2])


_OLD = ("annotations", "mounts", "env", "hooks", "linux")
RELEASES = (
    # NRI is off by default in these two: enable_nri = true in crio.conf.
    Release("1.28.11", _OLD, says_timeouts=False),  # NRI 0.3.1
    Release("1.29.13", (*_OLD, "rlimits"), says_timeouts=False),  # NRI 0.6.0
    Release("1.31.13", (*_OLD, "rlimits"), says_timeouts=False),  # NRI 0.6.1
    Release("1.32.13", (*_OLD, "rlimits")),  # NRI 0.9.0, whose CDI_devices nobody injects
    Release("1.34.11", (*_OLD, "rlimits", "CDI_devices", "args"), 0x3FFF),  # NRI 0.10.0
    Release("1.36.3", (*_OLD, "rlimits", "CDI_devices", "args"), 0x3FFF, shows_limits=True),  # NRI 0.11.0
    Release("1.37.0", (*_OLD, "rlimits", "CDI_devices", "args"), 0x3FFF, says_nri=True, shows_limits=True),
)


_NAMES = (f"main-{number}" for number in itertools.count(1))


@dataclasses.dataclass
class Container:
    """One container as the kubelet asks for it. Annotations of the pod are the user's."""

    env: tuple[str, ...] = ()
    pod_annotations: dict = dataclasses.field(default_factory=dict)
    annotations: dict = dataclasses.field(default_factory=dict)  # the kubelet's, of device plugins
    devices: tuple[tuple[str, int, int], ...] = ()  # CDI devices are among them already
    host_network: bool = True
    privileged: bool = False
    rlimits: tuple[tuple[str, int, int], ...] = ()
    name: str = dataclasses.field(default_factory=_NAMES.__next__)  # the log has it

    def pod(self):
        # A pod on the host's network has a "network" too: the host's, pinned below /var/run/netns. There
        # is no infra container where nothing needs its process, hence no pid.
        namespaces = [("pid", ""), ("network", "/var/run/netns/4c1d"), ("ipc", "/var/run/ipcns/4c1d"),
                      ("uts", "/var/run/utsns/4c1d"), ("mount", "")]
        return wire.message(
            (1, "pod1"), (2, "worker"), (3, "uid1"), (4, "default"),
            (5, entries({"app": "train", "io.kubernetes.pod.name": "worker"})),
            (6, entries(self.pod_annotations)),
            (8, wire.message((3, "kubepods.slice"), (5, [namespace(*one) for one in namespaces]))),
        )

    def container(self, release):
        # The pod's annotations first, then CRI-O's own, the kubelet's, and the labels, each over the last.
        annotations = {
            **self.pod_annotations,
            "io.kubernetes.cri-o.ContainerID": "c1", "io.kubernetes.cri-o.SandboxID": "pod1",
            "io.kubernetes.cri-o.ContainerType": "container", "io.container.manager": "cri-o",
            "io.kubernetes.cri-o.Annotations": json.dumps(self.annotations),
            **self.annotations,
            "io.kubernetes.container.name": self.name, "io.kubernetes.pod.namespace": "default",
        }
        kinds = ["pid", "ipc", "uts", "mount"] + ([] if self.host_network else ["network"])
        linux = [(1, [namespace(kind, "") for kind in kinds]), (2, [device(*one) for one in self.devices])]
        options = ["nosuid", "noexec", "nodev", "rw" if self.privileged else "ro"]
        sysfs = wire.message((1, "/sys"), (2, "sysfs"), (3, "sysfs"), (4, options))
        limits = [wire.message((1, kind), (2, hard), (3, soft)) for kind, hard, soft in self.rlimits]
        return wire.message(
            (1, "c1"), (2, "pod1"), (3, self.name), (5, entries({"io.kubernetes.container.name": self.name})),
            (6, entries(annotations)), (7, ["sleep", "inf"]),
            (8, ["PATH=/usr/bin", "TERM=xterm", "HOSTNAME=worker", *self.env]), (9, [sysfs]),
            (11, wire.message(*linux)), *([(13, limits)] if release.shows_limits else []),
        )


def entries(table):
    return [wire.message((1, key), (2, value)) for key, value in table.items()]


def namespace(kind, path):
    return wire.message((1, kind), (2, path))


def device(path, major, minor):
    mode = wire.message((1, 0o666))
    return wire.message((1, path), (2, "c"), (3, major), (4, minor), (5, mode))


@dataclasses.dataclass
class Made:
    """What CRI-O makes of an adjustment; what its release does not apply is in `ignored`."""

    devices: tuple[str, ...] = ()
    env: dict = dataclasses.field(default_factory=dict)
    rlimits: dict = dataclasses.field(default_factory=dict)
    mounts: tuple[str, ...] = ()
    annotations: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def apply(release, adjustment):
    fields = wire.parse(adjustment)
    known = {number: name for name, number in ADJUSTS.items()}
    given = {known.get(number, str(number)): values for number, values in fields.items()}
    made = Made(ignored=tuple(name for name in given if name not in release.applies))
    applied = {name: [wire.parse(value) for value in values]
               for name, values in given.items() if name in release.applies}
    linux = {} if "linux" not in applied else applied["linux"][-1]
    expect(set(linux) <= {1}, f"fields {sorted(linux)} of LinuxContainerAdjustment")
    made.devices = tuple(wire.one(wire.parse(one), 1).decode() for one in linux.get(1, []))
    made.mounts = tuple(wire.one(one, 1).decode() for one in applied.get("mounts", []))
    made.annotations = tuple(wire.one(one, 1).decode() for one in applied.get("annotations", []))
    made.env = {wire.one(one, 1).decode(): wire.one(one, 2).decode() for one in applied.get("env", [])}
    made.rlimits = {wire.one(one, 1).decode(): (wire.one(one, 2, 0), wire.one(one, 3, 0))
                    for one in applied.get("rlimits", [])}
    return made


class Crio:
    """The runtime's end of one connection. `log`: what the plugin wrote since the connection."""

    def __init__(self, lab, release):
        self.release = release
        self.session = lab.accept()
        self.session.accept_registration(self.session.expect_registration())
        timeouts = [(4, 5000), (5, 2000)] if release.says_timeouts else []
        nri = [(6, "v0.12.0")] if release.says_nri else []
        asked = wire.message((2, "cri-o"), (3, release.version), *timeouts, *nri)
        code, text, answer = self.session.call("Configure", asked)
        expect(code == 0, f"Configure: {code} {text}")
        self.events = wire.one(wire.parse(answer), 2, 0)
        expect(self.events, "no events are all events, ValidateContainerAdjustment included")
        expect(not self.events & ~release.events, f"events 0x{self.events:x} of 0x{release.events:x}")

    def synchronize(self, *containers):
        there = [wire.message((1, f"c{number}")) + one.container(self.release)
                 for number, one in enumerate(containers)]
        pods = [containers[0].pod()] if containers else []
        self.session.synchronize(wire.message((1, pods), (2, there)))
        return self

    def tell(self, number, container, method=None):
        """An event, if the plugin subscribed to it: by its own request, or as StateChange."""
        if not self.events & 1 << number - 1:
            return
        pod, inner = container.pod(), container.container(self.release)
        request = wire.message((1, number), (2, pod), (3, inner)) if not method else wire.message((1, pod), (2, inner))
        code, text, _ = self.session.call(method or "StateChange", request)
        expect(code == 0, f"event {number}: {code} {text}")

    def ask(self, container):
        """(message of a refusal, what the container is)."""
        request = wire.message((1, container.pod()), (2, container.container(self.release)))
        code, text, answer = self.session.call("CreateContainer", request)
        if code:
            return text, Made()
        return "", apply(self.release, wire.one(wire.parse(answer), 1))

    def create(self, container):
        text, made = self.ask(container)
        expect(not text, f"CreateContainer: {text}")
        return made

    def close(self):
        try:
            self.session.close()
        except Closed:
            pass
