#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From an AKS cluster to NVIDIA Dynamo's resource rdma/hca_shared_devices_a: what no node can do for itself, for the profile
# aks-dynamo. Run it in a clone of Railhead; it can be run again. Its arguments go to helm, for Railhead.
PROFILE=aks-dynamo
# part: common
need az helm kubectl awk
# part: kubernetes
# part: aks
# part: operators

# 1. The pool, without AKS's GPU driver: the GPU operator brings it, with nvidia_peermem.
make_pool --gpu-driver none

# 2. OFED, and node-feature-discovery, once.
add_nvidia_charts
# part: aks-network-operator

# 3. The GPU operator. useHostMofed=false waits until OFED's container is ready; true does not.
install_chart gpu-operator nvidia/gpu-operator gpu-operator "$GPU_OPERATOR_VERSION" \
  --set nfd.enabled=false --set driver.rdma.enabled=true --set driver.rdma.useHostMofed=false
wait_for_gpus cluster-policy gpu-operator

# 4. Railhead, in place of ib-node-config and of the shared device plugin. containerd and the kubelet of a node are restarted once (R2).
install_railhead rdma/hca_shared_devices_a "$POOL_LABEL=$NODEPOOL_NAME" --set "nodeSelector.kubernetes\.azure\.com/agentpool=$NODEPOOL_NAME" "$@"
echo "$PROFILE: done. To look: kubectl railhead fleet; on a node: railhead setup verify --profile $PROFILE, railhead doctor"
