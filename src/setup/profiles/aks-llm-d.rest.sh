#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From an AKS cluster to llm-d's resource rdma/ib: what no node can do for itself, for the profile aks-llm-d. Run it in a clone of
# Railhead; it can be run again. Its arguments go to helm, for Railhead.
PROFILE=aks-llm-d
# part: common
need az helm kubectl awk
# part: kubernetes
# part: aks
# part: operators
: "${DRIVER:=self}"  # self: the GPU operator's driver; aks: that of AKS
: "${KUBELET_CONFIG:=}"  # a file for the kubelets of a new pool: railhead setup machine-config --aks prints one
DEVICE_PLUGIN_VERSION=0.19.3  # as in the GPU operator above

# 1. The pool. AKS gives a kubelet its configuration only when the pool is made.
arguments=()
case "$DRIVER" in
  self) arguments+=(--gpu-driver none) ;;
  aks) ;;
  *) stop "DRIVER is $DRIVER: say self or aks" ;;
esac
[ -z "$KUBELET_CONFIG" ] || arguments+=(--kubelet-config "$KUBELET_CONFIG")
make_pool ${arguments[@]+"${arguments[@]}"}

# 2. OFED, and node-feature-discovery, once.
add_nvidia_charts
# part: aks-network-operator

# 3. The GPUs. AKS's driver has no nvidia_peermem on some images: then NICs reach GPU memory by DMA-BUF, which the open kernel module
#    exports (railhead setup plan says which way it is).
case "$DRIVER" in
  self)
    install_chart gpu-operator nvidia/gpu-operator gpu-operator "$GPU_OPERATOR_VERSION" \
      --set nfd.enabled=false --set driver.rdma.enabled=true --set driver.rdma.useHostMofed=false
    wait_for_gpus cluster-policy gpu-operator
    ;;
  aks)
    helm repo add nvdp https://nvidia.github.io/k8s-device-plugin --force-update
    helm repo update nvdp
    install_chart nvidia-device-plugin nvdp/nvidia-device-plugin gpu-resources "$DEVICE_PLUGIN_VERSION"
    ;;
esac

# 4. Railhead, in place of kubectl debug, the peermem reloader and the ulimit adjuster. containerd of a node is restarted once (R2).
install_railhead rdma/ib "$POOL_LABEL=$NODEPOOL_NAME" --set "nodeSelector.kubernetes\.azure\.com/agentpool=$NODEPOOL_NAME" "$@"
echo "$PROFILE: done. To look: kubectl railhead fleet; on a node: railhead setup verify --profile $PROFILE, railhead doctor"
