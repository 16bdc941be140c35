# SPDX-License-Identifier: Apache-2.0
# What no node can do for itself, for the profile openshift-full-stack. Read it, then run it with
# bash. /etc belongs to the machine-config operator, which reboots the nodes of the pool for it.
# Railhead is in no registry: ./dev image makes the image, push it to one of yours.
: "${IMAGE_REPOSITORY:?of the image of Railhead, without its tag}"
: "${ROLE:=gpu-worker}"

# 1. What lasts on the nodes, as MachineConfig (and KubeletConfig, where the file says a policy).
railhead setup machine-config --profile openshift-full-stack --role "$ROLE" | oc apply -f -
oc wait machineconfigpool "$ROLE" --for condition=Updated --timeout 60m

# 2. The operators: the network operator first. ENABLE_NFSRDMA is the variable of its OFED container.
helm repo add nvidia "${NVIDIA_CHARTS:?the address of the Helm repository that NVIDIA names}"
helm install network-operator nvidia/network-operator --namespace nvidia-network-operator \
  --create-namespace
helm install gpu-operator nvidia/gpu-operator --namespace gpu-operator --create-namespace \
  --set nfd.enabled=false --set driver.kernelModuleType=open --set driver.rdma.enabled=true

# 3. Virtual functions, if no SR-IOV operator makes them: the same policy, by Railhead.
#   railhead setup apply --from policy.yaml
#   railhead migrate policy.yaml -o config

# 4. Railhead.
helm install railhead deploy/charts --namespace railhead --create-namespace \
  -f deploy/charts/examples/openshift-sriov.yaml --set image.repository="$IMAGE_REPOSITORY"

# 5. How it is checked, on each node:
#   railhead setup verify --profile openshift-full-stack
#   railhead nfs
#   railhead doctor
