# SPDX-License-Identifier: Apache-2.0
# What no node can do for itself, for the profile aks-dynamo. Read it, then run it with bash.
# Railhead is in no registry: ./dev image makes the image, push it to one of yours.
: "${IMAGE_REPOSITORY:?of the image of Railhead, without its tag}"
: "${AZURE_RESOURCE_GROUP:?}" "${CLUSTER_NAME:?}" "${NODEPOOL_NAME:?}" "${NODEPOOL_NODE_COUNT:=2}"
: "${NODEPOOL_VM_SIZE:=Standard_ND96isr_H100_v5}"

# 1. The feature, before the pool: it puts the machines of a pool on one InfiniBand fabric.
az feature register --namespace Microsoft.ContainerService --name AKSInfinibandSupport
until [ "$(az feature show --namespace Microsoft.ContainerService --name AKSInfinibandSupport \
  --query properties.state --output tsv)" = Registered ]; do sleep 30; done
az provider register --namespace Microsoft.ContainerService

# 2. The pool, without AKS's GPU driver: the GPU operator brings it, with nvidia_peermem.
az aks nodepool add --resource-group "$AZURE_RESOURCE_GROUP" --cluster-name "$CLUSTER_NAME" \
  --name "$NODEPOOL_NAME" --node-count "$NODEPOOL_NODE_COUNT" --node-vm-size "$NODEPOOL_VM_SIZE" \
  --os-sku Ubuntu --gpu-driver none

# 3. The operators: one NFD only, the network operator first.
helm repo add nvidia "${NVIDIA_CHARTS:?the address of the Helm repository that NVIDIA names}"
helm install network-operator nvidia/network-operator --namespace network-operator \
  --create-namespace --set nfd.deployNodeFeatureRules=false
kubectl label --overwrite namespace network-operator pod-security.kubernetes.io/enforce=privileged
kubectl apply -k github.com/Azure/aks-rdma-infiniband/configs/nicclusterpolicy/base
# useHostMofed=false waits until the network operator's OFED container is ready; true does not.
helm install gpu-operator nvidia/gpu-operator --namespace gpu-operator --create-namespace \
  --set nfd.enabled=false --set driver.rdma.enabled=true --set driver.rdma.useHostMofed=false

# 4. Railhead, in place of ib-node-config and of the shared device plugin.
#    R2: containerd is restarted on each node, once.
helm install railhead deploy/charts --namespace kube-system \
  --set image.repository="$IMAGE_REPOSITORY" \
  --set setup.enabled=true --set setup.profile=aks-dynamo --set setup.allow=R2

# 5. How it is checked, on each node:
#   railhead setup verify --profile aks-dynamo
#   railhead doctor
