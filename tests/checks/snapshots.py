#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing secret leaves in a snapshot, and the doctor says of it what it says of the machine.

A machine is made that has a canary wherever a file may have what nobody needs: in comments, in names and values that no
reader asks for, in words of a log. It is recorded with all flags, and again with each file behind a link, and with each
folder behind one. No canary may be in what was recorded. A file that is recorded had one, or is one value of the kernel:
so a new reader without one fails here. Nor does damage change what the doctor says: files that are cut, empty, twice as long or gone,
and files of containerd of every kind."""
import argparse
import contextlib
import fnmatch
import importlib.util
import itertools
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
CANARY = "SECRETcanary"
ENTRY = re.compile(rb"([a-z]) (\S+)(?: (.*))?$", re.DOTALL)

# One value each, which is what is asked for.
VALUES = ("/sys/*", "/.netlink/*", "/proc/sys/*", "/proc/uptime", "/proc/*/comm")
# Below them, "jdoe" stands for a user, "hunter2" for a password.
SECRETS = (CANARY, "hunter2", "jdoe", "alice@", "node17.corp", "aa:bb:cc:dd:ee:ff", "10.98.76.54", "10-98-76-54", "ffffffffc0a00000")

UNIT = f"""# {CANARY}
[Unit]
Description={CANARY}
[Service]
Environment=KUBELET_TOKEN={CANARY}
ExecStart=/usr/bin/x --token {CANARY}
LimitMEMLOCK=infinity
"""
CONTAINERD = f"""# {CANARY} of jdoe
version = 2
imports = ["/opt/runtime/drop/*.toml", "/opt/extra/reg.conf"]
[plugins."io.containerd.grpc.v1.cri".registry.configs."{CANARY}.example.com".auth]
username = "jdoe"
password = "hunter2"
[plugins."io.containerd.grpc.v1.cri"]
note = "{CANARY}"
[plugins."io.containerd.nri.v1.nri"]
disable = false
note = "{CANARY}"
[proxy_plugins.{CANARY}]
address = "{CANARY}"
[stream_processors.x]
env = ["TOKEN={CANARY}"]
"""
DROP_IN = CONTAINERD + f"""[debug]
level = "{CANARY}"
[timeouts]
"{CANARY}" = "{CANARY}"
[plugins."{CANARY}"]
"{CANARY}" = "{CANARY}"
"""
CRIO = f"""# {CANARY}
[{CANARY}]
nri_listen = "{CANARY}"
[crio.nri]
enable_nri = true
{CANARY} = true
[crio.image]
global_auth_file = "{CANARY}"
[crio.runtime]
default_env = ["X={CANARY}"]
pids_limit = "{CANARY}"
"""
MODULES = f"# {CANARY}\nrdma_ucm # {CANARY}\nib_umad\n{CANARY}\n; jdoe alice@example.com\n"
KMSG = f"""6,1,1000000,-;Command line: root=/dev/sda token={CANARY}
6,2,2000000,-;mlx5_core 0000:25:00.0: {CANARY} of node17.corp aa:bb:cc:dd:ee:ff 10.98.76.54 jdoe
4,3,3000000,-;mlx5_core 0000:25:00.0: mlx5_cmd_out_err:838:(pid 77): ACCESS_REG(0x805) failed, {CANARY}, err(-22)
4,4,4000000,-;NVRM: Xid (PCI:0000:25:00): 79, pid=77, name={CANARY}, GPU has fallen off the bus.
4,5,5000000,-;mlx5_core 0000:25:00.0 ens1: Link down {CANARY} of ip-10-98-76-54.internal
 SUBSYSTEM={CANARY}
6,6,6000000,-;audit: acct="jdoe" exe="{CANARY}"
"""
CDI = {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "annotations": {"x": CANARY},
       "containerEdits": {"env": [f"TOKEN={CANARY}"], "hooks": [{"path": "/x", "args": [CANARY]}]},
       "devices": [{"name": "0", "containerEdits": {"env": [f"X={CANARY}"], "deviceNodes": [
           {"path": "/dev/nvidia0", "permissions": CANARY}]}}]}
TOPOLOGY = f"""<!-- {CANARY} -->
<?note {CANARY}?>
<system version="1" owner="{CANARY}">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143" host_hash="{CANARY}">
    <pci busid="0000:25:00.0" class="0x030200" note="{CANARY}" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90"/>
    </pci>
  </cpu>
</system>
"""
# Path of the machine: its text. Names of processes are those of the box's pods.
FILES = {
    "/etc/fstab": f"# {CANARY}\n//srv/s /mnt cifs username=jdoe,password=hunter2 0 0 # was nfs\n"
                  f"nas:/a /a nfs rdma,password=hunter2,port=20049,mounthost=node17.corp,fsc={CANARY},remoteports=10.98.76.54-10.98.76.60 "
                  f"0 0 # {CANARY}\nnode17.corp,nas:/b /b nfs rdma 0 0\njdoe:hunter2@nas:/c /c nfs rdma 0 0\n",
    "/etc/systemd/system/containerd.service": UNIT,
    "/etc/systemd/system/containerd.service.d/10-x.conf": UNIT,
    "/usr/lib/systemd/system/kubelet.service": UNIT,
    "/etc/systemd/system/crio.service": UNIT,
    "/etc/systemd/system/mnt-ceph.mount":
        f"[Mount]\nWhat=10.0.0.1:6789:/\nWhere=/mnt/ceph\nType=ceph\nOptions=name=jdoe,secret={CANARY}\n",
    "/etc/systemd/system/mnt-dav.mount": f"[Mount]\nWhat=https://jdoe:hunter2@dav.example.com/x\nWhere=/mnt/dav\n",
    "/etc/systemd/system/mnt-nas.mount": f"# {CANARY}\n[Unit]\nDescription={CANARY}\n[Mount]\nWhat=nas:/n\nWhere=/mnt/nas\n"
                                         f"Type=nfs\nOptions=proto=rdma,secret={CANARY}\n[Install]\nWantedBy={CANARY}\n",
    "/etc/systemd/system/mnt-nas.mount.d/a.conf": f"# {CANARY}\n[Mount]\nOptions=proto=rdma,x-token={CANARY}\n",
    "/etc/systemd/system/remote-fs.target.wants/mnt-nas.mount": f"# {CANARY}\n",
    "/proc/1/mountstats": f"device /dev/sda mounted on /{CANARY} with fstype ext4\n"
                          "device nas:/a mounted on /a with fstype nfs4 statvers=1.1\n"
                          f"\topts:\trw,vers=4.2,proto=rdma,port=20049,clientaddr=10.98.76.54,x={CANARY}\n\tage:\t5\n"
                          f"\timpl_id:\tname='{CANARY}'\n\txprt:\trdma 0 0 2 0 5 14 14\n",
    "/proc/1/mountinfo": f"36 23 0:30 / /a rw,x={CANARY} shared:1 - nfs4 nas:/a rw,addr=10.98.76.54,secret={CANARY}\n"
                         f"37 23 0:31 / /{CANARY} rw - cifs //srv/{CANARY} rw,username=jdoe,password=hunter2\n",
    "/proc/1/net/route": "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
                         f"{CANARY}\t0001A8C0\t0101A8C0\t0003\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
                         "eno1\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n",
    "/proc/1/net/ipv6_route": f"{'0' * 31}1 80 {'0' * 32} 00 {'0' * 32} 00000000 00000001 00000000 80200001 {CANARY}\n",
    "/proc/cmdline": f"root={CANARY} token={CANARY} iommu=pt,{CANARY} iommu_{CANARY}=1 pci={CANARY},noats intel_iommu=on\n",
    "/proc/modules": f"ib_core 9 2 mlx5_ib,{CANARY}, Live 0xffffffffc0a00000 (OE)\nrdma_ucm 1 0 - Live 0xffffffffc0a00000\n"
                     f"mlx5_core 1 0 - Live 0xffffffffc0a00000\nib_umad 1 0 - Live 0xffffffffc0a00000\n",
    "/proc/version": f"Linux version 6.1.0 ({CANARY}@node17.corp) (gcc) #1 SMP Debian 6.1.140-1\n",
    "/proc/devices": f"Character devices:\n240 gdrdrv\n241 {CANARY}\n",
    "/proc/cpuinfo": f"processor\t: 0\nvendor_id\t: GenuineIntel\nSerial\t: {CANARY}\nflags\t\t: fpu {CANARY}\n",
    "/proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  ({CANARY}@x)\n",
    "/proc/driver/nvidia/params": f'EnableStreamMemOPs: 1\nRegistryDwords: "PeerMappingOverride=1;{CANARY}"\nX: {CANARY}\n',
    "/etc/modules": MODULES,
    "/etc/modules-load.d/rdma.conf": MODULES,
    "/usr/lib/modules-load.d/x.conf": MODULES,
    "/etc/rdma/modules/rdma.conf": MODULES,
    "/etc/infiniband/openib.conf": f"# {CANARY}\nONBOOT={CANARY}\n",
    "/etc/security/limits.d/jdoe.conf": f"jdoe soft memlock unlimited # {CANARY}\n",
    "/etc/nccl.conf": f"# {CANARY}\nNCCL_TOPO_FILE=/opt/topo.xml\nNCCL_X={CANARY}\n",
    "/opt/topo.xml": TOPOLOGY,
    "/etc/cdi/nvidia.yaml": json.dumps(CDI),
    "/var/run/cdi/nvidia.json": json.dumps(CDI, indent=1),
    "/dev/kmsg": KMSG,
    "/proc/900/comm": "containerd\n",
    "/proc/900/cmdline": f"containerd\0--config\0/etc/k0s/containerd.toml\0--token\0{CANARY}\0",
    "/proc/900/status": f"Name:\t{CANARY}\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\nUid:\t0\t0\t0\t0\n",
    "/proc/900/limits": f"Limit {CANARY}\nMax locked memory         8388608              8388608              bytes\n",
    "/proc/901/comm": f"{CANARY}\n"[:15] + "\n",
    "/proc/901/cmdline": f"x\0{CANARY}\0",
    "/proc/902/comm": "kubelet\n",
    "/proc/902/cmdline": f"kubelet\0--config=/var/lib/kubelet/config.yaml\0--token={CANARY}\0",
    "/proc/902/status": f"Name:\t{CANARY}\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\nUid:\t0\t0\t0\t0\n",
    "/proc/902/limits": f"Limit {CANARY}\nMax locked memory         8388608              8388608              bytes\n",
    "/proc/903/comm": "crio\n",
    "/proc/903/cmdline": f"crio\0--token={CANARY}\0",
    "/proc/903/environ": f"TOKEN={CANARY}\0CONTAINER_CONFIG_DIR=/opt/crio.d\0CONTAINER_ROOT={CANARY}\0",
    "/proc/903/status": f"Name:\t{CANARY}\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\nUid:\t0\t0\t0\t0\n",
    "/proc/903/limits": f"Limit {CANARY}\nMax locked memory         8388608              8388608              bytes\n",
    "/proc/1/net/unix": f"Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 00010000 0001 01 47 /run/{CANARY}.sock\n"
                        "0: 2 0 00010000 0001 01 48 /run/containerd/containerd.sock\n0: 2 0 00010000 0001 01 49 /run/nri/nri.sock\n",
    "/etc/k0s/containerd.toml": CONTAINERD,
    "/etc/containerd/config.toml": CONTAINERD,
    "/opt/runtime/drop/a.toml": CONTAINERD,
    "/opt/extra/reg.conf": DROP_IN,
    "/etc/crio/crio.conf": CRIO,
    "/etc/crio/crio.conf.d/10-x.conf": CRIO,
    "/var/lib/kubelet/config.yaml": f"apiVersion: kubelet.config.k8s.io/v1beta1\n# {CANARY}\nstaticPodURL: https://{CANARY}\n",
    "/var/lib/kubelet/kubeconfig": f"token: {CANARY}\n",
    f"/run/{CANARY}": f"{CANARY}\n",
    f"/var/lib/kubelet/{CANARY}": f"{CANARY}\n",
    "/sys/module/lnet/parameters/networks": f"o2ib0(ib0),tcp1({CANARY}) 10.98.76.54\n",
    "/proc/sys/lnet/nis": f"nid status alive\n10.98.76.54@o2ib up -1 {CANARY}\n",
    "/sys/kernel/debug/lnet/nis": f"nid status alive\n10.98.76.54@o2ib up -1 {CANARY}\n",
}
# Those whose whole text is one value that is asked for, beside the kernel's.
PLAIN = {"/proc/900/comm", "/proc/902/comm", "/proc/901/comm", "/proc/903/comm"}


def parsed(raw):
    """Path: (letter, content or rest of the line), of a snapshot's bytes."""
    entries, at = {}, raw.index(b"\n") + 1
    while at < len(raw):
        end = raw.index(b"\n", at)
        line, at = raw[at:end], end + 1
        if line.startswith(b"#"):
            continue
        letter, path, rest = ENTRY.match(line).groups()
        content = rest
        if letter == b"f":
            content, at = raw[at:at + int(rest)], at + int(rest) + 1
        elif letter == b"t":
            content = (rest or b"") + b"\n"
        entries[path.decode()] = (letter.decode(), content)
    return entries


def written(entries):
    out = [b"railhead-snapshot 1"]
    for path, (letter, content) in sorted(entries.items()):
        name = path.encode()
        if letter in "ft":
            out += [b"f %s %d" % (name, len(content)), content]
        else:
            out.append(b"%s %s" % (letter.encode(), name) + (b" " + content if content else b""))
    return b"\n".join(out) + b"\n"


def with_canary(path, text):
    """A file of the box's machine with a canary where its kind has room for one."""
    name = path.rsplit("/", 1)[1]
    if name == "config.json":
        spec = json.loads(text)
        spec.setdefault("process", {}).setdefault("env", []).extend(
            [f"TOKEN={CANARY}", "VLLM_NIXL_SIDE_CHANNEL_HOST=node17.corp", f"NNODES={CANARY}"])
        spec.setdefault("annotations", {})["x"] = CANARY
        spec.setdefault("mounts", []).append({"destination": f"/{CANARY}", "type": "bind", "source": f"/{CANARY}"})
        return json.dumps(spec)
    if name == "cmdline":
        return f"{text}{CANARY}\0--api-key\0{CANARY}\0--token={CANARY}\0"
    if name == "cgroup":
        return text + f"77:name={CANARY}:{text.splitlines()[0].rsplit(':', 1)[1]}\n" if text else text
    if name == "stat":
        return text.rstrip("\n") + f" {CANARY}\n"
    if name == "dev" and path.endswith("/net/dev"):
        return text + f" {CANARY}: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    if name == "environ":
        return f"{text}TOKEN={CANARY}\0"
    rooms = {"status": f"Name:\t{CANARY}\n", "limits": f"Limit {CANARY}\n", "uevent": f"X={CANARY}\n", "tcp": f" 9: {CANARY}\n",
             "tcp6": f" 9: {CANARY}\n", "information": f"Note: {CANARY}\n", "properties": f"note {CANARY}\n", "version": f"{CANARY}\n"}
    return text + rooms.get(name, "")


def machine(base):
    """A machine of the box, with a canary in each file, and with the files above."""
    entries = parsed((TESTS / base).read_bytes())
    for path, (letter, content) in entries.items():
        if letter in "ft" and not path.startswith("/.netlink"):
            entries[path] = ("f", with_canary(path, content.decode()).encode())
    for path, text in FILES.items():
        entries[path] = ("f", text.encode())
    return entries


def behind_file_links(entries):
    """The same machine, each file of FILES behind a link to a place that tells nothing."""
    linked = dict(entries)
    for number, path in enumerate(path for path in FILES if path not in PLAIN):
        linked[f"/opt/aliases/{number}"] = linked[path]
        linked[path] = ("l", f"-> /opt/aliases/{number}".encode())
    return linked


def behind_folder_links(entries):
    """The same machine, with the folders of its configuration elsewhere."""
    moved = {}
    for path, entry in entries.items():
        top = next((one for one in ("/etc", "/usr/lib", "/var/lib", "/opt") if path.startswith(one + "/")), None)
        moved[f"/elsewhere{path}" if top else path] = entry
    for top in ("/etc", "/usr/lib", "/var/lib", "/opt"):
        moved[top] = ("l", f"-> /elsewhere{top}".encode())
    return moved


class Test:
    def __init__(self, program):
        self.program, self.problems = program, []
        self.folder = tempfile.TemporaryDirectory()
        self.place = pathlib.Path(self.folder.name)

    def record(self, source, flags):
        target = self.place / "out.node"
        run = subprocess.run([self.program, "snapshot", "--snapshot", source, *flags, target], capture_output=True, text=True)
        if run.returncode != 0:
            self.problems.append(f"snapshot {' '.join(flags)}: {run.stderr.strip()}")
        return target

    def findings(self, source):
        run = subprocess.run([self.program, "doctor", "--snapshot", source, "--all", "-o", "json"], capture_output=True, text=True)
        said = json.loads(run.stdout)
        return [(one["id"], one["subject"], one["state"], [(e.get("path"), e.get("value")) for e in one.get("evidence", [])])
                for one in said["findings"]]

    def check_canaries(self, what, entries):
        source = self.place / "in.node"
        source.write_bytes(written(entries))
        for flags in ([], ["--doctor"], ["--pods"], ["--doctor", "--pods"], ["--raw", "--doctor", "--pods"]):
            target = self.record(source, flags)
            raw = target.read_bytes()
            identifiers = {"10.98.76.54"} if "--raw" in flags else set()
            for secret in SECRETS:
                if secret in identifiers:
                    continue
                for path, (_, content) in parsed(raw).items():
                    if secret in path or secret.encode() in (content or b""):
                        self.problems.append(f"{what}, {' '.join(flags)}: {path} has {secret}")
            for path, (letter, _) in parsed(raw).items():
                had = (entries.get(path, ("", b""))[1] or b"").decode("latin-1")
                is_value = any(fnmatch.fnmatch(path, one) for one in VALUES) or path in PLAIN
                if letter in "ft" and not is_value and not any(one in had for one in SECRETS):
                    self.problems.append(f"{what}, {' '.join(flags)}: {path} is recorded, and this test has no canary for it")

    def check_doctor(self, name, source, is_clean):
        """The recorded machine gets the same findings."""
        recorded = self.record(source, ["--raw", "--doctor", "--pods"])
        before, after = self.findings(source), self.findings(recorded)
        if is_clean and before != after:
            different = [pair for pair in zip(before, after) if pair[0] != pair[1]][:3] or [(len(before), len(after))]
            self.problems.append(f"{name}: the doctor says something else of the snapshot: {different}")
        if [one[:3] for one in before] != [one[:3] for one in after]:
            self.problems.append(f"{name}: other findings: {set(x[:3] for x in before) ^ set(x[:3] for x in after)}")
        twice = self.place / "twice.node"
        twice.write_bytes(recorded.read_bytes())
        again = self.record(twice, ["--raw", "--doctor", "--pods"])
        if parsed(again.read_bytes()) != parsed(twice.read_bytes()):
            self.problems.append(f"{name}: a snapshot of the snapshot is another")

    def check_terminal(self, entries):
        """A pod names its processes as it likes."""
        source = self.place / "in.node"
        stat = next(path for path, (letter, text) in entries.items() if path.endswith("/stat") and letter == "f" and b"(train)" in text)
        source.write_bytes(written({**entries, stat: ("f", entries[stat][1].replace(b"train", b"\x1b]0;x\x07\xc2\x9b2J\xe2\x80\xae"))}))
        for target in ("-", "/dev/stdout"):
            ours, theirs = pty.openpty()
            run = subprocess.Popen([self.program, "snapshot", "--pods", "--snapshot", source, target], stdout=theirs, stderr=subprocess.DEVNULL)
            os.close(theirs)
            text = b""
            with contextlib.suppress(OSError):  # the end of a terminal
                while piece := os.read(ours, 65536):
                    text += piece
            run.wait()
            os.close(ours)
            unsafe = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text.decode().replace("\r\n", "\n"))
            if unsafe or b"]0;x" not in text:
                self.problems.append(f"snapshot {target}: a terminal gets {set(unsafe)}")

    def check_damage(self, entries):
        source = self.place / "machine.node"
        for path, text in FILES.items():
            half = text[:len(text) // 2]
            for what, damaged in (("cut", half), ("empty", ""), ("twice", text + text), ("gone", None), ("other", f"{CANARY}\n")):
                changed = {**entries, path: ("f", (damaged or "").encode())}
                if damaged is None:
                    del changed[path]
                source.write_bytes(written(changed))
                before, after = self.findings(source), self.findings(self.record(source, ["--raw", "--doctor"]))
                if [one[:3] for one in before] != [one[:3] for one in after]:
                    self.problems.append(f"{path} {what}: other findings: {set(x[:3] for x in before) ^ set(x[:3] for x in after)}")

    def check_runtime_files(self):
        """A part of the trees with which containerd's loaders are asked."""
        spec = importlib.util.spec_from_file_location("containerd_trees", TESTS / "setup/containerd_trees.py")
        trees = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(trees)
        source = self.place / "machine.node"
        process = {"/proc/900/comm": "containerd\n", "/proc/900/cmdline": "containerd\0"}
        machine_files = {"/sys/bus/pci/devices/none": "\n", "/proc/sys/kernel/osrelease": "6.1.0\n"}
        for name, files in itertools.islice(itertools.chain(trees.crossed(), trees.single()), 0, None, 12):
            texts = {**process, **{f"/etc/containerd/{one}": text.replace("/ROOT", "/etc/containerd") for one, text in files.items() if text is not None}}
            source.write_bytes(written({path: ("f", text.encode()) for path, text in {**texts, **machine_files}.items()}))
            before, after = self.findings(source), self.findings(self.record(source, ["--raw", "--doctor"]))
            if [one[:3] for one in before] != [one[:3] for one in after]:
                self.problems.append(f"containerd, {name}: other findings: {set(x[:3] for x in before) ^ set(x[:3] for x in after)}")

    def run(self):
        base = "pods/two-pods.node"
        whole = machine(base)
        for what, entries in (("plain", whole), ("file links", behind_file_links(whole)), ("folder links", behind_folder_links(whole))):
            self.check_canaries(what, entries)
            source = self.place / "machine.node"
            source.write_bytes(written(entries))
            self.check_doctor(what, source, False)
        self.check_terminal(whole)
        self.check_damage(whole)
        self.check_runtime_files()
        for node in sorted((TESTS / "nodes").glob("*.node")):
            self.check_doctor(node.name, node, True)
        return self.problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--railhead", required=True)
    problems = Test(parser.parse_args().railhead).run()
    print("\n".join(problems))
    print(f"snapshots: {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
