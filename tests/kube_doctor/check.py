# SPDX-License-Identifier: Apache-2.0
"""`railhead doctor --kube` against a server that is healthy, broken in one way, slow, absent or forbids to look.
`check.py PROGRAM`; with --bless it writes the table of docs/doctor.md."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from fake_api import PATHS, FakeApi  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
HEAD, TAIL = "<!-- checks of a cluster: written by tests/kube_doctor/check.py --bless -->\n", "<!-- end -->\n"
PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
IB = "rdma/ib"


def node(name, rdma=("8", "8"), gpus="8"):
    return {"metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": "Standard_ND96isr_H100_v5",
                                                  "feature.node.kubernetes.io/pci-15b3.present": "true",
                                                  "network.nvidia.com/operator.mofed.wait": "false",
                                                  "kubernetes.azure.com/agentpool": "gpu", "kubernetes.azure.com/accelerator": "nvidia",
                                                  "railhead.io/rdma.total-vfs": "16", "railhead.io/rails": "8"}},
            "status": {"nodeInfo": {"osImage": "Ubuntu 22.04.5 LTS"}, "capacity": {"cpu": "96", "nvidia.com/gpu": gpus, IB: rdma[0]},
                       "allocatable": {"cpu": "96", "nvidia.com/gpu": gpus, IB: rdma[1]}}}


def pod(name, **more):
    return {"metadata": {"name": name, "namespace": "ai", "managedFields": [{"manager": "x"}], **more.pop("metadata", {})},
            "spec": {"nodeName": "gpu-1", "containers": [{
                "name": "main", "image": "a", "resources": {"limits": {"nvidia.com/gpu": "8", IB: "1"}},
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}], **more.pop("spec", {})},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **more.pop("status", {})}}


def daemon_set(name, image, ready=2, wanted=2):
    return {"metadata": {"name": name, "namespace": "kube-system"},
            "spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
            "status": {"desiredNumberScheduled": wanted, "numberReady": ready}}


def with_map(one, name="rdma-devices", key="config.json", optional=None):
    source = {"name": name, "items": [{"key": key, "path": key}], **({} if optional is None else {"optional": optional})}
    one["spec"]["template"]["spec"]["volumes"] = [{"name": "config", "configMap": source}]
    return one


STATUS = json.dumps([{"name": "cni0", "default": True, "ips": ["10.0.0.9"]}, {"name": "ai/rail0", "ips": ["192.168.4.3"]}])
CONFIG = {"metadata": {"name": "rdma-devices", "namespace": "kube-system"}, "data": {"config.json": json.dumps({"configList": [
    {"resourceName": "ib", "rdmaHcaMax": 8, "selectors": {"ifNames": ["ib0"], "linkTypes": ["infiniband"]}}]})}}
LOG = ("n1:7:7 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nn1:7:7 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]\n"
       "n1:7:7 [0] NCCL INFO Using network IB\nn1:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n")
TCP = ("n1:7:7 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nn1:7:7 [0] NCCL INFO NET/IB : No device found.\n"
       "n1:7:7 [0] NCCL INFO Using network Socket\nn1:7:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n")


def healthy():
    """Objects and replies of a cluster with two nodes, a shared plugin, both operators and a job."""
    objects = {
        "Node": [node("gpu-1"), node("gpu-2")],
        "Pod": [pod("train", metadata={"annotations": {"k8s.v1.cni.cncf.io/network-status": STATUS}}), {"metadata": {"name": "mofed-1", "namespace": "nvidia", "labels": {"nvidia.com/ofed-driver": ""}},
                               "spec": {"nodeName": "gpu-1", "containers": [{"name": "mofed-container", "image": "doca-driver"}]},
                               "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
                {"metadata": {"name": "op", "namespace": "nvidia", "labels": {"app.kubernetes.io/name": "network-operator"}},
                 "spec": {"containers": [{"name": "c", "image": "network-operator"}]},
                 "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}],
        "DaemonSet": [with_map(daemon_set("rdma-shared-dp-ds", "x/k8s-rdma-shared-dev-plugin:v1.5.2")), daemon_set("railhead", "x/railhead:1")],
        "Deployment": [{"metadata": {"name": "nfd-master", "namespace": "nvidia"}, "spec": {"template": {"spec": {"containers": [
            {"name": "c", "image": "x/node-feature-discovery:v0.16"}]}}}}],
        "ConfigMap": [CONFIG],
        "NicClusterPolicy": [{"metadata": {"name": "nic-cluster-policy"}, "spec": {"ofedDriver": {"image": "doca-driver"}},
                              "status": {"state": "ready"}}],
        "ClusterPolicy": [{"metadata": {"name": "cluster-policy"}, "spec": {"driver": {"rdma": {"enabled": True, "useHostMofed": False}}},
                           "status": {"state": "ready"}}],
        "Namespace": [{"metadata": {"name": "ai"}}],
    }
    replies = {f"/api/v1/nodes/{name}/proxy/configz": json.dumps({"kubeletconfig": {"topologyManagerPolicy": "restricted"}})
               for name in ("gpu-1", "gpu-2")}
    replies["/api/v1/namespaces/ai/pods/train/log"] = LOG
    return objects, replies


def doctor(api, *more, seconds=60):
    kubeconfig = api if isinstance(api, str) else str(api.kubeconfig)
    start = time.monotonic()
    said = subprocess.run([PROGRAM, "doctor", "--kube", "--kubeconfig", kubeconfig, "-o", "json", *more], capture_output=True,
                          text=True, timeout=seconds, env={"PATH": os.environ["PATH"]})
    return said, json.loads(said.stdout) if said.stdout else None, time.monotonic() - start


class KubeDoctor(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.objects, self.replies = healthy()

    def run_it(self, *more, **kind):
        with FakeApi(self.folder.name, self.objects, self.replies, **kind) as api:
            said, report, took = doctor(api, *more)
            self.assertIsNotNone(report, said.stderr)
            self.assertNotIn("secret-token", said.stdout + said.stderr)
            self.assertTrue(all(one["evidence"] for one in report["findings"] if one["state"] != "SKIP"))
            self.asked = api.asked
            return said, report, took

    def complaints(self, report):
        return {(one["id"], one["subject"], one["state"]) for one in report["findings"]
                if one["state"] in ("FAIL", "WARN", "UNKNOWN")}

    def broken(self, *expected, code=1):
        said, report, _ = self.run_it()
        self.assertEqual(set(expected), self.complaints(report))
        self.assertEqual(code, said.returncode)
        return report

    def test_a_healthy_cluster_has_no_complaint(self):
        self.broken(code=0)

    def test_each_check_says_pass_on_a_healthy_cluster(self):
        _, report, _ = self.run_it()
        passed = {one["id"] for one in report["findings"] if one["state"] == "PASS"}
        listed = json.loads(subprocess.run([PROGRAM, "doctor", "--kube", "--list", "-o", "json"], check=True,
                                           capture_output=True, text=True).stdout)
        self.assertEqual({one["id"] for one in listed["checks"]}, passed)

    def test_a_resource_that_is_zero(self):
        self.objects["Node"][0] = node("gpu-1", ("8", "0"))
        self.broken(("kube.resources", "gpu-1/rdma/ib", "FAIL"))

    def test_a_resource_that_is_partly_there(self):
        self.objects["Node"][0] = node("gpu-1", ("8", "7"))
        self.broken(("kube.resources", "gpu-1/rdma/ib", "WARN"), code=0)

    def test_counts_with_a_suffix_are_read(self):
        self.objects["Node"] = [node("gpu-1", ("1k", "1000")), node("gpu-2", ("1k", "1k"))]
        self.broken(code=0)

    def test_a_node_that_has_lost_a_gpu(self):
        self.objects["Node"][0] = node("gpu-1", gpus="7")
        self.broken(("kube.machine-type", "gpu-1", "FAIL"))

    def test_sizes_are_known_by_the_table_and_else_by_their_name(self):
        wanted = {"Standard_NC24ads_A100_v4": ("1", "WARN"), "Standard_NC40ads_H100_v5": ("1", "WARN"), "Standard_ND96asr_v4": ("8", None),
                  "Standard_ND96amsr_A100_v4": ("8", None), "Standard_ND96isr_H200_v5": ("8", None), "Standard_ND96is_H100_v5": ("8", "WARN"),
                  "p5.48xlarge": ("8", None), "p5en.48xlarge": ("7", "FAIL"), "a3-highgpu-8g": ("8", "WARN"), "a3-ultragpu-8g": ("8", None),
                  "BM.GPU.H100.8": ("7", "FAIL"), "BM.GPU.H200.8": ("8", None)}
        for size, (gpus, state) in wanted.items():
            self.objects["Node"][0] = node("gpu-1", gpus=gpus)
            self.objects["Node"][0]["metadata"]["labels"]["node.kubernetes.io/instance-type"] = size
            found = {one[2] for one in self.complaints(self.run_it()[1]) if one[0] == "kube.machine-type"}
            self.assertEqual({state} if state else set(), found, size)

    def on_rail(self, name, address, guid=None, network="ai/rail0", **more):
        status = json.dumps([{"name": "cni0", "default": True, "ips": ["10.0.0.9"]}, {"name": network, "ips": [address]}])
        selected = json.dumps([{"name": "rail0", "cni-args": {"guid": guid}}] if guid else [{"name": "rail0"}])
        one = pod(name, metadata={"annotations": {"k8s.v1.cni.cncf.io/network-status": status,
                                                  "k8s.v1.cni.cncf.io/networks": selected}}, **more)
        self.objects["Pod"].append(one)
        self.replies[f"/api/v1/namespaces/ai/pods/{name}/log"] = LOG

    def test_two_pods_with_one_address(self):
        self.on_rail("one", "192.168.4.7")
        self.on_rail("two", "192.168.4.7")
        self.on_rail("ended", "192.168.4.7", status={"phase": "Succeeded"})
        self.on_rail("elsewhere", "192.168.4.7", network="ai/rail1")
        found = self.complaints(self.run_it()[1])
        self.assertIn(("kube.addresses", "ai/rail0 192.168.4.7", "FAIL"), found)
        self.assertEqual(1, sum(one[0] == "kube.addresses" for one in found))

    def test_two_pods_with_one_guid(self):
        self.on_rail("one", "192.168.4.7", "02:00:00:00:00:00:00:01")
        self.on_rail("two", "192.168.4.8", "02:00:00:00:00:00:00:01")
        self.assertIn(("kube.addresses", "GUID 02:00:00:00:00:00:00:01", "FAIL"), self.complaints(self.run_it()[1]))

    def test_an_annotation_that_is_no_list_is_left_out(self):
        for text in ("[", "rail0@net1", "[1, {}]", '[{"ips": "x", "name": []}]'):
            self.objects["Pod"][0]["metadata"]["annotations"] = {"k8s.v1.cni.cncf.io/network-status": text}
            found = self.complaints(self.run_it()[1])
            self.assertFalse([one for one in found if one[0] == "kube.addresses"], text)

    def test_a_stale_resource(self):
        self.objects["Node"][1]["status"]["capacity"]["rdma/old"] = "0"
        self.objects["Node"][1]["status"]["allocatable"]["rdma/old"] = "0"
        report = self.broken(("kube.resources", "gpu-2/rdma/old", "WARN"), code=0)
        finding = next(one for one in report["findings"] if one["state"] == "WARN")
        self.assertIn("restart the node's kubelet", finding["remedy"])

    def test_a_configured_resource_that_no_node_has(self):
        self.objects["SriovNetworkNodePolicy"] = [{"metadata": {"name": "p", "namespace": "s"}, "spec": {
            "resourceName": "vf", "isRdma": True, "nicSelector": {"deviceID": "1021"}}}]
        self.broken(("kube.offered", "openshift.io/vf", "WARN"), code=0)

    def test_a_pod_that_waits_for_a_nic(self):
        self.objects["Pod"].append(pod("waits", status={"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 2 Insufficient rdma/ib. preemption: 0/2"}]}))
        report = self.broken(("kube.pending", "ai/waits", "FAIL"))
        self.assertIn("D33", next(one for one in report["findings"] if one["state"] == "FAIL")["covers"])

    def test_a_pod_that_waits_for_something_else(self):
        self.objects["Pod"].append(pod("waits", status={"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available: 2 Insufficient cpu."}]}))
        self.broken(code=0)

    def test_a_driver_that_crashes(self):
        self.objects["Pod"][1]["status"] = {"phase": "Running", "containerStatuses": [
            {"name": "mofed-container", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}
        self.broken(("kube.ofed", "nvidia/mofed-1", "FAIL"))

    def driver_that_stops(self, init=(), containers=(), name="mofed-1"):
        one = next(one for one in self.objects["Pod"] if one["metadata"]["name"] == name)
        one["status"] = {"phase": "Pending", "initContainerStatuses": list(init), "containerStatuses": list(containers)}
        return one

    def finding(self, report, check, subject):
        return next(one for one in report["findings"] if (one["id"], one["subject"]) == (check, subject))

    def test_a_drivers_last_line_is_shown(self):
        """Each member: it crashes, it runs and is not ready, an init container failed, the GPU's driver, and one that never ran."""
        crashed = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting"}}
        self.driver_that_stops(containers=[{"name": "mofed-container", "ready": False, "state": crashed, "lastState": {"terminated": {"exitCode": 1}}}])
        self.replies["/api/v1/namespaces/nvidia/pods/mofed-1/log"] = "first\nno build for 6.8.0-1 \n\n"
        report = self.broken(("kube.ofed", "nvidia/mofed-1", "FAIL"))
        found = self.finding(report, "kube.ofed", "nvidia/mofed-1")
        self.assertEqual(["no build for 6.8.0-1"], [one["value"] for one in found["evidence"] if "/log?" in one["path"]])
        for word in ("CrashLoopBackOff", "back-off 5m0s restarting", "no build for 6.8.0-1"):
            self.assertIn(word, found["observed"])
        asked = [one for one in self.asked if "/pods/mofed-1/log?" in one]
        self.assertEqual(1, len(asked))
        self.assertIn("container=mofed-container&limitBytes=16384&tailLines=8", asked[0])

        waits = {"name": "mofed-container", "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
        runs = {"name": "check", "ready": False, "state": {"running": {"startedAt": "x"}}}
        self.driver_that_stops(init=[runs], containers=[waits])
        report = self.broken(("kube.ofed", "nvidia/mofed-1", "WARN"), code=0)
        self.assertIn("container=check&", [one for one in self.asked if "/pods/mofed-1/log?" in one][0])

        done = {"name": "manager", "ready": True, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
        failed = {"name": "check", "ready": False, "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}
        self.driver_that_stops(init=[done, failed], containers=[waits])
        self.assertIn("check: Error", self.finding(self.broken(("kube.ofed", "nvidia/mofed-1", "FAIL")), "kube.ofed", "nvidia/mofed-1")["observed"])

        never = {"name": "mofed-container", "ready": False, "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image " + 400 * "x"}}}
        self.driver_that_stops(containers=[never])
        found = self.finding(self.broken(("kube.ofed", "nvidia/mofed-1", "FAIL")), "kube.ofed", "nvidia/mofed-1")
        self.assertIn("no such image", found["observed"])
        self.assertLess(len(found["observed"]), 400)
        self.assertEqual([], [one for one in self.asked if "/pods/mofed-1/log?" in one])

    def test_a_gpu_drivers_log_is_read_too(self):
        self.objects["Pod"].append({"metadata": {"name": "driver", "namespace": "gpu", "labels": {"app": "nvidia-driver-daemonset"}}, "spec": {}})
        self.driver_that_stops(name="driver", containers=[{"name": "nvidia-driver-ctr", "ready": False, "state": {"running": {}}}])
        self.replies["/api/v1/namespaces/gpu/pods/driver/log"] = "Could not resolve Linux kernel version"
        found = self.finding(self.broken(("kube.operators", "gpu/driver", "WARN"), code=0), "kube.operators", "gpu/driver")
        self.assertIn("Could not resolve Linux kernel version", found["observed"])

    def test_a_log_that_may_not_be_read_hides_nothing(self):
        self.driver_that_stops(containers=[{"name": "c", "ready": False, "state": {"running": {}}}])
        said, report, _ = self.run_it(faults={"/api/v1/namespaces/nvidia/pods/mofed-1/log": 403})
        found = self.finding(report, "kube.ofed", "nvidia/mofed-1")
        self.assertEqual("WARN", found["state"])
        self.assertEqual(1, sum("403" in one.get("error", "") for one in found["evidence"]), found)

    def test_a_missing_configmap_is_named(self):
        """By a volume, a projected one, env and envFrom; a key alone; in another namespace; optional ones may be missing."""
        plugin = ("kube.configmaps", "kube-system/rdma-shared-dp-ds")

        def state_of(ready=0, **spec):
            one = daemon_set("rdma-shared-dp-ds", "x/k8s-rdma-shared-dev-plugin:v1", ready)
            one["spec"]["template"]["spec"].update(spec)
            self.objects["DaemonSet"][0] = one
            found = [one for one in self.run_it()[1]["findings"] if one["id"] == "kube.configmaps" and one["subject"] == plugin[1]]
            return found[0]["state"] if found else None

        def container(**more):
            return [{"name": "c", "image": "x/k8s-rdma-shared-dev-plugin:v1", **more}]
        for name, wanted in (("rdma-devices", "PASS"), ("lost", "FAIL")):
            source = {"name": name}
            self.assertEqual(wanted, state_of(volumes=[{"name": "v", "configMap": source}]), name)
            self.assertEqual(wanted, state_of(volumes=[{"name": "v", "projected": {"sources": [{"configMap": source}]}}]), name)
            self.assertEqual(wanted, state_of(containers=container(envFrom=[{"configMapRef": source}])), name)
            self.assertEqual(wanted, state_of(containers=container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {**source, "key": "config.json"}}}])), name)
            self.assertEqual(wanted, state_of(initContainers=[{"name": "i", "envFrom": [{"configMapRef": source}]}]), name)
        self.assertEqual("FAIL", state_of(volumes=[{"name": "v", "configMap": {"name": "rdma-devices", "items": [{"key": "other", "path": "p"}]}}]))
        self.assertEqual("WARN", state_of(ready=2, volumes=[{"name": "v", "configMap": {"name": "lost"}}]))
        self.assertIsNone(state_of(volumes=[{"name": "v", "configMap": {"name": "lost", "optional": True}}]))
        self.objects["ConfigMap"] = [{**CONFIG, "metadata": {**CONFIG["metadata"], "namespace": "elsewhere"}}]
        self.assertEqual("FAIL", state_of(volumes=[{"name": "v", "configMap": {"name": "rdma-devices"}}]))

    def test_a_node_whose_nics_are_set_otherwise(self):
        """By the labels of nodes of one size; two that differ have no usual value, and what is unknown says nothing."""
        def states(*vfs, label="railhead.io/rdma.total-vfs", size="Standard_ND96isr_H100_v5"):
            self.objects["Node"] = [node(f"gpu-{n}") for n in range(len(vfs))]
            for one, value in zip(self.objects["Node"], vfs):
                one["metadata"]["labels"].update({label: value, "node.kubernetes.io/instance-type": size})
            return {(one["subject"], one["state"]) for one in self.run_it()[1]["findings"]
                    if one["id"] == "kube.nic-settings" and one["state"] not in ("PASS", "SKIP")}
        self.assertEqual({("gpu-2", "WARN")}, states("16", "16", "8"))
        self.assertEqual({("gpu-0", "WARN")}, states("Ethernet", "InfiniBand", "InfiniBand", label="railhead.io/rdma.link-layer"))
        self.assertEqual(set(), states("16", "8"))
        self.assertEqual(set(), states("16", "16", "unknown"))
        self.assertEqual(set(), states("16", "16", "8", size=""))

    def test_aks_nodes_run_ubuntu_where_an_operator_brings_drivers(self):
        def state_of(image="Microsoft Azure Linux 3.0", **labels):
            self.objects["Node"][0]["status"]["nodeInfo"]["osImage"] = image
            self.objects["Node"][0]["metadata"]["labels"].update(labels)
            return {one[2] for one in self.complaints(self.run_it()[1]) if one[:2] == ("kube.node-system", "gpu-1")}
        for image in ("Microsoft Azure Linux 3.0", "CBL-Mariner/Linux", "Windows Server 2022 Datacenter"):
            self.assertEqual({"WARN"}, state_of(image), image)
        self.assertEqual({"UNKNOWN"}, state_of(""))
        self.assertEqual(set(), state_of("Ubuntu 24.04.3 LTS"))
        self.assertEqual(set(), state_of(**{"kubernetes.azure.com/agentpool": ""}))
        self.objects["Node"][0] = node("gpu-1")
        self.objects["ClusterPolicy"][0]["spec"]["driver"]["enabled"] = False
        self.assertEqual({"WARN"}, state_of(), "OFED is the operator's")
        del self.objects["NicClusterPolicy"][0]["spec"]["ofedDriver"]
        self.assertEqual(set(), state_of(), "nobody brings a driver")

    def test_a_driver_that_is_not_ready_yet(self):
        self.objects["Pod"][1]["status"]["conditions"][0]["status"] = "False"
        self.broken(("kube.ofed", "nvidia/mofed-1", "WARN"), code=0)

    def test_a_node_that_waits_for_a_driver(self):
        self.objects["Node"][1]["metadata"]["labels"]["network.nvidia.com/operator.mofed.wait"] = "true"
        self.broken(("kube.ofed-wait", "gpu-2", "WARN"), code=0)

    def test_a_plugin_that_is_ready_on_one_node_of_two(self):
        self.objects["DaemonSet"][0] = daemon_set("rdma-shared-dp-ds", "k8s-rdma-shared-dev-plugin", 1)
        self.broken(("kube.daemonsets", "kube-system/rdma-shared-dp-ds", "WARN"), code=0)

    def test_an_operator_that_crashes(self):
        self.objects["Pod"][2]["status"] = {"phase": "Running", "containerStatuses": [
            {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}
        self.broken(("kube.operators", "nvidia/op", "FAIL"))

    def test_a_node_that_waits_for_a_driver_that_is_there(self):
        self.objects["Node"][0]["metadata"]["labels"]["network.nvidia.com/operator.mofed.wait"] = "true"
        self.broken(("kube.ofed-wait", "gpu-1", "FAIL"))

    def test_a_plugin_that_is_not_ready(self):
        self.objects["DaemonSet"][0] = daemon_set("rdma-shared-dp-ds", "k8s-rdma-shared-dev-plugin", 0)
        self.broken(("kube.daemonsets", "kube-system/rdma-shared-dp-ds", "FAIL"))

    def test_two_plugins_of_the_same_kind(self):
        self.objects["DaemonSet"].append(daemon_set("other", "k8s-rdma-shared-dev-plugin"))
        self.broken(("kube.manifests", "DaemonSet kube-system/other daemon.twice", "FAIL"))

    def test_a_reloader_beside_the_operators_driver(self):
        self.objects["DaemonSet"].append(daemon_set("nvidia-peermem-reloader", "nvidia-peermem-reloader"))
        self.broken(("kube.manifests", "DaemonSet kube-system/nvidia-peermem-reloader daemon.peermem-twice", "WARN"), code=0)

    def test_two_node_feature_discoveries(self):
        other = copy.deepcopy(self.objects["Deployment"][0])
        other["metadata"]["namespace"] = "gpu-operator"
        self.objects["Deployment"].append(other)
        self.broken(("kube.nfd", "cluster", "WARN"), code=0)

    def test_a_policy_that_is_not_ready(self):
        self.objects["NicClusterPolicy"][0]["status"]["state"] = "error"
        self.broken(("kube.policies", "NicClusterPolicy nic-cluster-policy", "FAIL"))

    def test_an_operator_that_is_not_ready(self):
        self.objects["Pod"][2]["status"]["conditions"][0]["status"] = "False"
        self.broken(("kube.operators", "nvidia/op", "WARN"), code=0)

    def test_no_label_of_node_feature_discovery(self):
        for one in self.objects["Node"]:
            del one["metadata"]["labels"]["feature.node.kubernetes.io/pci-15b3.present"]
        self.broken(("kube.nfd-label", "cluster", "FAIL"))

    def test_a_size_without_rdma_and_one_node_alone(self):
        del self.objects["Node"][1]
        self.objects["Node"][0]["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "Standard_NC24ads_A100_v4"
        self.broken(("kube.machine-type", "gpu-1", "WARN"), ("kube.gpu-nodes", "cluster", "WARN"), code=0)

    def test_a_kubelet_that_aligns_nothing(self):
        self.replies["/api/v1/nodes/gpu-2/proxy/configz"] = json.dumps({"kubeletconfig": {}})
        self.broken(("kube.topology-manager", "gpu-2", "WARN"), code=0)

    def test_a_log_that_shows_tcp(self):
        self.replies["/api/v1/namespaces/ai/pods/train/log"] = TCP
        self.broken(("kube.logs", "ai/train/main", "FAIL"))

    def test_an_old_server(self):
        self.replies["/version"] = json.dumps({"major": "1", "minor": "24+", "gitVersion": "v1.24.3"})
        self.broken(("kube.version", "cluster", "WARN"), code=0)

    def test_rules_of_lint_reach_every_kind(self):
        self.objects["SriovNetwork"] = [{"metadata": {"name": "n", "namespace": "s"},
                                         "spec": {"capabilities": "{\"rdma\": true}", "ipam": "{\"type\": \"host-local\"}"}}]
        self.objects["MachineConfig"] = [{"metadata": {"name": "m"}, "spec": {"config": {"systemd": {"units": [
            {"name": "mnt-a-b.mount", "contents": "[Mount]\nWhere=/mnt/a-b\nOptions=rdma,port=20049\n"}]}}}}]
        self.objects["PersistentVolume"] = [{"metadata": {"name": "v"}, "spec": {"mountOptions": ["rdma", "port=20049", "nconnect=8"]}}]
        self.objects["IPPool"] = [{"metadata": {"name": "i", "namespace": "s"}, "spec": {"subnet": "10.0.0/24"}}]
        template = {"spec": {"containers": [{"name": "c", "securityContext": {"privileged": True},
                                             "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}
        self.objects["VolcanoJob"] = [{"metadata": {"name": "j", "namespace": "ai"}, "spec": {"tasks": [{"template": template}]}}]
        self.objects["LeaderWorkerSet"] = [{"metadata": {"name": "l", "namespace": "ai"},
                                            "spec": {"leaderWorkerTemplate": {"workerTemplate": template}}}]
        what = "kube.manifests"
        self.broken((what, "SriovNetwork s/n network.host-local", "WARN"), (what, "SriovNetwork s/n network.rdma-capability", "WARN"),
                    (what, "MachineConfig m storage.unit-name", "FAIL"), (what, "PersistentVolume v storage.nconnect", "WARN"),
                    (what, "IPPool s/i network.range", "FAIL"), (what, "Job ai/j pod.privileged", "WARN"),
                    (what, "LeaderWorkerSet ai/l pod.privileged", "WARN"))

    def test_namespaces_and_networks_are_looked_at(self):
        level = {"pod-security.kubernetes.io/enforce": "baseline"}
        self.objects["Namespace"] = [{"metadata": {"name": "ai"}}, {"metadata": {"name": "kube-system", "labels": level}}]
        self.objects["DaemonSet"][0]["spec"]["template"]["spec"]["hostNetwork"] = True
        config = {"cniVersion": "0.3.1", "type": "macvlan", "ipam": {"type": "host-local", "subnet": "10.1.0.0/16"}}
        self.objects["NetworkAttachmentDefinition"] = [{"metadata": {"name": "rail0", "namespace": "ai"}, "spec": {"config": json.dumps(config)}}]
        self.objects["HostDeviceNetwork"] = [{"metadata": {"name": "hostdev"}, "spec": {
            "resourceName": "hostdev", "ipam": json.dumps({"type": "whereabouts", "range": "10.2.0/16"})}}]
        what = "kube.manifests"
        self.broken((what, "Namespace kube-system pod.security-level", "FAIL"),
                    (what, "NetworkAttachmentDefinition ai/rail0 network.host-local", "WARN"),
                    (what, "HostDeviceNetwork hostdev network.range", "FAIL"))

    def test_a_pod_whose_network_is_not_there(self):
        self.objects["Pod"][0]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = "lost"
        self.broken(("kube.manifests", "Pod ai/train annotation.network", "FAIL"))

    def test_virtual_functions_are_called_as_nodes_have_them(self):
        """NVIDIA's chart has another domain than upstream's; the operator's Deployment says which."""
        for one in self.objects["Node"]:
            for key in ("capacity", "allocatable"):
                one["status"][key]["nvidia.com/vf_rdma"] = "8"
        self.objects["SriovNetworkNodePolicy"] = [{"metadata": {"name": "p", "namespace": "nvidia"}, "spec": {
            "resourceName": "vf_rdma", "isRdma": True, "nicSelector": {"deviceID": "1021"}}}]
        self.broken(code=0)
        self.objects["Deployment"].append({"metadata": {"name": "sriov", "namespace": "nvidia"}, "spec": {"template": {"spec": {"containers": [
            {"name": "c", "image": "sriov-network-operator", "env": [{"name": "RESOURCE_PREFIX", "value": "a.example"}]}]}}}})
        self.broken(("kube.offered", "a.example/vf_rdma", "WARN"), code=0)

    def test_pods_of_a_controller_are_looked_at_once(self):
        for number in range(3):
            self.objects["Pod"].append(pod(f"s-{number}", metadata={"ownerReferences": [{"kind": "StatefulSet", "controller": True}]},
                                           spec={"containers": [{"name": "c", "securityContext": {"privileged": True}, "resources": {
                                               "limits": {IB: 1}}}]}, status={"phase": "Succeeded"}))
        self.broken(code=0)

    def test_many_pages_are_read(self):
        self.objects["Pod"] += [{"metadata": {"name": f"p{n}", "namespace": "x"}, "spec": {"containers": [{"name": "c"}]}}
                                for n in range(40)]
        _, report, _ = self.run_it(page=7)
        self.assertEqual(set(), self.complaints(report))
        self.assertEqual(7, len([one for one in self.asked if one.startswith(PATHS["Pod"] + "?")]))

    def test_403_is_unknown_with_the_servers_words(self):
        said, report, _ = self.run_it(faults={PATHS["Node"]: 403})
        self.assertEqual(2, said.returncode)
        unknown = [one for one in report["findings"] if one["state"] == "UNKNOWN"]
        self.assertIn("kube.resources", {one["id"] for one in unknown})
        self.assertTrue(all("403 Forbidden: /api/v1/nodes is forbidden to you" in one["reason"] for one in unknown), unknown)
        self.assertEqual(0, report["summary"]["fail"])
        passed = {one["id"] for one in report["findings"] if one["state"] == "PASS"}
        self.assertIn("kube.daemonsets", passed)

    def test_403_of_everything_is_unknown(self):
        said, report, _ = self.run_it(faults={"*": 403})
        self.assertEqual(2, said.returncode)
        self.assertEqual((0, 0, 0), tuple(report["summary"][state] for state in ("pass", "warn", "fail")))

    def test_garbage_and_cut_answers_are_unknown(self):
        said, report, _ = self.run_it(faults={PATHS["Pod"]: "garbage", PATHS["DaemonSet"]: "cut",
                                              "/api/v1/namespaces/ai/pods/train/log": 500})
        self.assertEqual(2, said.returncode)
        self.assertEqual(0, report["summary"]["fail"])
        unknown = {one["subject"] for one in report["findings"] if one["id"] == "kube.readable" and one["state"] == "UNKNOWN"}
        self.assertEqual({"Pod", "DaemonSet"}, unknown)

    def test_an_answer_that_is_no_list_is_unknown(self):
        for text in ("{}", '{"kind": "Status", "status": "Failure"}', '{"items": {"a": 1}}', '{"items": "none"}', '{"items": [{}, 1]}'):
            self.replies[PATHS["DaemonSet"]] = text
            said, report, _ = self.run_it()
            self.assertIn(("kube.readable", "DaemonSet", "UNKNOWN"), self.complaints(report), text)
            self.assertEqual((2, 0), (said.returncode, report["summary"]["fail"]), text)
        self.replies[PATHS["StorageClass"]] = '{"items": null}'
        self.assertNotIn(("kube.readable", "StorageClass", "UNKNOWN"), self.complaints(self.run_it()[1]))

    def test_what_does_not_know_nodes_is_no_kubernetes(self):
        for code, faults in ((2, {PATHS["Node"]: 404}), (2, {"*": 404}), (2, {"*": 302})):
            said, report, _ = self.run_it(faults=faults)
            self.assertIn(("kube.readable", "Node", "UNKNOWN"), self.complaints(report), faults)
            self.assertEqual((code, 0), (said.returncode, report["summary"]["fail"]), faults)

    def test_pages_without_an_end_end(self):
        said, report, took = self.run_it("--time-limit", "20000", faults={PATHS["StorageClass"]: "endless"})
        self.assertEqual(2, said.returncode, report["summary"])
        self.assertIn("more than 200 pages", json.dumps(report))
        self.assertLess(took, 20)

    def test_a_server_that_hangs_ends_within_the_limit(self):
        said, report, took = self.run_it("--time-limit", "1500", faults={PATHS["Namespace"]: "hang"})
        self.assertEqual(2, said.returncode)
        self.assertLess(took, 6)
        self.assertGreater(report["leftOut"], 10)

    def test_whoever_waits_for_a_slow_server_sees_for_what(self):
        said, report, _ = self.run_it("--time-limit", "60s", faults={"*": "slow"})
        self.assertEqual((0, set()), (said.returncode, self.complaints(report)))
        self.assertIn("asking for /apis/leaderworkerset.x-k8s.io/v1/leaderworkersets\n", said.stderr)

    def test_a_server_that_is_not_there_is_asked_once(self):
        with FakeApi(self.folder.name) as api:
            kubeconfig = str(api.kubeconfig)
        said, report, took = doctor(kubeconfig)
        self.assertEqual(2, said.returncode)
        self.assertLess(took, 5)
        self.assertIn("Connection refused", report["findings"][0]["reason"])

    def test_no_kubeconfig_is_said(self):
        said, report, _ = doctor("/nonexistent/kubeconfig")
        self.assertIsNone(report)
        self.assertIn("/nonexistent/kubeconfig", said.stderr)
        self.assertEqual(2, said.returncode)

    def test_one_check_alone_and_its_first_line(self):
        self.objects["Node"][0] = node("gpu-1", ("8", "0"))
        with FakeApi(self.folder.name, self.objects, self.replies) as api:
            said = subprocess.run([PROGRAM, "doctor", "--kube", "--kubeconfig", str(api.kubeconfig), "--check", "kube.resources"],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual("FAIL kube.resources gpu-1/rdma/ib: 0 of 8 can be allocated", said.stdout.splitlines()[0])
        self.assertEqual(1, said.returncode)

    def test_a_warning_fails_where_that_is_asked_for(self):
        self.objects["Node"][0] = node("gpu-1", ("8", "7"))
        codes = {severity: self.run_it("--fail-on", severity)[0].returncode for severity in ("fail", "warn")}
        self.assertEqual({"fail": 0, "warn": 1}, codes)
        self.setUp()
        self.assertEqual(0, self.run_it("--fail-on", "warn")[0].returncode)

    def test_the_page_has_every_check(self):
        self.assertEqual(PAGE.read_text(), page(), "check.py --bless writes it")


def page():
    said = subprocess.run([PROGRAM, "doctor", "--kube", "--list", "-o", "json"], check=True, capture_output=True, text=True)
    table = "| check | what is right | looks at | rule | covers |\n|---|---|---|---|---|\n"
    for one in json.loads(said.stdout)["checks"]:
        cells = [f"`{one['id']}`", one["what"], one["source"], one["rule"], " ".join(one["covers"])]
        table += "| " + " | ".join(cells) + " |\n"
    before, _, rest = PAGE.read_text().partition(HEAD)
    return before + HEAD + "\n" + table + "\n" + TAIL + rest.partition(TAIL)[2]


if __name__ == "__main__":
    if "--bless" in sys.argv:
        PAGE.write_text(page())
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
