# SPDX-License-Identifier: Apache-2.0
"""limits.py RAILHEAD: what strangers send takes little. Of documents that are much of one thing, the peak memory is at most
64 MiB and ten times the input. Time is printed for the reader, of a quarter and of all."""
import os
import pathlib
import subprocess
import sys
import tempfile

POLICY = "{kind: SriovNetworkNodePolicy, metadata: {name: p%d}, spec: {resourceName: r%d, nicSelector: {pfNames: ['%s']}}}"
NETWORK = "{kind: SriovNetwork, metadata: {name: n%d}, spec: {resourceName: r%d}}"
FILE = '{"configList": [{"resourceName": "r%d", "rdmaHcaMax": 1, "selectors": {"ifNames": ["i"]}}]}'
PLUGIN = '{"resourceList": [{"resourceName": "s%d", "selectors": {"vendors": ["8086"]}}]}'
POD = ("{kind: Pod, metadata: {name: n%d, annotations: {k8s.v1.cni.cncf.io/networks: n%d}}, spec: {containers: "
       "[{name: c, resources: {limits: {openshift.io/r%d: 1}}}]}}")
# An item of a List by its number, and of how many.
ITEMS = {
    "empty": (lambda n: "{}", 100_000),
    "of one key": (lambda n: "{a: 1}", 80_000),
    "definitions": (lambda n: "{kind: NetworkAttachmentDefinition, metadata: {name: n%d}, spec: {config: '{\"type\": \"sriov\"}'}}" % n, 12_000),
    "policies": (lambda n: POLICY % (n, n, "a%d" % n), 12_000),
    "policies of one port": (lambda n: POLICY % (n, n, "a#%d-%d" % (n, n)), 12_000),
    "policies and networks": (lambda n: POLICY % (n, n, "a") if n % 2 else NETWORK % (n, n), 12_000),
    "policies and pods": (lambda n: POLICY % (n, n, "a") if n % 2 else POD % (n, n, n + 1), 8_000),
    "plugins' files": (lambda n: "{kind: ConfigMap, metadata: {name: n%d}, data: {a: '%s'}}" % (n, FILE % n), 8_000),
    "policies and plugins": (lambda n: "{kind: ConfigMap, metadata: {name: n%d}, data: {a: '%s'}}" % (n, PLUGIN % n) if n % 2 else
                             POLICY % (n, n, "a%d" % n), 8_000),
    "node policies": (lambda n: "{kind: NicNodePolicy, metadata: {name: n%d}, spec: {nodeSelector: {a: b%d}}}" % (n, n), 12_000),
    "values": (lambda n: "{toolkit: {}, driver: {rdma: {}}, nfd: {deployNodeFeatureRules: true}}", 12_000),
    "DaemonSets": (lambda n: "{kind: DaemonSet, metadata: {name: n%d}, spec: {template: {spec: {containers: [{name: a, image: railhead}]}}}}" % n, 8_000),
}


def measure(program, path):
    """(peak in KiB, seconds of the processor)"""
    done = subprocess.Popen([program, "lint", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = done.stderr.read()
    _, status, used = os.wait4(done.pid, 0)
    assert os.WIFEXITED(status), (path, status, said)
    return used.ru_maxrss, used.ru_utime + used.ru_stime


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (item, count) in ITEMS.items():
            for many in (count // 4, count):
                path = pathlib.Path(folder) / "items.yaml"
                path.write_text("kind: List\nitems:\n" + "".join(f"- {item(n)}\n" for n in range(many)))
                peak, seconds = measure(sys.argv[1], path)
                limit = (64 << 10) + 10 * path.stat().st_size // 1024
                print(f"{name}: {many} items, {path.stat().st_size >> 10} KiB: {peak / 1024:.1f} MiB, {seconds:.2f} s")
                if peak > limit:
                    faults.append(f"{name}: {peak} KiB, more than {limit}")
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
