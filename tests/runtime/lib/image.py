# SPDX-License-Identifier: Apache-2.0
"""A container image of one layer with a static busybox in it, as an OCI archive.

Byte for byte the same for the same busybox. Source: OCI image layout and image specification 1.0.
"""

import hashlib
import io
import json
import pathlib
import platform
import tarfile

NAME = "localhost/railhead-busybox:1"
BUSYBOX = pathlib.Path("/bin/busybox")  # Debian's busybox-static
APPLETS = ("sh", "ls", "stat", "cat", "env", "id", "sleep", "true", "readlink", "grep")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# PID 1 ends at once on TERM, so that nothing waits for a grace period.
IDLE = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 86400 & wait; done"]


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode = kind, mode
    return info


def _layer() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in ("bin", "dev", "etc", "proc", "sys", "tmp"):
            tar.addfile(_entry(folder, tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755))
        busybox = BUSYBOX.read_bytes()
        file = _entry("bin/busybox", tarfile.REGTYPE, 0o755)
        file.size = len(busybox)
        tar.addfile(file, io.BytesIO(busybox))
        for applet in APPLETS:
            link = _entry(f"bin/{applet}", tarfile.SYMTYPE, 0o777)
            link.linkname = "busybox"
            tar.addfile(link)
        passwd = b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n"
        file = _entry("etc/passwd", tarfile.REGTYPE, 0o644)
        file.size = len(passwd)
        tar.addfile(file, io.BytesIO(passwd))
    return out.getvalue()


class _Blobs:
    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    def add(self, media_type: str, data: bytes) -> dict:
        digest = hashlib.sha256(data).hexdigest()
        self.content[digest] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, media_type: str, value: dict) -> dict:
        return self.add(media_type, json.dumps(value, sort_keys=True).encode())


def write(path: pathlib.Path) -> None:
    """Writes the archive, for `ctr images import`."""
    blobs = _Blobs()
    layer = blobs.add("application/vnd.oci.image.layer.v1.tar", _layer())
    config = blobs.add_json(
        "application/vnd.oci.image.config.v1+json",
        {
            "architecture": ARCHITECTURES[platform.machine()],
            "os": "linux",
            "config": {"Env": ["PATH=/bin"], "Entrypoint": IDLE},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        },
    )
    manifest = blobs.add_json(
        "application/vnd.oci.image.manifest.v1+json",
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": [layer],
        },
    )
    manifest["annotations"] = {"io.containerd.image.name": NAME}
    files = {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode(),
    }
    files |= {f"blobs/sha256/{digest}": data for digest, data in sorted(blobs.content.items())}
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            file = _entry(name, tarfile.REGTYPE, 0o644)
            file.size = len(data)
            tar.addfile(file, io.BytesIO(data))
