#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The agent with everything on, by its system calls (strace). Three checks:
* it starts no program;
* it writes what the table of SECURITY.md names, all of it, and nothing else;
* the thread that decides touches no file and no netlink socket once the agent is there, whatever happens: events of
  the machine, containers, pages, SIGHUP.
Exit code 77 if that cannot be seen here. RAILHEAD_BIN names the program."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runtime"), str(HERE.parent)]

import runtime_side  # noqa: E402
import wire  # noqa: E402
from lib import needs, paths  # noqa: E402
from lib.machine import Machine  # noqa: E402
from lib.process import Daemon, wait_until  # noqa: E402
from lib.runner import SKIPPED  # noqa: E402
from peers.kubelet import Kubelet  # noqa: E402

PATIENCE = 60  # under strace
RAIL = "example.com/rail"
# A virtual machine that hides its switches: its containers get a topology file.
MACHINE = "azure-nd-a100-v4"
CALL = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(.*)")
PLACE = re.compile(r'(?:<([^>]*)>, )?"([^"]*)"')
CHANGES = re.compile(r"mkdir|rename|unlink|rmdir|link|mknod|creat|truncate|f?chmod|chown|utime|.*xattr|u?mount|bind")
NO_FILE = re.compile(r"/dev/null|/proc/self/task/\d+/comm")  # the latter: what a thread is called
OPENS_TO_WRITE = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
# What the deciding thread may do: wait for descriptors, use memory and timers, and read and write what never blocks.
# One that has not asked the kubelet before starts a thread for it.
HARMLESS = re.compile(r"clone3?|epoll_|futex|close|m(map|unmap|remap|advise|protect)|brk|clock_|rt_sig|timerfd_|sched_|get\w*id|"
                      r"[gs]etsockopt|getsockname|getpeername|shutdown|accept|socket$|restart_syscall|poll|ioctl|fcntl")
TRANSFERS = re.compile(r"p?(read|write)v?|recv|send")
NEVER_BLOCKS = re.compile(r"\(\d+<(UNIX|TCP|anon_inode:\[(eventfd|timerfd|eventpoll)|pipe:|/proc/\d+/task/\d+/comm>)")


class Call:
    def __init__(self, thread: str, name: str, text: str) -> None:
        self.thread, self.name, self.text = thread, name, text
        self.failed = bool(re.search(r"= -1 E", text))

    def changes(self) -> bool:
        return not self.failed and bool(
            CHANGES.match(self.name) or self.name.startswith("open") and OPENS_TO_WRITE.search(self.text))

    def files(self) -> list[str]:
        if self.name == "bind" and "sun_path" not in self.text:
            return []
        places = [str(pathlib.Path(folder, path)) for folder, path in PLACE.findall(self.text)]
        return [path for path in places if not NO_FILE.fullmatch(path)]

    def may_wait(self) -> bool:
        if self.name.startswith("open") and any(map(NO_FILE.fullmatch, PLACE.findall(self.text)[0][1:])):
            return False
        if TRANSFERS.match(self.name):
            return not NEVER_BLOCKS.match(self.text)
        return not HARMLESS.match(self.name)


def calls_in(trace: str) -> list[Call]:
    """A call of one thread may be cut in two by another's."""
    begun, calls = {}, []
    for thread, name, rest in (match.groups() for match in map(CALL.match, trace.splitlines()) if match):
        if rest.endswith("<unfinished ...>"):
            begun[thread] = rest
        else:
            calls.append(Call(thread, name, begun.pop(thread, "") + rest))
    return calls


class Trial:
    """One run, in a folder of its own."""

    def __init__(self, folder: pathlib.Path, registration: str) -> None:
        machine = Machine(MACHINE)
        self.gpu = machine.gpus[0].uuid
        self.tree = machine.unpack(folder / "root")
        self.tree.at("/proc/sys/kernel/random").mkdir(parents=True, exist_ok=True)
        self.tree.write("/proc/sys/kernel/random/boot_id", "3f2c9a54-7d1e-4c57-9f43-0123456789ab")
        self.tree.write("/proc/uptime", "1000.00 1000.00")
        self.kubelet = Kubelet(folder / "kubelet").start()
        self.places = {  # each in a folder of its own, which is not there yet
            "metrics.socket": folder / "pages/agent.sock",
            "devicePlugin.dir": self.kubelet.plugins,
            "kubelet.rootDir": self.kubelet.root,
            "injection.ncclTopoFile": folder / "topology/nccl.xml",
            "devicePlugin.cdiDir": folder / "cdi",
            "devicePlugin.deviceInfoDir": folder / "device-info",
            "nfd.file": folder / "labels/railhead.txt",  # but this
            "doctor.historyFile": folder / "doctor/history.json",
        }
        self.places["nfd.file"].parent.mkdir()
        settings = {"host": {"root": str(self.tree.root)}, "nri": {"socket": str(folder / "nri.sock")},
                    "metrics": {"bindAddress": "127.0.0.1:0"}, "doctor": {"everySeconds": 2},
                    "devicePlugin": {"handout": "cdi", "registration": registration},
                    "pools": [{"name": RAIL, "mode": "exclusive", "include": {"names": "mlx5_ib7"}}]}
        for name, path in self.places.items():
            section, key = name.split(".")
            settings.setdefault(section, {})[key] = str(path)
        config = folder / "railhead.yaml"
        config.write_text(json.dumps(settings))
        self.session = None
        threading.Thread(target=self.serve, args=(str(folder / "nri.sock"),), daemon=True).start()
        self.trace = folder / "trace"
        strace = ["strace", "-D", "-f", "-q", "-yy", "-s", "256", "-o", str(self.trace)]
        self.agent = Daemon([*strace, paths.railhead(), "agent", "--config", str(config)], folder / "agent.log")

    def wait_ready(self) -> None:
        wait_until("a runtime's session", lambda: self.session, PATIENCE)
        for name in ("nfd.file", "doctor.historyFile", "injection.ncclTopoFile"):
            wait_until(name, self.places[name].exists, PATIENCE)

    def serve(self, path: str) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        self.session = runtime_side.Session(listener.accept()[0], self.gpu).handshake()

    def page(self, path: str) -> str:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.places["metrics.socket"]))
            client.settimeout(PATIENCE)
            client.sendall(f"GET {path} HTTP/1.0\r\nHost: node\r\n\r\n".encode())
            return b"".join(iter(lambda: client.recv(1 << 16), b"")).decode()

    def reads(self) -> float:
        return sum(float(line.split()[-1]) for line in self.page("/metrics").splitlines()
                   if line.startswith("railhead_node_reads_total"))

    def live(self) -> None:
        """What happens to an agent, from the page /begin to its end."""
        self.page("/begin")
        for path in ("/metrics", "/readyz", "/pods", "/doctor"):
            self.page(path)
        before = self.reads()
        (self.tree.at("/dev/infiniband") / "uverbs0").unlink()
        self.session.call("CreateContainer", wire.create(self.gpu))
        wait_until("the event was read", lambda: self.reads() > before, PATIENCE)
        for gpus in (self.gpu, "", "GPU-00000000-0000-0000-0000-000000000000"):
            self.session.call("CreateContainer", wire.create(gpus))
        os.kill(self.agent.pid, signal.SIGHUP)
        wait_until("the configuration was read", lambda: "configuration" in self.agent.log_text(), PATIENCE)
        endpoint = wait_until("a list", lambda: self.kubelet.endpoints.get(RAIL), PATIENCE)
        healthy = wait_until("a healthy device", lambda: [one for one, state in sorted(endpoint.health().items())
                                                          if state == "Healthy"], PATIENCE)
        endpoint.plugin.allocate(healthy[0])

    def calls(self) -> list[Call]:
        self.agent.end(timeout_s=PATIENCE)
        last = re.compile(rf"^{self.agent.pid} +\+\+\+ ", re.MULTILINE)  # the tracer writes on after the agent's end
        wait_until("the end of the trace", lambda: last.search(self.trace.read_text(errors="replace")), PATIENCE)
        return calls_in(self.trace.read_text(errors="replace"))

    def setting_of(self, path: str) -> str | None:
        """The setting in whose folder it is, or that names the folder: the nearest."""
        roots = {name: place.parent if place.suffix else place for name, place in self.places.items()}
        own = [name for name, root in roots.items() if pathlib.Path(path).is_relative_to(root)]
        return max(own, key=lambda name: len(str(roots[name])), default=None)


def settings_of_the_page() -> set[str]:
    text = (paths.TREE / "SECURITY.md").read_text()
    table = text[text.index("| what | setting |"):].split("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+\.\w+)`", row.split("|")[2])
            if name != "doctor.everySeconds"}  # when, not where


def written(runs: list[tuple[Trial, list[Call]]]) -> list[str]:
    used, problems = set(), set()
    for trial, calls in runs:
        for call, path in ((call.name, path) for call in calls if call.changes() for path in call.files()):
            setting = trial.setting_of(path)
            used.add(setting)
            if setting is None:
                problems.add(f"SECURITY.md does not name what {call} changes: {path}")
    used.discard(None)
    page = settings_of_the_page()
    problems |= {f"SECURITY.md lacks {name}" for name in used - page}
    problems |= {f"SECURITY.md names {name}, and nothing was written there" for name in page - used}
    return sorted(problems)


def deciding(trial: Trial, calls: list[Call]) -> list[str]:
    own = [call for call in calls if call.thread == str(trial.agent.pid)]
    begin = next((i for i, call in enumerate(own) if '"GET /begin ' in call.text), None)
    if begin is None or own[-1].name != "exit_group":
        return ["the trace lacks the begin or the end"]
    return [f"the deciding thread may wait for {call.name}{call.text}" for call in own[begin:-1] if call.may_wait()]


def programs(runs: list[tuple[Trial, list[Call]]]) -> list[str]:
    """SECURITY.md: the agent starts no program. The first one is itself."""
    return [f"the agent starts a program: {call.name}{call.text}"
            for _, calls in runs for call in [call for call in calls if call.name.startswith("execve")][1:]]


def main() -> int:
    lacking = [one for one in needs.missing({"strace": "strace"}) if one != "root"]
    if lacking:
        print(f"traced agent: skipped, needs {', '.join(lacking)}")
        return SKIPPED
    runs, folders = [], []
    for registration in ("enrol", "found"):
        folders.append(pathlib.Path(tempfile.mkdtemp(prefix="rh-")))
        trial = Trial(folders[-1], registration)
        try:
            trial.wait_ready()
            if registration == "enrol":
                trial.live()
            else:
                wait_until("a socket", lambda: next(trial.kubelet.registry.glob("*.sock"), None), PATIENCE)
            runs.append((trial, trial.calls()))
        finally:
            trial.agent.end()
            trial.kubelet.stop()
    problems = written(runs) + deciding(*runs[0]) + programs(runs)
    print("\n".join(problems) or "traced agent: it writes what SECURITY.md says, starts no program, and the deciding thread "
          "never waits")
    if not problems:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
