# SPDX-License-Identifier: Apache-2.0
"""The 52 checks that the doctor was asked to have, as ids with the worst that each is to say, and where the
program differs on purpose. A check of ours names the rows that it answers in `covers`."""

# F: some check of the row can FAIL, W: some can WARN, "": it tells only.
CATALOGUE = {
    "host.kernel": "W", "host.virt": "", "pci.nic.present": "F", "pci.link": "F", "pci.devctl": "W", "pci.acs_ats": "FW",
    "pci.aer": "W", "host.iommu": "W", "drv.modules": "F", "drv.stack": "", "drv.persist": "W", "drv.nvidia": "FW",
    "gdr.peermem": "", "gdr.dmabuf": "F", "gdr.route": "F", "gdr.gdrcopy": "W", "gdr.gds": "", "dev.chardev": "F",
    "dev.netns_mode": "W", "link.state": "F", "link.rate": "F", "link.layer": "W", "link.sm": "F", "link.flap": "W",
    "link.counters": "W", "link.guid": "F", "roce.gid": "F", "roce.mtu": "W", "roce.qos": "W", "sriov.vfs": "F",
    "k8s.operators": "FW", "k8s.nfd": "W", "k8s.resources": "FW", "k8s.plugin.selectors": "W", "rt.nri": "FW",
    "rt.memlock": "F", "pod.devices": "F", "pod.libs": "F", "pod.gid": "F", "pod.env": "W", "pod.shm": "W",
    "pod.transport": "FW", "pod.affinity": "W", "topo.vm_file": "W", "nfs.rdma": "F", "net.mgmt_nic": "W",
    "bench.loopback": "FW", "bench.pair": "", "bench.rail": "", "bench.matrix": "", "log.scan": "F", "kmsg.scan": "FW",
}

# Rows that no check answers, with who does.
BY_OTHERS = {
    "bench.pair": "`railhead bench server` and `client`", "bench.rail": "`railhead bench client --nics`, rail by rail",
    "bench.matrix": "`railhead bench client`, between each two nodes",
}

# Where the notes ask for more than can be said truly.
MILDER = {
    "pci.aer": "FAIL for growth: a counter since the start of the machine does not say when; WARN",
    "gdr.peermem": "WARN each: one way is enough; gdr.route says FAIL where there is neither",
    "link.layer": "FAIL: which layer is right only the operator knows; WARN where a GPU has no other NIC as near",
    "link.flap": "FAIL: the link is up again when it is looked at; WARN",
    "topo.vm_file": "FAIL: an image or the agent may give the file to a container; WARN",
    "drv.stack": "WARN for a changed srcversion: that it does not fit nvidia_peermem is in the kernel's log (log.peermem)",
    "roce.mtu": "active_mtu at both ends: neither sysfs nor RDMA netlink has it; the kernel makes it of the netdev's MTU, "
                "which is read, and the other end is another node's",
    "roce.qos": "equal on all nodes: a node knows its own; roce.flow-control prints them in one line to compare",
    "link.guid": "unique in the cluster: of cards nobody publishes GUIDs; those of pods are compared (kube.addresses)",
}
