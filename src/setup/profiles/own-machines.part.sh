# SPDX-License-Identifier: Apache-2.0
: "${OFED:=kernel}"  # kernel: the NICs' driver of the nodes' kernel; host: OFED on the nodes; operator: OFED by the network operator
: "${DRIVER:=operator}"  # operator: NVIDIA's driver by the GPU operator; node: that of the nodes' distribution

# 1. The NICs: node-feature-discovery comes with the operator that is first.
kubectl get nodes >/dev/null || stop "kubectl reaches no cluster: look at KUBECONFIG"
add_nvidia_charts
case "$OFED" in
  operator)
    install_chart network-operator nvidia/network-operator network-operator "$NETWORK_OPERATOR_VERSION"
    install_ofed '[]'
    ;;
  kernel | host) ;;
  *) stop "OFED is $OFED: say kernel, host or operator" ;;
esac

# 2. The GPUs, with the open kernel module: NICs reach their memory by DMA-BUF. nvidia_peermem is for OFED: with rdma.enabled and no OFED,
#    the operator waits for it without end (NVIDIA/gpu-operator, cmd/nvidia-validator/main.go, MOFED).
case "$OFED" in
  kernel) arguments=(--set nfd.enabled=true --set driver.rdma.enabled=false) ;;
  host) arguments=(--set nfd.enabled=true --set driver.rdma.enabled=true --set driver.rdma.useHostMofed=true) ;;
  operator) arguments=(--set nfd.enabled=false --set driver.rdma.enabled=true --set driver.rdma.useHostMofed=false) ;;
esac
case "$DRIVER" in
  operator) arguments+=(--set driver.enabled=true --set driver.kernelModuleType=open) ;;
  node) arguments+=(--set driver.enabled=false) ;;
  *) stop "DRIVER is $DRIVER: say operator or node" ;;
esac
install_chart gpu-operator nvidia/gpu-operator gpu-operator "$GPU_OPERATOR_VERSION" "${arguments[@]}"
wait_for 600 "no node has the label $NIC_LABEL: node-feature-discovery finds no NIC of NVIDIA (kubectl get nodefeatures --all-namespaces)" has_nodes "$NIC_LABEL"
wait_for_gpus cluster-policy gpu-operator

# 3. Railhead, on the nodes with the label. Where containerd has NRI off, as in 1.7, it is restarted once (R2).
install_railhead rdma.io/hca "$NIC_LABEL" "$@"
echo "$PROFILE: done. To look: kubectl railhead fleet; on a node: railhead setup verify --profile $PROFILE, railhead doctor"
