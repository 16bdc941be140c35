# SPDX-License-Identifier: Apache-2.0
"""The 25 instructive failures of the field, and which health check sees each. Of the others it is what their
sources did when they were read: leptonai/gpud 4a8de33a (components/accelerator/nvidia/infiniband,
components/pci), Azure/azurehpc-health-checks 0e0a1ac (customTests, conf), NVIDIA/gpu-operator a22dbf671
(cmd/nvidia-validator), NVIDIA/NVSentinel (docs/nic-health-monitor.md 5550aa3c, docs/configuration/nic-health-monitor.md 07b82dc2,
preflight.md 231a207e, preflight-checks/nccl-allreduce b20423d6)."""

NO = "-"

# failure; where it was published; our checks or commands; a test of ours that shows it; gpud; azurehpc-health-checks;
# gpu-operator's validator; NVSentinel
COMPARED = [
    ("A virtual machine does not translate between GPU and NIC: garbage, and no error", "ai-dynamo/dynamo#12463",
     "`railhead bench` (data is compared)", "one_wrong_byte_in_any_message_of_a_ring_is_seen", NO, "loopback from GPU memory; data is not compared", NO,
     "preflight all-reduce; data is not compared"),
    ("A pod's network has no GID of the NIC", "smg-project/smg#1691", "pod.gid", "a_gid_of_its_own_address_is_needed_for_roce", NO, NO, NO, NO),
    ("NCCL takes TCP and says nothing", "vllm-project/vllm#42075", "pod.devices, pod.memlock, pod.transport, `railhead pods`",
     "a silent fallback", NO, NO, NO, "preflight all-reduce"),
    ("UCX takes the front-end NIC", "smg-project/smg#2520", "pod.front-end-nic; `railhead affinity` (roles)", "UCX would take the front-end NIC", NO, NO, NO, NO),
    ("UCX of the image was built without verbs", "ai-dynamo/dynamo#1209", "pod.ucx, `railhead pods` (no queue pair)", "UCX without verbs", NO, NO, NO, NO),
    ("The image has no libibverbs, or not the provider", "vllm-project/vllm#6732", "pod.libraries", "no provider", NO, NO, NO, NO),
    ("rdma-core of the image is older than the kernel's ABI", "k8snetworkplumbingwg/sriov-cni#348", "pod.library-abi",
     "a kernel interface that rdma-core does not know", NO, NO, NO, NO),
    ("The GID's netdev is in another namespace", "NVIDIA/nccl#925", "pod.gid", "a_gid_of_its_own_address_is_needed_for_roce", NO, NO, NO, NO),
    ("The index of the GID differs between pods", "NVIDIA/nccl#1573", "pod.environment (NCCL_IB_GID_INDEX)", "a NIC by name that it has not", NO, NO, NO, NO),
    ("Retries are exceeded: MTU, PFC, rails without a route", "NVIDIA/nccl#426", "roce.mtu, roce.flow-control, roce.ecn, link.errors, `railhead bench client`",
     "errors_that_grow_are_named", NO, NO, NO, "counter local_ack_timeout_err"),
    ("Memory cannot be registered although IPC_LOCK is set", "NVIDIA/nvidia-container-toolkit#2037", "pod.memlock",
     "ipc_lock_that_is_not_effective_is_named", NO, NO, NO, NO),
    ("peermem was built for another OFED", "NVIDIA/gpu-operator#2868", "log.peermem, gdr.route", "peermem of another OFED",
     "module is used, never unhealthy", NO, "module is loaded", NO),
    ("OFED in user space only", "NVIDIA/gpu-operator#2619", "drv.stack, gdr.route", "no way into GPU memory", NO, NO, "module is loaded", NO),
    ("peermem is gone after a start in the wrong order", "Mellanox/doca-driver-build#481", "drv.container, gdr.peermem, gdr.route",
     "no way into GPU memory", "module is used, never unhealthy", NO, "module is loaded", NO),
    ("OFED's restart takes the node's own network away", "Mellanox/network-operator#2176", "net.management-nic", "a_compute_nic_with_the_default_route_is_a_warning", NO, NO, NO, NO),
    ("The resource is 0: no umad", "Mellanox/k8s-rdma-shared-dev-plugin#94", "drv.modules, dev.uverbs", "module ib_umad is missing", NO, NO, NO,
     "one uverbs and umad for each device; where the module is missing it waits"),
    ("The program opens a NIC that it was not given", "Mellanox/k8s-rdma-shared-dev-plugin#93", "pod.environment; the agent sets NCCL_IB_HCA",
     "a NIC by name that it has not", NO, NO, NO, NO),
    ("GPUDirect at half the bandwidth: ACS, IOMMU, distance", "linux-rdma/perftest#241", "pci.acs, host.iommu, pod.affinity, `railhead bench`",
     "ACS redirects below the switch", "ACS, on bare metal", "bandwidth of a loopback", NO, "preflight all-reduce"),
    ("A virtual machine hides its switches from NCCL", "NVIDIA/nccl#1464", "topo.vm-file", "nccl_is_to_be_told_of_switches_that_are_hidden", NO, "topology against its file", NO, NO),
    ("DMA-BUF is refused between a GPU and a NIC that is no sibling", "ai-dynamo/nixl#1768", "log.dmabuf", "a refused DMA-BUF", NO, NO, NO, NO),
    ("IBGDA needs parameters of the driver", "sgl-project/sglang#12533", "pod.ibgda, gdr.ibgda", "IBGDA without its parameters", NO, NO, NO, NO),
    ("GDRCopy's node is missing", "awslabs/awsome-distributed-ai#1241", "pod.gdrcopy, gdr.gdrcopy",
     "GDRCopy's library without its device", NO, NO, "module is loaded", NO),
    ("A VF's GUID is zero, and its port stays down", "k8snetworkplumbingwg/sriov-network-device-plugin#269", "link.guid, sriov.vf-settings, link.port-state",
     "a VF without a GUID", "port is down", "port is down", NO, "port is down; VFs are left out"),
    ("A monitor reads counters until the log fills the disk", "prometheus/node_exporter#3434", "log.flood", "a log that fills the disk",
     "a line of the log", NO, NO, "a line of the log"),
    ("One slow NIC sets the pace of all", "NVIDIA/nccl-tests#106", "pci.link, link.rate, `railhead bench client`", "half the lanes of a slot",
     "rate of the port", "bandwidth of a loopback", NO, "preflight all-reduce"),
]
