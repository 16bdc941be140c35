# SPDX-License-Identifier: Apache-2.0
# Versions that were right together on 2026-07-16: those which github.com/Azure/aks-rdma-infiniband tests (700dabb,
# tests/setup-infra/deploy-aks.sh), and the driver of that network operator (its hack/release.yaml).
: "${NETWORK_OPERATOR_VERSION:=v26.4.0}" "${OFED_VERSION:=doca3.4.0-26.04-0.8.6.0-0}" "${GPU_OPERATOR_VERSION:=v26.3.3}"
NIC_LABEL=feature.node.kubernetes.io/pci-15b3.present=true

# install_chart NAME CHART NAMESPACE VERSION ARGUMENT…: a release, until what it deploys is ready.
install_chart() {
  local name=$1 chart=$2 namespace=$3 version=$4
  shift 4
  kubectl create namespace "$namespace" --dry-run=client --output yaml | kubectl apply -f -
  kubectl label --overwrite namespace "$namespace" pod-security.kubernetes.io/enforce=privileged
  helm upgrade --install "$name" "$chart" --namespace "$namespace" --version "$version" --wait --timeout 15m "$@" ||
    stop "$name is not ready: kubectl --namespace $namespace get pods,events"
}

add_nvidia_charts() {
  helm repo add nvidia https://helm.ngc.nvidia.com/nvidia --force-update
  helm repo update nvidia
}

# The numbers of OFED's DaemonSets, one for each kernel: kubectl rollout status takes none whose strategy is OnDelete.
is_ofed_ready() {
  kubectl get daemonsets --all-namespaces --selector nvidia.com/ofed-driver \
    --output jsonpath='{range .items[*]}{.status.desiredNumberScheduled}{" "}{.status.numberAvailable}{"\n"}{end}' |
    awk '{ wanted += $1; there += $2 } END { exit !(wanted > 0 && wanted == there) }'
}

# install_ofed ENVIRONMENT: OFED on the nodes with the label of the NIC, as the NicClusterPolicy that the network operator knows; with these
# variables of its container, as JSON. Nobody's pods are drained for it.
install_ofed() {
  wait_for 600 "no node has the label $NIC_LABEL: node-feature-discovery labels none (kubectl get nodefeatures --all-namespaces)" has_nodes "$NIC_LABEL"
  kubectl apply -f - <<POLICY
apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            - {key: feature.node.kubernetes.io/pci-15b3.present, operator: In, values: ["true"]}
  ofedDriver:
    repository: nvcr.io/nvidia/mellanox
    image: doca-driver
    version: $OFED_VERSION
    env: $1
    upgradePolicy: {autoUpgrade: false}
    startupProbe: {initialDelaySeconds: 10, periodSeconds: 20}
    livenessProbe: {initialDelaySeconds: 30, periodSeconds: 30}
    readinessProbe: {initialDelaySeconds: 10, periodSeconds: 30}
POLICY
  wait_for 3600 "OFED is not on each node: kubectl get pods --all-namespaces --selector nvidia.com/ofed-driver --output wide, then logs of the pod, container mofed-container" is_ofed_ready
}

# wait_for_gpus CLUSTER-POLICY NAMESPACE
wait_for_gpus() {
  kubectl wait clusterpolicies.nvidia.com "$1" --for 'jsonpath={.status.state}=ready' --timeout 60m ||
    stop "the GPU operator is not done: kubectl --namespace $2 get pods --output wide, then logs of the pod that is not Ready, with --all-containers"
}
