#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""railhead setup switches NRI on in containerd's configuration, and real containerds read it.

Each file is loaded before and after by `containerd config dump`, of the releases that are named: NRI is on
afterwards, and nothing else has changed. Files of distributions are written down here as facts.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

RAILHEAD = os.environ["RAILHEAD_BIN"]
FETCH = pathlib.Path(__file__).resolve().parents[2] / "scripts/fetch-containerd"
NRI = "io.containerd.nri.v1.nri"
CRI = '[plugins."io.containerd.grpc.v1.cri"'
OFF = f'[plugins."{NRI}"]\n  disable = true\n'

# Files besides the main one are named with a slash.
FILES = {
    # Azure/AgentBaker, parts/linux/cloud-init: a GPU node with the driver of AKS
    "aks": {"config.toml": f"""version = 2
oom_score = -999
{CRI}]
  sandbox_image = "mcr.microsoft.com/oss/kubernetes/pause:3.6"
  enable_cdi = true
  {CRI}.containerd]
    default_runtime_name = "nvidia-container-runtime"
    {CRI}.containerd.runtimes.nvidia-container-runtime]
      runtime_type = "io.containerd.runc.v2"
    {CRI}.containerd.runtimes.nvidia-container-runtime.options]
      BinaryName = "/usr/bin/nvidia-container-runtime"
      SystemdCgroup = true
  {CRI}.registry]
    config_path = "/etc/containerd/certs.d"
[metrics]
  address = "0.0.0.0:10257"
"""},
    # awslabs/amazon-eks-ami, nodeadm: version 2, with a folder of one's own
    "eks": {"config.toml": f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
imports = ["config.d/*.toml"]
[grpc]
address = "/run/containerd/containerd.sock"
{CRI}.containerd]
default_runtime_name = "runc"
discard_unpacked_layers = true
""", "config.d/00-own.toml": "version = 2\noom_score = -1\n"},
    # cos-containerd of GKE
    "gke": {"config.toml": f"""version = 2
required_plugins = ["io.containerd.grpc.v1.cri"]
# Kubernetes requires the default to be runc
{CRI}]
  stream_server_address = "127.0.0.1"
  max_container_log_line_size = 262144
[debug]
  level = "info"
"""},
    # kubernetes-sigs/kind, images/base/files/etc/containerd/config.toml
    "kind": {"config.toml": f"""# explicitly use v2 config format
version = 2

[proxy_plugins]
# fuse-overlayfs is used for rootless
[proxy_plugins."fuse-overlayfs"]
  type = "snapshot"
  address = "/run/containerd-fuse-overlayfs.sock"

{CRI}]
  tolerate_missing_hugetlb_controller = true
"""},
    # k3s-io/k3s, pkg/agent/templates: as K3s renders it, without the line that says whose file it is, which is refused
    "k3s": {"config.toml": f"""version = 2

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/rancher/k3s/agent/containerd"
{CRI}]
  stream_server_address = "127.0.0.1"
  stream_server_port = "10010"
  enable_selinux = false
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  device_ownership_from_security_context = false
  sandbox_image = "rancher/mirrored-pause:3.6"

{CRI}.containerd]
  snapshotter = "overlayfs"
  disable_snapshot_annotations = true

{CRI}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

{CRI}.containerd.runtimes.runc.options]
  SystemdCgroup = true
"""},
    # NVIDIA's container toolkit writes a drop-in of its own; here NRI is off in it, too
    "toolkit": {"config.toml": "version = 2\nimports = ['conf.d/*.toml']\n" + OFF,
                "conf.d/99-nvidia.toml": "version = 2\n" + OFF},
    "quoted otherwise": {"config.toml": f"version = 2\n[plugins]\n  [plugins.'{NRI}']\n    disable=true#x\n"},
    "nothing but a comment": {"config.toml": "# none\n"},
    "version 1": {"config.toml": "oom_score = -999 # as nothing says another\n[plugins.cri]\n  enable_cdi = true\n"},
    "version 3": {"config.toml": "version = 3\n[plugins.'io.containerd.cri.v1.images']\n  snapshotter = 'native'\n"},
    "empty": {"config.toml": ""},
}


def fetch(version: str) -> str:
    """The path of that containerd."""
    folder = subprocess.run([FETCH, version], check=True, capture_output=True, text=True).stdout.split()[-1]
    return str(pathlib.Path(folder) / "bin/containerd")


def read(containerd: str, path: pathlib.Path) -> dict | None:
    """What containerd makes of the file; absent where this release does not know its version."""
    done = subprocess.run([containerd, "--config", path, "config", "dump"], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return tomllib.loads(done.stdout)


def has_nri(config: dict) -> bool:
    table = config["plugins"][NRI]
    return table["disable"] is False and table.get("disable_connections", False) is False


def without_nri(config: dict) -> dict:
    """All else. A drop-in is named among the imports. What containerd 2 makes of "nri" in a file of version 1
    is a plugin that it does not have."""
    ours = (NRI, "io.containerd.grpc.v1.nri")
    plugins = {name: value for name, value in config["plugins"].items() if name not in ours}
    return {**config, "plugins": plugins, "imports": []}


def setup(root: pathlib.Path, verb: str) -> str:
    command = [RAILHEAD, "setup", verb, "--host-root", root, "-o", "json"]
    given = ["--from", "-"] if verb != "revert" else []
    done = subprocess.run([*command, *given], input="nri: true\n", capture_output=True, text=True)
    return "" if done.returncode == 0 else f"setup {verb}: {done.stdout}{done.stderr}"


def judge(name: str, files: dict[str, str], containerds: dict[str, str]) -> list[str]:
    wrong = []
    with tempfile.TemporaryDirectory(prefix="railhead-setup-") as folder:
        root = pathlib.Path(folder)
        main = root / "etc/containerd/config.toml"
        for relative, text in files.items():
            path = main.parent / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        before = {release: read(containerd, main) for release, containerd in containerds.items()}
        wrong.append(setup(root, "apply"))
        loaded = 0
        for release, containerd in containerds.items():
            after = read(containerd, main)
            if before[release] is None:
                continue  # such as version 3 with containerd 1.7
            loaded += 1
            if after is None:
                wrong.append(f"containerd {release} no longer takes it")
            elif not has_nri(after):
                wrong.append(f"containerd {release} has NRI off")
            elif without_nri(after) != without_nri(before[release]):
                wrong.append(f"containerd {release} reads something else otherwise")
        if loaded == 0:
            wrong.append("no containerd takes it, changed or not")
        wrong.append(setup(root, "revert"))
        for relative, text in files.items():
            if (main.parent / relative).read_text() != text:
                wrong.append(f"{relative} is not as it was")
    wrong = [line for line in wrong if line]
    print(f"{'ok  ' if not wrong else 'FAIL'} {name}", *wrong, sep="\n     " if wrong else "")
    return wrong


def main() -> int:
    containerds = {release: fetch(release) for release in sys.argv[1:]}
    for release, containerd in containerds.items():
        default = subprocess.run([containerd, "config", "default"], check=True, capture_output=True, text=True)
        FILES[f"default of {release}"] = {"config.toml": default.stdout}
    bad = [name for name, files in FILES.items() if judge(name, files, containerds)]
    return 1 if bad else 0


sys.exit(main())
