# SPDX-License-Identifier: Apache-2.0
: "${AZURE_RESOURCE_GROUP:?is the resource group of the cluster}" "${CLUSTER_NAME:?is the name of the AKS cluster}"
: "${NODEPOOL_NAME:=gpupool}" "${NODEPOOL_NODE_COUNT:=2}" "${NODEPOOL_VM_SIZE:=Standard_ND96isr_H100_v5}"
POOL_LABEL=kubernetes.azure.com/agentpool

is_registered() {
  [ "$(az feature show --namespace Microsoft.ContainerService --name AKSInfinibandSupport --query properties.state --output tsv)" = Registered ]
}

# pool_says KEY: of the pool, as az has it; an error where there is none.
pool_says() {
  az aks nodepool show --resource-group "$AZURE_RESOURCE_GROUP" --cluster-name "$CLUSTER_NAME" --name "$NODEPOOL_NAME" --query "$1" --output tsv
}

# make_pool ARGUMENT…: the feature, then the pool with these arguments, then its nodes, which have to be Ubuntu. What is there already stays.
make_pool() {
  az account show --output none || stop "az is not logged in: az login"
  # The feature comes before the pool: it puts the machines of a pool on one InfiniBand fabric.
  az feature register --namespace Microsoft.ContainerService --name AKSInfinibandSupport --output none
  wait_for 3600 "the feature AKSInfinibandSupport is not registered after an hour: az feature show --namespace Microsoft.ContainerService --name AKSInfinibandSupport" is_registered
  az provider register --namespace Microsoft.ContainerService
  if pool_says name >/dev/null 2>&1; then
    [ "$(pool_says osSku)" = Ubuntu ] || stop "the pool $NODEPOOL_NAME is not of Ubuntu, and OFED's container is made for it: make another pool, and name it in NODEPOOL_NAME"
  else
    az aks nodepool add --resource-group "$AZURE_RESOURCE_GROUP" --cluster-name "$CLUSTER_NAME" --name "$NODEPOOL_NAME" \
      --node-count "$NODEPOOL_NODE_COUNT" --node-vm-size "$NODEPOOL_VM_SIZE" --os-sku Ubuntu "$@" ||
      stop "the pool was not made: az says above whether the quota of $NODEPOOL_VM_SIZE is too small (az vm list-usage)"
  fi
  wait_for 900 "kubectl sees no node of the pool $NODEPOOL_NAME: az aks get-credentials --resource-group $AZURE_RESOURCE_GROUP --name $CLUSTER_NAME" has_nodes "$POOL_LABEL=$NODEPOOL_NAME"
  kubectl wait nodes --selector "$POOL_LABEL=$NODEPOOL_NAME" --for condition=Ready --timeout 15m ||
    stop "a node of the pool $NODEPOOL_NAME is not Ready: kubectl describe nodes --selector $POOL_LABEL=$NODEPOOL_NAME"
  local others
  others=$(kubectl get nodes --selector "$POOL_LABEL=$NODEPOOL_NAME" --output jsonpath='{range .items[*]}{.metadata.name}{": "}{.status.nodeInfo.osImage}{"\n"}{end}' |
    awk -F ': ' '$2 !~ /^Ubuntu/')
  [ -z "$others" ] || stop "these nodes are not of Ubuntu, and OFED's container is made for it: $others"
}
