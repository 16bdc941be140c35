#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From an OpenShift cluster to the full stack: open GPU driver, OFED with NFS over RDMA, VFs as nvidia.com/sriov_rdma_vf, the mount, and
# Railhead: what no node can do for itself, for the profile openshift-full-stack. Run it in a clone of Railhead, as cluster administrator;
# it can be run again. Its arguments go to helm, for Railhead. Nodes of the role are drained and rebooted, one after the other.
PROFILE=openshift-full-stack
# part: common
: "${RAILHEAD:=railhead}"  # the program, on this machine
need oc kubectl helm awk "$RAILHEAD"
# part: kubernetes
# part: operators
# part: olm
: "${ROLE:=gpu-worker}"  # nodes with the label node-role.kubernetes.io/ROLE
: "${NFS_EXPORT:?is what is mounted by RDMA, as SERVER:/PATH: nfs-server.internal.example.com:/exports/ai-data}"
: "${NFS_MOUNT:=/mnt/ai-data}" "${NFS_OPTIONS:=vers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,nconnect=16}"
: "${PF_NAME:?is the netdev of the NIC whose VFs the pods get, as ip link shows it on a node: ens8f0}"
: "${NUM_VFS:=8}"  # one for each GPU
: "${VF_RANGE:?is the range of addresses of the VFs, of which each pod gets one: 192.168.100.0/24}"
: "${JOBS_NAMESPACE:=ai-training}"

# The network of the pods, and the policy of the VFs, are these objects.
policy() {
  cat <<POLICY
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: gpu-rdma-vfs, namespace: openshift-sriov-network-operator}
spec:
  nodeSelector: {node-role.kubernetes.io/$ROLE: "", feature.node.kubernetes.io/network-sriov.capable: "true"}
  resourceName: sriov_rdma_vf
  numVfs: $NUM_VFS
  nicSelector: {vendor: "15b3", pfNames: ["$PF_NAME"]}
  deviceType: netdevice
  isRdma: true
  linkType: eth
  mtu: 9000
POLICY
}

# The operator's own SriovNetwork would name openshift.io/sriov_rdma_vf; addresses are of one list for all nodes, as host-local's are not.
network() {
  cat <<NETWORK
apiVersion: v1
kind: Namespace
metadata: {name: $JOBS_NAMESPACE}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: gpu-rdma-net
  namespace: $JOBS_NAMESPACE
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_rdma_vf}
spec:
  config: '{"cniVersion": "1.0.0", "name": "gpu-rdma-net", "type": "sriov", "vlan": 0,
            "ipam": {"type": "whereabouts", "range": "$VF_RANGE"}}'
NETWORK
}

# 1. Who may do this, and to which nodes.
oc whoami >/dev/null || stop "oc is not logged in: oc login"
has_nodes "node-role.kubernetes.io/$ROLE" || stop "no node has the role $ROLE: oc label node NODE node-role.kubernetes.io/$ROLE="

# 2. What lasts on the nodes: /etc belongs to the machine-config operator. Modules at boot, NRI, and the mount.
oc apply -f - <<ROLE_POOL
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: $ROLE}
spec:
  machineConfigSelector:
    matchExpressions:
      - {key: machineconfiguration.openshift.io/role, operator: In, values: [worker, $ROLE]}
  nodeSelector: {matchLabels: {node-role.kubernetes.io/$ROLE: ""}}
ROLE_POOL
wanted=$(
  "$RAILHEAD" setup profile "$PROFILE"
  printf 'nfs:\n  - {what: "%s", where: "%s", options: "%s"}\n' "$NFS_EXPORT" "$NFS_MOUNT" "$NFS_OPTIONS"
)
config=$("$RAILHEAD" setup machine-config --from - --role "$ROLE" <<<"$wanted") ||
  stop "railhead setup machine-config refuses what is wanted: look at NFS_EXPORT, NFS_MOUNT and NFS_OPTIONS"
applied=$(oc apply -f - <<<"$config")
echo "$applied"
# The operator renders the pool's configuration some seconds after a change.
[[ $applied == *unchanged* ]] || sleep 10
wait_for 7200 "the nodes of $ROLE do not have their MachineConfig: oc get machineconfigpool $ROLE --output yaml, under conditions" is_configured "$ROLE" "99-$ROLE-railhead"

# 3. node-feature-discovery, and NVIDIA's NICs with OFED. ENABLE_NFSRDMA is the variable of its container.
subscribe openshift-nfd nfd stable redhat-operators
oc apply -f - <<'DISCOVERY'
apiVersion: nfd.openshift.io/v1
kind: NodeFeatureDiscovery
metadata: {name: nfd-instance, namespace: openshift-nfd}
spec:
  operand: {imagePullPolicy: IfNotPresent, servicePort: 12000}
  workerConfig:
    configData: |
      sources:
        pci:
          deviceClassWhitelist: ["02", "03"]
          deviceLabelFields: [vendor]
DISCOVERY
subscribe nvidia-network-operator nvidia-network-operator v26.4 certified-operators
install_ofed '[{name: ENABLE_NFSRDMA, value: "true"}]'

# 4. The VFs. Their operator then rests: it always runs a device plugin of its own, which would hand out the same VFs as the agent. Its
#    daemons keep the VFs. It comes back for a policy that is changed.
subscribe openshift-sriov-network-operator sriov-network-operator stable redhat-operators
if [ "$(policy | oc diff -f - 2>&1 | wc -l)" != 0 ]; then
  oc --namespace openshift-sriov-network-operator scale deployment/sriov-network-operator --replicas 1
  oc --namespace openshift-sriov-network-operator rollout status deployment/sriov-network-operator --timeout 10m
  policy | oc apply -f -
fi
wait_for 3600 "the VFs are not there: oc --namespace openshift-sriov-network-operator get sriovnetworknodestates --output yaml, lastSyncError; are they on in the firmware (SRIOV_EN, NUM_OF_VFS)?" has_functions
oc --namespace openshift-sriov-network-operator scale deployment/sriov-network-operator --replicas 0
oc --namespace openshift-sriov-network-operator delete daemonset sriov-device-plugin --ignore-not-found
network | oc apply -f -

# 5. The GPUs, with the open kernel module; nvidia_peermem after OFED. Keys: alm-examples of the operator's bundle.
subscribe nvidia-gpu-operator gpu-operator-certified v26.3 certified-operators
oc apply -f - <<'CLUSTER_POLICY'
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: gpu-cluster-policy}
spec:
  operator: {use_ocp_driver_toolkit: true}
  driver: {enabled: true, kernelModuleType: open, rdma: {enabled: true, useHostMofed: false}}
  gdrcopy: {enabled: true}
  toolkit: {enabled: true}
  devicePlugin: {enabled: true}
  dcgm: {enabled: true}
  dcgmExporter: {enabled: true}
  gfd: {enabled: true}
  migManager: {enabled: true}
  mig: {strategy: single}
  nodeStatusExporter: {enabled: true}
  daemonsets: {updateStrategy: RollingUpdate}
CLUSTER_POLICY
wait_for_gpus gpu-cluster-policy nvidia-gpu-operator

# 6. Railhead, in place of the operator's device plugin.
install_railhead nvidia.com/sriov_rdma_vf "node-role.kubernetes.io/$ROLE,$NIC_LABEL" --set "nodeSelector.node-role\.kubernetes\.io/$ROLE=" "$@"
echo "$PROFILE: done. To look: kubectl railhead fleet, kubectl railhead nfs NODE, kubectl railhead doctor NODE"
